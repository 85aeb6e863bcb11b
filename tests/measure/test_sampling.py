"""The sample is drawn while texts are read."""

import weakref
from collections.abc import Iterator

import numpy as np
import pytest

from malaprop import DataError, ParameterError, seeded_rng
from malaprop.measure.evaluation_run import sampled


def test_each_text_has_the_same_chance_of_each_place() -> None:
    rng, texts = seeded_rng(1), [f"t{i}" for i in range(10)]
    counts = np.zeros((4, 10))
    for _ in range(10_000):
        for place, text in enumerate(sampled(texts, None, 4, rng).texts):
            counts[place, int(text[1:])] += 1
    # 40 counts with mean 1000 and a standard deviation of 30: six of these on either side.
    assert np.abs(counts - 1000).max() < 180


def test_the_others_are_not_kept() -> None:
    class Text(str):
        __slots__ = ("__weakref__",)

    alive: weakref.WeakSet[Text] = weakref.WeakSet()
    most = 0

    def texts() -> Iterator[str]:
        nonlocal most
        for number in range(500):
            text = Text(f"text {number}")
            alive.add(text)
            most = max(most, len(alive))
            yield text

    sample = sampled(texts(), iter(range(500)), 5, seeded_rng(1))
    assert (sample.given, len(sample.texts), sample.left_out) == (500, 5, 0)
    assert [f"text {label}" for label in sample.labels or ()] == sample.texts
    assert most < 10


def test_empty_texts_and_missing_labels_are_left_out() -> None:
    sample = sampled(["a", " ", "b", "c"], ["x", "x", None, "y"], 9, seeded_rng(1))
    assert (sorted(sample.texts), sample.given, sample.left_out) == (["a", "c"], 2, 2)


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        (["a"], ["x", "y"], r"a label for each text. Got 2 for 1\."),
        (["a", "b"], ["x"], r"a label for each text. Got 1 for 2\."),
        (iter(["a", "b"]), iter(["x"]), r"a label for each text\.$"),
        (["a"], [""], "No text has a label"),
        ([], None, "no texts"),
    ],
)
def test_what_cannot_be_sampled(texts: list[str], labels: list[str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        sampled(texts, labels, 3, seeded_rng(1))


def test_what_is_no_list_of_texts() -> None:
    for texts in ("one", [None]):
        with pytest.raises(ParameterError):
            sampled(texts, None, 3, seeded_rng(1))  # type: ignore[arg-type]
