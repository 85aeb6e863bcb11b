"""The words near a word and on the border around them; and shortest paths that cross it.

Words at less than r from w are *near*. T(v) is the length of a shortest path from w to v of which
only the last edge leaves the near words, as in `near_search`. The *border* consists of all words
that are not near and whose T is below the last level. A *way* to y is a word v of the border and a
path from there to y. Its length is T(v) plus that of the path.

Let y be at r or farther, but below the last level. Each shortest path from w to y comes to a word v
of the border with T(v) = d(w, v). So the shortest ways to y are as long as the shortest paths.

`count_shortest` tells whether a way is a shortest one, and how many ways to y are as short.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids
from malaprop.core.metrics.near_search import Bytes, NearSearch
from malaprop.core.sampling.draws import ranges
from malaprop.core.sampling.walks import Edges

_TOGETHER = 128  # rows that are searched together: their levels fit a processor's cache


class Surroundings(NamedTuple):
    """What is known around each row's word. A cell is a place in a row: row · size + place."""

    radius: int
    """r, the level from which words are no longer near."""
    levels: Bytes
    """For each cell, the level of a near word, T of a border word, or the last level."""
    near: Ids
    """The cells of near words."""
    border: Ids
    """The cells of border words with T below r plus the shortest length of an edge."""


class BorderSearch:
    """A search for surroundings, and for ways that cross their borders."""

    def __init__(self, search: NearSearch, short: Ids) -> None:
        """Take a search for near words, and the table of neighbours by the shortest edges."""
        self._search, self.order = search, search.order
        self._shortest = min(search.joined)
        self.edges = self._edges(short)

    def _edges(self, short: Ids) -> Edges:
        """Return all edges that are shorter than the last level, for walks."""
        joined, places = self._search.joined, np.arange(self._search.size)
        longer = [(s, *joined[s].pairs()) for s in joined if self._shortest < s < self._search.last]
        here = np.concatenate([_NONE, *(here for _, here, _ in longer)])
        there = np.concatenate([_NONE, *(there for _, _, there in longer)])
        lengths = np.concatenate([_NONE, *(np.full(len(here), s) for s, here, _ in longer)])
        order = np.argsort(here, kind="stable")
        counts = np.bincount(here, minlength=len(places))
        first = np.cumsum(counts) - counts
        return Edges(short, self._shortest, first, counts, there[order], lengths[order])

    def leads_first(
        self, around: Surroundings, rows: Ids, edges: Ids, places: Ids
    ) -> NDArray[np.bool_]:
        """Return whether each longer edge is the first from a near word that attains T of its end.

        `rows` are the first cells of rows, and `places` are where the edges begin. Ends that
        `around` lists as border words do not count: each border word is to be found in one way.
        """
        there = self.edges.there.take(edges)
        wanted = around.levels.take(rows + there).astype(np.int64)
        counts = self.edges.counts.take(there)
        others = ranges(self.edges.first.take(there), counts)
        from_there = self.edges.there.take(others)
        levels = around.levels.take(rows.repeat(counts) + from_there).astype(np.int64)
        as_short = (levels < around.radius) & (
            levels + self.edges.lengths.take(others) == wanted.repeat(counts)
        )
        first = np.minimum.reduceat(
            np.where(as_short, from_there, self._search.size), np.cumsum(counts) - counts
        )
        unlisted = (wanted >= around.radius + self._shortest) & (wanted < self._search.last)
        return np.asarray(unlisted & (first == places))

    def surroundings(self, ids: Ids, radius: int) -> Surroundings:
        """Search for words nearer than level `radius`, and those on the border."""
        size, last = self._search.size, self._search.last
        levels = np.full(len(ids) * size, last, dtype=np.uint8)
        starts = np.arange(len(ids)) * size + self._search.place[ids]
        near, border, listed = [_NONE], [_NONE], min(radius + self._shortest, last)
        for i in range(0, len(ids), _TOGETHER):
            by_level = self._search.spread(levels, starts[i : i + _TOGETHER], radius, listed)
            near += by_level[:radius]
            border += by_level[radius:]
        return Surroundings(radius, levels, np.concatenate(near), np.concatenate(border))

    def count_shortest(
        self, around: Surroundings, rows: Ids, places: Ids, lengths: Ids
    ) -> NDArray[np.int64]:
        """Count the ways to each place that are as long as `lengths`; 0 if there are shorter ones.

        `rows` are the first cells of rows. All lengths are below the last level.
        """
        known = around.levels.take(rows + places)
        searching = (known >= around.radius) & (known >= lengths)
        ways = (known == lengths).astype(np.int64)
        asked = np.flatnonzero(searching)
        there = places[asked]
        reached = [(asked, there, np.full_like(there, -1))]
        for k in range(1, int((lengths[asked] - around.radius).max(initial=0)) + 1):
            if not any(k >= s and reached[k - s][0].size for s in self._search.joined):
                reached.append((_NONE, _NONE, _NONE))
                continue
            asked, there, before = self._one_farther(
                reached, k, searching & (lengths >= around.radius + k)
            )
            levels = around.levels.take(rows.take(asked) + there)
            on = levels >= around.radius  # a path to a near word is shorter: this ends the search
            total = levels.astype(np.int64) + k
            wanted = lengths.take(asked)
            searching[asked.compress(total < wanted)] = False
            ways += np.bincount(asked.compress(on & (total == wanted)), minlength=len(ways))
            reached.append((asked.compress(on), there.compress(on), before.compress(on)))
        return np.where(searching, ways, 0)

    def _one_farther(
        self, reached: list[tuple[Ids, Ids, Ids]], k: int, searching: NDArray[np.bool_]
    ) -> tuple[Ids, Ids, Ids]:
        """Follow paths of length k from each place; no path goes back the way it came."""
        parts = [(_NONE, _NONE, _NONE)]
        size = self._search.size
        for length, neighbours in self._search.joined.items():
            if length <= k and reached[k - length][0].size:
                asked, there, before = reached[k - length]
                going = np.flatnonzero(searching.take(asked))
                here = there.take(going)
                cells = neighbours.of(here, np.arange(len(going)) * size)
                path = cells // size
                new = cells - path * size
                onward = (new != before.take(going).take(path)) & (new != here.take(path))
                path = path.compress(onward)
                parts.append((asked.take(going).take(path), new.compress(onward), here.take(path)))
        asked, there, before = (np.concatenate(some) for some in zip(*parts, strict=True))
        return asked, there, before


def border_search(search: NearSearch) -> BorderSearch | None:
    """Return a search for borders; None if the shortest edges are not spread evenly over words."""
    if not search.joined or min(search.joined) + 2 > search.last:
        return None
    short = search.joined[min(search.joined)].table()
    return None if short is None else BorderSearch(search, short)


_NONE: Ids = np.empty(0, dtype=np.int64)
