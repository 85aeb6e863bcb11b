"""Neighbourhoods: a public graph of near words, its components, and their diameters."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.errors import LexiconError
from malaprop.core.proofs import proved
from malaprop.core.space import MetricSpace, blocks
from malaprop.lexicon.search.exact import NearestSearch
from malaprop.lexicon.search.listed import nearest_words


@proved("docs/proofs/nadp.md")
@dataclass(frozen=True, eq=False)
class NeighbourGraph:
    """A graph that joins near points. Words with the same vector are one point."""

    points: NDArray[np.float32]
    """The distinct vectors, in the order of their first words."""
    place: Ids
    """The point of each word."""
    nearest: Ids
    """The nearest other point of each point."""
    edges: Ids
    """The pairs of points that are joined: (edges, 2)."""

    @classmethod
    def of(
        cls,
        vectors: NDArray[np.float32],
        m_edge: int,
        m_jaccard: int,
        include_self: bool,
        tau: float,
    ) -> "NeighbourGraph":
        """Build the nearest-neighbour graph, with exact neighbours; ties go to the lowest id.

        x and y are joined if one of them is among the m_edge nearest of the other, and the
        Jaccard similarity of their m_jaccard nearest is at least τ. `include_self` counts a
        point as the nearest of its own nearest.
        """
        lists = NearestLists.of(vectors, max(m_edge, m_jaccard) + 1)
        return lists.graph(m_edge, m_jaccard, include_self, tau)

    @cached_property
    def labels(self) -> Ids:
        """The number of the neighbourhood, a connected component, that each point is in."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        size, ones = len(self.points), np.ones(len(self.edges), dtype=np.int8)
        matrix = coo_array((ones, (self.edges[:, 0], self.edges[:, 1])), shape=(size, size))
        return np.asarray(connected_components(matrix, directed=False)[1], dtype=np.int64)

    @property
    def isolated(self) -> NDArray[np.bool_]:
        """Whether a point is joined to no other."""
        return np.asarray(np.bincount(self.edges.ravel(), minlength=len(self.points)) == 0)

    def joined(self, points: Ids) -> NDArray[np.bool_]:
        """Whether each of `points` is joined to each point, or is that point: (chosen, all)."""
        joined_to = points[:, None] == np.arange(len(self.points))
        for here, there in (self.edges.T, self.edges.T[::-1]):
            rows, edges = np.nonzero(points[:, None] == here)
            joined_to[rows, there[edges]] = True
        return np.asarray(joined_to)

    def attached(self) -> "NeighbourGraph":
        """Return the graph in which each isolated point is joined to its nearest other point."""
        alone = np.flatnonzero(self.isolated)
        further = np.stack([alone, self.nearest[alone]], axis=1)
        return replace(self, edges=_simple(np.concatenate([self.edges, further])))

    def longest_edges(self) -> Floats:
        """Return, for each point, the longest edge of its neighbourhood; 0 if isolated."""
        here, there = (self.points[ends].astype(np.float64) for ends in self.edges.T)
        longest = np.zeros(int(self.labels.max()) + 1)
        lengths = np.linalg.norm(here - there, axis=1)
        np.maximum.at(longest, self.labels[self.edges[:, 0]], lengths)
        return np.asarray(longest[self.labels] * self._rounding)

    def diameters(self) -> Floats:
        """Return, for each point, the largest distance of *any* two points of its neighbourhood."""
        order = np.argsort(self.labels, kind="stable")
        borders = np.cumsum(np.bincount(self.labels))[:-1]
        members = np.split(order, borders)
        widest = np.array([_diameter(self.points[ids]) for ids in members])
        return np.asarray(widest[self.labels] * self._rounding)

    @property
    def _rounding(self) -> float:
        """A factor, 1 + 1e-13 or so, that lifts a computed distance above the true one."""
        return float(1.0 + 4.0 * (self.points.shape[1] + 8) * 2.0**-53)


