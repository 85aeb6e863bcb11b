"""Shortest paths from 64 words at a time, where all steps are whole numbers.

Let V_k(w) be the words within k steps of w. Then V_0(w) = {w}, and

    V_k = V_{k−1} ∪ ⋃ over lengths s of the words joined by a step of length s to V_{k−s},

which is one pass over the steps for 64 words w together, each being one bit of a machine word.
A word's distance is the number of k at which it is not in V_k yet; that number is added up in
binary digits, each of them again one bit a word.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from malaprop.core.space import Ids

Bits = NDArray[np.uint64]
Bytes = NDArray[np.uint8]
Progress = Callable[[int, int], None]

AT_ONCE = 64
MOST = 255
"""The most levels that a byte can number."""


class Levels:
    """The steps of a graph, ready for searches: distances up to `last`, where they are cut off."""

    def __init__(self, size: int, edges: Ids, lengths: Ids, last: int) -> None:
        self._size, self._last = size, last
        self._joined = {int(s): _both_ways(size, edges[lengths == s]) for s in np.unique(lengths)}

    def from_words(self, ids: Ids) -> Bytes:
        """Distances from the words `ids` to all words: (len(ids), words)."""
        found = np.empty((len(ids), self._size), dtype=np.uint8)
        for start in range(0, len(ids), AT_ONCE):
            some = ids[start : start + AT_ONCE]
            found[start : start + AT_ONCE] = self._search(some)[: len(some)]
        return found

    def counts(self, progress: Progress | None = None) -> NDArray[np.int64]:
        """How many words are on each level, from each word: (words, levels)."""
        within = np.zeros((self._size, self._last + 1), dtype=np.int64)
        within[:, -1] = self._size
        for start in range(0, self._size, AT_ONCE):
            ids = np.arange(start, min(start + AT_ONCE, self._size))
            for k, reached in enumerate(self._spreading(ids)):
                # As many words have w within k steps as w has.
                within[:, k] += np.bitwise_count(reached)
            within[:, k + 1 : -1] += len(ids)
            if progress is not None:
                progress(start + len(ids), self._size)
        return np.diff(within, axis=1, prepend=0)

    def _search(self, ids: Ids) -> Bytes:
        digits = list[Bits]()
        for reached in self._spreading(ids):
            digits = _plus_one(digits, ~reached)
        return _numbers(digits, self._size)

    def _spreading(self, ids: Ids) -> Iterator[Bits]:
        """V_0, V_1, … of up to 64 words, until all words are reached or the last level is."""
        reached = np.zeros(self._size, dtype=np.uint64)
        ones = np.uint64(1) << np.arange(len(ids), dtype=np.uint64)
        np.bitwise_or.at(reached, ids, ones)  # a word may occur twice
        everyone = np.bitwise_or.reduce(ones)
        levels = [reached]
        for _ in range(self._last):
            yield levels[-1]
            if (levels[-1] == everyone).all():
                return
            levels = [*levels, self._next(levels)][-max(self._joined, default=1) :]

    def _next(self, levels: list[Bits]) -> Bits:
        """V_k from the V before it, of which the last are kept."""
        found = levels[-1]
        for length, (ends, first) in self._joined.items():
            if length <= len(levels):
                found = found | np.bitwise_or.reduceat(levels[-length][ends], first)
        return found


def _both_ways(size: int, edges: Ids) -> tuple[Ids, Ids]:
    """The words joined to each word, itself among them, in one row; and where each one's begin."""
    itself = np.arange(size)
    here = np.concatenate([edges[:, 0], edges[:, 1], itself])
    there = np.concatenate([edges[:, 1], edges[:, 0], itself])
    order = np.argsort(here, kind="stable")
    return there[order], np.searchsorted(here[order], itself)


def _plus_one(digits: list[Bits], where: Bits) -> list[Bits]:
    """Numbers in binary digits, the lowest first, with 1 added to those marked."""
    more, carry = list[Bits](), where
    for digit in digits:
        more.append(digit ^ carry)
        carry = digit & carry
    return [*more, carry] if carry.any() else more


def _numbers(digits: list[Bits], size: int) -> Bytes:
    """The numbers themselves: (64, size)."""
    found = np.zeros((size, AT_ONCE), dtype=np.uint8)
    for place, digit in enumerate(digits):
        # Little-endian on every machine, so that bit b is that of the b-th word.
        bits = digit.astype("<u8")[:, None].view(np.uint8)
        found |= np.unpackbits(bits, axis=1, bitorder="little") << place
    return found.T
