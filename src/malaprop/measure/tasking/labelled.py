"""Rows with classes: the split, the training, and how often the model is right."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Ids
from malaprop.core.errors import DataError, ParameterError
from malaprop.core.space import MetricSpace
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.tasking.base import Problem
from malaprop.measure.tasking.sources import Source
from malaprop.measure.tasks.models import TextModel, model_named
from malaprop.measure.tasks.splits import Split, random_splits


def model_for(name: str, space: MetricSpace) -> TextModel:
    """Return a model for a lexicon."""
    return model_named(name, cast(Lexicon, space))  # channels are bound to lexicons


TEST = "test"
"""The part of a divided set to test on; a model is trained on all others."""


@dataclass(frozen=True, kw_only=True)
class LabelledRows(Problem):
    """Rows with classes, divided by the data set or at random."""

    classes: Ids
    """The class of each row: the place of its label among all labels in order."""
    model: TextModel
    test: float
    """The share of rows to test on, in a random split."""
    fixed: Split | None
    tested: str
    """Whether the rows to test on are `private` or `clean`."""

    @property
    def divided(self) -> bool:
        """Whether a split is drawn."""
        return self.fixed is None

    @property
    def shared(self) -> float:
        """The size of the test part over that of the training part."""
        return self.test / (1.0 - self.test) if self.fixed is None else 0.0

    @property
    def majority(self) -> float:
        """The share of the class that is commonest in the training part."""
        split = self.fixed or Split(train=_all(self.classes), test=_all(self.classes))
        commonest = np.bincount(self.classes[split.train]).argmax()
        return float(np.mean(self.classes[split.test] == commonest))

    @abstractmethod
    def features(self, source: Source) -> tuple[Any, Any]:
        """Return private rows to train on, and rows to test on, private or clean."""

    def score(self, source: Source, rng: Generator) -> Mapping[str, float]:
        """Train on the private rows of the training part; return how often the model is right."""
        split = self.fixed or random_splits(self.classes, self.test, 1, rng)[0]
        private, tested = self.features(source)
        if private.shape[1] != tested.shape[1]:
            raise ParameterError(
                "Private vectors of another dimension cannot be tested on clean ones: leave out "
                "`tested`."
            )
        train, test = with_known_columns(private[split.train], tested[split.test])
        (guesses,) = self.model.predictions(train, self.classes[split.train], test)
        return shares_right(guesses, self.classes[split.test])


def with_known_columns(train: Any, test: Any) -> tuple[Any, Any]:
    """Leave out the columns of sparse rows that are 0 in all of `train`: nothing is learnt of them.

    A classifier has a weight for each column and class; most hashed n-grams never occur.
    """
    if isinstance(train, np.ndarray):
        return train, test
    known = np.flatnonzero(train.getnnz(axis=0))
    return train[:, known], test[:, known]


def _all(rows: Ids) -> Ids:
    return np.arange(len(rows))


def shares_right(guesses: Ids, truth: Ids) -> dict[str, float]:
    """Return accuracy, and the mean over classes; for two also precision, recall and F1.

    The positive class is the later one in order: `pos`, `spam`, `1`.

    >>> shares_right(np.array([1, 1, 0, 0]), np.array([1, 0, 0, 0]))["accuracy"]
    0.75
    """
    right = guesses == truth
    of_classes = [float(right[truth == each].mean()) for each in np.unique(truth)]
    measures = {"accuracy": float(right.mean()), "balanced_accuracy": float(np.mean(of_classes))}
    if max(truth.max(), guesses.max()) > 1:
        return measures
    hits = int((right & (truth == 1)).sum())
    named, there = int(guesses.sum()), int(truth.sum())
    return measures | {
        "precision": hits / named if named else 0.0,
        "recall": hits / there if there else 0.0,
        "f1": 2 * hits / (named + there) if named + there else 0.0,
    }


def fixed_split(splits: Sequence[str]) -> Split | None:
    """Return the data set's own split: what is called test, and all the rest; None without one."""
    if not splits:
        return None
    tested = np.array(splits) == TEST
    if not tested.any() or tested.all():
        raise DataError("A divided data set needs a part `test`, and another one to train on.")
    return Split(train=np.flatnonzero(~tested), test=np.flatnonzero(tested))


def spread_over(count: int, limit: int | None) -> list[int]:
    """Return at most `limit` places, spread evenly over all.

    Most files are sorted by label, so that all labels keep their share.

    >>> spread_over(10, 3)
    [0, 4, 9]
    """
    if limit is None or limit >= count:
        return list(range(count))
    return [int(place) for place in np.linspace(0, count - 1, limit)]


def check_options(test: float, tested: str, limit: int | None) -> None:
    """Refuse options that no classifier can work with."""
    if not 0.0 < test < 1.0:
        raise ParameterError(f"`test` must be a share between 0 and 1. Got {test!r}.")
    if tested not in ("private", "clean"):
        raise ParameterError(f"`tested` must be private or clean. Got {tested!r}.")
    if limit is not None and limit < 2:
        raise ParameterError(f"`limit` must be 2 or more. Got {limit!r}.")
