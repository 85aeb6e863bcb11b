"""The word graph, its steps, and the searches in it."""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.privacy.arrays import Floats, Ids, Vectors, distinct, order_of, ranges
from malaprop.privacy.errors import MetricError
from malaprop.privacy.guarantee import proved
from malaprop.privacy.lazy_rows import LimitedSearch, NearWords
from malaprop.privacy.metrics import DistanceRows, KeyedDistances, Metric
from malaprop.privacy.progress import Progress, each_in_threads, report

# Shortest paths from up to 256 words at a time, for edges of integer length.
#
# Let V_k(w) be the words within distance k of w. Then V_0(w) = {w}, and
#
#     V_k = V_{k−1} ∪ ⋃ over lengths s of the words joined by an edge of length s to V_{k−s}.
#
# That takes one pass over the edges for 256 words w together, one bit of 32 bytes for each w. A
# word's distance is the number of k for which it is not in V_k yet. The binary digit of 2^j in a
# number n is the parity of how many multiples of 2^j there are up to n. So that digit of a distance
# is the parity of how many of V_{2^j − 1}, V_{2·2^j − 1}, … do not contain the word.
#
# Near words, found step by step: what is far is not searched.
#
# Searching the whole graph takes as long for one word as for 64. A sentence needs only the words
# near its own, and to know of some far words whether they are within a limit:
#
# Let the words at less than r from w be known, and T(v) be the length of the shortest path to v
# that leaves them by its last edge. If r ≤ d(w, y) ≤ D, then a shortest path to y has a first word
# v with d(w, v) ≥ r. The word before it is nearer than r, so T(v) = d(w, v), and d(v, y) ≤ D − r.
# So y is within D exactly if T(v) + d(v, y) ≤ D for some v within D − r of y: a search from y, not
# from w, and a short one, since most far words are tried with a D just above r.

Bytes = NDArray[np.uint8]
Bits = NDArray[np.uint64]

AT_ONCE = 256
_MOST = 255  # the largest level that fits a byte
_MOST_PLACES = 1 << 20  # of a search from far words: with more, whole searches are faster
_MANY, _SHORT = 1024, np.iinfo(np.int32)  # numbers to sort
_TOGETHER = 64  # rows that are searched together: their levels fit a processor's cache
_NONE: Ids = np.empty(0, dtype=np.int64)


