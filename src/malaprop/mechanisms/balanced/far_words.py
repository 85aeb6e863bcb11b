"""Rows of a balance in which far words are reached by walks, for many draws of many words.

    Pr[y|w] ∝ ν(y)·(a·e^(−t·d(w, y)) + b) = ν(y)·c + a·ν(y)·(e^(−t·d(w, y)) − e^(−t·D))

Here D is the last level, which no distance exceeds, and c = a·e^(−t·D) + b. The first term is a
draw of any word by ν. The second one is 0 at D. Near words have it as their weight. Farther words
are reached from the border of the near ones by walks (`malaprop.core.sampling.walks`): a way to y
of length L is taken with a probability ∝ ν(y)·e^(−t·L). If it is not a shortest one, it is dropped.
If n ways to y are as short, it is kept with probability (1 − e^(−t·(D − L)))/n.
docs/proofs/sampling.md proves that the law is the same.
"""

from functools import partial

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.metrics.border_search import BorderSearch, Surroundings
from malaprop.core.sampling.by_distance import Pool
from malaprop.core.sampling.draws import fine, order_of
from malaprop.core.sampling.urns import Urns
from malaprop.core.sampling.walks import Walks

# What a set of words is, times the number of words; the place of a word is added to it.
_FROM_BORDER, _BY_LONG_EDGE, _ANYWHERE = 1, 2, 3
# What a word within reach of a far one costs a draw, over what a member costs a row.
_WALKING = 1.25
_LAST_FALL = 2.0**-4  # more would make the stated rounding error too small for urns


class FarWords:
    """Makes rows of a balance in which far words are drawn by walks."""

    def __init__(self, search: BorderSearch, weights: Floats, falls: Floats, pool: Pool) -> None:
        """Take ν, e^(−t·d) at each level, and the pool of ν."""
        self._search, self._falls, self._pool = search, falls, pool
        self._size, self._weights = len(weights), weights[search.order]
        self._above: Floats = falls - falls[-1]
        self._walks = Walks(search.edges, self._weights, falls[:-1])
        self._everywhere = float(len(pool[0]) * pool[1].max())

    @property
    def usable(self) -> bool:
        """Whether walks are short enough to be of use, and exact enough for so many words."""
        exact = self._walks.rounding <= self._size and self._falls[-1] <= _LAST_FALL
        return bool(self._walks.usable and exact)

    def radius(self, counts: Floats, draws: float) -> int:
        """Return the level up to which words should be near, for the least total cost.

        `counts` are those of words on each level, and `draws` the draws of a row, on average.
        """
        last, within = len(counts) - 1, np.cumsum(counts)
        radii = np.arange(1, last - self._search.edges.length)
        members = within[radii - 1] + within[radii + self._search.edges.length - 1]
        weights = counts * self._falls
        reach = [weights[r:last] @ within[: last - r] / weights.sum() for r in radii]
        return int(radii[np.argmin(members + _WALKING * draws * np.array(reach))])

    def rows(self, ids: Ids, radius: int, near_share: Floats, rest: Floats) -> Urns:
        """Return the rows of words, with a and b of each; words below `radius` are near."""
        around = self._search.surroundings(ids, radius)
        rows, places, levels = self._split(around, around.near)
        rows_out, places_out, levels_out = self._split(around, around.border)
        long = np.flatnonzero(self._search.edges.counts.take(places))
        places_long = places.take(long)
        at = np.concatenate([rows, rows_out, rows.take(long), np.arange(len(ids))])
        members = [
            self._search.order.take(places),
            _FROM_BORDER * self._size + places_out,
            _BY_LONG_EDGE * self._size + places_long,
            np.full(len(ids), _ANYWHERE * self._size),
        ]
        weights = [
            self._weights.take(places) * self._above.take(levels),
            self._walks.bounds.take(places_out) * self._falls.take(levels_out),
            self._walks.long_bounds.take(places_long) * self._falls.take(levels.take(long)),
        ]
        shared = np.concatenate(weights)
        shared *= near_share.take(at[: len(shared)])
        anywhere = (near_share * self._falls[-1] + rest) * self._everywhere
        order = order_of(at, len(ids))
        return Urns(
            np.bincount(at, minlength=len(ids)),
            np.concatenate(members).take(order),
            np.concatenate([shared, anywhere]).take(order),
            self._size,
            partial(self._resolve, around),
        )

    def _split(self, around: Surroundings, cells: Ids) -> tuple[Ids, Ids, NDArray[np.uint8]]:
        """Return the rows, places and levels of cells."""
        rows = cells // self._size
        return rows, cells - rows * self._size, around.levels.take(cells)

    def _resolve(self, around: Surroundings, rows: Ids, members: Ids, rng: Generator) -> Ids:
        """Draw a word of each set of words; −1 where that fails."""
        kinds = members // self._size
        places, cells = members - kinds * self._size, rows * self._size
        words = np.full(len(members), -1)
        anywhere = np.flatnonzero(kinds == _ANYWHERE)
        words[anywhere] = self._from_pool(len(anywhere), rng)
        start, long = np.flatnonzero(kinds == _FROM_BORDER), np.flatnonzero(kinds == _BY_LONG_EDGE)
        taken, reached = self._out(around, cells.take(long), places.take(long), rng)
        walks = np.concatenate([start, long.compress(taken)])
        firsts = np.concatenate([places.take(start), reached])
        cells = cells.take(walks)
        ends = self._walks.make(firsts, around.levels.take(cells + firsts).astype(np.int64), rng)
        kept = self._kept(around, cells.take(ends.walks), ends.places, ends.lengths, rng)
        where = walks.take(ends.walks.compress(kept))
        words[where] = self._search.order.take(ends.places.compress(kept))
        return words

    def _out(
        self, around: Surroundings, cells: Ids, places: Ids, rng: Generator
    ) -> tuple[NDArray[np.bool_], Ids]:
        """Leave the near words by longer edges; return which do not fail, and where they lead."""
        edges, taken = self._walks.long_steps(places, rng)
        first = self._search.leads_first(
            around, cells.compress(taken), edges, places.compress(taken)
        )
        taken[taken] = first
        return taken, self._search.edges.there.take(edges.compress(first))

    def _kept(
        self, around: Surroundings, cells: Ids, places: Ids, lengths: Ids, rng: Generator
    ) -> NDArray[np.bool_]:
        """Return which ways to keep: shortest ones, by a chance that falls with n and near D."""
        chances = self._above.take(lengths) / self._falls.take(lengths)
        level = fine(len(places), rng)
        some = np.flatnonzero(level < chances)
        ways = self._search.count_shortest(
            around, cells.take(some), places.take(some), lengths.take(some)
        )
        kept = np.zeros(len(places), dtype=np.bool_)
        kept[some] = (ways > 0) & (level.take(some) * ways < chances.take(some))
        return kept

    def _from_pool(self, count: int, rng: Generator) -> Ids:
        """Draw words by ν; −1 where that fails."""
        words, parts = self._pool
        tried = words.take((rng.random(count) * len(words)).astype(np.int64)).astype(np.int64)
        return np.where(fine(count, rng) * parts.max() < parts.take(tried), tried, -1)
