"""The balanced mechanism: its law, its loss, its fallbacks, and what it refuses."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import chi2
from tests.planted import with_law

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
from malaprop.core.arrays import Floats, Ids
from malaprop.core.metrics.graph import Steps, WordGraph, graph_of
from malaprop.core.proofs import proved
from malaprop.lexicon.tables.kept import keep
from malaprop.lexicon.tables.values import BalanceTable, Tables
from malaprop.mechanisms.balanced import BalancedLaw, balance_tables
from malaprop.mechanisms.balanced.balance import Balance


def lexicon_of(graph: WordGraph) -> Lexicon:
    words = [f"w{i}" for i in range(graph.size)]
    return Lexicon(words, np.arange(graph.size, dtype=float)[:, None]).with_metric(Steps(graph))


@pytest.fixture(scope="module")
def near() -> Lexicon:
    """300 words in 20 dimensions, with the graph that is made of them."""
    rng = np.random.Generator(np.random.PCG64(3))
    centres = rng.normal(size=(30, 20))
    vectors = np.repeat(centres, 10, axis=0) + 0.4 * rng.normal(size=(300, 20))
    return Lexicon([f"w{i}" for i in range(300)], vectors).with_graph()


def graph_in(lexicon: Lexicon) -> WordGraph:
    graph = graph_of(lexicon.metric)
    assert graph is not None
    return graph


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
        law = balance_tables.find_balance(graph, Tables(), 1.8)
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
        fair = balance_tables.find_balance(graph, Tables(), 1.8)
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


class TestTables:
    """Balances that are kept in files, as those of large lexicons are."""

    @pytest.fixture
    def kept(self, near: Lexicon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BalanceTable:
        monkeypatch.setenv("MALAPROP_HOME", str(tmp_path))
        monkeypatch.setattr(balance_tables, "SMALL", 10)
        wanted = np.array([0.6, 1.0, 1.5, 2.0])
        table = balance_tables.build_table(graph_in(near), near.fingerprint, wanted)
        keep(table)
        return table

    @pytest.mark.parametrize("epsilon", [0.3, 0.6, 0.7, 1.0, 1.3, 1.5, 2.0, 2.2, 9.0])
    def test_what_they_give_holds(self, near: Lexicon, kept: BalanceTable, epsilon: float) -> None:
        channel = Balanced(epsilon=epsilon).on(near.with_kept_tables())
        assert channel.law.balance.exponent >= epsilon / 2.0
        found = audit(channel)
        assert found.holds
        channel.substitute(np.arange(300), seeded_rng(1))

    def test_without_a_table_half_of_epsilon_holds_and_a_hint_is_given(
        self, near: Lexicon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MALAPROP_HOME", str(tmp_path))
        monkeypatch.setattr(balance_tables, "SMALL", 10)
        channel = Balanced(epsilon=1.5).on(near.with_kept_tables())
        assert (channel.law.balance.form, channel.law.balance.exponent) == ("half", 0.75)
        assert channel.guarantee.zcdp == 0.75**2 / 2
        assert "malaprop lexicon graph" in channel.hint
        assert "holds on any graph" in " ".join(channel.guarantee.public)
        assert audit(channel).holds

    def test_the_hint_names_what_would_help(
        self, near: Lexicon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MALAPROP_HOME", str(tmp_path))
        monkeypatch.setattr(balance_tables, "SMALL", 10)
        near.with_metric("euclidean").save(tmp_path / "lexicons" / "mine")
        mine = Lexicon.open("mine")
        other = mine.with_graph(cap=3)
        other.save(tmp_path / "lexicons" / "other")

        def hint(lexicon: Lexicon) -> str:
            return Balanced(epsilon=1.5).on(lexicon).hint

        assert hint(mine.with_graph()).endswith("run  malaprop lexicon graph mine")
        assert hint(other).endswith("save(FOLDER), and run  malaprop lexicon graph FOLDER")
        assert hint(Lexicon.open("other")).endswith(", run  malaprop lexicon graph other")

    @pytest.mark.parametrize("array", ["weights", "masses"])
    def test_a_table_that_was_changed_is_refused(
        self, near: Lexicon, kept: BalanceTable, tmp_path: Path, array: str
    ) -> None:
        path = tmp_path / "balances" / near.fingerprint / f"{array}.npy"
        values = np.load(path)
        values[2, 5] = values[2, 5] // 2 + 100
        np.save(path, values)
        with pytest.raises(LexiconError, match="changed"):
            Balanced(epsilon=1.5).on(near.with_kept_tables()).substitute(
                np.arange(300), seeded_rng(1)
            )

    def test_a_table_of_another_graph_is_not_used(self, near: Lexicon, kept: BalanceTable) -> None:
        other = near.with_graph(cap=3)
        assert Balanced(epsilon=1.5).on(other).law.balance.masses is None

    def test_without_tables_there_are_no_masses(self, near: Lexicon, kept: BalanceTable) -> None:
        assert balance_tables.find_balance(graph_in(near), Tables(), 1.5).masses is None

    @pytest.mark.parametrize(
        "wrong",
        [
            "{}",
            "[]",
            '{"format": 1, "laws": []}',
            '{"format": 1, "fingerprint": "x", "laws": "abc"}',
            '{"format": 1, "fingerprint": "x", "laws": [{"epsilon": 1.5}]}',
        ],
    )
    def test_broken_files_are_named(
        self, near: Lexicon, kept: BalanceTable, tmp_path: Path, wrong: str
    ) -> None:
        (tmp_path / "balances" / near.fingerprint / "about.json").write_text(wrong)
        with pytest.raises(LexiconError, match="lexicon graph NAME --force"):
            Balanced(epsilon=1.5).on(near.with_kept_tables())

    @pytest.mark.parametrize("array", ["weights", "masses", "counts"])
    def test_arrays_of_another_kind_or_shape_are_refused(
        self, near: Lexicon, kept: BalanceTable, tmp_path: Path, array: str
    ) -> None:
        path = tmp_path / "balances" / near.fingerprint / f"{array}.npy"
        whole = np.load(path)
        for wrong in (-whole.astype(float), whole[1:], whole[:, 1:], whole[0], whole.astype(str)):
            path.unlink()
            np.save(path, wrong)
            with pytest.raises(LexiconError, match="lexicon graph NAME --force"):
                Balanced(epsilon=1.5).on(near.with_kept_tables())

    @pytest.mark.parametrize(
        ("name", "value"),
        [("exponent", -1.0), ("exponent", 2.0), ("mass_unit", -1e-6), ("least_mass", "NaN")],
    )
    def test_numbers_that_were_changed_are_refused(
        self, near: Lexicon, kept: BalanceTable, tmp_path: Path, name: str, value: object
    ) -> None:
        path = tmp_path / "balances" / near.fingerprint / "about.json"
        about = json.loads(path.read_text())
        for law in about["laws"]:
            law[name] = value
        path.write_text(json.dumps(about))
        with pytest.raises(LexiconError, match="does not pass the audit"):
            Balanced(epsilon=1.5).on(near.with_kept_tables())

    def test_weights_that_are_all_zero_are_refused(
        self, near: Lexicon, kept: BalanceTable, tmp_path: Path
    ) -> None:
        path = tmp_path / "balances" / near.fingerprint / "weights.npy"
        np.save(path, np.zeros_like(np.load(path)))
        with pytest.raises(LexiconError, match="does not pass the audit"):
            Balanced(epsilon=1.5).on(near.with_kept_tables())

    def test_more_words_than_fit_have_level_counts(
        self, near: Lexicon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MALAPROP_HOME", str(tmp_path))
        monkeypatch.setattr(balance_tables, "SMALL", 10)
        monkeypatch.setattr(balance_tables, "LARGE", 100)
        table = balance_tables.build_table(graph_in(near), near.fingerprint)
        assert not table.laws
        keep(table)
        channel = Balanced(epsilon=1.5).on(near.with_kept_tables())
        assert 0.75 < channel.law.balance.exponent <= 1.5
        assert "without weights" in " ".join(channel.guarantee.public)
        assert audit(channel).holds


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
