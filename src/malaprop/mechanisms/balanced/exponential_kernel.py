"""The exponential kernel K(w, y) = e^(−t·d(w, y)) of all words, as a product with vectors."""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.metrics.graph import WordGraph
from malaprop.core.metrics.near_search import Bytes
from malaprop.core.metrics.shortest_paths import AT_ONCE
from malaprop.core.progress import Progress
from malaprop.core.threads import in_threads
from malaprop.mechanisms.balanced.balance import Product

Pairs = NDArray[np.complexfloating[Any, Any]]

_LITTLE = sys.byteorder == "little"
_ROWS = 16  # rows at a time, which fit a processor's cache


class DenseKernel:
    """The kernel from all distances in float64, for small lexicons and any distances."""

    def __init__(self, distances: Floats) -> None:
        self._distances = distances

    def at(self, exponent: float, *, exact: bool) -> Product:
        """Return the map for one t, always in float64."""
        kernel = np.exp(-exponent * self._distances)
        return lambda x: np.asarray(kernel @ x)


class ByteKernel:
    """The kernel from all levels, n² bytes, for lexicons of some ten thousand words."""

    def __init__(self, graph: WordGraph, levels: Bytes) -> None:
        self._unit, self._last = graph.unit, graph.last
        self._levels = levels

    @classmethod
    def of(cls, graph: WordGraph, progress: Progress | None = None) -> "ByteKernel":
        """Build the kernel by searching the graph from every word."""
        # An even number of columns: two neighbours form a 16-bit number.
        levels = np.full((graph.size, graph.size + graph.size % 2), 255, dtype=np.uint8)
        for start in range(0, graph.size, AT_ONCE):
            ids: Ids = np.arange(start, min(start + AT_ONCE, graph.size))
            levels[ids, : graph.size] = graph.levels(ids)
            if progress is not None:
                progress(int(ids[-1]) + 1, graph.size)
        return cls(graph, levels)

    def at(self, exponent: float, *, exact: bool) -> Product:
        """Return the map for one t, in float64 if `exact`, otherwise in float32."""
        values = np.zeros(256)
        values[: self._last + 1] = np.exp(-exponent * self._unit * np.arange(self._last + 1))
        table = _pairs(values.astype(np.float64 if exact else np.float32))

        def product(x: Floats) -> Floats:
            return self._product(table, x)

        return product

    def _product(self, table: Pairs, x: Floats) -> Floats:
        size, real = len(self._levels), table.real.dtype
        padded = np.zeros(self._levels.shape[1], dtype=real)
        padded[: len(x)] = x
        products = np.empty(size)

        def rows(start: int) -> None:
            pairs = self._levels[start : start + _ROWS].view(np.uint16)
            products[start : start + _ROWS] = np.take(table, pairs, mode="clip").view(real) @ padded

        in_threads(rows, range(0, size, _ROWS))
        return products


def _pairs(values: NDArray[np.floating[Any]]) -> Pairs:
    """Return a table from two bytes to their two values, stored as one complex number."""
    low, high = np.meshgrid(values, values)
    both = np.stack([low, high], axis=-1) if _LITTLE else np.stack([high, low], axis=-1)
    as_one = np.result_type(values, np.complex64)
    return np.ascontiguousarray(both).reshape(-1, 2).view(as_one)[:, 0]
