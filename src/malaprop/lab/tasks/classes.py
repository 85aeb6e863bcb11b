"""Tasks that name the class of each row of a data set."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.random import Generator

from malaprop.lab.datasets.readers import LabelledTexts, TextPairs
from malaprop.lab.tasks import Problem, Task
from malaprop.lab.tasks.sources import Corpus, CorpusReader, Source
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.classification import (
    Split,
    TextModel,
    class_numbers,
    model_named,
    random_splits,
)
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.errors import DataError, ParameterError
from malaprop.privacy.mechanism import option
from malaprop.privacy.metrics import MetricSpace

Features = Callable[[Source | None], Any]
"""Returns the features of all rows: private ones of a source, or clean ones without it."""
_TEST = "test"  # the part of a divided set to test on; a model is trained on all others


@dataclass(frozen=True, kw_only=True)
class LabelledRows(Problem):
    """Rows with classes, divided by the data set or at random."""

    classes: Ids
    """The class of each row: the place of its label among all labels in order."""
    model: TextModel
    features: Features
    test: float
    """The share of rows to test on, in a random split."""


def shares_on(
    split: Split, model: TextModel, classes: Ids, private: Any, tested: Any
) -> dict[str, float]:
    """Train a model on the private rows of a split, and return `shares_right` on its tested ones.

    Columns of sparse rows that are 0 in all that is trained on are left out: a classifier has a
    weight for each column and class, and most hashed n-grams never occur.
    """
    train, test = private[split.train], tested[split.test]
    if not isinstance(train, np.ndarray):
        known = np.flatnonzero(train.getnnz(axis=0))
        train, test = train[:, known], test[:, known]
    (guesses,) = model.predictions(train, classes[split.train], test)
    return shares_right(guesses, classes[split.test])


@dataclass(frozen=True, kw_only=True)
class ClassTask(Task):
    """A task that trains a model on private rows with classes, and tests it.

    It is tested on private rows or, with `tested="clean"`, on clean ones. A set that its authors
    divided is divided as they did; others are split at random.
    """

    test: float = option(0.2, "the share to test on, if not divided")
    tested: str = option("private", "whether the test rows are private or clean")
    limit: int | None = option(None, "use at most so many rows")

    measure = "accuracy"

    def __post_init__(self) -> None:
        check_test_share(self.test)
        if self.tested not in ("private", "clean"):
            raise ParameterError(f"`tested` must be private or clean. Got {self.tested!r}.")
        if self.limit is not None and self.limit < 2:
            raise ParameterError(f"`limit` must be 2 or more. Got {self.limit!r}.")

    @abstractmethod
    def features(self, data: Any, space: MetricSpace, model: TextModel) -> Features:
        """Return what makes features of the rows of a data set."""

    def prepare(self, space: MetricSpace) -> LabelledRows:
        sets = self.sets()
        if len(sets) != 1:
            raise ParameterError(f"The task {self.name} takes one data set. Got {len(sets)}.")
        # Most files are sorted by label: spread over all, each label keeps its share.
        limit = min(len(sets[0]), self.limit or len(sets[0]))
        data = sets[0].rows([int(row) for row in np.linspace(0, len(sets[0]) - 1, limit)])
        classes = class_numbers(data.labels, len(data))
        model = model_named(self.model, cast(Lexicon, space))  # channels are bound to lexicons
        features = self.features(data, space, model)
        own = _own_split(data.splits)

        def score(source: Source, rng: Generator) -> Mapping[str, float]:
            split = own or random_splits(classes, self.test, 1, rng)[0]
            private = features(source)
            tested = private if self.tested == "private" else features(None)
            if private.shape[1] != tested.shape[1]:
                raise ParameterError(
                    "Private vectors of another dimension cannot be tested on clean ones: leave "
                    "out `tested`."
                )
            return shares_on(split, model, classes, private, tested)

        trained, tested = (own.train, own.test) if own else (slice(None), slice(None))
        commonest = np.bincount(classes[trained]).argmax()
        return LabelledRows(
            score=score,
            items=len(data),
            covered=len(data) / len(sets[0]),
            majority=float(np.mean(classes[tested] == commonest)),
            divided=own is None,
            shared=self.test / (1.0 - self.test) if own is None else 0.0,
            classes=classes,
            model=model,
            features=features,
            test=self.test,
        )


@dataclass(frozen=True, kw_only=True)
class PairClasses(ClassTask, name="classify-pairs"):
    """How often logistic regression on two centroids names the right class of a pair.

    As in SentEval, the features are |u − v| and u·v for each dimension of the centroids u and v.
    MRPC is about paraphrases, SICK about entailment.
    """

    model = "centroids"
    kind = TextPairs
    default = ("mrpc",)

    def features(self, data: Any, space: MetricSpace, model: TextModel) -> Features:
        read = CorpusReader(space)
        sides = read(data.first), read(data.second)

        def compared(source: Source | None) -> Floats:
            left, right = (_centroids(source, each, space) for each in sides)
            return np.hstack([np.abs(left - right), left * right])

        return compared


@dataclass(frozen=True, kw_only=True)
class CentroidClasses(ClassTask, name="classify"):
    """How often logistic regression on the centroids of private vectors names the right class."""

    model = "centroids"
    kind = LabelledTexts
    default = ("mr",)

    def features(self, data: Any, space: MetricSpace, model: TextModel) -> Features:
        corpus = CorpusReader(space)(data.texts)
        return lambda source: _centroids(source, corpus, space)


@dataclass(frozen=True, kw_only=True)
class TextClasses(ClassTask, name="classify-text"):
    """How often a linear model of words and pairs of words names the right class.

    That is what fastText does without subwords. It needs private texts, so channels draw words;
    vectors play no part.
    """

    model = "ngrams"
    kind = LabelledTexts
    default = ("mr",)

    def features(self, data: Any, space: MetricSpace, model: TextModel) -> Features:
        corpus = CorpusReader(space)(data.texts)
        return lambda source: model.features(source.texts(corpus) if source else corpus.texts)


def _centroids(source: Source | None, corpus: Corpus, space: MetricSpace) -> Floats:
    return source.centroids(corpus) if source else corpus.means(space.vectors)


def check_test_share(test: float) -> None:
    """Refuse a share of rows to test on that leaves none on either side."""
    if not 0.0 < test < 1.0:
        raise ParameterError(f"`test` must be a share between 0 and 1. Got {test!r}.")


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


def _own_split(splits: Sequence[str]) -> Split | None:
    """Return the data set's own split: what is called test, and all the rest; None without one."""
    if not splits:
        return None
    tested = np.array(splits) == _TEST
    if not tested.any() or tested.all():
        raise DataError("A divided data set needs a part `test`, and another one to train on.")
    return Split(train=np.flatnonzero(~tested), test=np.flatnonzero(tested))
