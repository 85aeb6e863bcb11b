"""Figures about lexicons and about distributions, computed from public data alone."""

import math
from typing import Any

import numpy as np

from malaprop.core.errors import ParameterError
from malaprop.core.space import MetricSpace, blocks
from malaprop.pipeline.spreading import sample


def nearest_distances(lexicon: MetricSpace) -> tuple[float, float, float]:
    """Return the 5th, 50th and 95th percentiles of the distance to the nearest other word.

    They are computed over up to 128 words, spread evenly over a lexicon of at least two.
    """
    nearest = []
    ids = sample(len(lexicon))
    for block in blocks(len(ids), row_cells=len(lexicon)):
        rows = lexicon.distances(ids[block])
        rows[np.arange(len(rows)), ids[block]] = np.inf
        nearest.append(rows.min(axis=1))
    low, middle, high = np.percentile(np.concatenate(nearest), [5, 50, 95])
    return float(low), float(middle), float(high)


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
