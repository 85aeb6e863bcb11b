"""Balances that are kept in files, as those of large lexicons are."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.mechanisms.graphs import graph_in

from malaprop import (
    Balanced,
    Lexicon,
    LexiconError,
    ParameterError,
    Privatizer,
    audit,
    seeded_rng,
)
from malaprop.lexicon.tables import BalanceTable, Tables, keep
from malaprop.mechanisms import balance


class TestTables:
    """Balances that are kept in files, as those of large lexicons are."""

    @pytest.fixture
    def kept(self, near: Lexicon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BalanceTable:
        monkeypatch.setenv("MALAPROP_HOME", str(tmp_path))
        monkeypatch.setattr(balance, "SMALL", 10)
        wanted = np.array([0.6, 1.0, 1.5, 2.0])
        table = balance.build_table(graph_in(near), near.fingerprint, wanted)
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
        monkeypatch.setattr(balance, "SMALL", 10)
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
        monkeypatch.setattr(balance, "SMALL", 10)
        near.with_metric("euclidean").save(tmp_path / "lexicons" / "mine")
        mine = Lexicon.open("mine")
        other = mine.with_graph(cap=3)
        other.save(tmp_path / "lexicons" / "other")

        def hint(lexicon: Lexicon) -> str:
            return Balanced(epsilon=1.5).on(lexicon).hint

        alone = "--epsilon 1.5  for up to twice the exponent"
        assert hint(mine.with_graph()).endswith(f": run  malaprop lexicon graph mine {alone}")
        saved = "save it by lexicon.save(FOLDER), and run"
        assert hint(other).endswith(f": {saved}  malaprop lexicon graph FOLDER {alone}")
        assert hint(Lexicon.open("other")).endswith(f": run  malaprop lexicon graph other {alone}")

    def test_a_privatizer_says_before_the_work_what_is_lost(
        self, near: Lexicon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MALAPROP_HOME", str(tmp_path))
        monkeypatch.setattr(balance, "SMALL", 10)
        bare = Privatizer(near, Balanced(epsilon=1.5))
        assert bare.channel.hint in bare.warnings
        keep(balance.build_table(graph_in(near), near.fingerprint, [1.5]))
        kept = near.with_kept_tables()
        for epsilon, lost in [(1.5, False), (1.58, False), (1.7, True), (1.2, True), (0.6, False)]:
            hint = Balanced(epsilon=epsilon).on(kept).hint
            assert bool(hint) == lost, epsilon
            assert not lost or f"graph NAME --epsilon {epsilon}" in hint
        fit = Privatizer(kept, Balanced(epsilon=1.5))
        assert not any("malaprop lexicon graph" in warning for warning in fit.warnings)

    def test_balances_are_added_to_those_that_are_there(
        self, near: Lexicon, kept: BalanceTable
    ) -> None:
        graph = graph_in(near)
        assert balance.missing_balances(kept, 300, [2.0, 1.3, 0.9]) == [0.9, 1.3]
        more = balance.build_table(graph, near.fingerprint, [1.3, 0.9], known=kept)
        assert [law["epsilon"] for law in more.laws] == [0.6, 0.9, 1.0, 1.3, 1.5, 2.0]
        assert not balance.missing_balances(more, 300, [2.0, 1.3, 0.9])
        assert len(balance.missing_balances(more, 300)) == len(np.unique(balance.grid())) - 4
        alone = balance.build_table(graph, near.fingerprint, [1.3])
        for table, row in [(more, 3), (alone, 0)]:
            law = balance.balance_in(table, graph, row)
            assert law.exponent == pytest.approx(1.3, abs=0.06)
            assert law.loss(graph) <= 1.3
        for epsilon, row in [(0.6, 0), (1.0, 1), (1.5, 2), (2.0, 3)]:
            known = balance.balance_in(kept, graph, row)
            same = balance.best_balance(more, graph, epsilon)
            assert same.kept >= known.kept
        keep(more)
        for epsilon in (0.9, 1.3):
            assert audit(Balanced(epsilon=epsilon).on(near.with_kept_tables())).holds

    def test_progress_never_falls_and_is_reported_while_one_epsilon_is_solved(
        self, near: Lexicon
    ) -> None:
        seen: list[float] = []
        balance.build_table(
            graph_in(near), near.fingerprint, [1.5], lambda done, total: seen.append(done / total)
        )
        assert seen == sorted(seen)
        assert seen[-1] == 1.0
        assert len([share for share in seen if share > 2 / 3]) > 5

    @pytest.mark.parametrize("epsilon", [0.0, -1.0, 0.05, 60.0, float("nan"), float("inf")])
    def test_a_balance_of_an_epsilon_without_use_is_refused(self, epsilon: float) -> None:
        with pytest.raises(ParameterError, match=r"from 0\.1 to 50"):
            balance.missing_balances(None, 300, [1.5, epsilon])

    def test_too_many_words_have_no_balance_of_one_epsilon(self) -> None:
        with pytest.raises(ParameterError, match="leave it out"):
            balance.missing_balances(None, balance.LARGE + 1, [1.5])
        assert not balance.missing_balances(None, balance.LARGE + 1)

    def test_a_shipped_table_lacks_none(self) -> None:
        table = Lexicon.open("english").with_graph().tables.balances
        assert not balance.missing_balances(table, 32_781, [1.37])
        assert not balance.missing_balances(table, 32_781)

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
        assert balance.find_balance(graph_in(near), Tables(), 1.5).masses is None

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
        monkeypatch.setattr(balance, "SMALL", 10)
        monkeypatch.setattr(balance, "LARGE", 100)
        table = balance.build_table(graph_in(near), near.fingerprint)
        assert not table.laws
        keep(table)
        channel = Balanced(epsilon=1.5).on(near.with_kept_tables())
        assert 0.75 < channel.law.balance.exponent <= 1.5
        assert "without weights" in " ".join(channel.guarantee.public)
        assert audit(channel).holds
