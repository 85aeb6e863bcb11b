"""Exact nearest-word search in Euclidean space.

One float32 matrix product finds, for each query, the words that can be among the nearest within
that product's own rounding error; where those are too many, float64 decides between them.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.core.space import Ids, blocks

Floats = NDArray[np.float64]
_UNIT = 2.0**-24  # float32's rounding unit
_BLOCK = 1 << 23  # cells of a block of the product: 32 MB


class NearestSearch:
    """The nearest of fixed vectors to any query, ties going to the lowest id."""

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        self._vectors = vectors
        self._half = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64) / 2.0
        self._reach = float(np.sqrt(2.0 * self._half.max()))

    def nearest(self, queries: NDArray[np.floating[Any]], k: int = 1) -> Ids:
        """The ids of the `k` nearest vectors to each query, the nearest first: (queries, k)."""
        k = min(k, len(self._vectors))
        found = np.empty((len(queries), k), dtype=np.int64)
        for block in blocks(len(queries), row_cells=len(self._vectors), budget=_BLOCK):
            found[block] = self._block(np.asarray(queries[block], dtype=np.float64), k)
        return found

    def distances(self, queries: Floats, ids: Ids) -> Floats:
        """The distance of each query to the vector of its id, in float64."""
        return np.asarray(np.linalg.norm(self._vectors[ids] - queries, axis=1))

    def _block(self, queries: Floats, k: int) -> Ids:
        scores, rounding = self._scores(queries)
        worst = scores.max(axis=1) if k == 1 else np.partition(scores, -k, axis=1)[:, -k]
        near = scores >= (worst - 2.0 * rounding).astype(scores.dtype)[:, None]
        found = np.empty((len(queries), k), dtype=np.int64)
        certain = near.sum(axis=1) == 1
        found[certain, 0] = np.argmax(near[certain], axis=1)
        for row in np.flatnonzero(~certain):
            candidates = np.flatnonzero(near[row])
            order = np.argsort(self._exact(queries[row], candidates), kind="stable")
            found[row] = candidates[order[:k]]
        return found

    def _scores(self, queries: Floats) -> tuple[NDArray[np.floating[Any]], Floats]:
        """Numbers that are higher for nearer vectors, and how far off those of a query can be."""
        # argmin ‖x − y‖ = argmax ⟨x, y⟩ − ‖y‖²/2; divided by ‖x‖ it cannot overflow float32.
        scale = np.maximum(np.linalg.norm(queries, axis=1), 1.0)[:, None]
        scores = (queries / scale).astype(np.float32) @ self._vectors.T
        scores -= (self._half / scale).astype(np.float32)
        # |fl(⟨x, y⟩) − ⟨x, y⟩| ≤ d·u·‖x‖·‖y‖
        dimension = self._vectors.shape[1]
        largest = self._reach + self._reach**2 / scale[:, 0]
        return scores, np.asarray((dimension + 8) * _UNIT * largest)

    def _exact(self, query: Floats, ids: Ids) -> Floats:
        """What orders the vectors `ids` by their distance to one query, in float64."""
        difference = self._vectors[ids] - query
        return np.asarray(np.einsum("ij,ij->i", difference, difference))
