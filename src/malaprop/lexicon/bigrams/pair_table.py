"""A table of pairs of words, to look up tens of millions of pairs a second."""

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids

_FACTOR = np.uint32(2654435769)  # 2^32 over the golden ratio: spreads keys evenly
_ROOM = 6  # buckets per pair, about: most pairs that are looked up are in an empty bucket
_MOST_BITS = 25

Values = NDArray[np.float32]


class PairTable:
    """Values of pairs (first, second); 0 for pairs that are not in the table.

    The key of a pair is first·size + second. Its bucket is the top of key·factor modulo 2^32, which
    is a sum of two numbers, one for each word: looking up all pairs of two lists takes little more
    than an addition for each.

    >>> table = PairTable(np.array([0, 2]), np.array([1, 1]), np.float32([0.5, 0.25]), 3)
    >>> table.values(np.array([[0], [1], [2]]), np.array([0, 1]))
    array([[0.  , 0.5 ],
           [0.  , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """

    def __init__(self, firsts: Ids, seconds: Ids, values: Values, size: int) -> None:
        """Store the values of distinct pairs of ids below `size`."""
        self._size = size
        bits = min(_MOST_BITS, max(4, int(_ROOM * len(firsts)).bit_length()))
        self._shift = np.uint32(32 - bits)
        keys = firsts.astype(np.int64) * size + seconds
        buckets = self._buckets(firsts, seconds)
        order = np.argsort(buckets, kind="stable")
        self._keys, self._values = keys[order], values[order].astype(np.float32)
        counts = np.bincount(buckets, minlength=1 << bits)
        self._used = counts > 0
        self._ends = np.cumsum(counts).astype(np.int32)
        self._counts = counts.astype(np.int32)

    def _buckets(self, firsts: Ids, seconds: Ids) -> NDArray[np.uint32]:
        with np.errstate(over="ignore"):  # modulo 2^32 is meant
            left = firsts.astype(np.uint32) * np.uint32(self._size % (1 << 32)) * _FACTOR
            right = seconds.astype(np.uint32) * _FACTOR
            hashed = left + right
        hashed >>= self._shift
        return hashed

    def values(self, firsts: Ids, seconds: Ids) -> Values:
        """Return the value of each pair; the arrays are broadcast against each other."""
        buckets = self._buckets(firsts, seconds)
        values = np.zeros(buckets.shape, dtype=np.float32)
        flat = values.reshape(-1)
        open_ = np.flatnonzero(self._used.take(buckets))
        # All keys, of which few are needed: that is faster than finding the words of each place.
        keys = (firsts * self._size + seconds).reshape(-1).take(open_)
        bucket = buckets.reshape(-1)[open_]
        last = self._ends.take(bucket)
        places = last - self._counts.take(bucket)
        while open_.size:
            hit = self._keys.take(places) == keys
            flat[open_[hit]] = self._values.take(places[hit])
            places = places + 1
            again = ~hit & (places < last)
            open_, places, last, keys = open_[again], places[again], last[again], keys[again]
        return values
