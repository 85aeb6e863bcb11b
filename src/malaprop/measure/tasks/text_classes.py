"""Classification of the texts of a data set: by centroids, or by words and pairs of words."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from malaprop.core.errors import ParameterError
from malaprop.core.space import MetricSpace
from malaprop.datasets.values import LabelledTexts
from malaprop.measure.tasking.base import Task
from malaprop.measure.tasking.corpus import Corpus, CorpusReader
from malaprop.measure.tasking.labelled import (
    LabelledRows,
    check_options,
    fixed_split,
    model_for,
    spread_over,
)
from malaprop.measure.tasking.sources import Source
from malaprop.measure.tasks.splits import class_numbers


@dataclass(frozen=True, kw_only=True)
class _TextClasses(Task):
    test: float = field(default=0.2, metadata={"help": "the share to test on, if not divided"})
    tested: str = field(
        default="private", metadata={"help": "whether the test texts are private or clean"}
    )
    limit: int | None = field(default=None, metadata={"help": "use at most so many texts"})

    measure = "accuracy"
    kind = LabelledTexts
    problem: ClassVar[type["TextsWithClasses"]]

    def __post_init__(self) -> None:
        check_options(self.test, self.tested, self.limit)

    def prepare(self, space: MetricSpace) -> "TextsWithClasses":
        """Read the texts, and number the classes."""
        sets: tuple[LabelledTexts, ...] = self.sets()
        if len(sets) != 1:
            raise ParameterError(f"The task {self.name} takes one data set. Got {len(sets)}.")
        data = sets[0].rows(spread_over(len(sets[0]), self.limit))
        return self.problem(
            items=len(data),
            covered=len(data) / len(sets[0]),
            classes=class_numbers(data.labels, len(data)),
            model=model_for(self.model, space),
            test=self.test,
            fixed=fixed_split(data.splits),
            tested=self.tested,
            corpus=CorpusReader(space)(data.texts),
        )


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
class CentroidClasses(_TextClasses, name="classify"):
    """How often logistic regression on the centroids of private vectors names the right class.

    It is trained on private texts, and tested on private ones or, with `tested="clean"`, on clean
    ones. A set that its authors divided is divided as they did; others are split at random.
    """

    model = "centroids"
    default = ("mr",)
    problem = TextsWithClasses


@dataclass(frozen=True, kw_only=True)
class TextClasses(_TextClasses, name="classify-text"):
    """How often a linear model of words and pairs of words names the right class.

    That is what fastText does without subwords. It needs private texts, so channels draw words;
    vectors play no part.
    """

    model = "ngrams"
    default = ("mr",)
    problem = TextsOfWords
