"""Figures that say what a channel does to words, computed from public data alone.

They are averages over the lexicon, never over a user's text: a figure taken from the text would
give away something of it.
"""

import math
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.core.channel import Channel, LawChannel
from malaprop.core.randomness import secure_rng
from malaprop.core.space import Ids, MetricSpace, blocks

_WORDS = 128  # sampled words: the standard error of a share is then 4 % at most
_CELLS = 1 << 25  # distances that are computed for a figure: fewer words of a large lexicon
_DRAWS = 4  # per word, where the law is not known in closed form


def unchanged_share(channel: Channel, rng: Generator | None = None) -> float:
    """The expected share of words that come back as they went in: the mean of Pr[w | w].

    Over up to 128 words, evenly spread over the lexicon; exact for each of them where the law
    is known in closed form, else from 4 draws of each.
    """
    ids = sample(len(channel.lexicon))
    if isinstance(channel, LawChannel):
        return float(np.mean(_stay(channel, ids)))
    tries = np.repeat(ids, _DRAWS)
    return float(np.mean(channel.substitute(tries, rng or secure_rng()) == tries))


def sample(size: int) -> Ids:
    """The words that figures are computed from: up to 128, fewer of a large lexicon."""
    return spread(size, max(32, min(_WORDS, _CELLS // size)))


def spread(size: int, count: int) -> Ids:
    """Up to `count` ids, evenly spread over 0 … size − 1: the frequent words and the rare.

    >>> spread(10, 4).tolist()
    [0, 3, 6, 9]
    """
    return np.unique(np.linspace(0, size - 1, min(size, count)).round().astype(np.int64))


def _stay(channel: LawChannel, ids: Ids) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Pr[w | w] of each word."""
    shares = []
    for block in blocks(len(ids), row_cells=len(channel.lexicon)):
        own = ids[block]
        shares.append(np.exp(channel.log_probabilities(own)[np.arange(len(own)), own]))
    return np.concatenate(shares)


def nearest_distances(lexicon: MetricSpace) -> tuple[float, float, float]:
    """The 5th percentile, median and 95th of the distance to the nearest other word.

    Over up to 512 words, evenly spread over the lexicon of at least two.
    """
    found = []
    ids = sample(len(lexicon))
    for block in blocks(len(ids), row_cells=len(lexicon)):
        rows = lexicon.distances(ids[block])
        rows[np.arange(len(rows)), ids[block]] = np.inf
        found.append(rows.min(axis=1))
    low, middle, high = np.percentile(np.concatenate(found), [5, 50, 95])
    return float(low), float(middle), float(high)


def skewness(values: Any) -> float:
    """Joanes and Gill's G₁, the sample skewness adjusted for bias: n/((n−1)(n−2))·Σ((x−x̄)/s)³.

    s is the standard deviation with n − 1. It describes the shape of a distribution and says
    nothing about privacy: a mechanism that releases half of the words in clear and hides the
    others has a skewness of 0. NaN for fewer than three values, or where all are equal.

    >>> round(skewness([1, 2, 3, 10]), 14)
    1.76363261480389
    """
    x = np.asarray(values, dtype=np.float64).ravel()
    n = len(x)
    if n < 3 or (x == x[0]).all():
        return math.nan
    z = (x - x.mean()) / x.std(ddof=1)
    return float(n / ((n - 1) * (n - 2)) * (z**3).sum())
