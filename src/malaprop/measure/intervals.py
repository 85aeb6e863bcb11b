"""Confidence intervals for shares and means."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats
from malaprop.core.space import blocks

LEVEL = 0.95
_RESAMPLES = 2_000


def clopper_pearson(successes: Any, trials: Any, level: float = LEVEL) -> Floats:
    """Return exact intervals for the chance behind some numbers of successes: (…, 2).

    >>> clopper_pearson(0, 100).round(4).tolist()
    [0.0, 0.0362]
    """
    from scipy.stats import beta

    successes, trials = np.asarray(successes, np.float64), np.asarray(trials, np.float64)
    tail = (1.0 - level) / 2.0
    low = np.where(successes > 0, beta.ppf(tail, successes, trials - successes + 1), 0.0)
    high = np.where(successes < trials, beta.ppf(1 - tail, successes + 1, trials - successes), 1.0)
    return np.stack([low, high], axis=-1)


def bootstrap_interval(values: Floats, rng: Generator) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a mean; see `bootstrap_intervals`."""
    ((low, high),) = bootstrap_intervals(np.asarray(values, np.float64)[:, None], rng).tolist()
    return low, high


def bootstrap_intervals(values: Floats, rng: Generator) -> Floats:
    """Return 95 % intervals of the means of columns, by the bootstrap over rows: (columns, 2).

    Rows are drawn with replacement 2,000 times, the same ones for all columns. The interval is
    where 95 % of the means lie. A single row gives an interval of no width: all that is known.

    >>> from malaprop import seeded_rng
    >>> shares = np.array([0.0] * 90 + [1.0] * 10)
    >>> [round(end, 2) for end in bootstrap_intervals(shares[:, None], seeded_rng(1))[0].tolist()]
    [0.05, 0.16]
    """
    size, tail = len(values), 50.0 * (1.0 - LEVEL)
    means = []
    for part in blocks(_RESAMPLES, row_cells=size):
        rows = part.stop - part.start
        drawn = rng.integers(size, size=(rows, size)) + size * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * size).reshape(rows, size)
        means.append(counts @ values / size)
    return np.percentile(np.concatenate(means), [tail, 100.0 - tail], axis=0).T


def widened(intervals: Floats, middles: Floats, errors: Floats, freedom: int) -> Floats:
    """Return 95 % intervals that include a further error, independent of theirs: (…, 2).

    `errors` are standard errors with so many degrees of freedom.

    >>> widened(np.array([[1.0, 3.0]]), np.array([2.0]), np.array([1.0]), 7).round(2).tolist()
    [[-0.57, 4.57]]
    """
    from scipy.special import stdtrit

    far = stdtrit(freedom, (1.0 + LEVEL) / 2.0) * errors
    low = middles - np.hypot(middles - intervals[:, 0], far)
    return np.stack([low, middles + np.hypot(intervals[:, 1] - middles, far)], axis=1)


def joint_error(parts: Iterable[tuple[float | None, float | None]]) -> tuple[float, float | None]:
    """Return the error of a sum of independent figures, and its degrees of freedom.

    `parts` are standard errors with their degrees of freedom; one without an error is exact. The
    degrees are those of Welch and Satterthwaite; None if those of a part are not known.

    >>> error, freedom = joint_error([(3.0, 4), (4.0, 4), (None, None)])
    >>> error, round(freedom, 2)
    (5.0, 7.42)
    """
    uncertain = [(error, freedom) for error, freedom in parts if error]
    error = math.hypot(*(each for each, _ in uncertain))
    lost = 0.0
    for each, freedom in uncertain:
        if not freedom:
            return error, None
        lost += (each / error) ** 4 / freedom
    return error, 1.0 / lost if lost else None


def chance_margin(
    parts: Iterable[tuple[float | None, float | None]], level: float = LEVEL
) -> float:
    """Return how far a sum of figures may lie from its mean by chance: in 95 % of repetitions.

    It is Welch's: Student's law with the degrees of freedom of `joint_error`. Infinite if those are
    not known, and 0 if all figures are exact.

    >>> round(chance_margin([(1.0, 1)]), 2), round(chance_margin([(1.0, 1e9)]), 2)
    (12.71, 1.96)
    """
    from scipy.special import stdtrit

    error, freedom = joint_error(parts)
    if not error:
        return 0.0
    if freedom is None:
        return math.inf
    return float(stdtrit(freedom, (1.0 + level) / 2.0)) * error
