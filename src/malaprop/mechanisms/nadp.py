"""The neighbourhood-aware Gaussian mechanism, with its graph of nearest neighbours."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon.lexicon import nearest_words
from malaprop.lexicon.search import NearestSearch
from malaprop.mechanisms.decoders import Bound, VectorMechanism
from malaprop.privacy.arrays import Floats, Ids, Number, blocks
from malaprop.privacy.errors import LexiconError, ParameterError, require_choice, require_whole
from malaprop.privacy.gaussian_noise import WordGaussian, gaussian_scale
from malaprop.privacy.guarantee import PUBLIC, Kind, proved
from malaprop.privacy.mechanism import option
from malaprop.privacy.metrics import MetricSpace


@proved("docs/proofs/nadp.md")
@dataclass(frozen=True, eq=False)
class NeighbourGraph:
    """A graph that joins near points, and the neighbourhoods of words that it makes public.

    Words with the same vector are one point.
    """

    points: NDArray[np.float32]
    """The distinct vectors, in the order of their first words."""
    place: Ids
    nearest: Ids
    edges: Ids
    """The pairs of points that are joined: (edges, 2)."""
    scope: str = "component"
    """Which pairs are protected: those of a `component`, or those that an `edge` joins."""

    @classmethod
    def of(
        cls,
        vectors: NDArray[np.float32],
        m_edge: int,
        m_jaccard: int,
        include_self: bool,
        tau: float,
        lexicon: MetricSpace | None = None,
    ) -> "NeighbourGraph":
        """Build the nearest-neighbour graph, with exact neighbours; ties go to the lowest id.

        x and y are joined if one of them is among the m_edge nearest of the other, and the
        Jaccard similarity of their m_jaccard nearest is at least τ. `include_self` counts a
        point as the nearest of its own nearest. Nearest words that the lexicon of the vectors
        knows are not looked for again.
        """
        points, place = _distinct(vectors)
        if len(points) == 1:
            raise LexiconError(
                "Neighbourhoods need two words with different vectors; all words of this lexicon "
                "have the same vector. Use another lexicon, or TEM."
            )
        # Points are distinct: each is its own nearest, and the only one at distance 0.
        k, first = max(m_edge, m_jaccard) + 1, 0 if include_self else 1
        if lexicon is not None and len(points) == len(vectors):
            nearest = nearest_words(lexicon, k)
        else:
            nearest = NearestSearch(points).nearest(points, k=k)
        candidates = nearest[:, first : first + m_edge]
        here = np.repeat(nearest[:, 0], candidates.shape[1])
        edges = np.stack([here, candidates.ravel()], axis=1)
        edges = _simple(edges[edges[:, 0] != edges[:, 1]])
        similar = _jaccard(nearest[:, first : first + m_jaccard], edges) >= tau
        return cls(points, place, nearest[:, 1].copy(), edges[similar])

    @property
    def isolated(self) -> NDArray[np.bool_]:
        return np.asarray(np.bincount(self.edges.ravel(), minlength=len(self.points)) == 0)

    def attached(self) -> "NeighbourGraph":
        """Return the graph in which each isolated point is joined to its nearest other point."""
        alone = np.flatnonzero(self.isolated)
        further = np.stack([alone, self.nearest[alone]], axis=1)
        return replace(self, edges=_simple(np.concatenate([self.edges, further])))

    @cached_property
    def _components(self) -> Ids:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        size, ones = len(self.points), np.ones(len(self.edges), dtype=np.int8)
        matrix = coo_array((ones, (self.edges[:, 0], self.edges[:, 1])), shape=(size, size))
        return np.asarray(connected_components(matrix, directed=False)[1], dtype=np.int64)

    @cached_property
    def labels(self) -> Ids:
        """The number of the neighbourhood, a connected component, that each word is in."""
        return _read_only(self._components[self.place])

    @cached_property
    def sensitivities(self) -> Floats:
        """Δ of each word, the largest distance of a protected pair nearby; 0 if isolated."""
        if self.scope == "edge":
            here, there = (self.points[ends].astype(np.float64) for ends in self.edges.T)
            widest = np.zeros(int(self._components.max()) + 1)
            lengths = np.linalg.norm(here - there, axis=1)
            np.maximum.at(widest, self._components[self.edges[:, 0]], lengths)
        else:
            order = np.argsort(self._components, kind="stable")
            members = np.split(order, np.cumsum(np.bincount(self._components))[:-1])
            widest = np.array([_diameter(self.points[ids]) for ids in members])
        # 1 + 1e-13 or so: it lifts a computed distance above the true one.
        rounding = float(1.0 + 4.0 * (self.points.shape[1] + 8) * 2.0**-53)
        return _read_only((widest[self._components] * rounding)[self.place])

    @property
    def bare(self) -> NDArray[np.bool_]:
        """Whether a word is isolated, and so has no noise."""
        return np.asarray(self.sensitivities == 0.0)

    @property
    def pairs(self) -> str:
        bare = int(self.bare.sum())
        constant = f"; {bare} isolated words all give one constant" if bare else ""
        return _PAIRS[self.scope] + constant

    def covers(self, ids: Ids) -> NDArray[np.bool_]:
        if self.scope == "edge":
            points = self.place[ids]
            joined = points[:, None] == np.arange(len(self.points))
            for here, there in (self.edges.T, self.edges.T[::-1]):
                rows, edges = np.nonzero(points[:, None] == here)
                joined[rows, there[edges]] = True
            protected = joined[:, self.place]
        else:
            protected = self.labels[ids, None] == self.labels
        bare = self.bare  # suppressed words all give one constant
        return np.asarray(protected | (bare[ids, None] & bare))


def _read_only(public: NDArray[Number]) -> NDArray[Number]:
    public.setflags(write=False)
    return public


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


_PAIRS = {
    "component": "any two words of one public neighbourhood, with no protection across them",
    "edge": "any two words joined in the public neighbour graph, with no protection of others",
}


@dataclass(frozen=True, kw_only=True)
class NADP(VectorMechanism, name="nadp"):
    """Adds Gaussian noise that is as wide as the word's public neighbourhood requires.

    Distribution: y = x + z, z ~ N(0, σᵢ²·I), σᵢ = u*(ε, δ)·Δᵢ, where i is the neighbourhood of the
    word, a component of the nearest-neighbour graph, and Δᵢ the largest distance of any two words
    of it. Released vectors are rounded to a grid.

    Guarantee: given which neighbourhood the word is in, which is treated as public, (ε, δ) between
    any two words of it. No protection across neighbourhoods: σᵢ alone gives i away.

    Why: the words of a neighbourhood share one σᵢ, and the Gaussian mechanism's δ(ε; r/σᵢ) grows
    with the distance r, which is at most Δᵢ. See docs/proofs/nadp.md.

    Parameters: `epsilon`, `delta`: ε and δ of a protected pair, whatever its distance. The graph
    joins two words if one is among the other's `m_edge` nearest and the Jaccard similarity of
    their `m_jaccard` nearest is `tau`, τ, or more; a word is among its own if `include_self`.
    `scope`: Δᵢ over all pairs of a `component`, or over each `edge`, and then only those are
    protected. `isolated`: `attach` words without an edge to the nearest, `suppress` them (all
    give one constant), or `error`. `published`: by edges, with isolated words in clear. `decoder`.

    >>> from malaprop import NADP, Lexicon
    >>> line = Lexicon(["cold", "cool", "hot", "warm"], [[0.0], [1.0], [9.0], [7.0]])
    >>> NADP(epsilon=1.0, delta=1e-5).on(line).noise.sigmas.round(4)
    array([3.7306, 3.7306, 7.4613, 7.4613])

    Reference: Bollegala, Otake, Machide, Kawarabayashi, "A neighbourhood-aware differential
    privacy mechanism for static word embeddings", 2023.
    """

    epsilon: float = field(metadata={"help": "ε, the privacy loss of a protected pair"})
    delta: float = option(1e-6, "δ, what may be added to a chance beyond the factor e^ε")
    tau: float = option(0.1, "τ, the least similarity of joined words")
    m_edge: int = option(2, "how many nearest words may be joined")
    m_jaccard: int = option(10, "how many nearest words are compared")
    include_self: bool = option(True, "a word is one of its nearest")
    scope: str = option("component", "protected: component or edge")
    isolated: str = option("attach", "words without an edge: attach, suppress or error")
    published: bool = option(False, "the paper's: by edges, isolated words in clear")

    promise = "neighbourhood-dp: (ε, δ) in a public neighbourhood, Euclidean"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require("delta", "a number between 0 and 1", lambda x: 0 < x < 1)
        self._require("tau", "a number from 0 to 1", lambda x: 0 <= x <= 1)
        require_whole(self, "m_edge", least=1)
        require_whole(self, "m_jaccard", least=1)
        require_choice(self, "include_self", (True, False))
        require_choice(self, "scope", tuple(_PAIRS))
        require_choice(self, "isolated", ("attach", "suppress", "error"))
        require_choice(self, "published", (True, False))

    def _for_words(self, lexicon: MetricSpace) -> Bound:
        graph = NeighbourGraph.of(
            lexicon.vectors, self.m_edge, self.m_jaccard, self.include_self, self.tau, lexicon
        )
        if not self.published and self.isolated != "suppress":
            alone = int(graph.isolated[graph.place].sum())
            if alone and self.isolated == "error":
                raise ParameterError(
                    f"The 'isolated' parameter of NADP is 'error', and {alone} of the "
                    f"{len(lexicon)} words have no neighbour: use a lower tau, or "
                    "isolated='attach' or 'suppress'."
                )
            graph = graph.attached()
        graph = replace(graph, scope="edge" if self.published else self.scope)
        bare = int(graph.bare.sum())
        in_clear = f"{bare} of {len(lexicon)} words have no neighbour and are released in clear"
        guarantee = self._promise(
            graph,
            "euclidean",
            Kind.NONE if bare and self.published else Kind.NEIGHBOURHOOD,
            delta=self.delta,
            pairs=graph.pairs,
            public=(*PUBLIC, "which neighbourhood each word is in"),
            reason=in_clear if bare and self.published else "",
        )
        noise = WordGaussian(
            space=lexicon,
            sigmas=gaussian_scale(self.epsilon, self.delta) * graph.sensitivities,
            bare=None if self.published else 0.0,
        )
        return noise, guarantee, graph
