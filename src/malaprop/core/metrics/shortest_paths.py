"""Shortest paths from up to 256 words at a time, for edges of integer length.

Let V_k(w) be the words within distance k of w. Then V_0(w) = {w}, and

    V_k = V_{k−1} ∪ ⋃ over lengths s of the words joined by an edge of length s to V_{k−s}.

That takes one pass over the edges for 256 words w together, one bit of 32 bytes for each w. A
word's distance is the number of k for which it is not in V_k yet. The binary digit of 2^j in a
number n is the parity of how many multiples of 2^j there are up to n. So that digit of a distance
is the parity of how many of V_{2^j − 1}, V_{2·2^j − 1}, … do not contain the word.
"""

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids, distinct
from malaprop.core.metrics.near_search import Bytes, Lookup, NearSearch, both_ways
from malaprop.core.progress import Progress
from malaprop.core.sampling.by_distance import NearWords
from malaprop.core.sampling.draws import order_of
from malaprop.core.threads import each_in_threads

Bits = NDArray[np.uint64]

AT_ONCE = 256
MOST = 255
"""The largest level that fits a byte."""


class LevelSearch:
    """A search for levels, integer distances in a graph, which are cut off at `last`."""

    def __init__(self, size: int, edges: Ids, lengths: Ids, last: int) -> None:
        self._size, self._last = size, last
        classes = {int(s): edges[lengths == s] for s in distinct(lengths)}
        # Words with the most edges come first, so that those with a j-th edge form a prefix.
        degrees = [np.bincount(members.ravel(), minlength=size) for members in classes.values()]
        uneven = max(degrees, key=np.max, default=np.zeros(size))
        self._order = np.argsort(-uneven, kind="stable")
        self._place: Ids = np.empty_like(self._order)
        self._place[self._order] = np.arange(size)
        self._classes = classes
        self._steps = _steps(list(classes), last)

    @cached_property
    def _joined(self) -> dict[int, list[Ids]]:
        """The neighbours of all words by edges of each length; made for searches of the graph."""
        return {s: _slots(self._size, self._place[ends]) for s, ends in self._classes.items()}

    def from_words(self, ids: Ids) -> Bytes:
        """Return the levels of all words seen from `ids`: (len(ids), words)."""
        levels = np.empty((len(ids), self._size), dtype=np.uint8)
        for start in range(0, len(ids), AT_ONCE):
            sources = ids[start : start + AT_ONCE]
            digits = self._no_digits(len(sources))
            self._spell(sources, digits)
            in_order = [digit[self._place] for digit in digits]
            levels[start : start + AT_ONCE] = _numbers(in_order, len(sources))
        return levels

    def near_words_alone(self, ids: Ids, beyond: int) -> NearWords:
        """Return what `near_words` does without searching the whole graph, unless it must."""
        return self._near.near_words(ids, beyond, _Once(lambda: self.near_words(ids, beyond).at))

    def near_words(self, ids: Ids, beyond: int) -> NearWords:
        """Return the words nearer than level `beyond`; levels of other words come on demand."""
        beyond = min(max(beyond, 1), self._last)
        starts = range(0, len(ids), AT_ONCE)
        digits = self._no_digits(min(len(ids), AT_ONCE), len(starts))
        sizes, words = list[Ids](), list[Ids]()
        for start, room in zip(starts, digits, strict=True):
            sources = ids[start : start + AT_ONCE]
            nearer = self._spell(sources, room[..., : _lanes(len(sources))], beyond)
            rows, places = _members(nearer)
            sizes.append(np.bincount(rows, minlength=len(sources)))
            words.append(self._order[places])
        at = _Lookup(digits, self._place)
        near, counts = np.concatenate(words), np.concatenate(sizes)
        keys = at(np.repeat(np.arange(len(ids)), counts), near)
        return NearWords(counts, near, keys, np.full(len(ids), beyond, dtype=np.uint8), at)

    @cached_property
    def _near(self) -> NearSearch:
        joined = {s: self._place[ends] for s, ends in self._classes.items()}
        return NearSearch(joined, self._order, self._place, self._last)

    def counts(self, progress: Progress | None = None) -> NDArray[np.int64]:
        """Count the words on each level, seen from each word: (words, levels)."""
        within = np.zeros((self._last + 1, self._size), dtype=np.int64)
        starts = range(0, self._size, AT_ONCE)
        for start, counted in zip(starts, each_in_threads(self._within, starts), strict=True):
            within[:-1] += counted
            if progress is not None:
                progress(min(start + AT_ONCE, self._size), self._size)
        within[-1] = self._size
        return np.diff(within.T[self._place], axis=1, prepend=0)

    def _within(self, start: int) -> NDArray[np.uint16]:
        """Count, for each word, how many of 256 words are within 0, 1, 2 … of it.

        Distances are symmetric: a word has as many of them within k as have it within k.
        """
        ids = np.arange(start, min(start + AT_ONCE, self._size))
        counts = np.full((self._last, self._size), len(ids), dtype=np.uint16)
        for k, reached in enumerate(self._spreading(ids)):
            np.bitwise_count(reached).sum(axis=1, dtype=np.uint16, out=counts[k])
        return counts

    def _no_digits(self, words: int, *blocks: int) -> Bits:
        """Make room for the binary digits of the distances from `words` words."""
        shape = (*blocks, self._last.bit_length(), self._size, _lanes(words))
        return np.zeros(shape, dtype=np.uint64)

    def _spell(self, ids: Ids, digits: Bits, beyond: int = 1) -> Bits:
        """Write the binary digits of the distances, the lowest first, words in the order of places.

        Returns the words that are nearer than level `beyond`.
        """
        nearer: Bits = np.empty(digits.shape[1:], dtype=np.uint64)
        for k, reached in enumerate(self._spreading(ids), 1):
            for j, digit in enumerate(digits):
                if k % (1 << j) == 0:
                    np.bitwise_xor(digit, reached, out=digit)
            if k == beyond:
                nearer[:] = reached
        if k < beyond:  # all words were reached earlier
            nearer[:] = reached
        for j, digit in enumerate(digits):  # the sums count the V that contain a word
            if (k >> j) % 2:
                np.invert(digit, out=digit)
        return nearer

    def _spreading(self, ids: Ids) -> Iterator[Bits]:
        """Yield V_0, V_1, … of up to 256 words, until all words are reached or the last level is.

        Use each before asking for the next: its memory is reused.
        """
        place = np.arange(len(ids))
        ones = np.uint64(1) << (place % 64).astype(np.uint64)
        reached = np.zeros((self._size, _lanes(len(ids))), dtype=np.uint64)
        np.bitwise_or.at(reached, (self._place[ids], place // 64), ones)  # a word may occur twice
        everyone = np.bitwise_or.reduce(reached, axis=0)
        # Reuse memory: touching fresh pages would take as long as the search.
        kept = [reached, *(np.empty_like(reached) for _ in range(max(self._joined, default=1)))]
        room = np.empty_like(reached)
        for k in range(self._last):
            yield kept[k % len(kept)]
            if k % 8 == 7 and (kept[k % len(kept)] == everyone).all():
                return
            self._advance(kept, k + 1, room)

    def _advance(self, kept: list[Bits], k: int, room: Bits) -> None:
        """Compute V_k in the memory of the oldest V."""
        reached = kept[k % len(kept)]
        reached[:] = kept[(k - 1) % len(kept)]
        for length in self._steps[k]:
            source = kept[(k - length) % len(kept)]
            for neighbours in self._joined[length]:
                joined = room[: len(neighbours)]
                # "clip" skips a check of the indices, which are right.
                np.take(source, neighbours, axis=0, out=joined, mode="clip")
                np.bitwise_or(reached[: len(neighbours)], joined, out=reached[: len(neighbours)])


class _Once:
    """A lookup that is made when it is first needed."""

    def __init__(self, make: Callable[[], Lookup]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> Lookup:
        return self._make()

    def __call__(self, rows: Ids, words: Ids) -> Bytes:
        """Return the distance of each word from the word of its row."""
        return self._made(rows, words)


class _Lookup:
    """Looks up distances of single pairs, by their digits: (blocks, digits, words, lanes)."""

    def __init__(self, digits: Bits, place: Ids) -> None:
        self._digits, self._place = digits, place

    def __call__(self, rows: Ids, words: Ids) -> Bytes:
        """Return the distance of each word from the word of its row."""
        _, count, size, lanes = self._digits.shape
        # Shifts instead of divisions: AT_ONCE is 2⁸, and a lane has 2⁶ bits.
        block, lane = rows >> 8, (rows & 255) >> 6
        where = (block * (count * size) + self._place.take(words)) * lanes + lane
        shift = (rows & 63).astype(np.uint64)
        distances = np.zeros(len(rows), dtype=np.uint64)
        for j in range(count):
            digit = self._digits.take(where + j * size * lanes) >> shift
            distances |= (digit & np.uint64(1)) << np.uint64(j)
        return distances.astype(np.uint8)


def _members(reached: Bits) -> tuple[Ids, Ids]:
    """Return the rows and places of the bits that are set, row by row."""
    octets = reached.astype("<u8", copy=False).view(np.uint8)
    full = np.flatnonzero(octets.ravel() != 0)  # numpy is faster with booleans than with bytes
    bits = np.unpackbits(octets.ravel()[full], bitorder="little").view(np.bool_)
    set_bits = np.flatnonzero(bits)
    of_octet = full[set_bits >> 3]
    places = of_octet // octets.shape[1]
    rows = (of_octet - places * octets.shape[1]) * 8 + (set_bits & 7)
    order = order_of(rows, AT_ONCE)
    return rows[order], places[order]


def _lanes(words: int) -> int:
    """Return how many 64-bit machine words hold one bit for each of `words`."""
    return -(-words // 64)


def _steps(lengths: list[int], last: int) -> list[list[int]]:
    """Return the lengths s that matter at each level k: V_{k−s} may be larger than V_{k−s−1}.

    If no path has length k − s, the words joined to V_{k−s} are in V_{k−1} already.
    """
    useful, reached = [list[int]()], {0}
    for k in range(1, last + 1):
        useful.append([s for s in lengths if k - s in reached])
        if useful[k]:
            reached.add(k)
    return useful


def _slots(size: int, edges: Ids) -> list[Ids]:
    """Return the first neighbours of all words, the second ones, and so on.

    Each row ends with the last word that has such a neighbour. An earlier word that has none gets
    itself, which changes nothing.
    """
    here, number, there = both_ways(size, edges)
    order = np.argsort(number, kind="stable")
    ends = np.cumsum(np.bincount(number))[:-1]
    slots = []
    for words, neighbours in zip(*(np.split(a[order], ends) for a in (here, there)), strict=True):
        row = np.arange(int(words.max(initial=-1)) + 1)
        row[words] = neighbours
        slots.append(row)
    return slots if len(here) else []


def _numbers(digits: list[Bits], count: int) -> Bytes:
    """Assemble the numbers from their digits, for the first `count` words: (count, size)."""
    size = len(digits[0])
    groups = np.empty((-(-count // 8), 8, size), dtype=np.uint8)
    for group, eight in enumerate(groups):  # small enough for a processor's cache
        numbers = np.zeros(size, dtype=np.uint64)  # eight bytes each; none overflows
        for place, digit in enumerate(digits):
            # Little-endian on every machine: bit b belongs to the b-th word.
            octets = digit.astype("<u8", copy=False).view(np.uint8)
            bits = np.unpackbits(np.ascontiguousarray(octets[:, group]), bitorder="little")
            numbers |= bits.view(np.uint64) << np.uint64(place)
        eight[:] = numbers.view(np.uint8).reshape(-1, 8).T
    return groups.reshape(-1, size)[:count]
