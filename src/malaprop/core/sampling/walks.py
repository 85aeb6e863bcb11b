"""Walks in a word graph: far words are reached by steps, without a look at all words.

A walk from v takes steps to neighbours, and ends at some word y. It should be made with a
probability ∝ ν(y) times the *fall* of each step: e^(−t·s) for an edge of length s. All walks from
v together weigh no more than some bound, if these bounds satisfy

    bound(v) ≥ ν(v) + the falls of the steps from v, each times the bound of where it leads.

So a walk at v ends there with probability ν(v)/bound(v), takes a step with its term over bound(v),
and fails with what is left. The bounds cancel, and each walk has exactly the probability that it
should have, over the bound of its start, however rough the bounds are.

Most edges are *short*, of the least length. After a short step, the walk does not step back: a
shortest path never does. So there are two bounds: of a walk that may go anywhere, and of one that
came by a short edge.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids

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
        """Take ν of each place, and the fall of each length; walks stay shorter than all falls."""
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
        options = np.concatenate([[weights, self.long_bounds], steps])
        self._ends = np.ascontiguousarray(np.cumsum(options, axis=0).T)
        enough = (came >= least_came * _ROUNDED).all() and (free >= least_free * _ROUNDED).all()
        self.usable = bool(enough and free.mean() <= _LONGEST * weights.mean())
        """Whether walks are exact, and not too long to be of use."""
        self.rounding = self._rounding(options / free)
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
            if (came - before <= 0.1 * _CLOSE * came).all():
                break
        # Once more, so that bounds are large enough where ν is 0, too.
        _, _, came, free = self._sums(weights, came * (1.0 + _CLOSE), free * (1.0 + _CLOSE))
        return came, free

    def _rounding(self, shares: Floats) -> float:
        """Bound the error of all steps of a walk, given the shares of options in their bounds."""
        edges, last = self._edges, len(self._falls)
        of_ends = 2.0 * len(shares) + 12.0  # of both ends of an interval
        possible = np.where(shares > 0.0, shares, 1.0)  # others are never taken
        short = min(possible[0].min(), possible[2:].min())
        error = (last / edges.length) * of_ends / short
        if len(edges.there):
            terms = self._falls.take(edges.lengths) * self.bounds.take(edges.there)
            least = (terms / self._most.repeat(edges.counts)).min()
            long = of_ends / possible[1].min()
            error += (last / edges.lengths.min()) * (long + edges.counts.max() + 4.0 / least)
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
        free = weights + edges.counts * longest + steps.sum(axis=0)
        # One step leads back. It has at least the least term.
        back = np.where(self._joined, steps, np.inf).min(axis=0)
        return steps, longest, free - np.where(np.isfinite(back), back, 0.0), free

    def make(self, places: Ids, lengths: Ids, rng: Generator) -> Ends:
        """Make a walk from each place, to which it has `lengths` behind it; some fail."""
        walks, before = np.arange(len(places)), np.full_like(places, -1)
        ended = [Ends(walks[:0], places[:0], lengths[:0])]
        while len(walks):
            option = self._options(places, before, rng)
            ended.append(Ends(*(part.compress(option == 0) for part in (walks, places, lengths))))
            short = np.flatnonzero((option > 1) & (option < self._ends.shape[1]))
            here = places.take(short)
            there = self._edges.near.ravel().take(
                here * self._edges.near.shape[1] + option.take(short) - 2
            )
            long = np.flatnonzero(option == 1)
            edges, taken = self.long_steps(places.take(long), rng)
            long = long.compress(taken)
            behind = lengths.take(short) + self._edges.length
            farther = lengths.take(long) + self._edges.lengths.take(edges)
            walks = np.concatenate([walks.take(short), walks.take(long)])
            places = np.concatenate([there, self._edges.there.take(edges)])
            before = np.concatenate([here, np.full(len(long), -1)])
            lengths = np.concatenate([behind, farther])
            going = lengths < len(self._falls)
            walks, places, before, lengths = (
                part.compress(going) for part in (walks, places, before, lengths)
            )
        return Ends(*(np.concatenate(parts) for parts in zip(*ended, strict=True)))

    def _options(self, places: Ids, before: Ids, rng: Generator) -> Ids:
        """Draw what each walk does: 0 to end, 1 for a longer edge, 2 … for short ones.

        It fails if the number is beyond these.
        """
        ends = self._ends.take(places, axis=0)
        level = rng.random(len(places))
        came = np.flatnonzero(before >= 0)
        level *= self.bounds.take(places)
        if came.size:
            here = places.take(came)
            back = (self._edges.near.take(here, axis=0) == before.take(came)[:, None]).argmax(
                axis=1
            )
            below = ends[came, back + 1]
            x = level.take(came) * (self._came.take(here) / self.bounds.take(here))
            level[came] = np.where(x < below, x, x + (ends[came, back + 2] - below))
        return np.asarray((ends <= level[:, None]).sum(axis=1))

    def long_steps(self, places: Ids, rng: Generator) -> tuple[Ids, "np.typing.NDArray[np.bool_]"]:
        """Draw a longer edge of each place: the edges of those that do not fail, and which do not.

        Each has its term over the place's bound in `long_bounds` for a probability.
        """
        number = (rng.random(len(places)) * self._edges.counts.take(places)).astype(np.int64)
        edges = self._edges.first.take(places) + number
        terms = self._falls.take(self._edges.lengths.take(edges)) * self.bounds.take(
            self._edges.there.take(edges)
        )
        taken = rng.random(len(places)) * self._most.take(places) < terms
        return edges.compress(taken), taken
