"""Euclidean distances and angles, by matrix products that keep the digits that matter."""

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Keys, Vectors
from malaprop.core.errors import MetricError
from malaprop.core.metric import DistanceRows, KeyedDistances, Metric
from malaprop.core.proofs import proved
from malaprop.core.space import MetricSpace

_PAIRS = 1 << 11  # vectors gathered at a time


@proved("docs/proofs/audit.md")
class Euclidean(Metric):
    """d(x, y) = ‖x − y‖₂."""

    name = "euclidean"

    def on(self, vectors: Vectors) -> DistanceRows:
        """Compute exactly on a grid (see `products_are_exact`), otherwise in float64."""
        return _grid_rows(vectors) if products_are_exact(vectors) else _float_rows(vectors)


@proved("docs/proofs/audit.md")
class Angular(Metric):
    """d(x, y) = the angle between x and y, in radians: 0 to π."""

    name = "angular"

    def on(self, vectors: Vectors) -> DistanceRows:
        """Compute from chords between unit vectors: arccos would lose half the digits near 0."""
        long = vectors.astype(np.float64)
        norms = np.linalg.norm(long, axis=1, keepdims=True)
        if not norms.all():
            raise MetricError(
                "The angular metric needs nonzero vectors; "
                f"{int((norms == 0).sum())} of them are zero. Remove those words."
            )
        units = long / norms

        def rows(ids: NDArray[np.int64]) -> Floats:
            chords = _distances(units[ids], units)
            chords[np.arange(len(ids)), ids] = 0.0
            # 2·atan2(‖u − v‖, ‖u + v‖) is accurate at both ends of 0 … π.
            return 2.0 * np.arctan2(chords, _distances(-units[ids], units))

        return rows


def require_euclidean(space: MetricSpace, mechanism: object) -> None:
    """Refuse a lexicon whose metric is not exactly this module's `Euclidean`, nor a subclass."""
    if type(space.metric) is not Euclidean:
        raise MetricError(
            f"{type(mechanism).__name__} needs Euclidean distances; this lexicon measures "
            f"{space.metric} ones. Use TEM, which takes any metric, or "
            "lexicon.with_metric('euclidean')."
        )


def products_are_exact(vectors: Vectors) -> bool:
    """Whether a float32 matrix product of the vectors makes no rounding error at all.

    It makes none if all entries are integers times a power of two, so small that every partial
    sum of ‖x‖² + ‖y‖² − 2⟨x, y⟩ is an integer below 2²⁴ in those units. Squared distances are then
    exact, in any order of summation, on every machine.
    """
    few = 1024  # enough to rule out most lexicons, and much faster
    return _fits_grid(vectors[:few]) and _fits_grid(vectors)


def _fits_grid(vectors: Vectors) -> bool:
    reach = 2.0 * float(np.sqrt(_squares(vectors).max()))
    if reach == 0.0:
        return True
    exponent = 12 - int(np.frexp(reach)[1])  # (reach · 2^exponent)² ≤ 2²⁴
    if abs(exponent) > 50:  # beyond that, products would leave the range of float32
        return False
    scaled = vectors * np.float32(2.0**exponent)
    vanished = np.count_nonzero(scaled) < np.count_nonzero(vectors)
    return not vanished and np.array_equal(scaled, np.rint(scaled))


def _squares(vectors: NDArray[np.floating[Any]]) -> Floats:
    """Return ‖x‖² of each row, in float64."""
    squares: Floats = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    return squares


def _grid_rows(vectors: Vectors) -> DistanceRows:
    """Compute distances from their squares, which are exact in float32."""
    squares = _squares(vectors).astype(np.float32)

    def keys(ids: NDArray[np.int64]) -> Keys:
        rows = (-2.0 * vectors[ids]) @ vectors.T
        for row, square in zip(rows, squares[ids], strict=True):
            row += squares + square
        return rows

    def lengths(keys: Keys) -> Floats:
        return np.sqrt(keys, dtype=np.float64)

    @cache
    def small() -> tuple[NDArray[Any], np.float32]:
        return _in_bytes(vectors)

    def pairs(ids: NDArray[np.int64], words: NDArray[np.int64]) -> Keys:
        table, unit = small()
        products = np.empty(len(ids), dtype=np.float32)
        gathered = np.empty((min(_PAIRS, len(ids)), vectors.shape[1]), dtype=np.float32)
        changes = np.flatnonzero(ids[1:] != ids[:-1]) + 1
        for first, last in pairwise([0, *changes.tolist(), len(ids)]):  # runs of one word each
            for start in range(first, last, _PAIRS):
                part = slice(start, min(start + _PAIRS, last))
                chosen = gathered[: part.stop - part.start]
                chosen[:] = table.take(words[part], axis=0)
                np.matmul(chosen, unit * vectors[ids[first]], out=products[part])
        return squares[ids] + squares[words] - 2.0 * products

    return KeyedDistances(keys, lengths, pairs)


def _in_bytes(vectors: Vectors) -> tuple[NDArray[Any], np.float32]:
    """Return the vectors as bytes in a unit, a power of two, and the unit; unchanged if none fits.

    Words are gathered from all over the lexicon: a table of a quarter of the size stays in the
    cache more often.
    """
    largest = float(np.abs(vectors).max(initial=0.0))
    unit = np.float32(2.0 ** np.ceil(np.log2(largest / 127.0))) if largest else np.float32(1.0)
    scaled = vectors / unit
    if not np.array_equal(scaled, np.rint(scaled)):
        return vectors, np.float32(1.0)
    return scaled.astype(np.int8), unit


def _float_rows(vectors: Vectors) -> DistanceRows:
    def rows(ids: NDArray[np.int64]) -> Floats:
        distances = _distances(vectors[ids].astype(np.float64), vectors)
        distances[np.arange(len(ids)), ids] = 0.0
        return distances

    return rows


def _distances(left: Floats, right: NDArray[np.floating[Any]]) -> Floats:
    """Return the Euclidean distances between all rows of `left` and `right`.

    ‖x‖² + ‖y‖² − 2⟨x, y⟩ loses digits if x and y are close. Those pairs are computed again from
    their differences, so that equal vectors are at distance 0 exactly.
    """
    distances = np.empty((len(left), len(right)))
    squares = _squares(left)[:, None]
    step = 1 << 14
    for start in range(0, len(right), step):
        block = right[start : start + step].astype(np.float64)
        scale = squares + _squares(block)
        square = scale - 2.0 * (left @ block.T)
        close = np.argwhere(square < 1e-2 * scale)
        for part in np.array_split(close, 1 + len(close) // 4096):
            difference = left[part[:, 0]] - block[part[:, 1]]
            square[part[:, 0], part[:, 1]] = _squares(difference)
        distances[:, start : start + step] = np.sqrt(np.maximum(square, 0.0, out=square))
    return distances
