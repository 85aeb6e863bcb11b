"""The neighbourhood-aware Gaussian mechanism."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import VectorChannel
from malaprop.core.errors import ParameterError
from malaprop.core.guarantee import Guarantee, Kind
from malaprop.core.metrics.euclidean import require_euclidean
from malaprop.core.noise.calibration import gaussian_scale
from malaprop.core.noise.gaussian import WordGaussian
from malaprop.core.parameters import require_choice, require_whole
from malaprop.core.proofs import proved
from malaprop.core.space import MetricSpace
from malaprop.mechanisms.decoders import VectorMechanism
from malaprop.mechanisms.nadp.neighbour_graph import NeighbourGraph, graph_on

Number = TypeVar("Number", np.float64, np.int64)

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
    delta: float = field(
        default=1e-6, metadata={"help": "δ, what may be added to a chance beyond the factor e^ε"}
    )
    tau: float = field(default=0.1, metadata={"help": "τ, the least similarity of joined words"})
    m_edge: int = field(default=2, metadata={"help": "how many nearest words may be joined"})
    m_jaccard: int = field(default=10, metadata={"help": "how many nearest words are compared"})
    include_self: bool = field(default=True, metadata={"help": "a word is one of its nearest"})
    scope: str = field(default="component", metadata={"help": "protected: component or edge"})
    isolated: str = field(
        default="attach", metadata={"help": "words without an edge: attach, suppress or error"}
    )
    published: bool = field(
        default=False, metadata={"help": "the paper's: by edges, isolated words in clear"}
    )

    promise: ClassVar[str] = "neighbourhood-dp: (ε, δ) in a public neighbourhood, Euclidean"

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

    def on(self, lexicon: MetricSpace) -> VectorChannel[WordGaussian]:
        """Bind the mechanism to a lexicon, whose metric must be Euclidean."""
        require_euclidean(lexicon, self)
        graph = graph_on(lexicon, self.m_edge, self.m_jaccard, self.include_self, self.tau)
        if self.published or self.isolated == "suppress":
            return self._channel(lexicon, graph)
        alone = int(graph.isolated[graph.place].sum())
        if alone and self.isolated == "error":
            raise ParameterError(
                f"The 'isolated' parameter of NADP is 'error', and {alone} of the {len(lexicon)} "
                "words have no neighbour: use a lower tau, or isolated='attach' or 'suppress'."
            )
        return self._channel(lexicon, graph.attached())

    def _channel(self, lexicon: MetricSpace, graph: NeighbourGraph) -> VectorChannel[WordGaussian]:
        scope = "edge" if self.published else self.scope
        neighbourhoods = ComponentNeighbourhoods(graph=graph, scope=scope)
        bare = int((neighbourhoods.sensitivities == 0.0).sum())
        in_clear = f"{bare} of {len(lexicon)} words have no neighbour and are released in clear"
        guarantee = Guarantee(
            kind=Kind.NONE if bare and self.published else Kind.NEIGHBOURHOOD,
            epsilon=self.epsilon,
            delta=self.delta,
            metric="euclidean",
            pairs=neighbourhoods.pairs,
            public=(*Guarantee.public, "which neighbourhood each word is in"),
            proof="docs/proofs/nadp.md",
            reason=in_clear if bare and self.published else "",
        )
        noise = WordGaussian(
            space=lexicon,
            sigmas=gaussian_scale(self.epsilon, self.delta) * neighbourhoods.sensitivities,
            bare=None if self.published else 0.0,
        )
        decoder = self.decoder_on(lexicon)
        return VectorChannel(lexicon, guarantee, noise, decoder, neighbourhoods=neighbourhoods)


@proved("docs/proofs/nadp.md")
@dataclass(frozen=True, kw_only=True, eq=False)
class ComponentNeighbourhoods:
    """The components of a nearest-neighbour graph, or its edges, and their sensitivities."""

    graph: NeighbourGraph
    scope: str
    """`component` or `edge`."""

    @cached_property
    def labels(self) -> Ids:
        """The neighbourhood of each word."""
        return _read_only(self.graph.labels[self.graph.place])

    @cached_property
    def sensitivities(self) -> Floats:
        """Δ of each word: 0 for an isolated one."""
        component = self.scope == "component"
        spans = self.graph.diameters() if component else self.graph.longest_edges()
        return _read_only(spans[self.graph.place])

    @property
    def pairs(self) -> str:
        """A phrase that says which two words are protected from each other."""
        bare = int((self.sensitivities == 0.0).sum())
        constant = f"; {bare} isolated words all give one constant" if bare else ""
        return _PAIRS[self.scope] + constant

    def covers(self, ids: Ids) -> NDArray[np.bool_]:
        """Whether each word of `ids` shares a neighbourhood with each word: (len(ids), words)."""
        if self.scope == "edge":
            pairs = self.graph.joined(self.graph.place[ids])[:, self.graph.place]
        else:
            pairs = self.labels[ids, None] == self.labels
        bare = self.sensitivities == 0.0  # suppressed words all give one constant
        return np.asarray(pairs | (bare[ids, None] & bare))


def _read_only(public: NDArray[Number]) -> NDArray[Number]:
    public.setflags(write=False)
    return public
