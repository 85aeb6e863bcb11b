"""Shares of recovered words, and how sure they are."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.core.arrays import Ids
from malaprop.measure.attacking.result import Group

_RESAMPLES = 1000
_FEW = 20  # texts: with fewer, runs of words are resampled
_RUN = 25  # words
_OCCURRENCES = (("once", 1, 1), ("twice", 2, 2), ("3 or 4 times", 3, 4), ("5 to 9 times", 5, 9))
_MANY = ("10 times or more", 10, np.iinfo(np.int64).max)

Flags = NDArray[np.bool_]


def share(hits: Flags) -> float:
    """Return the share of hits; 0 if there are none to count."""
    return float(hits.mean()) if hits.size else 0.0


def group(name: str, of: Flags, hits: Flags, kept: Flags) -> Group:
    """Return the shares among some words."""
    return Group(name=name, words=int(of.sum()), score=share(hits[of]), kept=share(kept[of]))


def by_occurrence(same: Ids, hits: Flags, kept: Flags) -> tuple[Group, ...]:
    """Return the shares by how often a word occurs in its text; `same` labels equal words."""
    _, places, counts = np.unique(same, return_inverse=True, return_counts=True)
    times = counts[places] if len(same) else same
    found = []
    for name, low, high in (*_OCCURRENCES, _MANY):
        chosen = (times >= low) & (times <= high)
        if chosen.any():
            found.append(group(name, chosen, hits, kept))
    return tuple(found)


def interval(hits: Flags, lengths: Ids, rng: Generator) -> tuple[float, float]:
    """Return a 95 % interval of the share of hits, by bootstrap over texts.

    With fewer than 20 texts, runs of 25 words are resampled instead: neighbours share a context.
    """
    lengths = lengths[lengths > 0]
    if len(lengths) < _FEW:
        lengths = np.diff(np.unique([*range(0, len(hits), _RUN), *np.cumsum(lengths)]), prepend=0)
        lengths = lengths[lengths > 0]
    sums = np.add.reduceat(hits.astype(np.int64), np.cumsum(lengths) - lengths)
    chosen = rng.integers(0, len(lengths), size=(_RESAMPLES, len(lengths)))
    shares = sums[chosen].sum(axis=1) / lengths[chosen].sum(axis=1)
    low, high = np.percentile(shares, [2.5, 97.5])
    return float(low), float(high)
