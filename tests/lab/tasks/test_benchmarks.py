"""The tasks on small data whose right answers are known."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from malaprop import Laplace, Lexicon, ParameterError, PrivEmb, seeded_rng
from malaprop.lab import tasks
from malaprop.lab.datasets import LabelledTexts, Puzzles, TextPairs, WordPairs
from malaprop.lab.tasks import similarity

GOOD, BAD = [f"good{i}x" for i in range(40)], [f"bad{i}x" for i in range(40)]


@pytest.fixture(scope="module")
def poles() -> Lexicon:
    """Two clouds of words in eight dimensions: praise and blame."""
    centre, rng = np.zeros(8), np.random.Generator(np.random.PCG64(4))
    centre[0] = 2.0
    rows = np.vstack([rng.normal(size=(40, 8)) + centre, rng.normal(size=(40, 8)) - centre])
    return Lexicon(["said", *GOOD, *BAD], np.vstack([np.zeros(8) + 0.1, rows]))


@pytest.fixture(scope="module")
def reviews() -> LabelledTexts:
    texts, labels = [], []
    for label, words in (("neg", BAD), ("pos", GOOD)):
        for i in range(100):
            texts.append(f"{words[i % 40]} said {words[(3 * i) % 40]} .")
            labels.append(label)
    return LabelledTexts(name="reviews", texts=tuple(texts), labels=tuple(labels))


def test_sets_are_ranked_together_on_one_scale() -> None:
    compass = Lexicon(["n", "ne", "e", "s"], [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, -1.0]])
    ten = WordPairs(name="ten", first=("n", "n"), second=("ne", "s"), scores=(10.0, 0.0))
    fifty = WordPairs(name="fifty", first=("e", "n"), second=("e", "e"), scores=(50.0, 20.0))
    result = tasks.run("similarity", compass, data=(ten, fifty))
    # The cosines are 0.71, -1, 1 and 0; the scores on one scale 1, 0, 1 and 0.
    assert result.value == pytest.approx(
        similarity.spearman(np.array([3.0, 1, 4, 2]), np.array([1.0, 0, 1, 0]))
    )
    assert result.measures["ten"].value == result.measures["fifty"].value == 1.0
    raw = tasks.run("similarity", compass, data=(ten, fifty), raw=True)
    assert raw.value == pytest.approx(
        similarity.spearman(np.array([3.0, 1, 4, 2]), np.array([10.0, 0, 50, 20]))
    )


def test_sentences_are_compared_by_their_centroids() -> None:
    compass = Lexicon(["n", "ne", "e", "s"], [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, -1.0]])
    data = TextPairs(
        name="sts",
        first=("n e", "n", "n", "e", "x", "n"),
        second=("ne", "e", "s", "n e", "x", "n"),
        scores=(5.0, 3.0, 0.0, 4.0, 5.0, 5.0),
        groups=("a", "a", "a", "b", "b", "b"),
        splits=("test",) * 6,
    )
    result = tasks.run("sts", compass, data=data)
    assert result.measures["spearman"].value > 0.9
    assert 0.8 < result.measures["official"].value <= 1.0
    assert result.measures["pearson"].value == result.value
    train = TextPairs(**{**vars(data), "splits": ("train",) * 5 + ("test",)})
    assert tasks.run("sts", compass, data=train, part="train").items == 5


def test_the_odd_word_is_found_and_a_guess_is_the_floor(poles: Lexicon) -> None:
    groups = [tuple(GOOD[5 * i : 5 * i + 5]) for i in range(8)]
    data = Puzzles(
        name="odd",
        members=(*((*group, "unknown") for group in groups), ("unknown",) * 6),
        odd=(*BAD[:8], "bad0x"),
    )
    result = tasks.run("odd-man-out", poles, data=data, rng=seeded_rng(1))
    assert result.items == 8
    assert result.value > 0.8
    assert result.floors["majority"].value == pytest.approx(1 / 6)
    assert tasks.run("odd-man-out", poles, data=data, least=5).items == 8
    alike = (*(group[0] for group in groups[1:]), GOOD[0])
    wrong = Puzzles(name="w", members=data.members[:8], odd=alike)
    assert tasks.run("odd-man-out", poles, data=wrong).value < 0.5


@pytest.mark.parametrize("name", ["classify", "classify-text"])
def test_texts_are_classified(poles: Lexicon, reviews: LabelledTexts, name: str) -> None:
    result = tasks.run(name, poles, data=reviews, rng=seeded_rng(1), repeats=3)
    assert result.over == "splits"
    assert result.value > 0.97
    assert result.floors["majority"].value == 0.5
    assert result.floors["random_words"].value < 0.75
    assert set(result.measures) >= {"accuracy", "precision", "recall", "f1"}
    limited = tasks.run(name, poles, data=reviews, limit=60, rng=seeded_rng(1), repeats=1)
    assert limited.items == 60
    assert limited.floors["majority"].value == 0.5  # a sorted file keeps the shares of its classes


def test_noise_is_trained_on_and_clean_texts_may_be_tested_on(
    poles: Lexicon, reviews: LabelledTexts
) -> None:
    channel = Laplace(epsilon=0.8).on(poles)
    options: dict[str, Any] = {"data": reviews, "repeats": 3, "rng": seeded_rng(2)}
    private = tasks.run("classify", channel, **options)
    clean = tasks.run("classify", channel, tested="clean", **options)
    assert 0.5 < private.value < clean.value <= 1.0
    assert private.tested == "private"
    assert clean.tested == "clean"
    assert private.over == "noise and splits"
    reduced = PrivEmb(epsilon=5.0, dimension=4).on(poles)
    assert tasks.run("classify", reduced, data=reviews, repeats=1, rng=seeded_rng(3)).value > 0.5
    with pytest.raises(ParameterError, match="another dimension"):
        tasks.run("classify", reduced, data=reviews, repeats=1, tested="clean")


def test_a_divided_set_is_divided_as_it_says(poles: Lexicon, reviews: LabelledTexts) -> None:
    # The labels of the test part are swapped: whoever trained on it would be right.
    places = np.arange(len(reviews))
    swapped = {"pos": "neg", "neg": "pos"}
    divided = LabelledTexts(
        name="divided",
        texts=reviews.texts,
        labels=tuple(
            swapped[label] if place % 5 == 0 else label
            for place, label in zip(places, reviews.labels, strict=True)
        ),
        splits=tuple("test" if place % 5 == 0 else "train" for place in places),
    )
    result = tasks.run("classify", poles, data=divided)
    assert result.over == "nothing"
    assert result.value < 0.05


def test_pairs_are_classified(poles: Lexicon) -> None:
    words = [*GOOD, *BAD]
    first = tuple(words[i % 80] for i in range(300))
    second = tuple(words[(i * 7 + 3) % 80] for i in range(300))
    labels = tuple(
        "1" if (a in GOOD) == (b in GOOD) else "0" for a, b in zip(first, second, strict=True)
    )
    data = TextPairs(name="pairs", first=first, second=second, labels=labels)
    result = tasks.run("classify-pairs", poles, data=data, rng=seeded_rng(1), repeats=2)
    assert result.value > 0.85
    assert result.floors["random_words"].value < 0.75


def test_sentiment_of_words_is_balanced() -> None:
    words = [f"word{i}x" for i in range(500)]
    sides = np.where(np.arange(500) < 300, 2.0, -2.0)
    rows = np.random.Generator(np.random.PCG64(5)).normal(size=(500, 8))
    rows[:, 0] += sides
    labels = tuple("positive" if side > 0 else "negative" for side in sides)
    data = LabelledTexts(name="w", texts=(*words, "unknown"), labels=(*labels, "negative"))
    made = Lexicon(words, rows)
    result = tasks.run("sentiment-words", made, data=data, rng=seeded_rng(1), repeats=4)
    assert result.items == 400
    assert result.covered == pytest.approx(500 / 501)
    assert 0.9 < result.value < 1.0
    assert result.measures["auc"].value > 0.97
    assert result.floors["majority"].value == 0.5
    assert 0.25 < result.floors["random_table"].value < 0.75
    assert 0.25 < result.floors["random_words"].value < 0.75


def test_preservation_falls_with_noise_and_has_its_constant(poles: Lexicon) -> None:
    exact = tasks.run("preservation", poles, count=30, repeats=1)
    assert exact.value == pytest.approx(1.0)
    assert exact.measures["distance_error"].value == pytest.approx(0.0, abs=1e-9)
    noisy = [
        tasks.run(
            "preservation",
            Laplace(epsilon=e).on(poles),
            count=30,
            repeats=2,
            vary="noise",
            rng=seeded_rng(1),
        )
        for e in (100.0, 5.0, 0.5)
    ]
    for more, less in pairwise(noisy):
        assert more.value > less.value
        assert more.measures["distance_error"].value < less.measures["distance_error"].value
        assert more.measures["product_error"].value < less.measures["product_error"].value
    constant = noisy[2].measures["distance_error_of_constant"].value
    assert constant < noisy[2].measures["distance_error"].value
