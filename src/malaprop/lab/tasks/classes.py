"""Tasks that name the class of each row of a data set."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

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
from malaprop.privacy.metrics import MetricSpace

# Rows with classes: the split, the training, and how often the model is right.


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


@dataclass(frozen=True, kw_only=True)
class ClassTask(Task):
    """A task that trains a model on private rows with classes, and tests it."""

    test: float = field(default=0.2, metadata={"help": "the share to test on, if not divided"})
    tested: str = field(
        default="private", metadata={"help": "whether the test rows are private or clean"}
    )
    limit: int | None = field(default=None, metadata={"help": "use at most so many rows"})

    measure = "accuracy"
    problem: ClassVar[type[LabelledRows]]
    """The rows, with what `corpora` returns as fields."""

    def __post_init__(self) -> None:
        check_options(self.test, self.tested, self.limit)

    @abstractmethod
    def corpora(self, data: Any, read: CorpusReader) -> Mapping[str, Corpus]:
        """Return the texts of the rows, by the names of the problem's fields."""

    def prepare(self, space: MetricSpace) -> LabelledRows:
        """Read the texts, and number the classes."""
        sets = self.sets()
        if len(sets) != 1:
            raise ParameterError(f"The task {self.name} takes one data set. Got {len(sets)}.")
        data = sets[0].rows(spread_over(len(sets[0]), self.limit))
        fields: dict[str, Any] = dict(self.corpora(data, CorpusReader(space)))
        return self.problem(
            items=len(data),
            covered=len(data) / len(sets[0]),
            classes=class_numbers(data.labels, len(data)),
            model=model_for(self.model, space),
            test=self.test,
            fixed=fixed_split(data.splits),
            tested=self.tested,
            **fields,
        )


# Classification of pairs of sentences: paraphrases, and entailment.


@dataclass(frozen=True, kw_only=True)
class PairsWithClasses(LabelledRows):
    """Pairs of sentences with classes."""

    first: Corpus
    second: Corpus

    def features(self, source: Source) -> tuple[Any, Any]:
        """Return the features of private pairs, and those to test on."""
        private = _compared(source.centroids(self.first), source.centroids(self.second))
        if self.tested == "private":
            return private, private
        table = source.space.vectors
        return private, _compared(self.first.means(table), self.second.means(table))


@dataclass(frozen=True, kw_only=True)
class PairClasses(ClassTask, name="classify-pairs"):
    """How often logistic regression on two centroids names the right class of a pair.

    As in SentEval, the features are |u − v| and u·v for each dimension of the centroids u and v.
    MRPC is about paraphrases, SICK about entailment.
    """

    model = "centroids"
    kind = TextPairs
    default = ("mrpc",)
    problem = PairsWithClasses

    def corpora(self, data: Any, read: CorpusReader) -> dict[str, Corpus]:
        """Return the first and the second sentences."""
        return {"first": read(data.first), "second": read(data.second)}


def _compared(left: Floats, right: Floats) -> Floats:
    return np.hstack([np.abs(left - right), left * right])


# Classification of the texts of a data set: by centroids, or by words and pairs of words.


@dataclass(frozen=True, kw_only=True)
class TextsWithClasses(LabelledRows):
    """Texts with classes."""

    corpus: Corpus

    def features(self, source: Source) -> tuple[Any, Any]:
        """Return the private centroids, and those to test on."""
        private = source.centroids(self.corpus)
        if self.tested == "private":
            return private, private
        return private, self.corpus.means(source.space.vectors)


@dataclass(frozen=True, kw_only=True)
class TextsOfWords(TextsWithClasses):
    """Texts with classes, as words and pairs of words."""

    def features(self, source: Source) -> tuple[Any, Any]:
        """Return the n-grams of the private texts, and of those to test on."""
        private = self.model.features(source.texts(self.corpus))
        if self.tested == "private":
            return private, private
        return private, self.model.features(self.corpus.texts)


@dataclass(frozen=True, kw_only=True)
class _TextClasses(ClassTask):
    kind = LabelledTexts
    default = ("mr",)

    def corpora(self, data: Any, read: CorpusReader) -> dict[str, Corpus]:
        """Return the texts."""
        return {"corpus": read(data.texts)}


@dataclass(frozen=True, kw_only=True)
class CentroidClasses(_TextClasses, name="classify"):
    """How often logistic regression on the centroids of private vectors names the right class.

    It is trained on private texts, and tested on private ones or, with `tested="clean"`, on clean
    ones. A set that its authors divided is divided as they did; others are split at random.
    """

    model = "centroids"
    problem = TextsWithClasses


@dataclass(frozen=True, kw_only=True)
class TextClasses(_TextClasses, name="classify-text"):
    """How often a linear model of words and pairs of words names the right class.

    That is what fastText does without subwords. It needs private texts, so channels draw words;
    vectors play no part.
    """

    model = "ngrams"
    problem = TextsOfWords
