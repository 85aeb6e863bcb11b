"""The neighbourhood-aware Gaussian mechanism."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from malaprop.core.checks import require_choice, require_whole
from malaprop.core.errors import ParameterError
from malaprop.core.euclidean import require_euclidean
from malaprop.core.gaussian import gaussian_scale
from malaprop.core.guarantee import Guarantee, Kind
from malaprop.core.scaled import ScaledChannel
from malaprop.core.space import Floats, Ids, MetricSpace
from malaprop.lexicon.neighbourhoods import NeighbourGraph
from malaprop.mechanisms.decoders import VectorMechanism

_PAIRS = {
    "component": "any two words of one public neighbourhood, with no protection across them",
    "edge": "any two words joined in the public neighbour graph, with no protection of others",
}


@dataclass(frozen=True, kw_only=True)
class NADP(VectorMechanism, name="nadp"):
    """Adds Gaussian noise that is as wide as the word's public neighbourhood asks for.

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
    >>> NADP(epsilon=1.0, delta=1e-5).on(line).sigmas.round(4)
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

    def on(self, lexicon: MetricSpace) -> "NADPChannel":
        """The mechanism bound to a lexicon, whose metric must be Euclidean."""
        require_euclidean(lexicon, self)
        graph = NeighbourGraph.of(
            lexicon.vectors, self.m_edge, self.m_jaccard, self.include_self, self.tau
        )
        if self.published or self.isolated == "suppress":
            return NADPChannel(self, lexicon, graph)
        alone = int(graph.isolated[graph.place].sum())
        if alone and self.isolated == "error":
            raise ParameterError(
                f"The 'isolated' parameter of NADP is 'error', and {alone} of the {len(lexicon)} "
                "words have no neighbour: use a lower tau, or 'attach' or 'suppress' them."
            )
        return NADPChannel(self, lexicon, graph.attached())


class NADPChannel(ScaledChannel):
    """Gaussian noise on the words of a lexicon, of one σ for each neighbourhood."""

    def __init__(self, mechanism: NADP, lexicon: MetricSpace, graph: NeighbourGraph) -> None:
        scope = "edge" if mechanism.published else mechanism.scope
        spans = graph.diameters() if scope == "component" else graph.longest_edges()
        self.graph = graph
        self._scope = scope
        self.neighbourhoods: Ids = graph.labels[graph.place]
        self.sensitivities: Floats = spans[graph.place]
        for public in (self.neighbourhoods, self.sensitivities):
            public.setflags(write=False)
        bare = int((self.sensitivities == 0.0).sum())
        in_clear = f"{bare} of {len(lexicon)} words have no neighbour and are released in clear"
        constant = f"; {bare} isolated words all give one constant" if bare else ""
        guarantee = Guarantee(
            kind=Kind.NONE if bare and mechanism.published else Kind.NEIGHBOURHOOD,
            epsilon=mechanism.epsilon,
            delta=mechanism.delta,
            metric="euclidean",
            pairs=_PAIRS[scope] + constant,
            public=(*Guarantee.public, "which neighbourhood each word is in"),
            proof="docs/proofs/nadp.md",
            reason=in_clear if bare and mechanism.published else "",
        )
        super().__init__(
            lexicon,
            guarantee,
            mechanism.decoder_on(lexicon),
            sigmas=gaussian_scale(mechanism.epsilon, mechanism.delta) * self.sensitivities,
            bare=None if mechanism.published else 0.0,
        )

    def covers(self, ids: Ids) -> NDArray[np.bool_]:
        """Whether the guarantee speaks of a word of `ids` and each word: (len(ids), words)."""
        if self.guarantee.kind is not Kind.NEIGHBOURHOOD:
            return super().covers(ids)
        if self._scope == "edge":
            pairs = self.graph.joined(self.graph.place[ids])[:, self.graph.place]
        else:
            pairs = self.neighbourhoods[ids, None] == self.neighbourhoods
        bare = self.sensitivities == 0.0  # suppressed: one constant for all of them
        return np.asarray(pairs | (bare[ids, None] & bare))
