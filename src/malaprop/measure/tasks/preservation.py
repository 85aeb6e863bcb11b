"""Preservation: are distances and inner products of vectors still what they were?"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats
from malaprop.core.errors import ParameterError
from malaprop.core.parameters import require_whole
from malaprop.core.space import MetricSpace
from malaprop.measure.tasking.base import Problem, Task
from malaprop.measure.tasking.correlations import pearson, spearman
from malaprop.measure.tasking.sources import Source


@dataclass(frozen=True, kw_only=True)
class Preservation(Task, name="preservation"):
    """How well distances between private vectors give those between the words (privemb-2021).

    Words are drawn at random, `count` on either side, and all pairs are compared. The score is
    Spearman's correlation of the distances. `measures` has Pearson's, the mean absolute errors of
    distances and of inner products, and the errors of the best constant: a constant often beats a
    noisy distance. The words are the same in all repetitions, as in the paper, if `vary` is
    `noise`; they count as the split.
    """

    count: int = field(default=100, metadata={"help": "how many words on either side"})

    measure = "distance_spearman"
    kind = object

    def __post_init__(self) -> None:
        require_whole(self, "count", 2)

    def prepare(self, space: MetricSpace) -> "WordsToCompare":
        """Check that the lexicon has enough words."""
        if len(space) < 2 * self.count:
            raise ParameterError(
                f"`count` must be at most half of the lexicon's {len(space):,} words. "
                f"Got {self.count}."
            )
        return WordsToCompare(items=self.count**2, count=self.count)


@dataclass(frozen=True, kw_only=True)
class WordsToCompare(Problem):
    """Pairs of random words."""

    count: int

    @property
    def divided(self) -> bool:
        """The words are drawn."""
        return True

    def score(self, source: Source, rng: Generator) -> Mapping[str, float]:
        """Return correlations and absolute errors over all pairs."""
        ids = rng.choice(len(source.space), size=2 * self.count, replace=False)
        true = np.asarray(source.space.vectors[ids], dtype=np.float64)
        private = source.vectors(ids)
        measures: dict[str, float] = {}
        for name, of in (("distance", _distances), ("product", _products)):
            was, became = of(true, self.count), of(private, self.count)
            measures |= {
                f"{name}_spearman": spearman(became, was),
                f"{name}_pearson": pearson(became, was),
                f"{name}_error": float(np.abs(became - was).mean()),
                f"{name}_error_of_constant": float(np.abs(was - np.median(was)).mean()),
            }
        return measures


def _distances(rows: Floats, count: int) -> Floats:
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(rows[:count], rows[count:])).ravel()


def _products(rows: Floats, count: int) -> Floats:
    return np.asarray(rows[:count] @ rows[count:].T).ravel()
