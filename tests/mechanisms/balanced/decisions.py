"""The law of draws by walks, from the decisions that the code itself takes; for tests.

Each decision compares a uniform number with something. Where it changes sides is found by
bisection over all floats, with a generator that gives the number to be tried. So this depends on
what the code does, not on what its tables are meant for.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.sampling.urns import _RARE, _Tickets
from malaprop.mechanisms.balanced.far_words import FarWords

Flags = NDArray[np.bool_]
Weights = dict[tuple[int, int, int], float]
"""What walks weigh, by place, the place before (−1 for any) and length."""


class Scripted(Generator):
    """Gives these numbers, an array for each call; then, and for further digits, zeros."""

    def __init__(self, *numbers: Floats) -> None:
        super().__init__(np.random.PCG64(1))
        self.numbers = list(numbers)

    def random(self, size: int | tuple[int, int]) -> Any:  # type: ignore[override]
        given = self.numbers.pop(0) if self.numbers else np.zeros(np.prod(size))
        if isinstance(size, tuple):
            return np.stack([given, np.zeros(size[1])])
        return given[:size].copy()


def thresholds(count: int, holds: Callable[[Floats], Flags]) -> Floats:
    """Return the least number in [0, 1] from which on each comparison does not hold."""
    low, high = np.zeros(count, dtype=np.int64), np.full(count, np.float64(1.0).view(np.int64))
    low -= 1  # below 0.0, whose bits are 0
    while (open_ := high - low > 1).any():
        middle = low + (high - low) // 2
        yes = holds(np.maximum(middle, 0).view(np.float64))
        low, high = np.where(open_ & yes, middle, low), np.where(open_ & ~yes, middle, high)
    return high.view(np.float64)


class Decisions:
    """The probability of each step of a walk, as `Walks` takes them."""

    def __init__(self, far: FarWords) -> None:
        self.walks, self.edges = far._walks, far._walks._edges
        size, width = self.edges.near.shape
        free = np.stack([np.arange(size), np.full(size, -1)], axis=1)
        here = np.repeat(np.arange(size), width)
        came = np.stack([here, self.edges.near.ravel()], axis=1)[self.edges.near.ravel() != here]
        states = np.concatenate([free, came])
        ends = [self._below(states, option) for option in range(width + 2)]
        shares = np.diff(ends, axis=0, prepend=0.0).T
        self.options = {(int(p), int(b)): row for (p, b), row in zip(states, shares, strict=True)}
        begins, number = self._long_edges()
        counts = self.edges.counts[begins]

        def taken(level: Floats) -> Flags:
            return self.walks.long_steps(begins, Scripted((number + 0.5) / counts, level))[1]

        self.long = thresholds(len(begins), taken) / counts

    def _below(self, states: Ids, option: int) -> Floats:
        """The probability of an option up to this one."""

        def holds(level: Floats) -> Flags:
            return self.walks._options(states[:, 0], states[:, 1], Scripted(level)) <= option

        return thresholds(len(states), holds)

    def _long_edges(self) -> tuple[Ids, Ids]:
        begins = np.repeat(np.arange(len(self.edges.counts)), self.edges.counts)
        return begins, np.arange(len(begins)) - self.edges.first[begins]

    def ends(self, weights: Weights, last: int) -> dict[tuple[int, int], float]:
        """Follow all walks; return what weighs what at its end, by place and length."""
        ends: dict[tuple[int, int], float] = defaultdict(float)
        for length in range(last):
            for (place, before, _), weight in [s for s in weights.items() if s[0][2] == length]:
                longer, *steps, end = self.options[place, before]
                ends[place, length] += weight * end
                for there, step in zip(self.edges.near[place].tolist(), steps, strict=True):
                    if step > 0.0:
                        weights[there, place, length + self.edges.length] += weight * step
                first = int(self.edges.first[place])
                for edge in range(first, first + int(self.edges.counts[place])) if longer else ():
                    there, total = (
                        int(self.edges.there[edge]),
                        length + int(self.edges.lengths[edge]),
                    )
                    weights[there, -1, total] += weight * longer * self.long[edge]
        return ends


def drawn_law(far: FarWords, ids: Ids, radius: int, near_share: Floats, rest: Floats) -> Floats:
    """Return the law of each row, normalised, from all decisions of a draw."""
    urns = far.rows(ids, radius, near_share, rest)
    tickets, around, decisions = _Tickets(urns), urns.resolve.args[0], Decisions(far)  # type: ignore[attr-defined]
    size, last = far._size, len(far._falls) - 1
    laws = np.zeros((len(ids), size))
    chances = _accepted(tickets)
    for row in range(len(ids)):
        count = int(tickets._counts[row])
        places = ((np.arange(count) + 0.5) / count * tickets._counts[row]).astype(np.int64)
        chosen = tickets._tickets[places + tickets._first[row]]
        weights: Weights = defaultdict(float)
        for member in chosen:
            kind, place = divmod(int(urns.members[member]), size)
            weight = float(chances[member])
            if kind == 0:
                laws[row, place] += weight
            elif kind == 1:
                weights[place, -1, int(around.levels[row * size + place])] += weight
            elif kind == 2:
                _leave(far, decisions, around, row, place, weight, weights)
            else:
                laws[row] += weight * _from_pool(far)
        ends = [
            (p, length, w) for (p, length), w in decisions.ends(weights, last).items() if w > 0.0
        ]
        _keep(far, around, row, ends, laws[row])
    return np.asarray(laws / laws.sum(axis=1, keepdims=True))


def _accepted(tickets: _Tickets) -> Floats:
    """The chance of a ticket of each member; the rare ones ask for a number once more."""
    rare = tickets._chances < _RARE

    def holds(u: Floats) -> Flags:
        return tickets._accepted(tickets._chances, Scripted(u, u[rare]))

    return thresholds(len(tickets._chances), holds)


def _leave(
    far: FarWords,
    decisions: Decisions,
    around: Any,
    row: int,
    place: int,
    weight: float,
    weights: Weights,
) -> None:
    edges, size = far._search.edges, far._size
    for number in range(int(edges.counts[place])):
        edge = int(edges.first[place]) + number
        script = Scripted(np.array([(number + 0.5) / edges.counts[place]]), np.zeros(1))
        _, reached = far._out(around, np.array([row * size]), np.array([place]), script)
        if len(reached):
            there = int(reached[0])
            weights[there, -1, int(around.levels[row * size + there])] += (
                weight * decisions.long[edge]
            )


def _keep(
    far: FarWords, around: Any, row: int, ends: list[tuple[int, int, float]], law: Floats
) -> None:
    if not ends:
        return
    places, lengths = (np.array(part) for part in list(zip(*ends, strict=True))[:2])
    cells = np.full(len(places), row * far._size)
    kept = thresholds(len(places), lambda u: far._kept(around, cells, places, lengths, Scripted(u)))
    for (place, _, weight), chance in zip(ends, kept, strict=True):
        law[far._search.order[place]] += weight * chance


def _from_pool(far: FarWords) -> Floats:
    words, _ = far._pool
    count = len(words)
    numbers = (np.arange(count) + 0.5) / count
    chances = thresholds(count, lambda u: far._from_pool(count, Scripted(numbers, u)) >= 0)
    return np.asarray(np.bincount(words, chances / count, far._size), dtype=np.float64)
