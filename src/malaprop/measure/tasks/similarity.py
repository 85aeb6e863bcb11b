"""Word similarity: do cosines rank pairs of words as people do?"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids
from malaprop.core.space import MetricSpace
from malaprop.datasets.values import WordPairs
from malaprop.measure.tasking.base import Problem, Task
from malaprop.measure.tasking.correlations import cosines, pearson, spearman
from malaprop.measure.tasking.known_words import known_rows
from malaprop.measure.tasking.sources import Source


@dataclass(frozen=True, kw_only=True)
class WordSimilarity(Task, name="similarity"):
    """Spearman's correlation of the cosines of pairs of words with people's scores.

    Pairs of several sets are ranked together, as nadp-2023 does; the scores of each set are first
    brought to 0 … 1, because the sets have different scales. `raw` ranks them as they stand. Each
    set's own correlation is in `measures`, by its name.
    """

    raw: bool = field(default=False, metadata={"help": "rank scores of different scales together"})

    measure = "spearman"
    kind = WordPairs
    default = ("men", "simlex", "simverb")

    def prepare(self, space: MetricSpace) -> "RatedPairs":
        """Look up the words; pairs with a word that the lexicon lacks are left out."""
        sets: tuple[WordPairs, ...] = self.sets()
        pairs = [pair for data in sets for pair in zip(data.first, data.second, strict=True)]
        places, ids = known_rows(space, pairs, "pairs of words")
        scores = np.concatenate([_scaled(data.scores, self.raw) for data in sets])
        names = np.repeat([data.name for data in sets], [len(data) for data in sets])
        return RatedPairs(
            items=len(places),
            covered=len(places) / len(pairs),
            ids=np.array(ids),
            scores=scores[places],
            names=tuple(names[places].tolist()),
        )


def _scaled(scores: tuple[float, ...], raw: bool) -> Floats:
    values = np.array(scores)
    spread = float(np.ptp(values))
    return values if raw or not spread else (values - values.min()) / spread


@dataclass(frozen=True, kw_only=True)
class RatedPairs(Problem):
    """Pairs of words that the lexicon has, with their scores."""

    ids: Ids
    scores: Floats
    names: tuple[str, ...]

    def score(self, source: Source, rng: Generator) -> Mapping[str, float]:
        """Return both correlations over all pairs, and Spearman's of each set."""
        similarities = cosines(source.vectors(self.ids[:, 0]), source.vectors(self.ids[:, 1]))
        whole = {
            "spearman": spearman(similarities, self.scores),
            "pearson": pearson(similarities, self.scores),
        }
        names = np.array(self.names)
        alone = {
            name: spearman(similarities[names == name], self.scores[names == name])
            for name in dict.fromkeys(self.names)
        }
        return whole | alone
