"""What noise leaves of vectors, and what it hides, measured on public ones of the same kind."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids
from malaprop.core.errors import ParameterError
from malaprop.core.noise.free_vectors import FreeVectors, checked_vectors
from malaprop.core.randomness import checked_rng, secure_rng
from malaprop.core.space import blocks
from malaprop.measure.intervals import clopper_pearson
from malaprop.measure.searching import SURE

_PAIRS = 4096  # of vectors whose distances are compared
_DRAWS = 2048  # released vectors that an observer looks up
_CANDIDATES = 4096  # the most vectors in the observer's list
_SURE = 0.9  # two-sided, so that each end is one of 95 %


@dataclass(frozen=True, kw_only=True)
class VectorFigures:
    """What is left of the distances of public vectors, and how many of them are found again."""

    correlation: float
    """Pearson's correlation of distances before and after, over pairs drawn at random."""
    least_correlation: float
    """Its lower bound, with 95 % confidence."""
    inversion: float
    """How often the nearest of all vectors to a released one is the true one."""
    most_inversion: float
    """Its upper bound, with 95 % confidence."""
    candidates: int
    """How many vectors an observer chose from: among more, fewer are found."""
    distance: float
    """The median distance of two vectors."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values for JSON."""
        return vars(self).copy()


def sample_of(public: Any) -> Floats:
    """Return the different rows among public vectors, at most 4,096 spread evenly over them."""
    rows = checked_vectors(public)
    if len(rows) > _CANDIDATES:
        rows = rows[np.linspace(0, len(rows) - 1, _CANDIDATES).astype(np.int64)]
    rows = rows[np.sort(np.unique(rows, axis=0, return_index=True)[1])]
    if len(rows) < 2:
        raise ParameterError(
            "Figures of vectors need a sample of public vectors, at least 2 different ones."
        )
    return rows


def typical_distance(public: Any) -> float:
    """Return the median distance of two public vectors, over pairs drawn with a fixed seed.

    >>> typical_distance([[0.0, 0.0], [3.0, 4.0]])
    5.0
    """
    rows = sample_of(public)
    first, second = _pairs(len(rows), np.random.Generator(np.random.PCG64(0)))
    return float(np.median(np.linalg.norm(rows[first] - rows[second], axis=1)))


def vector_figures(free: FreeVectors, public: Any, rng: Generator | None = None) -> VectorFigures:
    """Release public vectors, and measure what is left of them and what can be found again.

    The observer takes the nearest of all vectors, in Euclidean distance and after the projection
    if there is one.

    >>> from malaprop import Laplace, seeded_rng
    >>> public = seeded_rng(1).normal(size=(500, 8))
    >>> figures = vector_figures(Laplace(epsilon=1000.0).for_vectors(8), public, seeded_rng(2))
    >>> round(figures.correlation, 2), round(figures.inversion, 2)
    (1.0, 1.0)
    """
    rng = secure_rng() if rng is None else checked_rng(rng)
    rows = sample_of(public)
    r, least = _correlation(free, rows, rng)
    hits = _recovered(free, rows, rng)
    return VectorFigures(
        correlation=r,
        least_correlation=least,
        inversion=hits / _DRAWS,
        most_inversion=float(clopper_pearson(hits, _DRAWS, _SURE)[1]),
        candidates=len(rows),
        distance=typical_distance(rows),
    )


def _pairs(size: int, rng: Generator) -> tuple[Ids, Ids]:
    """Draw pairs of different rows, each independently."""
    first = rng.integers(size, size=_PAIRS)
    second = rng.integers(size - 1, size=_PAIRS)
    return first, second + (second >= first)


def _correlation(free: FreeVectors, rows: Floats, rng: Generator) -> tuple[float, float]:
    """Return the correlation of distances, and its lower bound by Fisher's transformation."""
    first, second = _pairs(len(rows), rng)
    before = np.linalg.norm(rows[first] - rows[second], axis=1)
    after = np.empty(_PAIRS)
    for block in blocks(_PAIRS, row_cells=free.columns):
        ends = (free.release(rows[ids[block]], rng) for ids in (first, second))
        after[block] = np.linalg.norm(next(ends) - next(ends), axis=1)
    if np.ptp(before) <= 1e-9 * before.max():
        return math.nan, math.nan  # all are equally far apart: there is nothing to keep
    r = float(np.corrcoef(before, after)[0, 1])
    spread = SURE / math.sqrt(_PAIRS - 3)
    return r, math.tanh(math.atanh(min(r, 1.0 - 1e-15)) - spread)


def _recovered(free: FreeVectors, rows: Floats, rng: Generator) -> int:
    """Count released vectors of which the nearest candidate is the true one."""
    places = free.places(rows)
    half = np.einsum("ij,ij->i", places, places) / 2.0
    truth = rng.integers(len(rows), size=_DRAWS)
    hits = 0
    for block in blocks(_DRAWS, row_cells=max(free.columns, len(rows))):
        private = free.release(rows[truth[block]], rng)
        nearest = np.argmax(private @ places.T - half, axis=1)
        hits += int(np.count_nonzero(nearest == truth[block]))
    return hits
