"""What attacks on labels infer, against what they must."""

import json
import sys
from typing import Any

import numpy as np
import pytest

import malaprop
from malaprop import TEM, DataError, Lexicon, MissingExtraError, ParameterError, Privatizer
from malaprop.measure import InferredLabels, attack
from malaprop.measure.adversaries import area, mean_area, repeated_share
from malaprop.measure.adversaries.labels import (
    Attribute,
    grams,
    koppel,
    plain,
    with_random_words,
)

WORDS = [f"{a}{b}{c}e" for a in "bdfgk" for b in "aeio" for c in "lmnr"]
AUTHORS = ("ann", "bob", "cy")


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    """Eighty words on a line."""
    return Lexicon(WORDS, [[float(i)] for i in range(len(WORDS))])


def written(texts: int, seed: int = 1, mark: str = "") -> tuple[list[str], list[str]]:
    """Texts of three authors, each with favourite words; `mark` ends all texts of the first."""
    rng = np.random.Generator(np.random.PCG64(seed))
    shares = np.random.Generator(np.random.PCG64(7)).dirichlet(np.full(80, 0.3), size=3)
    found, labels = [], []
    for _ in range(texts):
        for author, own in zip(AUTHORS, shares, strict=True):
            words = [WORDS[i] for i in rng.choice(80, size=25, p=own)]
            found.append(" ".join(words) + (mark if author == "ann" else "."))
            labels.append(author)
    return found, labels


def privatizer(lexicon: Lexicon, epsilon: float) -> Privatizer:
    return Privatizer(lexicon, TEM(epsilon=epsilon), rng=malaprop.seeded_rng(1))


def run(name: str, own: Privatizer, texts: Any, labels: Any, **options: Any) -> InferredLabels:
    result = attack(name, own, texts, labels, rng=malaprop.seeded_rng(1), **options)
    assert isinstance(result, InferredLabels)
    return result


FORMS = [
    ("authorship", {"model": "koppel"}),
    ("authorship", {"model": "regression"}),
    ("attribute", {}),
]


@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize(("name", "options"), FORMS)
def test_noise_takes_what_the_texts_give_away(
    lexicon: Lexicon, name: str, options: dict[str, object], adaptive: bool
) -> None:
    texts, labels = written(30)
    common = {**options, "adaptive": adaptive, "punctuation": False, "repeats": 2}
    open_ = run(name, privatizer(lexicon, 60.0), texts, labels, **common)
    hidden = run(name, privatizer(lexicon, 0.001), texts, labels, **common)
    assert open_.score == open_.unprotected > 0.95
    assert open_.baseline == pytest.approx(1 / 3)
    assert hidden.unprotected == open_.unprotected
    # The texts are 27 in each of 2 splits: 0.3 are more than 4 standard errors.
    assert abs(hidden.score - 1 / 3) < 0.3
    assert abs(hidden.random_words - 1 / 3) < 0.3
    assert hidden.interval[0] <= hidden.score <= hidden.interval[1]
    assert (open_.texts, open_.labels, open_.left_out) == (90, 3, 0)
    assert open_.trained_on == ("private text" if adaptive else "clean text")


def test_punctuation_gives_an_author_away(lexicon: Lexicon) -> None:
    """Words hide nothing at this ε: only the mark of one author tells him from the others."""
    texts, labels = written(30, mark="!!")
    own = privatizer(lexicon, 0.001)
    options = {"model": "regression", "adaptive": True, "repeats": 2}
    marked = run("authorship", own, texts, labels, **options)
    assert marked.score > 0.5
    assert marked.random_words > 0.5
    unmarked = run("authorship", own, texts, labels, punctuation=False, **options)
    assert unmarked.score < marked.score - 0.1


@pytest.mark.parametrize("adaptive", [False, True])
def test_members_are_told_from_other_texts_without_noise_only(
    lexicon: Lexicon, adaptive: bool
) -> None:
    rng = np.random.Generator(np.random.PCG64(3))
    texts = [" ".join(WORDS[i] for i in rng.integers(0, 80, 12)) for _ in range(400)]
    labels = rng.integers(0, 2, 400).tolist()  # nothing to learn but by heart
    common = {"adaptive": adaptive, "repeats": 2}
    open_ = run("membership", privatizer(lexicon, 60.0), texts, labels, **common)
    assert open_.score > 0.9
    assert open_.unprotected > 0.9
    assert (open_.measured, open_.baseline) == ("area under the curve", 0.5)
    hidden = run("membership", privatizer(lexicon, 0.001), texts, labels, **common)
    assert abs(hidden.score - 0.5) < 0.1
    assert abs(hidden.random_words - 0.5) < 0.1
    assert hidden.interval[0] < 0.5 < hidden.interval[1] + 0.05


def test_the_result_can_be_stored_and_read(lexicon: Lexicon) -> None:
    texts, labels = written(6)
    result = run("authorship", privatizer(lexicon, 1.0), texts, labels, repeats=1)
    told = result.to_dict()
    assert json.loads(json.dumps(told)) == told
    assert told["options"] == {
        "adaptive": False,
        "punctuation": True,
        "repeats": 1,
        "model": "regression",
    }
    assert "noise" in result.spread
    for line in ("inferred", "interval", "baseline", "unprotected", "random words"):
        assert line in str(result)
    assert not {*AUTHORS, *texts[0].split()} & set(str(result).split())


