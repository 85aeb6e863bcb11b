"""Walks in a word graph: far words are reached by steps, without a look at all words.

A walk from v takes steps to neighbours, and ends at some word y. Its weight is ν(y) times the
*fall* of each step: e^(−t·s) for an edge of length s. Walks should be made in proportion to their
weights. Take any bounds that satisfy

    bound(v) ≥ ν(v) + the falls of the steps from v, each times the bound of where it leads.

A walk at v ends there with probability ν(v)/bound(v). It takes a step with the step's term over
bound(v), and otherwise fails. The bounds along the walk cancel. So each walk from v has exactly the
probability weight/bound(v), however rough the bounds are.

Most edges are *short*, of the least length. After a short step, the walk does not step back: a
shortest path never does. So each word has two bounds: one for walks that may go anywhere, and one
for walks that came by a short edge. Each longer edge of a word counts in them with the largest term
of all its longer edges, since one of them is tried at random.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.sampling.draws import fine

_ROUNDS = 60  # of computing the bounds
_CLOSE = 0.02  # how much too large the bounds may be, at most
_ROUNDED = 1.0 + 2.0**-40  # more than rounding changes a sum of a word's steps
_LONGEST = 8.0  # bounds over ν, on average: beyond it, most walks are too long to be of use


class Edges(NamedTuple):
    """The edges of a graph, seen from each place."""

    near: Ids
    """The places that short edges lead to, a row for each; a place itself, where it has fewer."""
    length: int
    """The length of a short edge."""
    first: Ids
    """Where the longer edges of each place begin in `there` and `lengths`."""
    counts: Ids
    there: Ids
    lengths: Ids


class Ends(NamedTuple):
    """Walks that ended."""

    walks: Ids
    """The number of each walk, as it was begun."""
    places: Ids
    lengths: Ids


class Walks:
    """Makes walks. Only `usable` ones follow the law."""

    def __init__(self, edges: Edges, weights: Floats, falls: Floats) -> None:
        """Take ν of each place, and the fall of each length that a walk may have."""
        self._edges, self._falls = edges, falls
        # By number first: numpy adds up faster that way.
        self._near = np.ascontiguousarray(edges.near.T)
        self._joined = self._near != np.arange(len(edges.near))
        self._with_long = np.flatnonzero(edges.counts)
        came, free = self._about(weights)
        steps, longest, least_came, least_free = self._sums(weights, came, free)
        self._came, self.bounds = came, free
        """Bounds of walks that may begin with any step, for each place."""
        self._most = longest
        self.long_bounds: Floats = edges.counts * longest
        """Bounds of walks that begin with a longer edge."""
        # The rarest come first, so that their sums are as exact as they are.
        options = np.concatenate([[self.long_bounds], steps, [weights]])
        ends = np.cumsum(options, axis=0)
        self._ends = np.ascontiguousarray(ends.T)
        enough = (came >= least_came * _ROUNDED).all() and (free >= least_free * _ROUNDED).all()
        self.usable = bool(enough and free.mean() <= _LONGEST * weights.mean())
        """Whether walks are exact, and not too long to be of use."""
        self.rounding = self._rounding(ends / np.where(options > 0.0, options, np.inf))
        """The relative error that rounding adds to a walk's probability, at most, over 2⁻⁵³."""

    def _about(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return bounds that are as large as needed, or a little larger."""
        _, _, came, free = self._sums(weights, weights, weights)
        # If all places were alike: a geometric series.
        times = 1.0 / max(2.0 - float(came.mean() / weights.mean()), 1.0 / _LONGEST)
        came, free = times * weights, times * free
        for _ in range(_ROUNDS):
            before = came
            _, _, came, free = self._sums(weights, came, free)
            too_long = came.mean() > _LONGEST * weights.mean()
            if too_long or (came - before <= 0.1 * _CLOSE * came).all():
                break
        # Once more, so that bounds are large enough where ν is 0, too.
        _, _, came, free = self._sums(weights, came * (1.0 + _CLOSE), free * (1.0 + _CLOSE))
        return came, free

    def _rounding(self, sums: Floats) -> float:
        """Bound the error of all steps, given the sums up to each option over the option itself."""
        edges, last = self._edges, len(self._falls)
        of_ends = 2.0 * len(sums) + 12.0  # of both ends of an interval
        error = (last / edges.length) * of_ends * sums[1:].max()
        if len(edges.there):
            error += (last / edges.lengths.min()) * (of_ends + edges.counts.max() + 4.0)
        return float(error)

    def _sums(
        self, weights: Floats, came: Floats, free: Floats
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the terms of short steps, the largest of a long step, and the sums of all."""
        edges = self._edges
        steps = np.where(self._joined, self._falls[edges.length] * came.take(self._near), 0.0)
        longest = np.zeros_like(weights)
        if self._with_long.size:
            terms = self._falls.take(edges.lengths) * free.take(edges.there)
            starts = edges.first[self._with_long]
            longest[self._with_long] = np.maximum.reduceat(terms, starts)
        other, short = weights + edges.counts * longest, steps.sum(axis=0)
        # One step leads back. It has at least the least term. Subtract it from short steps only:
        # where it is the only one, exactly 0 is left of them, and other terms may be far smaller.
        back = np.where(self._joined, steps, np.inf).min(axis=0)
        onward = other + (short - np.where(np.isfinite(back), back, 0.0))
        return steps, longest, onward, other + short

    def make(self, places: Ids, lengths: Ids, rng: Generator) -> Ends:
        """Make a walk from each place, with `lengths` already behind it; some walks fail."""
        edges, width = self._edges, self._edges.near.shape[1]
        walks, before = np.arange(len(places)), np.full_like(places, -1)
        ended = [Ends(walks[:0], places[:0], lengths[:0])]
        while len(walks):
            option = self._options(places, before, rng)
            end = option == width + 1
            ended.append(Ends(*(part.compress(end) for part in (walks, places, lengths))))
            short = np.flatnonzero((option > 0) & (option <= width))
            here = places.take(short)
            there = edges.near.ravel().take(here * width + option.take(short) - 1)
            long = np.flatnonzero(option == 0)
            taken_edges, taken = self.long_steps(places.take(long), rng)
            long = long.compress(taken)
            behind = lengths.take(short) + edges.length
            farther = lengths.take(long) + edges.lengths.take(taken_edges)
            lengths = np.concatenate([behind, farther])
            going = np.flatnonzero(lengths < len(self._falls))
            walks = walks.take(np.concatenate([short, long])).take(going)
            places = np.concatenate([there, edges.there.take(taken_edges)]).take(going)
            before = np.concatenate([here, np.full(len(long), -1)]).take(going)
            lengths = lengths.take(going)
        return Ends(*(np.concatenate(parts) for parts in zip(*ended, strict=True)))

    def _options(self, places: Ids, before: Ids, rng: Generator) -> Ids:
        """Draw what each walk does: 0 for a longer edge, 1 … for short ones, then to end, or fail.

        The sums are compared with a number that is as exact near 0 as they are.
        """
        ends, came = self._ends.take(places, axis=0), np.flatnonzero(before >= 0)
        here = places.take(came)
        bounds = self.bounds.take(places)
        bounds[came] = self._came.take(here)
        level = fine(len(places), rng) * bounds
        # Leave out the step back: what is above it moves down by its term.
        back = (self._edges.near.take(here, axis=0) == before.take(came)[:, None]).argmax(axis=1)
        below, above, some = ends[came, back], ends[came, back + 1], level.take(came)
        level[came] = np.where(some < below, some, some + (above - below))
        return np.asarray((ends <= level[:, None]).sum(axis=1))

    def long_steps(self, places: Ids, rng: Generator) -> tuple[Ids, NDArray[np.bool_]]:
        """Draw a longer edge of each place; return edges that are taken, and at which places.

        The probability of an edge is its term over the place's bound in `long_bounds`.
        """
        number = (rng.random(len(places)) * self._edges.counts.take(places)).astype(np.int64)
        edges = self._edges.first.take(places) + number
        terms = self._falls.take(self._edges.lengths.take(edges)) * self.bounds.take(
            self._edges.there.take(edges)
        )
        taken = fine(len(places), rng) * self._most.take(places) < terms
        return edges.compress(taken), taken