class LevelSearch:
    """A search for levels, integer distances in a graph, which are cut off at `last`."""

    def __init__(self, size: int, edges: Ids, lengths: Ids, last: int) -> None:
        self._size, self._last = size, last
        classes = {int(s): edges[lengths == s] for s in distinct(lengths)}
        # Words with the most edges come first, so that those with a j-th edge form a prefix.
        degrees = [np.bincount(members.ravel(), minlength=size) for members in classes.values()]
        self._order = np.argsort(-max(degrees, key=np.max, default=np.zeros(size)), kind="stable")
        self._place: Ids = np.empty_like(self._order)
        self._place[self._order] = np.arange(size)
        self._classes = classes
        # The lengths s that matter at each level k: V_{k−s} may be larger than V_{k−s−1}. If no
        # path has length k − s, the words joined to V_{k−s} are in V_{k−1} already.
        self._steps, reached = [list[int]()], {0}
        for k in range(1, last + 1):
            self._steps.append([s for s in classes if k - s in reached])
            if self._steps[k]:
                reached.add(k)

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

    def near_words(self, ids: Ids, beyond: int) -> NearWords:
        """Return the words nearer than level `beyond`; levels of other words come on demand."""
        beyond = min(max(beyond, 1), self._last)
        starts = range(0, len(ids), AT_ONCE)
        digits = self._no_digits(min(len(ids), AT_ONCE), len(starts))
        sizes, words = list[Ids](), list[Ids]()
        for start, room in zip(starts, digits, strict=True):
            sources = ids[start : start + AT_ONCE]
            rows, places = _members(self._spell(sources, room[..., : _lanes(len(sources))], beyond))
            sizes.append(np.bincount(rows, minlength=len(sources)))
            words.append(self._order[places])
        at = _lookup(digits, self._place)
        near, counts = np.concatenate(words), np.concatenate(sizes)
        keys = at(np.repeat(np.arange(len(ids)), counts), near)
        return NearWords(counts, near, keys, np.full(len(ids), beyond, dtype=np.uint8), at)

    @cached_property
    def _beside(self) -> dict[int, Callable[[Ids, Ids], Ids]]:
        """The neighbours of places by edges of each length; made for searches of near words."""
        return {s: _neighbours(self._size, self._place[ends]) for s, ends in self._classes.items()}

    def near_words_alone(self, ids: Ids, beyond: int) -> NearWords:
        """Return what `near_words` does without searching the whole graph, unless it must.

        It is faster if levels of few other words will be looked up.
        """
        beyond, size = min(max(beyond, 1), self._last), self._size
        levels = np.full(len(ids) * size, self._last, dtype=np.uint8)
        starts = np.arange(len(ids)) * size + self._place[ids]
        some = range(0, len(ids), _TOGETHER)
        cells = np.concatenate(
            [_NONE, *(self._spread(levels, starts[i : i + _TOGETHER], beyond) for i in some)]
        )
        rows = cells // size
        made = cache(lambda: self.near_words(ids, beyond).at)

        def exact(rows: Ids, words: Ids) -> Bytes:
            return made()(rows, words)

        def within(rows: Ids, words: Ids, limits: Ids) -> Bytes:
            known = self._within_limits(levels, beyond, rows * size, self._place[words], limits)
            return exact(rows, words) if known is None else known

        return NearWords(
            sizes=np.bincount(rows, minlength=len(ids)),
            words=self._order[cells - rows * size],
            keys=levels[cells],
            beyond=np.full(len(ids), beyond, dtype=np.uint8),
            at=exact,
            limited=LimitedSearch(self._last, within),
        )

    def _spread(self, levels: Bytes, start: Ids, beyond: int) -> Ids:
        """Write the levels below `beyond` into the cells, and T into those one edge farther.

        A cell is a place in a row. Returns the cells of levels below `beyond`, in order.
        """
        levels[start] = 0
        reached: list[list[Ids]] = [[start], *([] for _ in range(beyond))]
        found = []
        for k in range(beyond):
            # A cell that was reached by a shorter path later on is not on this level.
            cells = np.concatenate([_NONE, *reached[k]])
            cells = _distinct_cells(cells.compress(levels.take(cells) == k))
            found.append(cells)
            places = cells % self._size
            for length, neighbours in self._beside.items() if cells.size else ():
                if k + length < self._last:
                    there = neighbours(places, cells - places)
                    there = there.compress(levels.take(there) > k + length)
                    levels[there] = k + length
                    if k + length < beyond:
                        reached[k + length].append(there)
        cells = np.concatenate(found)
        cells.sort(kind="stable")  # a merge: the cells of each level are in order
        return cells

    def _within_limits(
        self, levels: Bytes, beyond: int, rows: Ids, places: Ids, limits: Ids
    ) -> Bytes | None:
        """Return levels on the right side of the limits; exact ones below `beyond`.

        `rows` are the first cells of rows. Returns None if that takes too long.
        """
        known: Bytes = levels[rows + places]
        # Without a limit below the last level, only near words matter. Those are known.
        asked = np.flatnonzero((known > limits) & (limits >= beyond) & (limits < self._last))
        reached = [(asked, places[asked])]
        for k in range(1, int((limits[asked] - beyond).max(initial=0)) + 1):
            asked, there = self._one_farther(reached, k, (known > limits) & (limits >= beyond + k))
            reached.append((asked, there))
            if not asked.size:
                continue
            if len(asked) > _MOST_PLACES:
                return None
            total = levels[rows[asked] + there].astype(np.int64) + k
            hits = total <= limits[asked]
            known[asked[hits]] = total[hits]
        return known

    def _one_farther(
        self, reached: list[tuple[Ids, Ids]], k: int, searching: NDArray[np.bool_]
    ) -> tuple[Ids, Ids]:
        """Return what is k from each far word that is still `searching`, or was nearer before."""
        cells = [_NONE]
        for length, neighbours in self._beside.items():
            if length <= k and reached[k - length][0].size:
                asked, there = reached[k - length]
                going = searching[asked]
                cells.append(neighbours(there.compress(going), asked.compress(going) * self._size))
        distinct = _distinct_cells(np.concatenate(cells))
        asked = distinct // self._size
        return asked, distinct - asked * self._size

    def counts(self, progress: Progress | None = None) -> NDArray[np.int64]:
        """Count the words on each level, seen from each word: (words, levels)."""

        def within(start: int) -> NDArray[np.uint16]:
            """Count, for each word, how many of 256 words are within 0, 1, 2 … of it.

            Distances are symmetric: a word has as many of them within k as have it within k.
            """
            ids = np.arange(start, min(start + AT_ONCE, self._size))
            counts = np.full((self._last, self._size), len(ids), dtype=np.uint16)
            for k, reached in enumerate(self._spreading(ids)):
                np.bitwise_count(reached).sum(axis=1, dtype=np.uint16, out=counts[k])
            return counts

        total = np.zeros((self._last + 1, self._size), dtype=np.int64)
        starts = range(0, self._size, AT_ONCE)
        for start, counted in zip(starts, each_in_threads(within, starts), strict=True):
            total[:-1] += counted
            report(progress, min(start + AT_ONCE, self._size), self._size)
        total[-1] = self._size
        return np.diff(total.T[self._place], axis=1, prepend=0)

    def _no_digits(self, words: int, *blocks: int) -> Bits:
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
            # V_{k+1} takes the memory of the oldest V.
            nearer, reached = kept[k % len(kept)], kept[(k + 1) % len(kept)]
            reached[:] = nearer
            for length in self._steps[k + 1]:
                source = kept[(k + 1 - length) % len(kept)]
                for neighbours in self._joined[length]:
                    joined, front = room[: len(neighbours)], reached[: len(neighbours)]
                    # "clip" skips a check of the indices, which are right.
                    np.take(source, neighbours, axis=0, out=joined, mode="clip")
                    np.bitwise_or(front, joined, out=front)


