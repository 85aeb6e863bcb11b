"""Array types that the whole package shares, and what is done with arrays everywhere."""

from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from malaprop.privacy.errors import ParameterError

Number = TypeVar("Number", bound=np.generic)

Ids = NDArray[np.int64]
"""Ids of words: their places in the lexicon."""
Floats = NDArray[np.float64]
"""Numbers to compute with: distances, probabilities, noisy vectors."""
Vectors = NDArray[np.float32]
"""Vectors of words, in rows, as a lexicon stores them."""
Reals = NDArray[np.floating[Any]]
"""Numbers of either precision: vectors of words or others, in rows."""
Keys = NDArray[Any]
"""Numbers that grow with distances and are cheaper: squares, or whole multiples of a unit."""

_LEAST_ROWS = 16  # with fewer at a time, reading all vectors would take most of the time


def checked_ids(ids: Any, size: int) -> Ids:
    """Return `ids` as a one-dimensional integer array with all entries in 0 … size − 1."""
    array = np.asarray(ids)
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ParameterError(
            f"Word ids must be a one-dimensional array of integers. Got {array.ndim} dimensions "
            f"of type {array.dtype}; `lexicon.index` turns words into ids."
        )
    if int(array.min()) < 0 or int(array.max()) >= size:
        raise ParameterError(f"Word ids must lie between 0 and {size - 1}, the lexicon's last id.")
    return array.astype(np.int64)


def checked_vectors(vectors: Any, columns: int | None = None) -> Floats:
    """Return vectors as a matrix of finite float64; errors show none of their entries."""
    try:
        given = np.asarray(vectors)
        array = np.asarray(given, dtype=np.float64) if given.dtype.kind in "fiu" else None
    except (TypeError, ValueError):
        array = None
    if array is None or array.ndim != 2 or array.shape[1] < 1:
        raise ParameterError("Vectors must be a matrix of real numbers, a row for each vector.")
    if columns is not None and array.shape[1] != columns:
        raise ParameterError(
            f"Vectors must be a matrix with {columns} columns. Got {array.shape[1]} columns."
        )
    if not np.isfinite(array).all():
        raise ParameterError("Vectors must be finite. Got NaN or infinity.")
    return array


def blocks(count: int, row_cells: int, budget: int = 1 << 21) -> list[slice]:
    """Cut 0 … count into slices whose rows of `row_cells` cells stay within `budget` cells.

    The default, 16 MB of float64, fits a processor's cache: larger blocks take twice the time.

    >>> blocks(50, row_cells=4, budget=80)
    [slice(0, 20, None), slice(20, 40, None), slice(40, 50, None)]
    """
    step = max(_LEAST_ROWS, budget // max(1, row_cells))
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]


def distinct(values: NDArray[Number]) -> NDArray[Number]:
    """Return the different values in ascending order, as `np.unique` does; none may be NaN.

    `np.unique` loads masked arrays for that, which takes longer than the work of a short run.

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(values, axis=None)
    first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def order_of(numbers: Ids, bound: int) -> Ids:
    """Return the stable sorting order of whole numbers below `bound`."""
    if bound <= 1 << 16:
        return np.argsort(numbers.astype(np.uint16), kind="stable")  # a radix sort
    return np.argsort(numbers, kind="stable")


def ranges(first: Ids, counts: Ids) -> Ids:
    """Return counts[0] numbers from first[0] on, then counts[1] from first[1] on, and so on."""
    steps = (first - counts.cumsum() + counts).repeat(counts)
    return np.asarray(np.arange(len(steps)) + steps)


def shared_zeros(shape: int | tuple[int, ...], kind: Any) -> Any:
    """Return an array of zeros in memory that processes share which are forked from now on."""
    from mmap import mmap

    memory = mmap(-1, int(np.prod(shape)) * np.dtype(kind).itemsize)
    return np.frombuffer(memory, dtype=kind).reshape(shape)


class Groups(NamedTuple):
    """Equal words of some ids, together: they share one row of a law."""

    words: Ids
    """Each word once, in order."""
    counts: Ids
    """How often it occurs."""
    order: Ids
    """Where its occurrences are, word after word."""

    def scatter(self, drawn: Ids) -> Ids:
        """Return what was drawn for the words, word after word, at the places of the ids."""
        placed = np.empty(len(drawn), dtype=np.int64)
        placed[self.order] = drawn
        return placed


def group(ids: Ids, size: int) -> Groups:
    """Group equal ids; all of them are below `size`.

    >>> groups = group(np.array([7, 5, 7]), 9)
    >>> groups.words, groups.counts, groups.scatter(np.array([50, 70, 71]))
    (array([5, 7]), array([1, 2]), array([70, 50, 71]))
    """
    order = order_of(ids, size)
    in_order = ids[order]
    # Not by np.diff, which takes as long as all the rest for a sentence.
    starts = np.ones(len(ids) + 1, dtype=np.bool_)
    np.not_equal(in_order[1:], in_order[:-1], out=starts[1:-1])
    bounds = np.flatnonzero(starts)
    return Groups(in_order[bounds[:-1]], bounds[1:] - bounds[:-1], order)