def test_repeated_texts_and_rare_labels_are_left_out(lexicon: Lexicon) -> None:
    texts, labels = written(6)
    texts = [*texts, texts[0], "bale bele", ""]
    labels = [*labels, labels[0], "once", "ann"]
    result = run("attribute", privatizer(lexicon, 1.0), texts, labels, repeats=1)
    assert (result.texts, result.labels, result.left_out) == (18, 3, 3)


@pytest.mark.parametrize("name", ["authorship", "attribute", "membership"])
@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (None, ParameterError, "for each text: pass them"),
        ([1] * 5, ParameterError, "as many labels as texts"),
        ([1] * 30, DataError, "same"),
        ([1] * 29 + [None], DataError, "1 of 30 texts"),
        ([""] * 30, DataError, "30 of 30 texts"),
        ([float("nan")] * 30, DataError, "30 of 30 texts"),
        (list(range(30)), DataError, "Of 30 .*, 0 have as many"),
        ([1] * 28 + [2, 2], DataError, "Of 2 .*, 1 has as many"),
        ("abc", ParameterError, "not be one string"),
    ],
)
def test_labels_that_are_none_are_refused(
    lexicon: Lexicon, name: str, labels: Any, error: type[Exception], message: str
) -> None:
    texts = written(10)[0]
    with pytest.raises(error, match=message) as raised:
        run(name, privatizer(lexicon, 1.0), texts, labels)
    assert texts[0] not in str(raised.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "svm"}, "one of regression, koppel"),
        ({"adaptive": 1}, "one of True, False"),
        ({"repeats": 0}, "whole number, 1 or more"),
        ({"draws": 5}, "no option 'draws'"),
    ],
)
def test_wrong_options_are_refused(
    lexicon: Lexicon, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        run("authorship", privatizer(lexicon, 1.0), *written(5), **options)


def test_texts_without_words_are_refused(lexicon: Lexicon) -> None:
    texts, labels = [f"{'!' * (i + 1)}" for i in range(8)], [1, 2] * 4
    for model in ("koppel", "regression"):
        with pytest.raises(DataError, match="no words to learn"):
            run(
                "authorship",
                privatizer(lexicon, 1.0),
                texts,
                labels,
                model=model,
                punctuation=False,
            )


def test_the_error_names_the_extra(lexicon: Lexicon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtraError, match="pip install scikit-learn"):
        run("attribute", privatizer(lexicon, 1.0), *written(5))


def test_grams_are_free_of_spaces() -> None:
    assert grams("a word's words") == ["a", "word", "ord'", "rd's", "word", "ords"]
    assert plain("It's_Cold, HERE.", punctuation=True) == "it's_cold, here."
    assert plain("It's_Cold, HERE.", punctuation=False) == "it s cold here"


def test_koppel_takes_the_author_of_most_subspaces() -> None:
    texts = ["aaaa bbbb cccc dddd"] * 2 + ["eeee ffff gggg hhhh"] * 2
    predict = koppel(texts, np.array([0, 0, 1, 1]), malaprop.seeded_rng(1))
    assert predict(["aaaa dddd xxxx", "hhhh gggg", "aaaa eeee ffff gggg hhhh"]).tolist() == [
        0,
        1,
        1,
    ]


def test_random_words_keep_what_is_no_word() -> None:
    assert with_random_words("So, 12 cats?", ["x"], malaprop.seeded_rng(1)) == "x, x x?"


def test_each_text_counts_once() -> None:
    class Pairs(Attribute):
        fewest = 2

    data = Pairs().checked(["a", "b", "a", None, "c", "d"], [1, 2, 2, 1, 1, 2])
    assert data.texts == ["a", "b", "c", "d"]
    assert data.labels.tolist() == [0, 1, 0, 1]
    assert data.left_out == 2


def test_the_interval_of_repeats_covers_the_truth_as_often_as_it_says() -> None:
    """Texts are lucky or not in all splits alike: an interval over all tests is too short."""
    rng = np.random.Generator(np.random.PCG64(6))
    covered = 0
    for _ in range(40):
        lucky = rng.random(200) < 0.4
        tested = [rng.permutation(200)[:60] for _ in range(5)]
        share = repeated_share(tested, [lucky[test] for test in tested], rng)
        covered += share.low <= 0.4 <= share.high
    # At 95 %, fewer than 29 of 40 have a probability below 1e-6.
    assert covered >= 29


def test_the_area_is_how_often_a_member_scores_higher() -> None:
    rng = np.random.Generator(np.random.PCG64(6))
    inside, outside = rng.integers(0, 9, 40) / 2.0, rng.integers(0, 9, 50) / 2.0
    higher = (inside[:, None] > outside) + 0.5 * (inside[:, None] == outside)
    assert area(inside, outside) == pytest.approx(higher.mean())
    mean = mean_area([(inside, outside)] * 3, rng)
    assert mean.value == pytest.approx(area(inside, outside))
    assert mean.low < mean.value < mean.high