def _neighbours(size: int, edges: Ids) -> Callable[[Ids, Ids], Ids]:
    """Return a function for the neighbours of places, each plus a number that is added to it."""
    here, number, there = _both_ways(size, edges)
    counts = np.bincount(here, minlength=size)
    most = int(counts.max(initial=0))
    if most * size <= 4 * len(edges):
        # About as many for all. A place that has fewer is its own neighbour: no path becomes
        # shorter by that.
        table = np.repeat(np.arange(size)[:, None], most, axis=1)
        table[here, number] = there
        return lambda places, added: (table.take(places, axis=0) + added[:, None]).ravel()
    first = np.cumsum(counts) - counts

    def of(places: Ids, added: Ids) -> Ids:
        own = counts.take(places)
        return there.take(ranges(first.take(places), own)) + added.repeat(own)

    return of


def _both_ways(size: int, edges: Ids) -> tuple[Ids, Ids, Ids]:
    """Return each edge both ways: from where, its number among those from there, and to where."""
    here = np.concatenate([edges[:, 0], edges[:, 1]])
    there = np.concatenate([edges[:, 1], edges[:, 0]])
    order = order_of(here, size)
    counts = np.bincount(here, minlength=size)
    here = here[order]
    return here, np.arange(len(here)) - (np.cumsum(counts) - counts)[here], there[order]


def _distinct_cells(numbers: Ids) -> Ids:
    """Return each number once, in order; on few numbers faster than numpy's function."""
    if not numbers.size:
        return numbers
    if len(numbers) >= _MANY and numbers.max() <= _SHORT.max:
        # Sorting short integers takes half as long, and less on some processors.
        in_order = np.sort(numbers.astype(np.int32)).astype(np.int64)
    else:
        numbers.sort()
        in_order = numbers
    first = np.empty(len(in_order), dtype=np.bool_)
    first[0] = True
    np.not_equal(in_order[1:], in_order[:-1], out=first[1:])
    return in_order.compress(first)


def _lookup(digits: Bits, place: Ids) -> Callable[[Ids, Ids], Bytes]:
    """Return a lookup of single pairs by their digits: (blocks, digits, words, lanes)."""
    _, count, size, lanes = digits.shape

    def level_of(rows: Ids, words: Ids) -> Bytes:
        # Shifts instead of divisions: AT_ONCE is 2⁸, and a lane has 2⁶ bits.
        block, lane = rows >> 8, (rows & 255) >> 6
        where = (block * (count * size) + place.take(words)) * lanes + lane
        shift = (rows & 63).astype(np.uint64)
        levels = np.zeros(len(rows), dtype=np.uint64)
        for j in range(count):
            digit = digits.take(where + j * size * lanes) >> shift
            levels |= (digit & np.uint64(1)) << np.uint64(j)
        return levels.astype(np.uint8)

    return level_of


