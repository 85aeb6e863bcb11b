"""The balanced mechanism on a graph of near words."""

from dataclasses import dataclass

import numpy as np

from malaprop.core.channel import LawChannel
from malaprop.core.errors import LexiconError
from malaprop.core.guarantee import PUBLIC, Guarantee, Kind
from malaprop.core.law import law_numerics
from malaprop.core.mechanism import Mechanism
from malaprop.core.space import MetricSpace
from malaprop.lexicon.graph.edges import GraphOptions
from malaprop.lexicon.tables.values import tables_of
from malaprop.mechanisms.balanced.balance import Balance
from malaprop.mechanisms.balanced.balance_tables import find_balance
from malaprop.mechanisms.balanced.law import BalancedLaw, word_graph_of

_HOW_WEIGHTED = {
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

    def on(self, lexicon: MetricSpace) -> "LawChannel[BalancedLaw]":
        """Bind the mechanism to a lexicon with a word graph."""
        graph = word_graph_of(lexicon)
        return self.with_balance(lexicon, find_balance(graph, tables_of(lexicon), self.epsilon))

    def with_balance(self, lexicon: MetricSpace, balance: Balance) -> "LawChannel[BalancedLaw]":
        """Bind the mechanism with a given balance; refuse one whose loss exceeds ε."""
        graph = word_graph_of(lexicon)
        if not balance.loss(graph) <= self.epsilon:
            raise LexiconError(
                f"The weights for ε = {self.epsilon:g} do not pass the check over all edges "
                f"of the word graph: the loss is {balance.loss(graph):.6g}. Run  malaprop lexicon "
                "graph NAME --force"
            )
        law = BalancedLaw(lexicon, balance)
        drawn = balance.weights[balance.weights > 0.0]
        spread = balance.exponent * graph.reach + float(np.log(drawn.max() / drawn.min()))
        how = _HOW_WEIGHTED[balance.form].format(
            t=balance.exponent, s=balance.rest.mean(), m=len(graph.edges)
        )
        guarantee = Guarantee(
            kind=Kind.METRIC,
            epsilon=self.epsilon,
            metric=str(lexicon.metric),
            cap=graph.cutoff,
            zcdp=(self.epsilon if balance.form == "spread" else balance.exponent) ** 2 / 2.0,
            proof="docs/proofs/balanced.md",
            numerics=law_numerics(lexicon, spread, resting=law.tried_words),
            public=(*PUBLIC, "the word graph", how),
        )
        return LawChannel(law, guarantee, hint=_hint(lexicon, balance))


def _hint(lexicon: MetricSpace, balance: Balance) -> str:
    """Say what would keep more of the text at the same ε; empty if nothing would."""
    if balance.masses is not None:
        return ""
    usual = word_graph_of(lexicon).made == GraphOptions().to_dict()
    name = getattr(lexicon, "name" if usual else "opened_as", "")
    saved = "" if usual or name else "save it by lexicon.save(FOLDER), and "
    command = f"malaprop lexicon graph {name or ('FOLDER' if saved else 'NAME')}"
    return f"the exponent is ε/2; for up to twice that, {saved}run  {command}"
