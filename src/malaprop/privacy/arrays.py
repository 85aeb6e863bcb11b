"""Array types that the whole package shares, and what is done with arrays everywhere."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.generic)

Ids = NDArray[np.int64]
"""Ids of words: their places in the lexicon."""
Floats = NDArray[np.float64]
"""Numbers to compute with: distances, probabilities, noisy vectors."""
Vectors = NDArray[np.float32]
"""Vectors of words, in rows, as a lexicon stores them."""
Keys = NDArray[Any]
"""Numbers that grow with distances and are cheaper: squares, or whole multiples of a unit."""


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
    ends = counts.cumsum()
    steps = (first - ends + counts).repeat(counts)
    return np.asarray(np.arange(len(steps)) + steps)
