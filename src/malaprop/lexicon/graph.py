"""The graph of near words: few edges at each word, near words only, and every word within reach.

1. Candidates are the nearest words of each word, in the order of the smaller rank that one of the
   two has among the other's neighbours, then of closeness.
2. Those that join two parts are taken while both ends have fewer than `cap` edges: a forest. Each
   part has a word with a free place, so that parts can always be joined by the closest such words,
   and no word ever exceeds the cap: hubs would forbid balance.
3. The places that are left go to the other candidates, in their order; first to those of words that
   would else end with one edge.
4. Anchors: where an edge to one of a word's few nearest is still missing, it is added with a weight
   of its own, so that no word is far from those that mean nearly the same.

Pairs that are to stay apart, by default antonyms, are no candidates: vectors have "benign" next to
"malignant", and one would often become the other.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon import store
from malaprop.lexicon.search import NearestSearch
from malaprop.privacy.arrays import Ids, blocks
from malaprop.privacy.errors import (
    LexiconError,
    ParameterError,
    check_options,
    checked_number,
    require_whole,
)
from malaprop.privacy.mechanism import Mechanism
from malaprop.privacy.metrics import Angular, Euclidean
from malaprop.privacy.progress import Progress, report
from malaprop.privacy.word_graph import Steps, WordGraph, graph_of
from malaprop.text.english import antonyms

if TYPE_CHECKING:
    from malaprop.lexicon.lexicon import Lexicon


SMALL = 2_000
"""Words up to which a graph and its balances are computed in no time."""
_FEWEST = 16  # dimensions below which an angle says little, and distances are as good
_GRID = 1024.0
_AT_ONCE = 4096
_EDGES_AT_ONCE = 1 << 16
_APART = 2.0  # the least length of an edge between words that stay apart


def near_words(
    lexicon: Lexicon, count: int, components: int, progress: Progress | None = None
) -> tuple[Ids, Points]:
    """Return the `count` nearest other words of each word, and the points that order them."""
    points = points_of(lexicon, components)
    own = np.arange(len(lexicon))
    wanted = min(count, len(own) - 1)
    near = np.empty((len(own), wanted), dtype=np.int64)
    for start in range(0, len(own), _AT_ONCE):
        ids = own[start : start + _AT_ONCE]
        nearest = points.nearest(ids, wanted + 1)
        # A word is its own nearest, but where others have its vector it may not come first.
        nearest = np.where(nearest == ids[:, None], -1, nearest)
        nearest[(nearest >= 0).all(axis=1), -1] = -1
        near[ids] = nearest[nearest >= 0].reshape(len(ids), wanted)
        report(progress, start + len(ids), len(own))
    return near, points


class _Directions:
    """Angles between vectors, less the mean and the first principal components.

    Those are what all words have in common. Without them the angle tells related words from
    unrelated ones much better (Mu and Viswanath 2018). The rounding to a grid makes each product
    exact, and so the graph the same on every machine.
    """

    def __init__(self, vectors: NDArray[np.float32], components: int) -> None:
        centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
        if components:
            _, axes = np.linalg.eigh(centred.T @ centred)
            common = axes[:, -components:]
            centred -= (centred @ common) @ common.T
        lengths = np.linalg.norm(centred, axis=1, keepdims=True)
        units = centred / np.where(lengths > 0.0, lengths, 1.0)
        self._units = (np.rint(units * _GRID) / _GRID).astype(np.float32)
        self._search = NearestSearch(self._units)

    def nearest(self, ids: Ids, count: int) -> Ids:
        return self._search.nearest(self._units[ids], count)

    def closeness(self, here: Ids, there: Ids) -> NDArray[np.float64]:
        return np.asarray(self._units[here] @ self._units[there].T, dtype=np.float64)


class _Distances:
    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon

    def nearest(self, ids: Ids, count: int) -> Ids:
        nearest = np.empty((len(ids), count), dtype=np.int64)
        for block in blocks(len(ids), row_cells=len(self._lexicon)):
            rows = self._lexicon.distances(ids[block])
            nearest[block] = np.argsort(rows, axis=1, kind="stable")[:, :count]
        return nearest

    def closeness(self, here: Ids, there: Ids) -> NDArray[np.float64]:
        return np.negative(self._lexicon.distances(here)[:, there])


def points_of(lexicon: Lexicon, components: int) -> Points:
    """Return what nearness is measured between: directions, or the lexicon's own distances."""
    directed = type(lexicon.metric) in (Euclidean, Angular)
    if directed and lexicon.vectors.shape[1] >= max(_FEWEST, components + 2):
        return _Directions(lexicon.vectors, components)
    return _Distances(lexicon)


