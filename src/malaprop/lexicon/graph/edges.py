"""The edges of a word graph: few at each word, near words only, and every word within reach.

1. Candidates are the nearest words of each word, in the order of the smaller rank that one
   of the two has among the other's neighbours, then of closeness.
2. Those that join two parts are taken while both ends have fewer than `cap` edges: a forest.
   Each part has a word with a free place, so that parts can always be joined by the closest
   such words, and no word ever exceeds the cap: hubs would forbid balance.
3. The places that are left go to the other candidates, in their order.
4. Anchors: where an edge to one of a word's few nearest is still missing, it is added with
   a weight of its own, so that no word is far from those that mean nearly the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from malaprop.core.arrays import Ids
from malaprop.core.errors import ParameterError
from malaprop.core.metrics.graph import WordGraph
from malaprop.core.parameters import require_whole
from malaprop.core.progress import Progress
from malaprop.core.suggest import did_you_mean
from malaprop.lexicon.graph.candidates import Points, near_words

if TYPE_CHECKING:
    from malaprop.lexicon.lexicon import Lexicon

_AT_ONCE = 1 << 16


@dataclass(frozen=True, kw_only=True)
class GraphOptions:
    """How to build a word graph."""

    cap: int = 4
    """The most edges of weight 1 at a word."""
    candidates: int = 64
    """How many of a word's nearest may be joined to it."""
    components: int = 3
    """How many principal components are taken from the vectors first."""
    anchors: int = 5
    """How many of a word's nearest are surely joined to it,"""
    anchor_weight: float = 3.5
    """by edges of this weight where they are not joined otherwise."""
    cutoff: float = 10.0
    """The distance beyond which distances grow no further."""

    def __post_init__(self) -> None:
        for name, least in (("cap", 2), ("candidates", 1), ("components", 0), ("anchors", 0)):
            require_whole(self, name, least)
        # Floats, so that 10 and 10.0 are the same option, and the same graph.
        for name in ("anchor_weight", "cutoff"):
            value: Any = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Real) or not float(value) > 0:
                raise ParameterError(f"The '{name}' of a word graph must be a number above 0.")
            object.__setattr__(self, name, float(value))
        longest = max(1.0, self.anchor_weight)
        if math.isinf(longest) or longest > self.cutoff:
            raise ParameterError(
                "The 'anchor_weight' of a word graph must be finite, and its 'cutoff' not below it "
                f"nor below 1. Got {self.anchor_weight!r} and {self.cutoff!r}."
            )

    def to_dict(self) -> dict[str, int | str]:
        """Return the options as plain values; numbers that may be infinite as text."""
        return {k: v if isinstance(v, int) else repr(float(v)) for k, v in asdict(self).items()}


def known_options(options: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
    """Return the options, if all of them are known by name."""
    names = list(known)
    for name in options:
        if name not in names:
            hint = did_you_mean(name, names)
            raise ParameterError(
                f"A word graph has no option {name!r}.{hint} It has: {', '.join(names)}."
            )
    return dict(options)


def build_graph(
    lexicon: Lexicon, options: GraphOptions, progress: Progress | None = None
) -> WordGraph:
    """Build the word graph of a lexicon; the same for the same lexicon and options."""
    size = len(lexicon)
    count = max(options.candidates, options.anchors)
    near, points = near_words(lexicon, count, options.components, progress)
    order = candidate_edges(near[:, : options.candidates])
    capped = _capped(size, order, options.cap, points)
    anchored = _anchored(capped, near[:, : options.anchors])
    weights = np.repeat([1.0, options.anchor_weight], [len(capped), len(anchored)])
    edges = np.concatenate([capped, anchored])
    return WordGraph(size, edges, weights, cutoff=options.cutoff, made=options.to_dict())


def candidate_edges(near: Ids) -> Ids:
    """Return the pairs of near words, each once, by the smaller of their two ranks."""
    size, count = near.shape
    here, rank = np.repeat(np.arange(size), count), np.tile(np.arange(count), size)
    ends = np.sort(np.stack([here, near.ravel()], axis=1), axis=1)
    # Of the two ranks of a pair the smaller one comes first, and the larger one decides ties.
    order = np.lexsort((rank, ends[:, 1], ends[:, 0]))
    ends, rank = ends[order], rank[order]
    first = np.ones(len(ends), dtype=np.bool_)
    first[1:] = (ends[1:] != ends[:-1]).any(axis=1)
    other = np.full(len(ends), count)
    other[:-1][~first[1:]] = rank[1:][~first[1:]]
    chosen = np.lexsort((ends[first, 1], ends[first, 0], other[first], rank[first]))
    return ends[first][chosen]


def _capped(size: int, order: Ids, cap: int, points: Points) -> Ids:
    parts = _Parts(size, cap)
    taken = np.fromiter((parts.join(a, b) for a, b in _pairs(order)), np.bool_, len(order))
    parts.join_all(points)
    for a, b in _pairs(order[~taken]):
        parts.fill(a, b)
    return np.array(parts.edges, dtype=np.int64).reshape(-1, 2)


def _pairs(edges: Ids) -> Iterator[list[int]]:
    """Yield edges as Python numbers, some at a time: all at once take ten times the memory."""
    for start in range(0, len(edges), _AT_ONCE):
        yield from edges[start : start + _AT_ONCE].tolist()


class _Parts:
    """A graph that grows: which words are connected, and how many edges each has."""

    def __init__(self, size: int, cap: int) -> None:
        self._above, self._degrees, self._cap = list(range(size)), [0] * size, cap
        self.edges: list[tuple[int, int]] = []

    def join(self, a: int, b: int) -> bool:
        """Add an edge if it joins two parts and there is room for it."""
        if self._full(a, b) or self._part(a) == self._part(b):
            return False
        self._above[self._part(a)] = self._part(b)
        self._add(a, b)
        return True

    def fill(self, a: int, b: int) -> None:
        """Add an edge if there is room for it."""
        if not self._full(a, b):
            self._add(a, b)

    def join_all(self, points: Points) -> None:
        """Join what is left apart by the closest words that have room, small parts first."""
        while True:
            parts = np.array([self._part(word) for word in range(len(self._above))])
            names, sizes = np.unique(parts, return_counts=True)
            if len(names) == 1:
                return
            free = np.flatnonzero(np.array(self._degrees) < self._cap)
            for name in names[np.argsort(sizes, kind="stable")][:-1]:
                own, others = free[parts[free] == name], free[parts[free] != name]
                close = points.closeness(own, others)
                i, j = divmod(int(close.argmax()), len(others))
                self.join(int(own[i]), int(others[j]))

    def _add(self, a: int, b: int) -> None:
        self._degrees[a] += 1
        self._degrees[b] += 1
        self.edges.append((a, b))

    def _full(self, a: int, b: int) -> bool:
        return self._degrees[a] >= self._cap or self._degrees[b] >= self._cap

    def _part(self, word: int) -> int:
        above = self._above
        while above[word] != word:
            above[word] = word = above[above[word]]
        return word


def _anchored(edges: Ids, near: Ids) -> Ids:
    """Return the pairs of a word and one of its nearest that no edge joins."""
    here = np.repeat(np.arange(len(near)), near.shape[1])
    wanted = np.unique(np.sort(np.stack([here, near.ravel()], axis=1), axis=1), axis=0)
    keys = [pairs[:, 0] * len(near) + pairs[:, 1] for pairs in (wanted, np.sort(edges, axis=1))]
    return wanted[~np.isin(keys[0], keys[1])]
