"""A classifier on private texts, beside its bounds."""

import subprocess
import sys

import numpy as np
import pytest

from malaprop import TEM, Lexicon, Privatizer, seeded_rng
from malaprop.measure.classification import Classification, private_copies, random_splits
from malaprop.privacy.errors import DataError, ParameterError

WORDS = ["good", "fine", "great", "bad", "poor", "awful"]
TEXTS = [f"{WORDS[i % 6]}, {WORDS[(i % 6) // 3 * 3 + i % 3]}!" for i in range(120)]
LABELS = ["up" if i % 6 < 3 else "down" for i in range(120)]


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    """Two clouds of words: what is near is of the same class."""
    places = [[0.0, 1.0], [0.1, 1.0], [0.2, 1.1], [3.0, 0.0], [3.1, 0.0], [3.2, 0.1]]
    return Lexicon(WORDS, places)


def task(lexicon: Lexicon, model: str, **options: object) -> Classification:
    return Classification(TEXTS, LABELS, lexicon, model=model, rng=seeded_rng(5), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("model", ["ngrams", "centroids"])
def test_noise_moves_the_accuracy_from_the_ceiling_to_the_floors(
    lexicon: Lexicon, model: str
) -> None:
    scored = task(lexicon, model)
    little, much = (
        scored.scores(private_copies(private, TEXTS, scored.runs)).accuracy
        for private in (
            Privatizer(lexicon, TEM(epsilon=epsilon), rng=seeded_rng(1)) for epsilon in (30.0, 1e-6)
        )
    )
    assert list(little) == ["clean", "private"]
    assert scored.unprotected.accuracy["clean"].value == 1.0
    assert little["clean"].value == little["private"].value == 1.0
    assert much["private"].value < 0.75
    assert scored.random_words["private"].value < 0.75
    assert scored.majority.value == 0.5


def test_random_words_still_have_the_length_of_texts(lexicon: Lexicon) -> None:
    texts = ["good " * (1 + 4 * (i % 2)) for i in range(60)]
    lengths = Classification(
        texts, [i % 2 for i in range(60)], lexicon, model="ngrams", rng=seeded_rng(2)
    )
    assert lengths.random_words["private"].value > 0.8


def test_each_run_has_a_private_copy_and_a_split_of_its_own(lexicon: Lexicon) -> None:
    scored = task(lexicon, "ngrams", runs=2)
    assert scored.about_runs == (
        "2 noise draws, each with a random split of its own: 90 texts to train on and 30 to test on"
    )
    seen: list[int] = []

    def swapped(texts: list[str]) -> list[str]:
        seen.append(len(texts))
        return [text.replace("good", "bad") for text in texts]

    copies = private_copies(swapped, TEXTS, scored.runs)
    assert seen == [120, 120]
    assert set(scored.scores(copies).accuracy) == {"clean", "private"}
    with pytest.raises(ParameterError, match="one private copy of all texts for each run"):
        scored.scores(copies[:1])


def test_random_splits_keep_the_shares_of_classes(lexicon: Lexicon) -> None:
    labels = ["rare"] * 20 + ["common"] * 100
    scored = Classification(TEXTS, labels, lexicon, model="ngrams", rng=seeded_rng(5))
    assert list(scored.majority.values) == pytest.approx([25 / 30] * 5)


def test_a_split_has_each_class_on_both_sides() -> None:
    labels = np.repeat([0, 1, 2], [4, 10, 30])
    (split,) = random_splits(labels, 0.3, 1, seeded_rng(1))
    assert sorted([*split.train, *split.test]) == list(range(44))
    assert np.bincount(labels[split.test]).tolist() == [1, 3, 9]


@pytest.mark.parametrize(
    ("labels", "complaint"),
    [
        (["up"] * 120, "All labels are the same"),
        ([f"secret{i}" for i in range(120)], "There are 120 different labels"),
        (["secret" if i > 90 else i for i in range(120)], "Fewer than two of the 92 different"),
        ([*LABELS[:-1], None], "Text 120 has no label"),
        ([" ", *LABELS[1:]], "Text 1 has no label"),
        ([*LABELS[:-1], float("nan")], "Text 120 has no label"),
        (LABELS[:5], "a label for each text"),
    ],
    ids=["one class", "all different", "few alike", "none", "blank", "nan", "too few"],
)
def test_labels_that_cannot_be_learnt_are_refused(
    lexicon: Lexicon, labels: list[object], complaint: str
) -> None:
    with pytest.raises(DataError, match=complaint) as error:
        Classification(TEXTS, labels, lexicon, model="ngrams")
    assert "secret" not in str(error.value)


def test_bad_parameters_are_refused(lexicon: Lexicon) -> None:
    with pytest.raises(ParameterError, match=r"Unknown model 'ngram'\. Did you mean 'ngrams'"):
        task(lexicon, "ngram")
    with pytest.raises(ParameterError, match="`runs` must be 1 or more"):
        task(lexicon, "ngrams", runs=0)
    with pytest.raises(ParameterError, match="`test` must be a share"):
        task(lexicon, "ngrams", test=1.0)
    with pytest.raises(DataError, match="20 texts or more"):
        Classification(TEXTS[:8], LABELS[:8], lexicon)


def test_without_scikit_learn_the_error_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "from malaprop.measure.classification import require_sklearn\nrequire_sklearn()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install scikit-learn matplotlib" in run.stderr


def test_accuracy_grows_with_texts(lexicon: Lexicon) -> None:
    scored = task(lexicon, "ngrams", runs=3)
    private = Privatizer(lexicon, TEM(epsilon=1.0), rng=seeded_rng(1))
    scores = scored.scores(private_copies(private, TEXTS, 3))
    assert list(scores.by_texts) == ["23", "45", "90"]  # each 8th would be too few
    assert scores.by_texts["90"] == scores.accuracy["clean"]
    assert scores.by_texts["23"].value < scores.by_texts["90"].value
    assert scored.unprotected.by_texts["90"] == scored.unprotected.accuracy["clean"]
    assert scored.trained == 90