Points = _Directions | _Distances
"""What nearness is measured between; `closeness` is higher for nearer words."""


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
    apart: tuple[tuple[str, str], ...] | None = None
    """Public pairs of words that no edge shorter than 2 joins, unless nothing else connects the
    graph; by default English antonyms, from WordNet. Pairs of other words are ignored."""

    def __post_init__(self) -> None:
        for name, least in (("cap", 2), ("candidates", 1), ("components", 0), ("anchors", 0)):
            require_whole(self, name, least)
        # Floats, so that 10 and 10.0 are the same option, and the same graph.
        for name in ("anchor_weight", "cutoff"):
            what = f"'{name}' of a word graph"
            value = checked_number(getattr(self, name), what, "a number above 0", lambda x: x > 0)
            object.__setattr__(self, name, value)
        longest = max(1.0, self.anchor_weight)
        if math.isinf(longest) or longest > self.cutoff:
            raise ParameterError(
                "The 'anchor_weight' of a word graph must be finite, and its 'cutoff' not below it "
                f"nor below 1. Got {self.anchor_weight!r} and {self.cutoff!r}."
            )
        if self.apart is not None:
            object.__setattr__(self, "apart", _checked_pairs(self.apart))

    def apart_in(self, index: Mapping[str, int]) -> Ids:
        """Return the ids of the pairs that stay apart, of a lexicon's words and their ids."""
        pairs = antonyms() if self.apart is None else self.apart
        ids = [(index[a], index[b]) for a, b in pairs if a in index and b in index]
        known = sorted({(i, j) if i < j else (j, i) for i, j in ids})  # numpy is slower at a start
        return np.array(known, dtype=np.int64).reshape(-1, 2)

    def made_of(self, index: Mapping[str, int]) -> dict[str, int | str]:
        """Return what makes the graph of a lexicon's words and ids, as plain values.

        Numbers that may be infinite are text, and the pairs that stay apart a digest.
        """
        options = asdict(self)
        del options["apart"]
        made = {k: v if isinstance(v, int) else repr(float(v)) for k, v in options.items()}
        pairs = self.apart_in(index).astype("<i8")
        return made | {"apart": hashlib.sha256(pairs.tobytes()).hexdigest()} if len(pairs) else made


def _checked_pairs(pairs: Any) -> tuple[tuple[str, str], ...]:
    listed = list(pairs) if isinstance(pairs, Iterable) else [pairs]
    for pair in listed:
        two = isinstance(pair, tuple | list) and len(pair) == 2  # two letters are no pair of words
        if not two or not all(isinstance(word, str) for word in pair):
            raise ParameterError(
                "The 'apart' of a word graph must be a list of pairs of words, or None."
            )
    return tuple((a, b) for a, b in listed)


def build_graph(
    lexicon: Lexicon, options: GraphOptions, progress: Progress | None = None
) -> WordGraph:
    """Build the word graph of a lexicon; the same for the same lexicon and options."""
    size = len(lexicon)
    count = max(options.candidates, options.anchors)
    near, points = near_words(lexicon, count, options.components, progress)
    apart = options.apart_in(lexicon.index)
    candidates = _without(candidate_edges(near[:, : options.candidates]), apart, size)
    capped = _capped(size, candidates, options.cap, points, apart)
    anchored = _without(_nearest_pairs(near[:, : options.anchors]), capped, size)
    if options.anchor_weight < _APART:
        anchored = _without(anchored, apart, size)
    weights = np.repeat([1.0, options.anchor_weight], [len(capped), len(anchored)])
    edges = np.concatenate([capped, anchored])
    made = options.made_of(lexicon.index)
    return WordGraph(size, edges, weights, cutoff=options.cutoff, made=made)


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
    return ends[first][np.lexsort((ends[first, 1], ends[first, 0], other[first], rank[first]))]


def _capped(size: int, order: Ids, cap: int, points: Points, apart: Ids) -> Ids:
    parts = _Parts(size, cap)
    taken = np.fromiter((parts.join(a, b) for a, b in _pairs(order)), np.bool_, len(order))
    parts.join_all(points, apart)
    others, first = order[~taken], np.zeros(size, dtype=np.bool_)
    while True:
        early = first[others].any(axis=1)
        edges = parts.filled(np.concatenate([others[early], others[~early]]))
        lonely = np.bincount(edges.ravel(), minlength=size) == 1
        if first[lonely].all():
            return edges
        first |= lonely


