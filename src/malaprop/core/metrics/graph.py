"""A graph of near words, and the metric that counts its steps."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids, Vectors, distinct
from malaprop.core.errors import MetricError
from malaprop.core.metric import DistanceRows, KeyedDistances, Metric
from malaprop.core.metrics.near_search import Bytes
from malaprop.core.metrics.shortest_paths import MOST, LevelSearch
from malaprop.core.progress import Progress
from malaprop.core.proofs import proved
from malaprop.core.sampling.by_distance import NearWords

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
        parts = self._parts()
        if parts > 1:
            raise MetricError(
                f"The word graph has {parts} parts with no path between them, and so no distance. "
                "Add edges that join them."
            )

    def __getstate__(self) -> dict[str, Any]:
        # What can be computed again need not travel; and equal graphs give equal pickles.
        names = ("size", "cutoff", "made", "edges", "weights")
        return {name: self.__dict__[name] for name in names}

    @cached_property
    def degrees(self) -> Ids:
        """How many edges each word has."""
        return np.bincount(self.edges.ravel(), minlength=self.size)

    @cached_property
    def unit(self) -> float:
        """A length of which all distances are multiples by 0 … 255; 0 if there is none."""
        finite = distinct(self.weights)
        if math.isfinite(self.cutoff):
            finite = np.append(finite, self.cutoff)
        for unit in _UNITS:
            whole = not (finite / unit % 1.0).any()
            if whole and self.reach / unit <= MOST:
                return unit
        return 0.0

    @cached_property
    def last(self) -> int:
        """The last level, the largest possible distance in units."""
        return round(self.reach / self.unit)

    @cached_property
    def _levels(self) -> LevelSearch:
        lengths = np.rint(self.weights / self.unit).astype(np.int64)
        return LevelSearch(self.size, self.edges, lengths, self.last)

    def levels(self, ids: Ids) -> Bytes:
        """Return the levels of all words seen from `ids`: their distances in units.

        The graph must have a unit.
        """
        return self._levels.from_words(ids)

    def near_words(self, ids: Ids, beyond: int, *, alone: bool = False) -> NearWords:
        """Return the words less than `beyond` units from `ids`; all other levels come on demand.

        Search for them `alone` if levels of few other words will be looked up.
        """
        search = self._levels.near_words_alone if alone else self._levels.near_words
        return search(ids, beyond)

    def counts(self, progress: Progress | None = None) -> Ids:
        """Count the words that are 0, 1, 2 … units away from each word: (words, levels)."""
        return self._levels.counts(progress)

    def distances(self, ids: Ids) -> Floats:
        """Return the distances from `ids` to all words."""
        if self.unit:
            return _in_units(self.levels(ids), self.unit)
        from scipy.sparse.csgraph import dijkstra

        lengths = dijkstra(self._matrix, directed=False, indices=ids)
        return np.asarray(np.minimum(lengths, self.cutoff), dtype=np.float64)

    def path(self, start: int, end: int) -> list[int]:
        """Return the words on a shortest path, both ends included; it is not cut off."""
        from scipy.sparse.csgraph import dijkstra

        _, before = dijkstra(self._matrix, directed=False, indices=end, return_predecessors=True)
        words = [start]
        while words[-1] != end:
            words.append(int(before[words[-1]]))
        return words

    def lengths(self, start: int) -> Floats:
        """Return the lengths of shortest paths from one word to all words, not cut off."""
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
        """Return the graph's own token."""
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
    if _is_simple(edges):  # as in the files that were written
        return edges.copy(), weights.copy()
    ends = np.sort(edges, axis=1)
    order = np.lexsort((weights, ends[:, 1], ends[:, 0]))
    ends, weights = ends[order], weights[order]
    first = np.ones(len(ends), dtype=np.bool_)
    first[1:] = (ends[1:] != ends[:-1]).any(axis=1)
    first &= ends[:, 0] != ends[:, 1]
    return ends[first], weights[first]


def _is_simple(edges: Ids) -> bool:
    """Tell whether edges are in order, each once, the lower end first, without loops."""
    here, there = edges.T
    later = (here[1:] > here[:-1]) | ((here[1:] == here[:-1]) & (there[1:] > there[:-1]))
    return bool((here < there).all() and later.all())
