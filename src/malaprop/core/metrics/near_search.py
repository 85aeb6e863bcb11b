"""Near words, found step by step: what is far is not searched.

Searching the whole graph takes as long for one word as for 64 (`shortest_paths`). A sentence needs
only the words near its own, and to know of some far words whether they are within a limit:

Let the words at less than r from w be known, and T(v) be the length of the shortest path to v that
leaves them by its last edge. If r ≤ d(w, y) ≤ D, then a shortest path to y has a first word v with
d(w, v) ≥ r. The word before it is nearer than r, so T(v) = d(w, v), and d(v, y) ≤ D − r. So y is
within D exactly if T(v) + d(v, y) ≤ D for some v within D − r of y: a search from y, not from w,
and a short one, since most far words are tried with a D just above r.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids
from malaprop.core.sampling.by_distance import LimitedSearch, NearWords
from malaprop.core.sampling.draws import order_of, ranges

Bytes = NDArray[np.uint8]
Lookup = Callable[[Ids, Ids], Bytes]
"""Returns the levels of words, given their rows and ids."""

_MOST_PLACES = 1 << 20  # of a search from far words: with more, whole searches are faster
_MANY, _SHORT = 1024, np.iinfo(np.int32)  # numbers to sort
_TOGETHER = 64  # rows that are searched together: their levels fit a processor's cache


class NearSearch:
    """A search for near words, for levels that are cut off at `last`; edges have lengths ≥ 1.

    Words are searched by their places in an order of words.
    """

    def __init__(self, joined: dict[int, Ids], order: Ids, place: Ids, last: int) -> None:
        """Take the edges of each length, as pairs of places; `place` inverts `order`."""
        self.size, self.last, self.order, self.place = len(order), last, order, place
        self.joined = {s: _neighbours(self.size, edges) for s, edges in joined.items()}

    def near_words(self, ids: Ids, beyond: int, exact: Lookup) -> NearWords:
        """Return the words nearer than level `beyond`; `exact` looks up any level, slowly."""
        beyond = min(max(beyond, 1), self.last)
        levels = np.full(len(ids) * self.size, self.last, dtype=np.uint8)
        starts = np.arange(len(ids)) * self.size + self.place[ids]
        some = range(0, len(ids), _TOGETHER)
        cells = np.concatenate(
            [_NONE, *(self._near(levels, starts[i : i + _TOGETHER], beyond) for i in some)]
        )
        rows = cells // self.size

        def within(rows: Ids, words: Ids, limits: Ids) -> Bytes:
            known = self._within(levels, beyond, rows * self.size, self.place[words], limits)
            return exact(rows, words) if known is None else known

        return NearWords(
            sizes=np.bincount(rows, minlength=len(ids)),
            words=self.order[cells - rows * self.size],
            keys=levels[cells],
            beyond=np.full(len(ids), beyond, dtype=np.uint8),
            at=exact,
            limited=LimitedSearch(self.last, within),
        )

    def _near(self, levels: Bytes, start: Ids, beyond: int) -> Ids:
        """Write what `spread` writes; return the cells of levels below `beyond`, in order."""
        cells = np.concatenate(self.spread(levels, start, beyond, beyond))
        cells.sort(kind="stable")  # a merge: the cells of each level are in order
        return cells

    def spread(self, levels: Bytes, start: Ids, beyond: int, listed: int) -> list[Ids]:
        """Write the levels below `beyond` into the cells, and T into those one edge farther.

        Returns the cells of each level below `listed`, in order. A cell is a place in a row.
        """
        levels[start] = 0
        reached: list[list[Ids]] = [[start], *([] for _ in range(listed))]
        for k in range(listed):
            # A cell that was reached by a shorter path later on is not on this level.
            cells = np.concatenate([_NONE, *reached[k]])
            cells = distinct_cells(cells.compress(levels.take(cells) == k))
            reached[k] = [cells]
            if k >= beyond or not cells.size:
                continue
            places = cells % self.size
            for length, neighbours in self.joined.items():
                if k + length < self.last:
                    there = neighbours.of(places, cells - places)
                    there = there.compress(levels.take(there) > k + length)
                    levels[there] = k + length
                    if k + length < listed:
                        reached[k + length].append(there)
        return [cells for (cells,) in reached[:listed]]

    def _within(
        self, levels: Bytes, beyond: int, rows: Ids, places: Ids, limits: Ids
    ) -> Bytes | None:
        """Return levels on the right side of the limits; exact ones below `beyond`.

        `rows` are the first cells of rows. Returns None if that takes too long.
        """
        known: Bytes = levels[rows + places]
        # Without a limit below the last level, only near words matter. Those are known.
        asked = np.flatnonzero((known > limits) & (limits >= beyond) & (limits < self.last))
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
        for length, neighbours in self.joined.items():
            if length <= k and reached[k - length][0].size:
                asked, there = reached[k - length]
                going = searching[asked]
                cells.append(
                    neighbours.of(there.compress(going), asked.compress(going) * self.size)
                )
        distinct = distinct_cells(np.concatenate(cells))
        asked = distinct // self.size
        return asked, distinct - asked * self.size


_NONE: Ids = np.empty(0, dtype=np.int64)


def distinct_cells(numbers: Ids) -> Ids:
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


class _Even:
    """The places joined to each place by edges of one length, if all have about as many.

    A place that has fewer is its own neighbour: no path becomes shorter by that.
    """

    def __init__(self, size: int, edges: Ids) -> None:
        here, number, there = both_ways(size, edges)
        most = int(number.max(initial=-1)) + 1
        self._there = np.repeat(np.arange(size)[:, None], most, axis=1)
        self._there[here, number] = there

    def of(self, places: Ids, added: Ids) -> Ids:
        """Return the neighbours of each place, plus the number that is `added` to it."""
        return (self._there.take(places, axis=0) + added[:, None]).ravel()

    def table(self) -> Ids:
        """Return the neighbours of all places, a row for each."""
        return self._there

    def pairs(self) -> tuple[Ids, Ids]:
        """Return each edge both ways: from where, and to where."""
        here = np.arange(len(self._there)).repeat(self._there.shape[1])
        there = self._there.ravel()
        return here[here != there], there[here != there]


class _Uneven:
    """The places joined to each place by edges of one length."""

    def __init__(self, size: int, edges: Ids) -> None:
        here, _, self._there = both_ways(size, edges)
        self._counts = np.bincount(here, minlength=size)
        self._first = np.cumsum(self._counts) - self._counts

    def of(self, places: Ids, added: Ids) -> Ids:
        """Return the neighbours of each place, plus the number that is `added` to it."""
        counts = self._counts.take(places)
        return self._there.take(ranges(self._first.take(places), counts)) + added.repeat(counts)

    def table(self) -> Ids | None:
        """Return None: a table would be too large."""
        return None

    def pairs(self) -> tuple[Ids, Ids]:
        """Return each edge both ways: from where, and to where."""
        return np.arange(len(self._counts)).repeat(self._counts), self._there


def both_ways(size: int, edges: Ids) -> tuple[Ids, Ids, Ids]:
    """Return each edge both ways: from where, its number among those from there, and to where."""
    here = np.concatenate([edges[:, 0], edges[:, 1]])
    there = np.concatenate([edges[:, 1], edges[:, 0]])
    order = order_of(here, size)
    counts = np.bincount(here, minlength=size)
    here = here[order]
    number = np.arange(len(here)) - (np.cumsum(counts) - counts)[here]
    return here, number, there[order]


def _neighbours(size: int, edges: Ids) -> _Even | _Uneven:
    most = int(np.bincount(edges.ravel(), minlength=size).max())
    return (_Even if most * size <= 4 * len(edges) else _Uneven)(size, edges)
