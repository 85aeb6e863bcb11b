"""Confidence intervals for shares and means."""

from typing import Any

import numpy as np

from malaprop.core.arrays import Floats

LEVEL = 0.95
_NORMAL = 1.959963984540054


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


def mean_interval(values: Floats) -> tuple[float, float]:
    """Return the 95 % interval of a mean, by the normal approximation; all there is of one value.

    >>> [round(end, 3) for end in mean_interval(np.array([0.0, 1.0, 0.0, 1.0]))]
    [-0.066, 1.066]
    """
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, mean
    margin = _NORMAL * float(np.std(values, ddof=1)) / len(values) ** 0.5
    return mean - margin, mean + margin