def _pairs(edges: Ids) -> Iterator[list[int]]:
    """Yield edges as Python numbers, some at a time: all at once take ten times the memory."""
    for start in range(0, len(edges), _EDGES_AT_ONCE):
        yield from edges[start : start + _EDGES_AT_ONCE].tolist()


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

    def filled(self, edges: Ids) -> Ids:
        """Return the edges with those of others for which there is room; nothing is added here."""
        own, degrees = self.edges.copy(), self._degrees.copy()
        for a, b in _pairs(edges):
            if not self._full(a, b):
                self._add(a, b)
        found = np.array(self.edges, dtype=np.int64).reshape(-1, 2)
        self.edges, self._degrees = own, degrees
        return found

    def join_all(self, points: Points, apart: Ids) -> None:
        """Join what is not connected by the closest words that have room, small parts first."""
        ends = np.concatenate([apart, apart[:, ::-1]])
        while True:
            parts = np.array([self._part(word) for word in range(len(self._above))])
            names, sizes = np.unique(parts, return_counts=True)
            if len(names) == 1:
                return
            free = np.flatnonzero(np.array(self._degrees) < self._cap)
            for name in names[np.argsort(sizes, kind="stable")][:-1]:
                own, others = free[parts[free] == name], free[parts[free] != name]
                closeness = points.closeness(own, others)
                here, there = ends[np.isin(ends[:, 0], own) & np.isin(ends[:, 1], others)].T
                closeness[np.searchsorted(own, here), np.searchsorted(others, there)] = -np.inf
                i, j = divmod(int(closeness.argmax()), len(others))
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


def _nearest_pairs(near: Ids) -> Ids:
    """Return the pairs of a word and one of its nearest, each once, in order."""
    here = np.repeat(np.arange(len(near)), near.shape[1])
    return np.unique(np.sort(np.stack([here, near.ravel()], axis=1), axis=1), axis=0)


def _without(pairs: Ids, others: Ids, size: int) -> Ids:
    """Return the pairs that are not among others, whichever end comes first in those."""
    low, high = np.sort(others, axis=1).T
    return pairs[~np.isin(pairs[:, 0] * size + pairs[:, 1], low * size + high)]


def find_kept_graph(lexicon: Lexicon, options: GraphOptions) -> WordGraph | None:
    """Return the graph that is shipped, or kept in the user's folder, for these options."""
    shipped = [folder / store.GRAPH for folder in store.embedded().values()]
    kept = sorted((store.home() / "graphs").glob(f"{lexicon.fingerprint}-*.npz"))
    for path in filter(Path.is_file, [*shipped, *kept]):
        graph = store.read_graph(path, lexicon.fingerprint, len(lexicon))
        if graph is not None and graph.made == options.made_of(lexicon.index):
            return graph
    return None


def keep_graph(graph: WordGraph, fingerprint: str) -> Path:
    """Write the graph of a lexicon into the user's folder."""
    path = store.home() / "graphs" / f"{fingerprint}-{graph.token[6:14].hex()}.npz"
    store.write_graph(path, graph, fingerprint)
    return path


def graph_for(
    lexicon: Lexicon, options: Mapping[str, Any], progress: Progress | None = None
) -> WordGraph:
    """Return the graph that is shipped or kept for these options, or build one."""
    check_options("A word graph", options, GraphOptions.__dataclass_fields__)
    chosen = GraphOptions(**options)
    return find_kept_graph(lexicon, chosen) or build_graph(lexicon, chosen, progress)


def with_graph_if_needed(lexicon: Lexicon, mechanism: Mechanism) -> Lexicon:
    """Return the lexicon with its word graph if the mechanism counts steps, else as it is.

    The graph of a large lexicon takes minutes to build, so it must have been kept.
    """
    return with_known_graph(lexicon) if mechanism.needs == Steps.name else lexicon


def with_known_graph(lexicon: Lexicon) -> Lexicon:
    """Return the lexicon with its own word graph, or the one that was kept; build a small one."""
    if graph_of(lexicon.metric) is not None:
        return lexicon
    kept = find_kept_graph(lexicon, GraphOptions())
    if kept is not None:
        return lexicon.with_metric(Steps(kept))
    if len(lexicon) > SMALL:
        raise LexiconError(
            f"This lexicon has no word graph yet: run  malaprop lexicon graph "
            f"{lexicon.name or 'NAME'} --epsilon NUMBER  once, with the ε of your runs, or use "
            "another mechanism, such as TEM."
        )
    return lexicon.with_graph()


def graph_of_edges(lexicon: Lexicon, edges: Iterable[Any], options: Mapping[str, Any]) -> WordGraph:
    """Make a graph of edges: pairs of words, with a weight or without (1)."""
    check_options("A word graph", options, ["cutoff"])
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise LexiconError("The edges of a word graph must be a list of pairs of words.")
    ends, weights = [], []
    for number, edge in enumerate(edges):
        try:
            pair, weight = _edge(edge, lexicon.index)
        except (KeyError, TypeError, ValueError, OverflowError):
            raise LexiconError(
                f"Edge {number} must be two words of the lexicon, and a weight if it is not 1."
            ) from None
        ends.append(pair)
        weights.append(weight)
    return WordGraph(len(lexicon), ends, weights, made={"edges": "own"}, **options)


def _edge(edge: Any, index: Mapping[str, int]) -> tuple[tuple[int, int], float]:
    here, there, weight = edge if len(edge) == 3 else (*edge, 1)
    # Two letters are not a pair of words, nor is "2" a number.
    if isinstance(edge, str) or isinstance(weight, bool) or not isinstance(weight, Real):
        raise TypeError
    return (index[here], index[there]), float(weight)