def _members(reached: Bits) -> tuple[Ids, Ids]:
    """Return the rows and places of the bits that are set, row by row."""
    octets = reached.astype("<u8", copy=False).view(np.uint8)
    full = np.flatnonzero(octets.ravel() != 0)  # numpy is faster with booleans than with bytes
    set_bits = np.flatnonzero(np.unpackbits(octets.ravel()[full], bitorder="little").view(np.bool_))
    of_octet = full[set_bits >> 3]
    places = of_octet // octets.shape[1]
    rows = (of_octet - places * octets.shape[1]) * 8 + (set_bits & 7)
    order = order_of(rows, AT_ONCE)
    return rows[order], places[order]


def _lanes(words: int) -> int:
    """Return how many 64-bit machine words hold one bit for each of `words`."""
    return -(-words // 64)


def _slots(size: int, edges: Ids) -> list[Ids]:
    """Return the first neighbours of all words, the second ones, and so on.

    Each row ends with the last word that has such a neighbour. An earlier word that has none gets
    itself, which changes nothing.
    """
    here, number, there = _both_ways(size, edges)
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


# A graph of near words, and the metric that counts its steps.

_UNITS = (1.0, 0.5, 0.25, 0.125)


@proved("docs/proofs/audit.md")
class WordGraph:
    """Words joined by edges; d(w, w') is the length of a shortest path, cut off at γ.

    The graph is connected and edges have positive lengths, so d is a metric, and so is min(d, γ).

    >>> path = WordGraph(4, [[0, 1], [1, 2], [2, 3]], cutoff=2.0)
    >>> path.distances(np.array([0]))
    array([[0., 1., 2., 2.]])
    >>> path.path(0, 3)
    [0, 1, 2, 3]
    """

    def __init__(
        self,
        size: int,
        edges: Any,
        weights: Any = None,
        *,
        cutoff: float = math.inf,
        made: Mapping[str, Any] | None = None,
    ) -> None:
        """Join words by `edges`, pairs of ids, of lengths `weights` (1 if not given).

        `made` records how the edges were chosen. It is public and part of the fingerprint.
        """
        ends = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
        lengths = np.ones(len(ends)) if weights is None else np.asarray(weights, dtype=np.float64)
        _check(size, ends, lengths, cutoff)
        self.size, self.cutoff, self.made = size, float(cutoff), dict(made or {})
        self.edges, self.weights = _simple(ends, lengths)
        self.edges.setflags(write=False)
        self.weights.setflags(write=False)
        if (parts := self._parts()) > 1:
            raise MetricError(
                f"The word graph has {parts} parts with no path between them, and so no distance. "
                "Add edges that join them."
            )

    def __getstate__(self) -> dict[str, Any]:
        # What can be computed again need not travel; and equal graphs give equal pickles.
        names = ("size", "cutoff", "made", "edges", "weights")
        return {name: self.__dict__[name] for name in names}

    @cached_property
    def unit(self) -> float:
        """A length of which all distances are multiples by 0 … 255; 0 if there is none."""
        finite = distinct(self.weights)
        if math.isfinite(self.cutoff):
            finite = np.append(finite, self.cutoff)
        for unit in _UNITS:
            whole = not (finite / unit % 1.0).any()
            if whole and self.reach / unit <= _MOST:
                return unit
        return 0.0

    @cached_property
    def last(self) -> int:
        """The last level, the largest possible distance in units."""
        return round(self.reach / self.unit)

    @cached_property
    def search(self) -> LevelSearch:
        """The search for levels; the graph must have a unit."""
        lengths = np.rint(self.weights / self.unit).astype(np.int64)
        return LevelSearch(self.size, self.edges, lengths, self.last)

    def levels(self, ids: Ids) -> Bytes:
        """Return the levels of all words seen from `ids`: their distances in units."""
        return self.search.from_words(ids)

    def distances(self, ids: Ids) -> Floats:
        if self.unit:
            return _in_units(self.levels(ids), self.unit)
        return np.minimum(self.lengths(ids), self.cutoff)

    def path(self, start: int, end: int) -> list[int]:
        """Return the words on a shortest path, both ends included; it is not cut off."""
        from scipy.sparse.csgraph import dijkstra

        _, before = dijkstra(self._matrix, directed=False, indices=end, return_predecessors=True)
        words = [start]
        while words[-1] != end:
            words.append(int(before[words[-1]]))
        return words

    def lengths(self, start: Ids | int) -> Floats:
        """Return the lengths of shortest paths from a word, or several, to all; not cut off."""
        from scipy.sparse.csgraph import dijkstra

        return np.asarray(dijkstra(self._matrix, directed=False, indices=start), np.float64)

    @cached_property
    def token(self) -> bytes:
        """Bytes that identify the graph in a lexicon's fingerprint."""
        about = {"cutoff": repr(self.cutoff), "made": self.made}
        digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
        digest.update(np.ascontiguousarray(self.edges, dtype="<i8").data)
        digest.update(np.ascontiguousarray(self.weights, dtype="<f8").data)
        return b"graph\0" + digest.digest()

    @cached_property
    def _matrix(self) -> Any:
        from scipy.sparse import coo_array

        ends = (self.edges[:, 0], self.edges[:, 1])
        return coo_array((self.weights, ends), shape=(self.size, self.size)).tocsr()

    def _parts(self) -> int:
        """Count the connected parts: each word takes the lowest number that it can reach."""
        here, there = self.edges.T
        lowest = np.arange(self.size)
        while True:
            lower = lowest.copy()
            np.minimum.at(lower, here, lowest[there])
            np.minimum.at(lower, there, lowest[here])
            lower = lower[lower]  # reaches twice as far each time
            if np.array_equal(lower, lowest):
                return len(distinct(lowest))
            lowest = lower

    @cached_property
    def reach(self) -> float:
        """An upper bound on distances: γ, or twice the largest distance from the first word."""
        if math.isfinite(self.cutoff):
            return self.cutoff
        return max(1.0, 2.0 * float(self.lengths(0).max()))


@proved("docs/proofs/audit.md")
@dataclass(frozen=True, eq=False)
class Steps(Metric):
    """d(w, w') = the length of a shortest path in a public graph of near words."""

    name = "graph"

    graph: WordGraph

    def on(self, vectors: Vectors) -> DistanceRows:
        """Search the graph; the vectors play no part."""
        if len(vectors) != self.graph.size:
            raise MetricError(
                f"The word graph has {self.graph.size} words and the lexicon has "
                f"{len(vectors)}: build the graph with lexicon.with_graph()."
            )
        graph = self.graph
        if not graph.unit:
            return graph.distances
        return KeyedDistances(graph.levels, lambda levels: _in_units(levels, graph.unit))

    def relative_error(self, dimension: int) -> float:
        """Whole numbers are exact; other lengths add up along a path, with rounding."""
        return 0.0 if self.graph.unit else self.graph.size * 2.0**-53

    def token(self, vectors: Vectors) -> bytes:
        return self.graph.token


def graph_of(metric: Metric) -> WordGraph | None:
    """Return the word graph if the metric is exactly `Steps`; None for all others."""
    return metric.graph if type(metric) is Steps else None


def _in_units(levels: Bytes, unit: float) -> Floats:
    return np.multiply(levels, unit, dtype=np.float64)


def _check(size: int, edges: Ids, weights: Floats, cutoff: float) -> None:
    if len(weights) != len(edges):
        raise MetricError(
            f"Got {len(edges)} edges and {len(weights)} weights: give one weight for each edge."
        )
    if len(edges) and not (edges.min() >= 0 and edges.max() < size):
        raise MetricError(f"The ends of an edge must be word ids, 0 to {size - 1}.")
    if not (np.isfinite(weights) & (weights > 0)).all():
        raise MetricError("The weight of an edge must be a finite number above 0.")
    if not (isinstance(cutoff, Real) and cutoff > 0):
        raise MetricError("The 'cutoff' of a word graph must be a number above 0.")
    if len(weights) and weights.max() > cutoff:
        raise MetricError(
            f"The weight of an edge must be at most the cutoff, {cutoff:g}: distances do not grow "
            f"beyond it. Got {weights.max():g}."
        )


def _simple(edges: Ids, weights: Floats) -> tuple[Ids, NDArray[np.float64]]:
    """Keep each edge once, the lower end first, with its least weight; drop loops."""
    here, there = edges.T
    later = (here[1:] > here[:-1]) | ((here[1:] == here[:-1]) & (there[1:] > there[:-1]))
    if (here < there).all() and later.all():  # as in the files that were written
        return edges.copy(), weights.copy()
    ends = np.sort(edges, axis=1)
    order = np.lexsort((weights, ends[:, 1], ends[:, 0]))
    ends, weights = ends[order], weights[order]
    first = np.ones(len(ends), dtype=np.bool_)
    first[1:] = (ends[1:] != ends[:-1]).any(axis=1)
    first &= ends[:, 0] != ends[:, 1]
    return ends[first], weights[first]
