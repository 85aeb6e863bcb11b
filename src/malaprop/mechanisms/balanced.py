"""The balanced mechanism on a graph of near words, and its law; `balance` finds its weights."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon.graph import GraphOptions
from malaprop.lexicon.tables import tables_of
from malaprop.mechanisms.balance import (
    LARGE,
    Balance,
    find_balance,
    sampled_words,
    serves,
    worst_edge,
)
from malaprop.privacy import lazy_rows
from malaprop.privacy.arrays import Floats, Ids, Keys
from malaprop.privacy.channel import LawChannel
from malaprop.privacy.errors import LexiconError, MetricError
from malaprop.privacy.guarantee import PUBLIC, Guarantee, proved
from malaprop.privacy.law import Evidence, Law, law_numerics
from malaprop.privacy.mechanism import Mechanism
from malaprop.privacy.metrics import MetricSpace
from malaprop.privacy.progress import Progress
from malaprop.privacy.sampling import LawRows
from malaprop.privacy.word_graph import WordGraph, graph_of

# Microseconds, about: what a near word of a row takes more if it is searched for alone, and a word
# within reach of a far one that is tried; a search of the whole graph, and its share for a word if
# it is for many.
_NEAR, _IN_REACH, _WHOLE, _SHARE = 0.08, 0.05, 8000.0, 85.0
_NEARBY = 5.0  # steps within which the words behind an output are looked for


@proved("docs/proofs/balanced.md")
@dataclass(frozen=True, eq=False)
class BalancedLaw(Law):
    balance: Balance

    @cached_property
    def pool(self) -> lazy_rows.Pool:
        """The words that far words are tried from, with repetitions."""
        return lazy_rows.pool_of(self.balance.weights)

    @cached_property
    def graph(self) -> WordGraph:
        return word_graph_of(self.space)

    @property
    def identity(self) -> tuple[object, ...]:
        digest = hashlib.sha256()
        for array in (self.balance.weights, self.balance.scale):
            if array is not None:
                # In float32: on small graphs they come from a solver, and the last digits may vary.
                digest.update(array.astype("<f4").tobytes())
        return self.balance.form, self.balance.exponent, digest.hexdigest()

    def log_weights(self, ids: Ids) -> Floats:
        """Return ln ν(y) + ln(a(w)·e^(−t·d(w, y)) + b(w)); a = 1 and b = 0 unless it is spread."""
        keys = self._checked_keys(ids)
        near_share, rest = self._shares(ids)
        with np.errstate(divide="ignore"):
            log_weights = np.log(self.balance.weights)
        if self.balance.scale is None:
            logs = np.multiply(self.space.lengths(keys), -self.balance.exponent)
            logs += log_weights  # in place: such arrays are large
            return logs
        return np.asarray(
            log_weights + np.log(near_share[:, None] * self._kernel(keys) + rest[:, None])
        )

    def staying(self, ids: Ids) -> Floats:
        """Return Pr[w | w] = ν(w)·(a(w) + b(w)), as exact as the stated masses are.

        It needs no row: a = 1/Z, or a and b are known.
        """
        if self.balance.masses is None or not self.balance.verified:
            return super().staying(ids)
        near_share, rest = self._shares(ids, self.balance.masses)
        return np.asarray(self.balance.weights[ids] * (near_share + rest))

    @property
    def outputs_are_best_guesses(self) -> bool:
        """Whether Pr[y | w] ≤ Pr[y | y] for all words.

        With a = 1/Z and b = 0 it holds always: Z(y) ≤ e^(t·d(w, y))·Z(w), by the triangle
        inequality. A spread law must be so even that a step outweighs all differences of a and b.
        """
        if self.balance.scale is None:
            return True
        near_share, rest = self._shares(np.arange(len(self.space)))
        step = self._falls[1] if self.graph.unit else 1.0
        return bool((near_share + rest).min() >= (near_share * step + rest).max())

    def log_likelihood_parts(self, outputs: Ids, count: int) -> Iterator[Floats]:
        """Yield ln Pr[y | w] for `count` outputs y at a time; distances are symmetric.

        Rows add up to 1 within the slack of the stated masses, so that none need be summed.
        """
        for some, keys, masses in self._columns(outputs, count):
            with np.errstate(divide="ignore"):
                drawn = np.log(self.balance.weights[some])[:, None]
            if self.balance.scale is not None:
                near_share, rest = self._shares(np.arange(len(self.space)), masses)
                yield np.asarray(drawn + np.log(near_share * self._kernel(keys) + rest))
                continue
            if self.graph.unit:
                logs = np.multiply(keys, -self.balance.exponent * self.graph.unit, dtype=np.float64)
            else:
                logs = np.asarray(-self.balance.exponent * self.space.lengths(keys))
            logs -= np.log(masses)  # in place: such arrays are large
            logs += drawn
            yield logs

    def likelihood_parts(self, outputs: Ids, count: int) -> Iterator[Floats]:
        """Yield Pr[y | w] for `count` outputs at a time, without exponentials of each of them."""
        for some, keys, masses in self._columns(outputs, count):
            near_share, rest = self._shares(np.arange(len(self.space)), masses)
            chances = self._kernel(keys)
            chances *= near_share
            if self.balance.scale is not None:
                chances += rest
            chances *= self.balance.weights[some, None]
            yield chances

    def near_likelihoods(self, outputs: Ids) -> tuple[Ids, Ids, Floats] | None:
        """Return the words within five steps, and ln Pr[y | w] up to a term for each output."""
        beyond = 1 + round(_NEARBY / self.graph.unit) if self.graph.unit else 0
        if self.balance.masses is None or not 1 < beyond <= self.graph.last:
            return None
        near = self.graph.search.near_words_alone(outputs, beyond)
        near_share, rest = self._shares(near.words, self.balance.masses)
        return near.sizes, near.words, np.log(near_share * self._kernel(near.keys) + rest)

    def _columns(self, outputs: Ids, count: int) -> Iterator[tuple[Ids, Keys, Floats]]:
        """Yield `count` outputs at a time, with their keys, and the masses of all words, if known.

        The graph is searched for all outputs at once.
        """
        if self.balance.masses is not None:
            keys = self._checked_keys(outputs)
            for start in range(0, len(outputs), count):
                part = slice(start, start + count)
                yield outputs[part], keys[part], self.balance.masses

    def rows(self, ids: Ids, draws: Ids | None = None) -> LawRows:
        near_share, rest = self._shares(ids)

        def fall(rows: Ids, keys: Keys) -> Floats:
            return np.asarray(near_share.take(rows) * self._kernel(keys) + rest.take(rows))

        # Rows may be searched for by levels if their masses are as stated.
        if self.graph.unit and (self.balance.verified or self.balance.masses is None):
            mean = 1.0 if draws is None else float(draws.mean())
            beyond = self._beyond(mean)
            search, alone = self.graph.search, self._alone(len(ids), mean, beyond)
            near = (search.near_words_alone if alone else search.near_words)(ids, beyond)
        else:
            near = lazy_rows.nearest_by_key(self._checked_keys(ids), fall, tries=1.0)
        return lazy_rows.law_rows(near, self.balance.weights, self.pool, fall)

    def _kernel(self, keys: Keys) -> Floats:
        """Return e^(−t·d), given the keys of distances."""
        if not self.graph.unit:
            return np.exp(-self.balance.exponent * self.space.lengths(keys))
        return np.asarray(self._falls.take(keys))

    @cached_property
    def _falls(self) -> Floats:
        """e^(−t·d) at each level of the graph."""
        levels = np.arange(self.graph.last + 1)
        return np.asarray(np.exp(-self.balance.exponent * self.graph.unit * levels))

    def _beyond(self, draws: float) -> int:
        """Return the level from which words count as far, chosen for the least total cost.

        A near word costs a row about as much as a try of a far word costs a draw.
        """
        counts, falls = self._sampled, self._falls
        tries = self.graph.size * falls[1:] / (counts @ falls)
        return 1 + int(np.argmin(np.cumsum(counts)[:-1] + draws * tries))

    def _alone(self, rows: int, draws: float, beyond: int) -> bool:
        """Whether to search for near words alone, not the whole graph: an estimate of costs.

        A far word is tried with a limit, and with a chance ∝ e^(−t·k) it is k levels beyond.
        """
        counts, falls = self._sampled, self._falls
        tries = self.graph.size * falls[beyond] / (counts @ falls)
        in_reach = counts[: self.graph.last - beyond] @ falls[beyond : self.graph.last]
        cost = _NEAR * counts[:beyond].sum()
        cost += _IN_REACH * draws * tries * in_reach / max(falls[beyond], 1e-300)
        return bool(cost < max(_SHARE, _WHOLE / rows))

    @cached_property
    def _sampled(self) -> Floats:
        """An estimate of the number of words on each level."""
        if self.balance.levels is not None:
            return self.balance.levels
        sample = sampled_words(self.graph.size)
        levels = self.graph.levels(sample)
        return np.bincount(levels.ravel(), minlength=self.graph.last + 1) / len(sample)

    def _shares(self, ids: Ids, masses: Floats | None = None) -> tuple[Floats, Floats]:
        """Return a(w) and b(w), with which a row's weights add up to 1, within the law's slack.

        For b = 0 they do so if the masses are given; otherwise a is 1.
        """
        balance = self.balance
        if balance.scale is not None:
            return balance.scale[ids], balance.rest[ids] / balance.weights.sum()
        return np.ones(len(ids)) if masses is None else 1.0 / masses[ids], np.zeros(len(ids))

    def _checked_keys(self, ids: Ids) -> Keys:
        """Return the keys of all distances; refuse rows whose masses are not as stated."""
        keys, stated = self.space.keys(ids), self.balance.masses
        if stated is None or self.balance.verified:
            return keys
        new = np.flatnonzero(~self._weighed[ids])
        # One at a time: a row fits a processor's cache.
        masses = np.array([self._kernel(keys[place]) @ self.balance.weights for place in new])
        if not (np.abs(masses - stated[ids[new]]) <= self.balance.slack).all():
            raise LexiconError(
                "The stored masses are not those of this lexicon's graph: the files of its "
                "balances were changed. Run  malaprop lexicon graph NAME --force"
            )
        self._weighed[ids[new]] = True
        return keys

    @cached_property
    def _weighed(self) -> NDArray[np.bool_]:
        """Marks the words whose masses were found to be as stated."""
        return np.zeros(len(self.space), dtype=np.bool_)

    def closed_loss(self, guarantee: Guarantee, progress: Progress | None) -> Evidence:
        """Compute the worst loss over all edges, from recomputed rows.

        It is only an upper bound if the law is spread or cut off.
        """
        worst = worst_edge(self, self.graph, self.balance, guarantee.epsilon, progress)
        return Evidence(
            worst=worst,
            method=f"all rows computed anew, then all {len(self.graph.edges):,} edges of the graph",
            attained=self.balance.scale is None and bool(np.isinf(self.graph.cutoff)),
            doubt="" if worst else "its rows do not have the form that the proof is about",
        )


def word_graph_of(lexicon: MetricSpace) -> WordGraph:
    """Return the word graph of a lexicon; raise an error if it has none."""
    graph = graph_of(lexicon.metric)
    if graph is None:
        raise MetricError(
            f"Balanced counts steps in a graph of near words; this lexicon measures "
            f"{lexicon.metric} distances. Use lexicon.with_graph()."
        )
    return graph


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
    choose_for = "text, by default: near words stand in for each other"
    needs = "graph"

    def on(self, lexicon: MetricSpace) -> "LawChannel[BalancedLaw]":
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
        guarantee = self._promise(
            law,
            str(lexicon.metric),
            cap=graph.cutoff,
            zcdp=(self.epsilon if balance.form == "spread" else balance.exponent) ** 2 / 2.0,
            numerics=law_numerics(lexicon, spread, resting=len(law.pool[0])),
            public=(*PUBLIC, "the word graph", how),
        )
        return LawChannel(law, guarantee, hint=_hint(lexicon, balance, float(self.epsilon)))


def _hint(lexicon: MetricSpace, balance: Balance, epsilon: float) -> str:
    """Say what would keep more of the text at the same ε; empty if nothing would."""
    table = tables_of(lexicon).balances
    if balance.masses is not None and (table is None or serves(table, balance, epsilon)):
        return ""
    index = {word: i for i, word in enumerate(lexicon.words)}
    usual = word_graph_of(lexicon).made == GraphOptions().made_of(index)
    name = getattr(lexicon, "name" if usual else "opened_as", "")
    saved = "" if usual or name else "save it by lexicon.save(FOLDER), and "
    name = name or ("FOLDER" if saved else "NAME")
    command = f"malaprop lexicon graph {name}"
    if len(lexicon) <= LARGE:
        command = f"malaprop lexicon graph {name} --epsilon {epsilon!r}"
    if balance.masses is None:
        lost = "the lexicon has no balance, so the exponent is ε/2, and far fewer words stay than"
        return f"{lost} could at this ε: {saved}run  {command}  for up to twice the exponent"
    lost = f"the lexicon has no balance for ε = {epsilon:g}, so the exponent is"
    return f"{lost} {balance.exponent:.3g}: {saved}run  {command}  for about {epsilon:g}"
