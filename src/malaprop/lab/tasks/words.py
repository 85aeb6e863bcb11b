"""Odd-man-out, and the sentiment of words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator

from malaprop.lab.datasets.readers import LabelledTexts, Puzzles
from malaprop.lab.tasks import Problem, Task
from malaprop.lab.tasks.classes import check_options, shares_right
from malaprop.lab.tasks.sources import Source
from malaprop.measure.classification import class_numbers, random_splits, require_sklearn, trained
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.errors import DataError, ParameterError, require_whole
from malaprop.privacy.metrics import MetricSpace

# The ids of the words of a data set, for those rows whose words the lexicon has.


def index_of(space: MetricSpace) -> Mapping[str, int]:
    """Return the ids of a lexicon's words; capitals do not count, but for words that differ so."""
    exact = {word: number for number, word in enumerate(space.words)}
    folded = {word.lower(): number for word, number in reversed(exact.items())}
    return folded | exact


def known_id(index: Mapping[str, int], word: str) -> int:
    """Return the id of a word, whatever its capitals; -1 if the lexicon lacks it."""
    return index.get(word, index.get(word.lower(), -1))


def known_rows(
    space: MetricSpace, rows: Iterable[Sequence[str]], what: str
) -> tuple[list[int], list[Ids]]:
    """Return the places of the rows whose words are all in the lexicon, and their ids."""
    index = index_of(space)
    places, ids = [], []
    for place, words in enumerate(rows):
        known = [known_id(index, word) for word in words]
        if min(known) >= 0:
            places.append(place)
            ids.append(np.array(known, dtype=np.int64))
    if not places:
        raise DataError(f"The lexicon has the words of none of the {what}: use another lexicon.")
    return places, ids


# Odd-man-out: which of some words does not belong with the others?


@dataclass(frozen=True, kw_only=True)
class OddManOut(Task, name="odd-man-out"):
    """The share of puzzles whose odd word is found.

    The odd word is the one without which the mean cosine of all pairs is highest (nadp-2023,
    Appendix A). Words that the lexicon lacks are left out of a puzzle; it counts if the odd word
    and at least `least` others are left.
    """

    least: int = field(default=4, metadata={"help": "how many words must belong together"})

    measure = "accuracy"
    kind = Puzzles
    default = ("odd-8-8-8", "wikisem500")

    def __post_init__(self) -> None:
        require_whole(self, "least", 2)

    def prepare(self, space: MetricSpace) -> "KnownPuzzles":
        """Look up the words."""
        index = index_of(space)
        rows = [
            [known_id(index, word) for word in (odd, *members)]
            for data in self.sets()
            for members, odd in zip(data.members, data.odd, strict=True)
        ]
        known = [
            np.array([word for word in row if word >= 0], dtype=np.int64)
            for row in rows
            if row[0] >= 0
        ]
        puzzles = tuple(ids for ids in known if len(ids) > self.least)
        if not puzzles:
            raise DataError("The lexicon has the words of none of the puzzles: use another one.")
        share = len(puzzles) / len(rows)
        return KnownPuzzles(items=len(puzzles), covered=share, puzzles=puzzles)


@dataclass(frozen=True, kw_only=True)
class KnownPuzzles(Problem):
    """Puzzles by the ids of their words, the odd one first."""

    puzzles: tuple[Ids, ...]

    @property
    def majority(self) -> float:
        """The share that a guess solves: no answer is commoner than another."""
        return float(np.mean([1.0 / len(puzzle) for puzzle in self.puzzles]))

    def score(self, source: Source, rng: Generator) -> Mapping[str, float]:
        """Return the share of puzzles that are solved."""
        vectors = source.vectors(np.concatenate(self.puzzles))
        ends = np.cumsum([len(puzzle) for puzzle in self.puzzles])[:-1]
        solved = [_solved(words) for words in np.split(vectors, ends)]
        return {"accuracy": float(np.mean(solved))}


def _solved(vectors: Floats) -> bool:
    """Return whether leaving out the first word leaves the most similar ones, and no other does."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = vectors / np.where(lengths > 0, lengths, 1.0)
    near = units @ units.T
    # Leaving a word out takes away its cosines: the sum of the others is highest where its own
    # is lowest. All words leave as many pairs.
    own = near.sum(axis=1) - near.diagonal()
    return bool(own[0] < own[1:].min())


# Sentiment of single words: can a linear model tell praise from blame?


@dataclass(frozen=True, kw_only=True)
class SentimentWords(Task, name="sentiment-words"):
    """How often a linear SVM on word vectors tells positive from negative words (privemb-2021).

    Both lists are cut to the same length, at random in each split. `measures` has the area under
    the ROC curve, too.
    """

    test: float = field(default=0.2, metadata={"help": "the share to test on"})

    measure = "accuracy"
    model = "linear SVM"
    kind = LabelledTexts
    default = ("opinion-words",)

    def __post_init__(self) -> None:
        check_options(self.test, "private", None)

    def prepare(self, space: MetricSpace) -> "WordsWithClasses":
        """Look up the words; those that the lexicon lacks are left out."""
        require_sklearn()
        sets: tuple[LabelledTexts, ...] = self.sets()
        words = [word for data in sets for word in data.texts]
        labels = [label for data in sets for label in data.labels]
        places, ids = known_rows(space, [(word,) for word in words], "words")
        classes = class_numbers([labels[place] for place in places], len(places))
        if classes.max() != 1:
            raise ParameterError(f"The task {self.name} is for two labels.")
        return WordsWithClasses(
            items=2 * int(np.bincount(classes).min()),
            covered=len(places) / len(words),
            ids=np.concatenate(ids),
            classes=classes,
            test=self.test,
        )


@dataclass(frozen=True, kw_only=True)
class WordsWithClasses(Problem):
    """Words of two classes."""

    ids: Ids
    classes: Ids
    test: float

    @property
    def majority(self) -> float:
        """One half: there are as many words of either class."""
        return 0.5

    @property
    def divided(self) -> bool:
        """The words, and the split, are drawn."""
        return True

    @property
    def shared(self) -> float:
        """The size of the test part over that of the training part."""
        return self.test / (1.0 - self.test)

    def score(self, source: Source, rng: Generator) -> Mapping[str, float]:
        """Train on as many words of either class; return accuracy and area under the curve."""
        from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]
        from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]
        from sklearn.svm import LinearSVC  # type: ignore[import-untyped]

        size = self.items // 2
        chosen = np.concatenate(
            [rng.permutation(np.flatnonzero(self.classes == each))[:size] for each in (0, 1)]
        )
        classes, rows = self.classes[chosen], source.vectors(self.ids[chosen])
        split = random_splits(classes, self.test, 1, rng)[0]
        steps = (StandardScaler(), LinearSVC(C=0.01, dual=False))
        machine = trained(rows[split.train], classes[split.train], *steps)
        truth = classes[split.test]
        scores = machine.decision_function(rows[split.test])
        return shares_right((scores > 0).astype(np.int64), truth) | {
            "auc": float(roc_auc_score(truth, scores))
        }
