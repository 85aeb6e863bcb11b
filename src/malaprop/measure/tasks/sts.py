"""Textual similarity: do the cosines of centroids rank pairs of sentences as people do?"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats
from malaprop.core.space import MetricSpace
from malaprop.datasets.values import TextPairs
from malaprop.measure.tasking.base import Problem, Task
from malaprop.measure.tasking.corpus import Corpus, CorpusReader
from malaprop.measure.tasking.correlations import cosines, official, pearson, spearman
from malaprop.measure.tasking.sources import Source


@dataclass(frozen=True, kw_only=True)
class TextSimilarity(Task, name="sts"):
    """Correlations of the cosines of centroids with people's scores of pairs of sentences.

    The score is Pearson's correlation over all pairs. `measures` has Spearman's, nadp-2023's
    `official` (geometric means of both within each group of pairs, weighted by the group's size),
    and the means over groups weighted by size, `pearson_groups` and `spearman_groups`, as SentEval
    computes them for STS14. Words that the lexicon lacks count as what they map to.
    """

    part: str | None = field(
        default="test", metadata={"help": "the part of a divided set that is scored"}
    )

    measure = "pearson"
    kind = TextPairs
    default = ("stsb",)

    def prepare(self, space: MetricSpace) -> "RatedSentences":
        """Read the sentences."""
        first: list[str] = []
        second: list[str] = []
        scores: list[float] = []
        groups: list[str] = []
        for data in self.sets():
            part = data.part(self.part) if self.part and data.splits else data
            first += part.first
            second += part.second
            scores += part.scores
            groups += part.groups or [data.name] * len(part)
        read = CorpusReader(space)
        return RatedSentences(
            items=len(scores),
            first=read(first),
            second=read(second),
            scores=np.array(scores),
            groups=tuple(groups),
        )


@dataclass(frozen=True, kw_only=True)
class RatedSentences(Problem):
    """Pairs of sentences with their scores."""

    first: Corpus
    second: Corpus
    scores: Floats
    groups: tuple[str, ...]

    def score(self, source: Source, rng: Generator) -> Mapping[str, float]:
        """Return the correlations over all pairs, and within the groups."""
        similarities = cosines(source.centroids(self.first), source.centroids(self.second))
        groups, names = [], np.array(self.groups)
        for name in dict.fromkeys(self.groups):
            rows = names == name
            values = similarities[rows], self.scores[rows]
            groups.append((int(rows.sum()), pearson(*values), spearman(*values)))
        sizes, by_pearson, by_spearman = np.array(groups).T
        return {
            "pearson": pearson(similarities, self.scores),
            "spearman": spearman(similarities, self.scores),
            "official": official(groups),
            "pearson_groups": float(np.average(by_pearson, weights=sizes)),
            "spearman_groups": float(np.average(by_spearman, weights=sizes)),
        }
