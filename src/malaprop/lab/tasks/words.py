"""Odd-man-out, and the sentiment of words."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from malaprop.lab.datasets.readers import LabelledTexts, Puzzles
from malaprop.lab.tasks import Problem, Task
from malaprop.lab.tasks.classes import check_test_share, shares_right
from malaprop.lab.tasks.sources import Source
from malaprop.measure.classification import class_numbers, random_splits, require_sklearn, trained
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.errors import DataError, ParameterError, require_whole
from malaprop.privacy.mechanism import option
from malaprop.privacy.metrics import MetricSpace


@dataclass(frozen=True, kw_only=True)
class OddManOut(Task, name="odd-man-out"):
    """The share of puzzles whose odd word is found.

    The odd word is the one without which the mean cosine of all pairs is highest (nadp-2023,
    Appendix A). Words that the lexicon lacks are left out of a puzzle; it counts if the odd word
    and at least `least` others are left.
    """

    least: int = option(4, "how many words must belong together")

    measure = "accuracy"
    kind = Puzzles
    default = ("odd-8-8-8", "wikisem500")

    def __post_init__(self) -> None:
        require_whole(self, "least", 2)

    def prepare(self, space: MetricSpace) -> Problem:
        id_of = _lookup(space)
        rows = [
            [id_of(word) for word in (odd, *members)]  # the odd one comes first
            for data in self.sets()
            for members, odd in zip(data.members, data.odd, strict=True)
        ]
        known = [[word for word in row if word >= 0] for row in rows if row[0] >= 0]
        puzzles = [np.array(ids, dtype=np.int64) for ids in known if len(ids) > self.least]
        if not puzzles:
            raise DataError("The lexicon has the words of none of the puzzles: use another one.")
        words, sizes = np.concatenate(puzzles), [len(puzzle) for puzzle in puzzles]

        def score(source: Source, rng: Generator) -> Mapping[str, float]:
            each = np.split(source.vectors(words), np.cumsum(sizes)[:-1])
            return {"accuracy": float(np.mean([_solved(vectors) for vectors in each]))}

        return Problem(
            score=score,
            items=len(puzzles),
            covered=len(puzzles) / len(rows),
            # No answer is commoner than another: this is the share that a guess solves.
            majority=float(np.mean([1.0 / size for size in sizes])),
        )


def _solved(vectors: Floats) -> bool:
    """Return whether leaving out the first word leaves the most similar ones, and no other does."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = vectors / np.where(lengths > 0, lengths, 1.0)
    near = units @ units.T
    # Leaving a word out takes away its cosines: the sum of the others is highest where its own
    # is lowest. All words leave as many pairs.
    own = near.sum(axis=1) - near.diagonal()
    return bool(own[0] < own[1:].min())


@dataclass(frozen=True, kw_only=True)
class SentimentWords(Task, name="sentiment-words"):
    """How often a linear SVM on word vectors tells positive from negative words (privemb-2021).

    Words that the lexicon lacks are left out. Both lists are cut to the same length, at random in
    each split. `measures` has the area under
    the ROC curve, too.
    """

    test: float = option(0.2, "the share to test on")

    measure = "accuracy"
    model = "linear SVM"
    kind = LabelledTexts
    default = ("opinion-words",)

    def __post_init__(self) -> None:
        check_test_share(self.test)

    def prepare(self, space: MetricSpace) -> Problem:
        require_sklearn()
        sets: tuple[LabelledTexts, ...] = self.sets()
        words = [word for data in sets for word in data.texts]
        labels = [label for data in sets for label in data.labels]
        places, rows = known_rows(space, [(word,) for word in words], "words")
        ids = np.concatenate(rows)
        classes = class_numbers([labels[place] for place in places], len(places))
        if classes.max() != 1:
            raise ParameterError(f"The task {self.name} is for two labels.")
        size = int(np.bincount(classes).min())

        def score(source: Source, rng: Generator) -> Mapping[str, float]:
            each = [np.flatnonzero(classes == label) for label in (0, 1)]
            chosen = np.concatenate([rng.permutation(places)[:size] for places in each])
            split = random_splits(classes[chosen], self.test, 1, rng)[0]
            return _separated(source.vectors(ids[chosen]), classes[chosen], split.train, split.test)

        return Problem(
            score=score,
            items=2 * size,
            covered=len(places) / len(words),
            majority=0.5,  # there are as many words of either class
            divided=True,
            shared=self.test / (1.0 - self.test),
        )


def _separated(rows: Floats, classes: Ids, train: Ids, test: Ids) -> Mapping[str, float]:
    from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]
    from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]
    from sklearn.svm import LinearSVC  # type: ignore[import-untyped]

    steps = (StandardScaler(), LinearSVC(C=0.01, dual=False))
    scores = trained(rows[train], classes[train], *steps).decision_function(rows[test])
    measures = shares_right((scores > 0).astype(np.int64), classes[test])
    return measures | {"auc": float(roc_auc_score(classes[test], scores))}


def known_rows(
    space: MetricSpace, rows: Iterable[Sequence[str]], what: str
) -> tuple[list[int], list[Ids]]:
    """Return the places of the rows whose words are all in the lexicon, and their ids."""
    id_of = _lookup(space)
    ids = [np.array([id_of(word) for word in words], dtype=np.int64) for words in rows]
    places = [place for place, row in enumerate(ids) if row.min() >= 0]
    if not places:
        raise DataError(f"The lexicon has the words of none of the {what}: use another lexicon.")
    return places, [ids[place] for place in places]


def _lookup(space: MetricSpace) -> Callable[[str], int]:
    """Return what finds the id of a word, -1 if the lexicon lacks it.

    Capitals do not count, but for words that differ in nothing else.
    """
    exact = {word: number for number, word in enumerate(space.words)}
    index = {word.lower(): number for word, number in reversed(exact.items())} | exact
    return lambda word: index.get(word, index.get(word.lower(), -1))
