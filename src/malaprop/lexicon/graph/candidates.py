"""Find the near words of each word, the candidates for a word graph's edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids
from malaprop.core.metrics.euclidean import Angular, Euclidean
from malaprop.core.progress import Progress
from malaprop.core.space import blocks
from malaprop.lexicon.search.exact import NearestSearch

if TYPE_CHECKING:
    from malaprop.lexicon.lexicon import Lexicon

_FEWEST = 16  # dimensions below which an angle says little, and distances are as good
_GRID = 1024.0
_AT_ONCE = 4096


def near_words(
    lexicon: Lexicon, count: int, components: int, progress: Progress | None = None
) -> tuple[Ids, Points]:
    """Return the `count` nearest other words of each word, and the points that order them."""
    points = points_of(lexicon, components)
    own = np.arange(len(lexicon))
    wanted = min(count, len(own) - 1)
    near = np.empty((len(own), wanted), dtype=np.int64)
    for start in range(0, len(own), _AT_ONCE):
        ids = own[start : start + _AT_ONCE]
        nearest = points.nearest(ids, wanted + 1)
        # A word is its own nearest, but where others have its vector it may not come first.
        nearest = np.where(nearest == ids[:, None], -1, nearest)
        nearest[(nearest >= 0).all(axis=1), -1] = -1
        near[ids] = nearest[nearest >= 0].reshape(len(ids), wanted)
        if progress is not None:
            progress(start + len(ids), len(own))
    return near, points


class Points:
    """Points between which nearness is measured; `closeness` is higher for nearer words."""

    def nearest(self, ids: Ids, count: int) -> Ids:
        """Return the `count` words nearest to each of `ids`, the nearest first."""
        raise NotImplementedError

    def closeness(self, here: Ids, there: Ids) -> NDArray[np.float64]:
        """Return how near each of `here` is to each of `there`."""
        raise NotImplementedError


class _Directions(Points):
    """Angles between vectors, less the mean and the first principal components.

    Those are what all words have in common. Without them the angle tells related words from
    unrelated ones much better (Mu and Viswanath 2018). The rounding to a grid makes each product
    exact, and so the graph the same on every machine.
    """

    def __init__(self, vectors: NDArray[np.float32], components: int) -> None:
        centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
        if components:
            _, axes = np.linalg.eigh(centred.T @ centred)
            common = axes[:, -components:]
            centred -= (centred @ common) @ common.T
        lengths = np.linalg.norm(centred, axis=1, keepdims=True)
        units = centred / np.where(lengths > 0.0, lengths, 1.0)
        self._units = (np.rint(units * _GRID) / _GRID).astype(np.float32)
        self._search = NearestSearch(self._units)

    def nearest(self, ids: Ids, count: int) -> Ids:
        return self._search.nearest(self._units[ids], count)

    def closeness(self, here: Ids, there: Ids) -> NDArray[np.float64]:
        return np.asarray(self._units[here] @ self._units[there].T, dtype=np.float64)


class _Metric(Points):
    """The lexicon's own distances."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon

    def nearest(self, ids: Ids, count: int) -> Ids:
        nearest = np.empty((len(ids), count), dtype=np.int64)
        for block in blocks(len(ids), row_cells=len(self._lexicon)):
            rows = self._lexicon.distances(ids[block])
            nearest[block] = np.argsort(rows, axis=1, kind="stable")[:, :count]
        return nearest

    def closeness(self, here: Ids, there: Ids) -> NDArray[np.float64]:
        return np.negative(self._lexicon.distances(here)[:, there])


def points_of(lexicon: Lexicon, components: int) -> Points:
    """Return what nearness is measured between: directions, or the lexicon's own distances."""
    directed = type(lexicon.metric) in (Euclidean, Angular)
    if directed and lexicon.vectors.shape[1] >= max(_FEWEST, components + 2):
        return _Directions(lexicon.vectors, components)
    return _Metric(lexicon)
