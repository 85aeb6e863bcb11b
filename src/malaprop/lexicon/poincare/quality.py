"""Measures how well vectors reproduce a hierarchy: mean rank and mean average precision.

As in Table 1 of Nickel & Kiela (2017): of all words in the order of their distance to a word, those
above it should come first.
"""

from dataclasses import dataclass

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.metrics.poincare import conformal
from malaprop.core.space import blocks
from malaprop.lexicon.poincare.relations import Hierarchy


@dataclass(frozen=True)
class ReconstructionQuality:
    """How well vectors reproduce a hierarchy. Both values are 1 if they do so perfectly."""

    mean_rank: float
    """The mean rank of a word above, among the words that are not above; at best 1."""
    average_precision: float
    """The average precision of the words above a word, averaged over words; at best 1."""


def reconstruction(hierarchy: Hierarchy, vectors: Floats) -> ReconstructionQuality:
    """Return the quality of vectors, over all words that have a word above them."""
    ids = np.flatnonzero(hierarchy.counts)
    squares = 1.0 - conformal(vectors)
    ranks, precisions = [], []
    for block in blocks(len(ids), row_cells=len(vectors)):
        own = ids[block]
        # ‖x − y‖²/(1 − ‖y‖²) orders the y as the distance does.
        rows = squares[own, None] + squares - 2.0 * (vectors[own] @ vectors.T)
        rows /= 1.0 - squares
        rows[np.arange(len(own)), own] = np.inf
        for row, word in zip(rows, own, strict=True):
            rank = _ranks(row, hierarchy.above_of(np.array([word])))
            place = np.arange(1, len(rank) + 1)
            ranks.append(rank)
            precisions.append(float(np.mean(place / (place + rank - 1))))
    return ReconstructionQuality(float(np.concatenate(ranks).mean()), float(np.mean(precisions)))


def _ranks(row: Floats, above: Ids) -> Ids:
    """Return, for each word above, nearest first, 1 + how many other words are at least as near."""
    far = np.sort(row[above])
    row[above] = np.inf
    others = np.sort(row[row <= far[-1]])
    return np.asarray(1 + np.searchsorted(others, far, side="right"), dtype=np.int64)
