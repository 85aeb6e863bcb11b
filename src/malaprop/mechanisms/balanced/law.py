"""The law of a balance on a word graph, and how its rows are drawn from."""

import hashlib
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
from malaprop.mechanisms.balanced.balance import Balance
from malaprop.mechanisms.balanced.edge_loss import worst_edge

_SAMPLE = 64  # words that tell how many others are how near


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
        """How many words are tried for a far one, some of them several times."""
        return len(self._pool[0])

    @property
    def identity(self) -> tuple[object, ...]:
        """Return the form of the balance, t, and a digest of ν and a."""
        found = hashlib.sha256()
        for numbers in (self.balance.weights, self.balance.scale):
            if numbers is not None:
                # In short: on small graphs they are solved for, and the last digits may vary.
                found.update(numbers.astype("<f4").tobytes())
        return self.balance.form, self.balance.exponent, found.hexdigest()

    def log_weights(self, ids: Ids) -> Floats:
        """ln ν(y) + ln(a(w)·e^(−t·d(w, y)) + b(w)), with a = 1 and b = 0 but where it is spread."""
        keys = self._checked_keys(ids)
        near_share, rest = self._shares(ids)
        with np.errstate(divide="ignore"):
            found = np.log(self.balance.weights)
        if self.balance.scale is None:
            return np.asarray(found - self.balance.exponent * self.space.lengths(keys))
        return np.asarray(found + np.log(near_share[:, None] * self._kernel(keys) + rest[:, None]))

    def rows(self, ids: Ids, draws: Ids | None = None) -> LawRows:
        """Return near words with their weights, and far ones to be weighed when tried."""
        near_share, rest = self._shares(ids)

        def fall(rows: Ids, keys: Keys) -> Floats:
            return np.asarray(near_share[rows] * self._kernel(keys) + rest[rows])

        if self.graph.unit and (self.balance.verified or self.balance.masses is None):
            found = self.graph.near_words(ids, self._beyond(1.0 if draws is None else draws.mean()))
        else:
            found = by_distance.nearest_by_key(self._checked_keys(ids), fall, tries=1.0)
        return by_distance.law_rows(found, self.balance.weights, self._pool, fall)

    def _kernel(self, keys: Keys) -> Floats:
        """e^(−t·d), from the keys of distances."""
        if not self.graph.unit:
            return np.exp(-self.balance.exponent * self.space.lengths(keys))
        return np.asarray(self._falls.take(keys))

    @property
    def _falls(self) -> Floats:
        """e^(−t·d) at each level of the graph."""
        levels = np.arange(self.graph.last + 1)
        return np.asarray(np.exp(-self.balance.exponent * self.graph.unit * levels))

    def _beyond(self, draws: float) -> int:
        """The level at which words are far: where near words and tries of far ones cost least.

        A near word costs a row about as much as a try of a far one costs a draw.
        """
        counts, falls = self._sampled, self._falls
        tries = self.graph.size * falls[1:] / (counts @ falls)
        return 1 + int(np.argmin(np.cumsum(counts)[:-1] + draws * tries))

    @cached_property
    def _sampled(self) -> Floats:
        """About how many words are on each level."""
        some = np.unique(np.linspace(0, self.graph.size - 1, _SAMPLE).astype(np.int64))
        levels = self.graph.levels(some)
        return np.bincount(levels.ravel(), minlength=self.graph.last + 1) / len(some)

    def _shares(self, ids: Ids) -> tuple[Floats, Floats]:
        """a(w) and b(w): together a row's weights add up to 1, within the law's slack."""
        balance = self.balance
        if balance.scale is None:
            return np.ones(len(ids)), np.zeros(len(ids))
        return balance.scale[ids], balance.rest[ids] / balance.weights.sum()

    def _checked_keys(self, ids: Ids) -> Keys:
        """The keys of all distances, for rows whose masses are those that were audited."""
        keys = self.space.keys(ids)
        if self.balance.masses is not None and not self.balance.verified:
            self._weigh(ids, keys, self.balance.masses)
        return keys

    def _weigh(self, ids: Ids, keys: Keys, stated: Floats) -> None:
        """Compute the masses of rows; refuse to draw where they are not those of the table."""
        new = np.flatnonzero(~self._weighed[ids])
        # One at a time: what a row takes fits a processor's cache.
        masses = np.array([self._kernel(keys[place]) @ self.balance.weights for place in new])
        if not (np.abs(masses - stated[ids[new]]) <= self.balance.slack).all():
            raise LexiconError(
                "The masses that were audited are not those of this lexicon's graph: the files of "
                "its balances were changed. Run  malaprop lexicon graph NAME --force"
            )
        self._weighed[ids[new]] = True

    @cached_property
    def _weighed(self) -> NDArray[np.bool_]:
        """The words whose masses were found to be as stated."""
        return np.zeros(len(self.space), dtype=np.bool_)

    def closed_loss(self, guarantee: Guarantee, progress: Progress | None) -> ClosedLoss:
        """Compute the worst loss over all edges, from rows computed anew.

        A bound that is exceeded need not be attained where the law is spread or cut off.
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
    """Return the word graph of a lexicon, or refuse one without."""
    graph = graph_of(lexicon.metric)
    if graph is None:
        raise MetricError(
            f"Balanced counts steps in a graph of near words; this lexicon measures "
            f"{lexicon.metric} distances. Use lexicon.with_graph()."
        )
    return graph
