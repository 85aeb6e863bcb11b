"""The audit of a balance along the edges of a graph."""

from dataclasses import replace

import numpy as np
import pytest
from tests.mechanisms.graphs import graph_in
from tests.planted import with_law

from malaprop import Balanced, Lexicon, audit
from malaprop.lexicon.tables import Tables
from malaprop.mechanisms import balance as balance_module
from malaprop.mechanisms.balance import Balance
from malaprop.mechanisms.balanced import BalancedLaw
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.guarantee import proved


class TestEdgeAudit:
    """The audit of whole lexicons, against that of all outputs of all pairs."""

    @pytest.mark.parametrize("epsilon", [0.5, 0.9, 1.8, 6.0])
    def test_it_agrees_with_all_pairs(
        self, near: Lexicon, epsilon: float, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        channel = Balanced(epsilon=epsilon).on(near)
        whole = audit(channel)
        monkeypatch.setattr("malaprop.measure.audit._CUBED", 10)
        edges = audit(channel)
        assert "edges of the graph" in edges.method
        assert whole.holds
        assert edges.holds
        assert edges.worst_ratio >= whole.worst_ratio - 1e-9
        assert edges.worst_ratio == pytest.approx(whole.worst_ratio, abs=0.02)

    def test_it_catches_the_planted_fault(
        self, near: Lexicon, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        free = near.with_graph(edges=_edges(near))
        graph = graph_in(free)
        fair = balance_module.find_balance(graph, Tables(), 1.8)
        weights = fair.weights.copy()
        weights[5] *= 1.05
        wrong = replace(fair, weights=weights, verified=True)
        channel = Balanced(epsilon=1.8).with_balance(free, wrong)
        monkeypatch.setattr("malaprop.measure.audit._CUBED", 10)
        found = audit(channel)
        assert found.holds is False
        assert found.worst_ratio > 1.005

    def test_rows_of_another_law_are_not_certified(
        self, near: Lexicon, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The mark alone is not enough: every row is compared with the form of the proof."""

        @proved("a test")
        class Bent(BalancedLaw):
            def log_weights(self, ids: Ids) -> Floats:
                rows = super().log_weights(ids)
                rows[:, 3] += 0.001 * (ids == 3)
                return rows

        monkeypatch.setattr("malaprop.measure.audit._CUBED", 10)
        sound = Balanced(epsilon=1.8).on(near)
        found = audit(with_law(sound, Bent(near, sound.law.balance)))
        assert found.holds is None
        assert "rows" in found.method

    @pytest.mark.parametrize("epsilon", [0.5, 1.8])
    def test_an_output_that_the_weights_rule_out_is_noticed(
        self, near: Lexicon, epsilon: float, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A word of weight 0 that comes out for one word only gives that word away."""
        sound = Balanced(epsilon=epsilon).on(near)
        weights = sound.law.balance.weights.copy()
        weights[3] = 0.0
        balance = replace(
            sound.law.balance, weights=weights, masses=None, scale=None, exponent=epsilon / 2
        )

        @proved("a test")
        class Planted(BalancedLaw):
            def log_weights(self, ids: Ids) -> Floats:
                rows = super().log_weights(ids)
                rows[ids == 3, 3] = -9.0
                return rows

        monkeypatch.setattr("malaprop.measure.audit._CUBED", 10)
        assert audit(with_law(sound, Planted(near, balance))).holds is None

    @pytest.mark.parametrize("wrong", [-1.0, 0.0])
    def test_an_exponent_that_favours_far_words_is_not_certified(
        self, near: Lexicon, wrong: float, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        law = BalancedLaw(near, Balance(exponent=wrong, weights=np.ones(300)))
        monkeypatch.setattr("malaprop.measure.audit._CUBED", 10)
        assert audit(with_law(Balanced(epsilon=1.8).on(near), law)).holds is None


def _edges(lexicon: Lexicon) -> list[tuple[str, str, float]]:
    graph, words = graph_in(lexicon), lexicon.words
    ends = zip(graph.edges.tolist(), graph.weights.tolist(), strict=True)
    return [(words[a], words[b], weight) for (a, b), weight in ends]
