"""The balanced mechanism: its law, its loss, its fallbacks, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import chi2
from tests.mechanisms.graphs import graph_in, lexicon_of

from malaprop import (
    TEM,
    Balanced,
    LawChannel,
    Lexicon,
    LexiconError,
    MetricError,
    audit,
    seeded_rng,
)
from malaprop.lexicon.tables import Tables
from malaprop.mechanisms import balance
from malaprop.mechanisms.balance import Balance
from malaprop.mechanisms.balanced import BalancedLaw
from malaprop.privacy.word_graph import WordGraph


@pytest.mark.parametrize("epsilon", [0.4, 0.9, 1.3, 1.8, 3.0, 12.0])
def test_it_holds_at_every_epsilon_and_uses_all_of_it(near: Lexicon, epsilon: float) -> None:
    channel = Balanced(epsilon=epsilon).on(near)
    found = audit(channel)
    assert found.holds
    assert found.worst_ratio == pytest.approx(1.0, abs=0.02)
    assert channel.law.balance.exponent <= epsilon
    if epsilon >= 1.8:
        assert channel.law.balance.form == "balanced"
        assert channel.law.balance.exponent / channel.law.balance.loss(graph_in(near)) >= 0.98


@pytest.mark.parametrize("epsilon", [0.6, 1.5])
def test_draws_follow_the_law(near: Lexicon, epsilon: float) -> None:
    channel = Balanced(epsilon=epsilon).on(near)
    seen = np.bincount(channel.substitute(np.full(60_000, 7), seeded_rng(1)), minlength=300)
    common = np.exp(channel.log_probabilities([7])[0]) * 60_000 >= 5.0
    limit = chi2.isf(1e-6, df=int(common.sum()))

    def distance(law: LawChannel[BalancedLaw]) -> float:
        expected = np.exp(law.log_probabilities([7])[0]) * 60_000
        parts = [np.append(x[common], x[~common].sum()) for x in (seen, expected)]
        return float(((parts[0] - parts[1]) ** 2 / np.maximum(parts[1], 1e-9)).sum())

    assert distance(channel) < limit
    assert distance(Balanced(epsilon=1.05 * epsilon).on(near)) > limit


def test_it_keeps_more_than_tem_on_the_same_graph(near: Lexicon) -> None:
    own = np.arange(300)
    kept = [
        np.exp(np.diagonal(mechanism(epsilon=1.5).on(near).log_probabilities(own))).mean()
        for mechanism in (Balanced, TEM)
    ]
    assert kept[0] > kept[1]


def test_the_guarantee_says_which_form_it_is(near: Lexicon) -> None:
    said = {e: " ".join(Balanced(epsilon=e).on(near).guarantee.public) for e in (0.5, 1.8)}
    assert "no exact balance" in said[0.5]
    assert "balanced: verified over all" in said[1.8]
    guarantee = Balanced(epsilon=1.8).on(near).guarantee
    assert guarantee.metric == "graph"
    assert guarantee.loss(1.0) == 1.8
    assert guarantee.loss(99.0) == pytest.approx(1.8 * graph_in(near).cutoff)


@pytest.mark.parametrize(("epsilon", "form"), [(0.5, "spread"), (1.8, "balanced")])
def test_the_stated_zcdp_bounds_every_renyi_divergence(
    near: Lexicon, epsilon: float, form: str
) -> None:
    """D_α between the laws of two words is at most ρ·d²·α, for every α above 1."""
    channel = Balanced(epsilon=epsilon).on(near)
    assert channel.law.balance.form == form
    zcdp, log_p = channel.guarantee.zcdp, channel.log_probabilities(np.arange(300))
    drawn = np.isfinite(log_p[0])
    log_p = log_p[:, drawn]
    squares = near.distances(np.arange(300)) ** 2
    worst = 0.0
    for order in (1.01, 1.5, 3.0, 10.0, 100.0):
        for word in range(0, 300, 10):
            terms = order * log_p[word] + (1.0 - order) * log_p
            divergence = logsumexp(terms, axis=1) / (order - 1.0)
            others = squares[word] > 0
            worst = max(worst, float((divergence[others] / squares[word][others]).max() / order))
    assert 0.05 * zcdp < worst <= zcdp


def test_a_lexicon_without_a_graph_is_refused_with_the_remedy(plane: Lexicon) -> None:
    with pytest.raises(MetricError, match=r"with_graph\(\)"):
        Balanced(epsilon=1.0).on(plane)


class TestPlantedFaults:
    """An unbalanced ν sold as balanced, in every way that files or code can do it."""

    def planted(self, near: Lexicon) -> tuple[WordGraph, Balance]:
        graph = graph_in(near)
        law = balance.find_balance(graph, Tables(), 1.8)
        weights = law.weights.copy()
        weights[5] *= 1.05
        return graph, replace(law, weights=weights, verified=False)

    def test_true_masses_do_not_pass_the_audit(self, near: Lexicon) -> None:
        graph, law = self.planted(near)
        masses = np.exp(-law.exponent * graph.distances(np.arange(300))) @ law.weights
        with pytest.raises(LexiconError, match="do not pass the check"):
            Balanced(epsilon=1.8).with_balance(near, replace(law, masses=masses))

    def test_false_masses_are_refused_at_the_first_draw(self, near: Lexicon) -> None:
        _, law = self.planted(near)
        channel = Balanced(epsilon=1.8).with_balance(near, law)
        with pytest.raises(LexiconError, match="were changed"):
            channel.substitute([5], seeded_rng(1))

    def test_masses_that_only_call_themselves_verified_are_caught_by_the_audit(
        self, near: Lexicon
    ) -> None:
        _, law = self.planted(near)
        channel = Balanced(epsilon=1.8).with_balance(near, replace(law, verified=True))
        found = audit(channel)
        assert found.holds is False
        assert found.worst_ratio > 1.005


def test_a_hub_has_no_balance_and_is_spread() -> None:
    star = lexicon_of(WordGraph(12, [[0, i] for i in range(1, 12)]))
    channel = Balanced(epsilon=0.8).on(star)
    assert channel.law.balance.form == "spread"
    assert audit(channel).holds


def test_steps_too_short_for_an_audit_have_half_of_epsilon() -> None:
    chain = lexicon_of(WordGraph(4, [[0, 1], [1, 2], [2, 3]], [1e-12, 1.0, 1e-12]))
    channel = Balanced(epsilon=1e-4).on(chain)
    assert channel.law.balance.exponent == 5e-5
    assert channel.law.balance.form == "plain"
    assert audit(channel).holds


def test_one_word_and_two() -> None:
    for size in (1, 2):
        graph = WordGraph(size, [[0, 1]][: size - 1])
        channel = Balanced(epsilon=1.0).on(lexicon_of(graph))
        assert np.exp(channel.log_probabilities([0]))[0, 0] == pytest.approx(
            1.0 if size == 1 else 1.0 / (1.0 + np.exp(-1.0))
        )
        assert audit(channel).holds
