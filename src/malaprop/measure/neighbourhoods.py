"""Figures about the neighbourhoods of words: how dense they are, and what noise leaves of
them.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.lexicon.lexicon import Lexicon, nearest_words
from malaprop.lexicon.search import NearestSearch
from malaprop.privacy.arrays import Floats, Ids, blocks
from malaprop.privacy.channel import Channel, VectorChannel
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.estimate import sample
from malaprop.privacy.metrics import MetricSpace
from malaprop.privacy.progress import Progress, report

_FEW = 50  # the words in the sparsest and in the densest regions


def nearest_other_words(space: MetricSpace, ids: Ids) -> tuple[Ids, Floats]:
    """Return the nearest other word of each of some words, and its distance."""
    nearest, distances = np.empty_like(ids), np.empty(len(ids))
    for block in blocks(len(ids), row_cells=len(space)):
        rows = space.distances(ids[block])
        rows[np.arange(len(rows)), ids[block]] = np.inf
        nearest[block], distances[block] = rows.argmin(axis=1), rows.min(axis=1)
    return nearest, distances


def nearest_distances(lexicon: MetricSpace) -> tuple[float, float, float]:
    """Return the 5th, 50th and 95th percentiles of the distance to the nearest other word.

    They are computed over up to 128 words, spread evenly over a lexicon of at least two.
    """
    _, distances = nearest_other_words(lexicon, sample(len(lexicon)))
    low, middle, high = np.percentile(distances, [5, 50, 95]).tolist()
    return low, middle, high


def skewness(values: Any) -> float:
    """Return Joanes and Gill's G₁, the bias-adjusted sample skewness, n/((n−1)(n−2))·Σ((x−x̄)/s)³.

    s is the standard deviation with n − 1. It describes the shape of a distribution and says
    nothing about privacy: a mechanism that releases half of the words in clear and hides the
    others has a skewness of 0. NaN for fewer than three values, or where all are equal.

    >>> round(skewness([1, 2, 3, 10]), 14)
    1.76363261480389
    """
    try:
        x = np.asarray(values, dtype=np.float64).ravel()
    except (TypeError, ValueError):  # whose message would quote the values
        raise ParameterError("The skewness is that of a list of numbers.") from None
    n = len(x)
    if n < 3 or (x == x[0]).all():
        return math.nan
    z = (x - x.mean()) / x.std(ddof=1)
    return float(n / ((n - 1) * (n - 2)) * (z**3).sum())


def normalised(space: MetricSpace, epsilon: float) -> dict[str, float]:
    """Return figures of ε that can be compared between lexicons and metrics."""
    _, nearest, _ = nearest_distances(space)
    return {
        "epsilon_times_median_nearest_distance": epsilon * nearest,
        "radius_of_a_factor_of_2": math.log(2.0) / epsilon,
        "radius_of_a_factor_of_10": math.log(10.0) / epsilon,
    }


def overlap(
    lexicon: MetricSpace,
    vectors: Any,
    m: int = 10,
    *,
    ids: Ids | None = None,
    progress: Progress | None = None,
) -> Floats:
    """Return how much of each word's neighbourhood its noisy vector still has (nadp-2023, §5.2).

    For word i with noisy vector `vectors[i]`, it is |A ∩ B| / |A ∪ B|, A and B being the `m` words
    nearest to its own and to its noisy vector, the word itself included. With `ids`, the vectors
    are those of these words. The paper takes this for the chance of finding the word. It describes;
    it is no guarantee, and no chance either.

    >>> from malaprop import Lexicon
    >>> line = Lexicon(["cold", "cool", "warm", "hot"], [[0.0], [1.0], [8.0], [9.0]])
    >>> overlap(line, [[0.2], [9.0], [8.0], [9.0]], m=2).tolist()
    [1.0, 0.0, 1.0, 1.0]
    """
    own = lexicon.vectors if ids is None else lexicon.vectors[ids]
    noisy = np.asarray(vectors, dtype=np.float32)
    if noisy.shape != own.shape:
        raise ParameterError(
            f"Overlap needs one noisy vector for each word, of shape {own.shape}. "
            f"Got {noisy.shape}."
        )
    if not 1 <= m <= len(lexicon):
        raise ParameterError(f"The 'm' parameter must lie between 1 and {len(lexicon)}. Got {m}.")
    search, shared = NearestSearch(lexicon.vectors), np.empty(len(noisy))
    for block in blocks(len(noisy), row_cells=len(lexicon)):
        before, after = search.nearest(own[block], m), search.nearest(noisy[block], m)
        common = (before[:, :, None] == after[:, None, :]).sum(axis=(1, 2))
        shared[block] = common / (2 * m - common)
        report(progress, block.stop, len(noisy))
    return shared


def overlap_of(
    channel: Channel,
    ids: Ids,
    rng: Generator,
    m: int = 10,
    *,
    progress: Progress | None = None,
) -> Floats:
    """Return the overlap of some words, from one draw of each: of noisy vectors, or of words.

    A mechanism that releases vectors of the lexicon's dimension is judged by those; any other by
    the vectors of the words that it draws.
    """
    space = channel.lexicon
    noisy = space.vectors[channel.substitute(ids, rng)]
    if isinstance(channel, VectorChannel):
        released = channel.release_words(ids, rng)
        if released.shape == noisy.shape:
            noisy = released.astype(np.float32)
    return overlap(space, noisy, min(m, len(space)), ids=ids, progress=progress)


@dataclass(frozen=True, kw_only=True)
class Density:
    """How unevenly words lie in space (mahalanobis-2020, Table 5), by distances to the nearest."""

    largest: float
    smallest: float
    """The smallest distance above 0, since words may share a vector; 0 if every word does."""
    sparsest: float
    """The mean over the 50 words whose nearest word is farthest."""
    densest: float
    """The mean over the 50 words whose nearest word is nearest."""
    median: float

    def to_dict(self) -> dict[str, float | None]:
        """Return the figures, with their ratios, for JSON; None instead of a division by 0."""
        return {
            **vars(self),
            "largest_over_smallest": self.largest / self.smallest if self.smallest else None,
            "sparsest_over_densest": self.sparsest / self.densest if self.densest else None,
        }


def density(lexicon: MetricSpace) -> Density:
    """Return how unevenly the words of a lexicon lie, by Euclidean distances of their vectors."""
    if len(lexicon) < 2:
        raise ParameterError("Density needs a lexicon of two words or more.")
    # A list of nearest words that the lexicon carries is one of Euclidean distances.
    space = lexicon.with_metric("euclidean") if isinstance(lexicon, Lexicon) else lexicon
    two, own = nearest_words(space, 2), np.arange(len(lexicon))
    other = np.where(two[:, 0] == own, two[:, 1], two[:, 0])
    vectors = np.asarray(lexicon.vectors, dtype=np.float64)
    ordered = np.sort(np.linalg.norm(vectors - vectors[other], axis=1))
    apart = ordered[ordered > 0.0]
    return Density(
        largest=float(ordered[-1]),
        smallest=float(apart[0]) if len(apart) else 0.0,
        sparsest=float(ordered[-_FEW:].mean()),
        densest=float(ordered[:_FEW].mean()),
        median=float(np.median(ordered)),
    )