@dataclass(frozen=True, eq=False)
class NearestLists:
    """The nearest points of each point: what all neighbour graphs of a lexicon are made of."""

    points: NDArray[np.float32]
    place: Ids
    nearest: Ids
    """The k nearest points of each point, itself first: (points, k)."""

    @classmethod
    def of(cls, vectors: NDArray[np.float32], k: int) -> "NearestLists":
        """List the `k` nearest points of each, itself among them."""
        points, place = _distinct(vectors)
        if len(points) == 1:
            raise LexiconError(
                "Neighbourhoods need two words with different vectors; all words of this lexicon "
                "have the same vector. Use another lexicon, or TEM."
            )
        # Points are distinct: each is its own nearest, and the only one at distance 0.
        return cls(points, place, NearestSearch(points).nearest(points, k=k))

    def graph(
        self, m_edge: int, m_jaccard: int, include_self: bool, tau: float
    ) -> "NeighbourGraph":
        """Build the graph; see `NeighbourGraph.of`."""
        nearest, first = self.nearest, 0 if include_self else 1
        candidates = nearest[:, first : first + m_edge]
        edges = np.stack(
            [np.repeat(nearest[:, 0], candidates.shape[1]), candidates.ravel()], axis=1
        )
        edges = _simple(edges[edges[:, 0] != edges[:, 1]])
        similar = _jaccard(nearest[:, first : first + m_jaccard], edges) >= tau
        return NeighbourGraph(self.points, self.place, nearest[:, 1].copy(), edges[similar])


def graph_on(
    space: MetricSpace, m_edge: int, m_jaccard: int, include_self: bool, tau: float
) -> NeighbourGraph:
    """Build the graph of a lexicon; nearest words that are known are not looked for again."""
    k = max(m_edge, m_jaccard) + 1
    points, place = _distinct(space.vectors)
    if len(points) < len(space) or len(space) == 1:
        return NeighbourGraph.of(space.vectors, m_edge, m_jaccard, include_self, tau)
    lists = NearestLists(points, place, nearest_words(space, k))
    return lists.graph(m_edge, m_jaccard, include_self, tau)


def _distinct(vectors: NDArray[np.float32]) -> tuple[NDArray[np.float32], Ids]:
    """Return the distinct rows in order of first occurrence, and which of them each row is."""
    seen: dict[bytes, int] = {}
    # Adding 0 turns −0 into 0.
    place = np.array([seen.setdefault(row.tobytes(), len(seen)) for row in vectors + 0.0])
    _, first = np.unique(place, return_index=True)
    return vectors[first], place.astype(np.int64)


def _simple(edges: Ids) -> Ids:
    """Keep each undirected edge once, the lower end first."""
    return np.unique(np.sort(edges, axis=1), axis=0)


def _jaccard(sets: Ids, edges: Ids) -> Floats:
    """Return |S ∩ S'| / |S ∪ S'| for the ends of each edge; all sets have the same size."""
    size = sets.shape[1]
    common = np.empty(len(edges))
    for block in blocks(len(edges), row_cells=size * size):
        here, there = sets[edges[block, 0]], sets[edges[block, 1]]
        common[block] = (here[:, :, None] == there[:, None, :]).sum(axis=(1, 2))
    return np.asarray(common / (2 * size - common))


def _diameter(points: NDArray[np.float32]) -> float:
    """Return the largest distance of any two points.

    Seen from one of them, no point is farther away than the diameter. So ‖x‖² + ‖y‖² − 2⟨x, y⟩
    loses no digits: its error is at most 4(d + 8) units of rounding of the diameter's square.
    """
    seen = points.astype(np.float64) - points[0]
    squares = np.einsum("ij,ij->i", seen, seen)
    widest = 0.0
    for block in blocks(len(seen), row_cells=len(seen)):
        square_distances = squares[block, None] + squares - 2.0 * (seen[block] @ seen.T)
        widest = max(widest, float(square_distances.max()))
    return float(np.sqrt(widest))
