"""The balanced mechanism on a graph of near words."""

from dataclasses import dataclass

import numpy as np

from malaprop.core.balance import Balance
from malaprop.core.channel import LawChannel, law_numerics
from malaprop.core.errors import LexiconError, MetricError
from malaprop.core.graph import WordGraph, graph_of
from malaprop.core.guarantee import PUBLIC, Guarantee, Kind
from malaprop.core.mechanism import Mechanism
from malaprop.core.metric import Floats
from malaprop.core.space import Ids, MetricSpace
from malaprop.lexicon.graph import balances

_FORMS = {
    "balanced": "the weights ν and the exponent {t:.6g}, balanced: verified over all {m:,} edges",
    "spread": "the weights ν, the exponent {t:.6g} and a share of {s:.1%} of draws that do not "
    "look at the word: there is no exact balance at this ε; verified over all {m:,} edges",
    "plain": "the exponent {t:.6g} without weights (ν = 1): verified over all {m:,} edges",
    "half": "the exponent ε/2 without weights (ν = 1), which holds on any graph",
}


@dataclass(frozen=True, kw_only=True)
class Balanced(Mechanism, name="balanced"):
    """Replace a word by one a few steps away in a graph of near words, evenly for all words.

    Distribution: Pr[y|w] = ν(y)·e^(−t·d(w, y))/Z(w), d being the steps between two words and ν
    public weights that make Z the same for all words, so that t = ε.

    Guarantee: ε·d(w, w') metric differential privacy in steps; with a cut-off, never above ε·γ.

    Why: the loss on an edge is t + |ln Z(u) − ln Z(v)|, and ratios multiply along a shortest path;
    docs/proofs/balanced.md. No mechanism with this guarantee keeps words more often on average.

    Parameters: `epsilon` (ε, nats a step).

    >>> from malaprop import Lexicon
    >>> words = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [9.0]])
    >>> chain = words.with_graph(edges=[("cold", "cool"), ("cool", "hot")])
    >>> np.exp(Balanced(epsilon=1.0).on(chain).log_probabilities([0])).round(4)
    array([[0.7311, 0.17  , 0.0989]])

    Reference: this project; weights that tighten the constraints are ElSalamouny, Chatzikokolakis
    and Palamidessi's (2013), and Leinster's weighting of a metric space.
    """

    promise = "ε per step between near words"
    needs = "graph"

    def on(self, lexicon: MetricSpace) -> "BalancedChannel":
        """The mechanism bound to a lexicon with a word graph."""
        graph = graph_of(lexicon.metric)
        if graph is None:
            raise MetricError(
                f"Balanced counts steps in a graph of near words; this lexicon measures "
                f"{lexicon.metric} distances. Use lexicon.with_graph()."
            )
        fingerprint = str(getattr(lexicon, "fingerprint", ""))
        return BalancedChannel(
            self, lexicon, graph, balances.find(graph, fingerprint, self.epsilon)
        )


class BalancedChannel(LawChannel):
    """The law of a balance on a lexicon; one that does not pass its audit is refused."""

    def __init__(
        self, mechanism: Balanced, lexicon: MetricSpace, graph: WordGraph, law: Balance
    ) -> None:
        if not law.loss(graph) <= mechanism.epsilon:
            raise LexiconError(
                f"The weights for ε = {mechanism.epsilon:g} do not pass the audit over all edges "
                f"of the word graph: the loss is {law.loss(graph):.6g}. Run  malaprop lexicon "
                "graph  again."
            )
        self.law, self.graph = law, graph
        with np.errstate(divide="ignore"):
            self._log_weights = np.log(law.weights)
        finite = self._log_weights[np.isfinite(self._log_weights)]
        spread = law.exponent * graph.reach + float(finite.max() - finite.min())
        form = "half" if law.masses is None else law.form
        how = _FORMS[form].format(t=law.exponent, s=law.rest.mean(), m=len(graph.edges))
        guarantee = Guarantee(
            kind=Kind.METRIC,
            epsilon=mechanism.epsilon,
            metric=str(lexicon.metric),
            cap=graph.cutoff,
            zcdp=(mechanism.epsilon if form == "spread" else law.exponent) ** 2 / 2.0,
            proof="docs/proofs/balanced.md",
            numerics=law_numerics(lexicon, spread),
            public=(*PUBLIC, "the word graph", how),
        )
        super().__init__(lexicon, guarantee)

    @property
    def hint(self) -> str:
        """What would keep more of the text at the same ε, or nothing."""
        if self.law.masses is not None:
            return ""
        name = getattr(self._space, "name", "") or "NAME"
        return f"the exponent is ε/2; for up to twice that, run  malaprop lexicon graph {name}"

    def log_weights(self, ids: Ids) -> Floats:
        """ln ν(y) − t·d(w, y), or ln ν(y) + ln(a(w)·e^(−t·d) + b(w)) where it is spread."""
        law, found = self.law, self._space.distances(ids)
        found *= -law.exponent
        if law.masses is None:
            return found
        if law.scale is None:
            found += self._log_weights
            self._check(ids, np.exp(found).sum(axis=1))
            return found
        near = np.exp(found)
        masses, scale = near @ law.weights, law.scale[ids]
        self._check(ids, masses)
        rest = (1.0 - scale * masses) / law.weights.sum()
        return np.asarray(np.log(scale[:, None] * near + rest[:, None]) + self._log_weights)

    def _check(self, ids: Ids, masses: Floats) -> None:
        """Refuse to draw from a row whose mass is not the one that was audited."""
        stated = self.law.masses
        if stated is not None and (np.abs(masses - stated[ids]) > self.law.slack).any():
            raise LexiconError(
                "The masses that were audited are not those of this lexicon's graph: the files of "
                "its balances were changed. Run  malaprop lexicon graph  again."
            )
