"""The law of a balance on a word graph, and its rows for drawing."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids, Keys
from malaprop.core.errors import LexiconError, MetricError
from malaprop.core.guarantee import Guarantee
from malaprop.core.law import ClosedLoss, Law
from malaprop.core.metrics.graph import WordGraph, graph_of
from malaprop.core.progress import Progress
from malaprop.core.proofs import proved
from malaprop.core.sampling import by_distance
from malaprop.core.sampling.draws import LawRows
from malaprop.core.space import MetricSpace
from malaprop.mechanisms.balanced.balance import Balance, sampled_words
from malaprop.mechanisms.balanced.edge_loss import worst_edge

# Microseconds, about: what a near word of a row takes more if it is searched for alone, and a word
# within reach of a far one that is tried; a search of the whole graph, and its share for a word if
# it is for many.
_NEAR, _IN_REACH, _WHOLE, _SHARE = 0.08, 0.05, 8000.0, 85.0


@proved("docs/proofs/balanced.md")
@dataclass(frozen=True, eq=False)
class BalancedLaw(Law):
    """The law of a balance on the word graph of a lexicon."""

    balance: Balance

    @cached_property
    def _pool(self) -> by_distance.Pool:
        return by_distance.pool_of(self.balance.weights)

    @property
    def graph(self) -> WordGraph:
        """The lexicon's word graph."""
        return word_graph_of(self.space)

    @property
    def tried_words(self) -> int:
        """The size of the pool that far words are tried from, with repetitions."""
        return len(self._pool[0])

    @property
    def identity(self) -> tuple[object, ...]:
        """Return the form of the balance, t, and a digest of ν and a."""
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
        near_share, rest = self._shares(ids)
        if self.balance.scale is None:
            near_share = 1.0 / self.balance.masses[ids]
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

    def log_likelihoods(self, outputs: Ids) -> Floats | None:
        """Return ln Pr[y | w] for each output y and each word w; distances are symmetric.

        Rows add up to 1 within the slack of the stated masses, so that none need be summed.
        """
        if self.balance.masses is None:
            return None
        return self._columns(outputs, self._checked_keys(outputs), self.balance.masses)

    def log_likelihood_parts(self, outputs: Ids, count: int) -> Iterator[Floats]:
        """Yield them for `count` outputs at a time; the graph is searched for all at once."""
        if self.balance.masses is None:
            return
        keys = self._checked_keys(outputs)
        for start in range(0, len(outputs), count):
            part = slice(start, start + count)
            yield self._columns(outputs[part], keys[part], self.balance.masses)

    def likelihood_parts(self, outputs: Ids, count: int) -> Iterator[Floats]:
        """Yield Pr[y | w] for `count` outputs at a time, without exponentials of each of them."""
        if self.balance.masses is None:
            return
        keys = self._checked_keys(outputs)
        near_share, rest = self._shares(np.arange(len(self.space)))
        if self.balance.scale is None:
            near_share = 1.0 / self.balance.masses
        for start in range(0, len(outputs), count):
            part = slice(start, start + count)
            chances = self._kernel(keys[part])
            chances *= near_share
            if self.balance.scale is not None:
                chances += rest
            chances *= self.balance.weights[outputs[part], None]
            yield chances

    def _columns(self, outputs: Ids, keys: Keys, masses: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            drawn = np.log(self.balance.weights[outputs])[:, None]
        if self.balance.scale is None:
            logs = self._log_falls(keys)
            logs -= np.log(masses)  # in place: such arrays are large
            logs += drawn
            return logs
        near_share, rest = self._shares(np.arange(len(self.space)))
        return np.asarray(drawn + np.log(near_share * self._kernel(keys) + rest))

    def rows(self, ids: Ids, draws: Ids | None = None) -> LawRows:
        """Return near words with their weights, and far words to be weighed when tried."""
        near_share, rest = self._shares(ids)

        def fall(rows: Ids, keys: Keys) -> Floats:
            return np.asarray(near_share.take(rows) * self._kernel(keys) + rest.take(rows))

        if self._has_levels:
            mean = 1.0 if draws is None else float(draws.mean())
            beyond = self._beyond(mean)
            alone = self._alone(len(ids), mean, beyond)
            near = self.graph.near_words(ids, beyond, alone=alone)
        else:
            near = by_distance.nearest_by_key(self._checked_keys(ids), fall, tries=1.0)
        return by_distance.law_rows(near, self.balance.weights, self._pool, fall)

    @property
    def _has_levels(self) -> bool:
        """Whether rows may be searched for by levels, since their masses are as stated."""
        return bool(self.graph.unit) and (self.balance.verified or self.balance.masses is None)

    def _kernel(self, keys: Keys) -> Floats:
        """Return e^(−t·d), given the keys of distances."""
        if not self.graph.unit:
            return np.exp(-self.balance.exponent * self.space.lengths(keys))
        return np.asarray(self._falls.take(keys))

    def _log_falls(self, keys: Keys) -> Floats:
        """Return −t·d, given the keys of distances."""
        if not self.graph.unit:
            return np.asarray(-self.balance.exponent * self.space.lengths(keys))
        return np.multiply(keys, -self.balance.exponent * self.graph.unit, dtype=np.float64)

    @property
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

    def _shares(self, ids: Ids) -> tuple[Floats, Floats]:
        """Return a(w) and b(w), with which a row's weights add up to 1, within the law's slack."""
        balance = self.balance
        if balance.scale is None:
            return np.ones(len(ids)), np.zeros(len(ids))
        return balance.scale[ids], balance.rest[ids] / balance.weights.sum()

    def _checked_keys(self, ids: Ids) -> Keys:
        """Return the keys of all distances; refuse rows whose masses are not as stated."""
        keys = self.space.keys(ids)
        if self.balance.masses is not None and not self.balance.verified:
            self._weigh(ids, keys, self.balance.masses)
        return keys

    def _weigh(self, ids: Ids, keys: Keys, stated: Floats) -> None:
        """Compute the masses of rows; refuse to draw if they are not as stated."""
        new = np.flatnonzero(~self._weighed[ids])
        # One at a time: a row fits a processor's cache.
        masses = np.array([self._kernel(keys[place]) @ self.balance.weights for place in new])
        if not (np.abs(masses - stated[ids[new]]) <= self.balance.slack).all():
            raise LexiconError(
                "The stored masses are not those of this lexicon's graph: the files of its "
                "balances were changed. Run  malaprop lexicon graph NAME --force"
            )
        self._weighed[ids[new]] = True

    @cached_property
    def _weighed(self) -> NDArray[np.bool_]:
        """Marks the words whose masses were found to be as stated."""
        return np.zeros(len(self.space), dtype=np.bool_)

    def closed_loss(self, guarantee: Guarantee, progress: Progress | None) -> ClosedLoss:
        """Compute the worst loss over all edges, from recomputed rows.

        It is only an upper bound if the law is spread or cut off.
        """
        worst = worst_edge(self, self.graph, self.balance, guarantee.epsilon, progress)
        edges = len(self.graph.edges)
        return ClosedLoss(
            worst=worst,
            proved=worst is not None,
            method=f"all rows computed anew, then all {edges:,} edges of the graph",
            attained=self.balance.scale is None and bool(np.isinf(self.graph.cutoff)),
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
