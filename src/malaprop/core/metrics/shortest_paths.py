"""Shortest paths from up to 256 words at a time, where all steps are whole numbers.

Let V_k(w) be the words within k steps of w. Then V_0(w) = {w}, and

    V_k = V_{k−1} ∪ ⋃ over lengths s of the words joined by a step of length s to V_{k−s},

which is one pass over the steps for 256 words w together, each being one bit of 32 bytes. A
word's distance is the number of k at which it is not in V_k yet. The digit of 2^j of a number is
odd or even with how many multiples of 2^j up to it there are: so that digit is the parity of how
many of V_{2^j − 1}, V_{2·2^j − 1}, … a word is not in.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids
from malaprop.core.progress import Progress
from malaprop.core.sampling.by_distance import NearWords
from malaprop.core.sampling.draws import order_of
from malaprop.core.threads import each_in_threads

Bits = NDArray[np.uint64]
Bytes = NDArray[np.uint8]

AT_ONCE = 256
MOST = 255
"""The most levels that a byte can number."""


class LevelSearch:
    """The steps of a graph, ready for searches: distances up to `last`, where they are cut off."""

    def __init__(self, size: int, edges: Ids, lengths: Ids, last: int) -> None:
        self._size, self._last = size, last
        classes = {int(s): edges[lengths == s] for s in np.unique(lengths)}
        # Those with the most steps come first, so that what has a j-th step stands in front.
        degrees = [np.bincount(some.ravel(), minlength=size) for some in classes.values()]
        uneven = max(degrees, key=np.max, default=np.zeros(size))
        order = np.argsort(-uneven, kind="stable")
        self._order, self._place = order, np.argsort(order)
        self._joined = {s: _slots(size, self._place[some]) for s, some in classes.items()}
        self._steps = _steps(list(classes), last)

    def from_words(self, ids: Ids) -> Bytes:
        """Distances from the words `ids` to all words: (len(ids), words)."""
        found = np.empty((len(ids), self._size), dtype=np.uint8)
        for start in range(0, len(ids), AT_ONCE):
            some = ids[start : start + AT_ONCE]
            digits = self._no_digits(len(some))
            self._spell(some, digits)
            in_order = [digit[self._place] for digit in digits]
            found[start : start + AT_ONCE] = _numbers(in_order, len(some))
        return found

    def near_words(self, ids: Ids, beyond: int) -> NearWords:
        """The words that are nearer than a level, without the numbers of all others."""
        beyond = min(max(beyond, 1), self._last)
        starts = range(0, len(ids), AT_ONCE)
        digits = self._no_digits(min(len(ids), AT_ONCE), len(starts))
        sizes, words = list[Ids](), list[Ids]()
        for start, room in zip(starts, digits, strict=True):
            some = ids[start : start + AT_ONCE]
            nearer = self._spell(some, room[..., : _lanes(len(some))], beyond)
            rows, places = _members(nearer)
            sizes.append(np.bincount(rows, minlength=len(some)))
            words.append(self._order[places])
        at = _Lookup(digits, self._place)
        found, each = np.concatenate(words), np.concatenate(sizes)
        keys = at(np.repeat(np.arange(len(ids)), each), found)
        return NearWords(each, found, keys, np.full(len(ids), beyond, dtype=np.uint8), at)

    def counts(self, progress: Progress | None = None) -> NDArray[np.int64]:
        """How many words are on each level, from each word: (words, levels)."""
        within = np.zeros((self._last + 1, self._size), dtype=np.int64)
        starts = range(0, self._size, AT_ONCE)
        for start, found in zip(starts, each_in_threads(self._within, starts), strict=True):
            within[:-1] += found
            if progress is not None:
                progress(min(start + AT_ONCE, self._size), self._size)
        within[-1] = self._size
        return np.diff(within.T[self._place], axis=1, prepend=0)

    def _within(self, start: int) -> NDArray[np.uint16]:
        """How many of 256 words each word has within 0, 1, 2 … steps: as many as have it."""
        ids = np.arange(start, min(start + AT_ONCE, self._size))
        found = np.full((self._last, self._size), len(ids), dtype=np.uint16)
        for k, reached in enumerate(self._spreading(ids)):
            np.bitwise_count(reached).sum(axis=1, dtype=np.uint16, out=found[k])
        return found

    def _no_digits(self, words: int, *blocks: int) -> Bits:
        """Room for the binary digits of the distances from so many words."""
        shape = (*blocks, self._last.bit_length(), self._size, _lanes(words))
        return np.zeros(shape, dtype=np.uint64)

    def _spell(self, ids: Ids, digits: Bits, beyond: int = 1) -> Bits:
        """Write the digits of the distances, the lowest first; words in the order of places.

        What comes back are the words that are nearer than the level `beyond`.
        """
        nearer: Bits = np.empty(digits.shape[1:], dtype=np.uint64)
        for k, reached in enumerate(self._spreading(ids), 1):
            for j, digit in enumerate(digits):
                if k % (1 << j) == 0:
                    np.bitwise_xor(digit, reached, out=digit)
            if k == beyond:
                nearer[:] = reached
        if k < beyond:  # all words were reached before
            nearer[:] = reached
        for j, digit in enumerate(digits):  # what was added up are those that are reached
            if (k >> j) % 2:
                np.invert(digit, out=digit)
        return nearer

    def _spreading(self, ids: Ids) -> Iterator[Bits]:
        """V_0, V_1, … of up to 256 words, until all words are reached or the last level is.

        Each is to be looked at before the next is asked for.
        """
        place = np.arange(len(ids))
        ones = np.uint64(1) << (place % 64).astype(np.uint64)
        reached = np.zeros((self._size, _lanes(len(ids))), dtype=np.uint64)
        np.bitwise_or.at(reached, (self._place[ids], place // 64), ones)  # a word may occur twice
        everyone = np.bitwise_or.reduce(reached, axis=0)
        # Memory that is used again and again: fresh pages would take as long as the search.
        kept = [reached, *(np.empty_like(reached) for _ in range(max(self._joined, default=1)))]
        room = np.empty_like(reached)
        for k in range(self._last):
            yield kept[k % len(kept)]
            if k % 8 == 7 and (kept[k % len(kept)] == everyone).all():
                return
            self._advance(kept, k + 1, room)

    def _advance(self, kept: list[Bits], k: int, room: Bits) -> None:
        """V_k, in the place of the oldest V that is kept."""
        found = kept[k % len(kept)]
        found[:] = kept[(k - 1) % len(kept)]
        for length in self._steps[k]:
            source = kept[(k - length) % len(kept)]
            for neighbours in self._joined[length]:
                some = room[: len(neighbours)]
                # "clip" spares a check of indices that are right.
                np.take(source, neighbours, axis=0, out=some, mode="clip")
                np.bitwise_or(found[: len(neighbours)], some, out=found[: len(neighbours)])


class _Lookup:
    """Distances of single pairs, from their digits: (blocks, digits, words, lanes)."""

    def __init__(self, digits: Bits, place: Ids) -> None:
        self._digits, self._place = digits, place

    def __call__(self, rows: Ids, words: Ids) -> Bytes:
        """The distances of some words, by the rows of what they are far from."""
        _, count, size, lanes = self._digits.shape
        # Shifts instead of divisions: AT_ONCE is 2⁸, and a lane has 2⁶ bits.
        block, lane = rows >> 8, (rows & 255) >> 6
        where = (block * (count * size) + self._place.take(words)) * lanes + lane
        shift = (rows & 63).astype(np.uint64)
        found = np.zeros(len(rows), dtype=np.uint64)
        for j in range(count):
            digit = self._digits.take(where + j * size * lanes) >> shift
            found |= (digit & np.uint64(1)) << np.uint64(j)
        return found.astype(np.uint8)


def _members(reached: Bits) -> tuple[Ids, Ids]:
    """The rows and places of the bits that are set, row by row."""
    octets = reached.astype("<u8", copy=False).view(np.uint8)
    full = np.flatnonzero(octets.ravel() != 0)  # numpy is faster with truth values than with bytes
    bits = np.unpackbits(octets.ravel()[full], bitorder="little").view(np.bool_)
    found = np.flatnonzero(bits)
    of_octet = full[found >> 3]
    places = of_octet // octets.shape[1]
    rows = (of_octet - places * octets.shape[1]) * 8 + (found & 7)
    order = order_of(rows, AT_ONCE)
    return rows[order], places[order]


def _lanes(words: int) -> int:
    """How many machine words of 64 bits there are for so many words."""
    return -(-words // 64)


def _steps(lengths: list[int], last: int) -> list[list[int]]:
    """The lengths s that matter at each level k: those for which V_{k−s} may exceed V_{k−s−1}.

    Where no path can be of length k − s, the words joined to V_{k−s} are in V_{k−1} already.
    """
    found, reached = [list[int]()], {0}
    for k in range(1, last + 1):
        found.append([s for s in lengths if k - s in reached])
        if found[k]:
            reached.add(k)
    return found


def _slots(size: int, edges: Ids) -> list[Ids]:
    """The first neighbours of all words, the second ones, and so on.

    Each row ends with the last word that has such a neighbour. A word before it that has none is
    its own, which changes nothing.
    """
    here = np.concatenate([edges[:, 0], edges[:, 1]])
    there = np.concatenate([edges[:, 1], edges[:, 0]])
    order = np.argsort(here, kind="stable")
    here, there = here[order], there[order]
    number = np.arange(len(here)) - np.searchsorted(here, here)
    found = []
    for j in range(int(number.max(initial=-1)) + 1):
        row = np.arange(int(here[number == j].max()) + 1)
        row[here[number == j]] = there[number == j]
        found.append(row)
    return found


def _numbers(digits: list[Bits], count: int) -> Bytes:
    """The numbers themselves, of the first `count` words: (count, size)."""
    size = len(digits[0])
    found = np.empty((-(-count // 8), 8, size), dtype=np.uint8)
    for group, eight in enumerate(found):  # of a size that a processor's cache can hold
        numbers = np.zeros(size, dtype=np.uint64)  # eight bytes, none of which overflows
        for place, digit in enumerate(digits):
            # Little-endian on every machine, so that bit b is that of the b-th word.
            octets = digit.astype("<u8", copy=False).view(np.uint8)
            bits = np.unpackbits(np.ascontiguousarray(octets[:, group]), bitorder="little")
            numbers |= bits.view(np.uint64) << np.uint64(place)
        eight[:] = numbers.view(np.uint8).reshape(-1, 8).T
    return found.reshape(-1, size)[:count]
