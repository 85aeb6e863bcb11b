"""Draws from rows of which some members stand for sets of words; for draws ahead of need.

A row is an urn. A ticket stands for a fixed amount of weight, the same for all members of the row.
Each member gets as many tickets as its weight needs, rounded up, and at least one. A draw takes a
ticket, each with the same chance. As its member may have been rounded up, the ticket is accepted
with a probability: the weight of the member over what its tickets stand for. Otherwise the draw
starts again. So nothing is sorted, and no sums are searched. A rare member has a ticket like any
other, so its probability keeps the relative precision of a float.

A member may stand for a set of words, such as those that are far away. Once it is accepted, a word
of the set is drawn. That may fail, too, and then the draw also starts again.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.errors import ParameterError
from malaprop.core.sampling.draws import fine
from malaprop.core.sampling.rounds import Pace, draw_in_rounds

_PARTS = 4  # tickets for each member, on average, besides the one that it has in any case
_PACE = Pace(spare=2, together=1 << 16, most=1 << 19)
_SUCCESS = 0.3  # of sets of words, about
_RARE = 2.0**-7  # chances that need more binary digits than others

_LEAST_SUM = 2.0**-500  # of a row: parts of smaller ones would not be exact


class Urns(NamedTuple):
    """Rows of members with weights of 0 or more."""

    sizes: Ids
    """How many members each row has; `members` and `weights` hold them row after row."""
    members: Ids
    """Numbers below `words` are words, all others are sets of words."""
    weights: Floats
    words: int
    resolve: Callable[[Ids, Ids, Generator], Ids]
    """Draws a word for sets, given rows and members; returns −1 where that fails."""


def draw_ahead(urns: Urns, least: Ids, counts: Ids, rng: Generator) -> list[Ids]:
    """Draw about `counts[i]` independent words from row i, at least `least[i]`.

    How many tries succeed does not depend on which words they give.
    """
    tickets = _Tickets(urns)
    return draw_in_rounds(tickets, tickets.rates, least, counts, _PACE, rng)


class _Tickets:
    """The tickets of each row."""

    def __init__(self, urns: Urns) -> None:
        self._urns = urns
        starts = np.cumsum(urns.sizes) - urns.sizes
        sums = np.add.reduceat(urns.weights, starts)
        if not (sums >= _LEAST_SUM).all():
            raise ParameterError("The weights of a row must add up to a number above 2^-500.")
        per_weight = _PARTS * urns.sizes / sums
        shares = urns.weights * per_weight.repeat(urns.sizes)
        counts = np.maximum(np.ceil(shares), 1.0)
        self._chances = shares / counts
        self._tickets = np.arange(len(shares), dtype=np.int32).repeat(counts.astype(np.int64))
        self._counts = np.add.reduceat(counts, starts)
        self._first = (np.cumsum(self._counts) - self._counts).astype(np.int64)
        self._rare = bool(self._chances.min(initial=1.0) < _RARE)
        sets = np.add.reduceat(np.where(urns.members < urns.words, 0.0, shares), starts)
        whole = _PARTS * urns.sizes
        self.rates: Floats = (whole - (1.0 - _SUCCESS) * sets) / self._counts
        """About the share of tries that succeed in each row."""

    def tries(self, rows: Ids, counts: Ids, rng: Generator) -> tuple[Ids, Ids]:
        """Try `counts[i]` tickets of row `rows[i]`; return the words, and how many each row got."""
        places = rng.random(int(counts.sum()))
        places *= self._counts[rows].repeat(counts)
        chosen = self._tickets.take(places.astype(np.int64) + self._first[rows].repeat(counts))
        accepted = self._accepted(self._chances.take(chosen), rng)
        words = self._urns.members.take(chosen.compress(accepted))
        sets = np.flatnonzero(words >= self._urns.words)
        ends = np.cumsum(counts)
        if sets.size:
            places_of_sets = np.flatnonzero(accepted).take(sets)
            at = rows.take(np.searchsorted(ends, places_of_sets, side="right"))
            resolved = self._urns.resolve(at, words.take(sets), rng)
            words[sets] = resolved
            failed = resolved < 0
            accepted[places_of_sets.compress(failed)] = False
            words = words.compress(words >= 0)
        return words, np.add.reduceat(accepted, ends - counts, dtype=np.int64)

    def _accepted(self, chances: Floats, rng: Generator) -> NDArray[np.bool_]:
        level = rng.random(len(chances))
        if self._rare:
            rare = np.flatnonzero(chances < _RARE)
            level[rare] = fine(len(rare), rng)
        return level < chances
