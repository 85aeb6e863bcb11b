"""Classification of pairs of sentences: paraphrases, and entailment."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.datasets.values import TextPairs
from malaprop.measure.tasking.classes import ClassTask
from malaprop.measure.tasking.corpus import Corpus, CorpusReader
from malaprop.measure.tasking.labelled import LabelledRows
from malaprop.measure.tasking.sources import Source


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
