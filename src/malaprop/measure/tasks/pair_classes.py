"""Classification of pairs of sentences: paraphrases, and entailment."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.core.errors import ParameterError
from malaprop.core.space import MetricSpace
from malaprop.datasets.values import TextPairs
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
class PairClasses(Task, name="classify-pairs"):
    """How often logistic regression on two centroids names the right class of a pair.

    As in SentEval, the features are |u − v| and u·v for each dimension of the centroids u and v.
    MRPC is about paraphrases, SICK about entailment.
    """

    test: float = field(default=0.2, metadata={"help": "the share to test on, if not divided"})
    tested: str = field(
        default="private", metadata={"help": "whether the test pairs are private or clean"}
    )
    limit: int | None = field(default=None, metadata={"help": "use at most so many pairs"})

    measure = "accuracy"
    model = "centroids"
    kind = TextPairs
    default = ("mrpc",)

    def __post_init__(self) -> None:
        check_options(self.test, self.tested, self.limit)

    def prepare(self, space: MetricSpace) -> "PairsWithClasses":
        """Read the sentences, and number the classes."""
        sets: tuple[TextPairs, ...] = self.sets()
        if len(sets) != 1:
            raise ParameterError(f"The task {self.name} takes one data set. Got {len(sets)}.")
        data = sets[0].rows(spread_over(len(sets[0]), self.limit))
        read = CorpusReader(space)
        return PairsWithClasses(
            items=len(data),
            covered=len(data) / len(sets[0]),
            classes=class_numbers(data.labels, len(data)),
            model=model_for(self.model, space),
            test=self.test,
            fixed=fixed_split(data.splits),
            tested=self.tested,
            first=read(data.first),
            second=read(data.second),
        )


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


def _compared(left: Floats, right: Floats) -> Floats:
    return np.hstack([np.abs(left - right), left * right])
