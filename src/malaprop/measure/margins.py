"""How far figures of a search for ε may be off: for the choice of words, and for the draws."""

import math
from typing import Final

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.measure.intervals import clopper_pearson
from malaprop.measure.searching import SURE, Figure

FEW: Final = 30
"""Words or batches: fewer say little about their own spread."""


def margin(batches: Floats, whole: bool) -> float:
    """Return the margin of a mean: for the choice of words, unless `whole`, and for the draws.

    Words may share noise, so their differences do not show the error of draws. Batches do.
    """
    from scipy.special import stdtrit

    square, least = 0.0, math.inf
    if not whole:
        least = batches.shape[1]
        square += float(batches.mean(axis=0).var(ddof=1)) / least
    if len(batches) > 1:
        square += float(batches.mean(axis=1).var(ddof=1)) / len(batches)
        least = min(least, len(batches))
    sure = SURE if least >= FEW else float(stdtrit(least - 1, 0.95))  # Student's t, one-sided
    return sure * math.sqrt(square)


def highest_share(share: float, draws: int) -> float:
    """Return the upper end of a share of draws, which holds even if the share is tiny or 0."""
    return float(clopper_pearson(np.rint(share * draws), draws, 0.9)[1])


def tail(values: Floats, worst: float, whole: bool, runs: int | None = None) -> Figure:
    """Return the share that a share of words exceeds, with an upper bound for a sample.

    The bound is the order statistic that lies above the true quantile with 95 % confidence. If each
    value comes from `runs` draws, the upper bound of that statistic takes its place.
    """
    ordered = np.sort(values)
    place = min(len(ordered) - 1, math.ceil((1.0 - worst) * len(ordered)) - 1)
    value = float(ordered[max(place, 0)])
    if whole:
        return Figure(value, value)
    further = SURE * math.sqrt(len(ordered) * worst * (1.0 - worst))
    upper = min(len(ordered) - 1, place + math.ceil(further))
    highest = float(ordered[upper])
    return Figure(value, highest if runs is None else highest_share(highest, runs))
