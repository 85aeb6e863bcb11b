"""Balances that are kept in files, as those of large lexicons are."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.mechanisms.graphs import graph_in

from malaprop import Balanced, Lexicon, LexiconError, audit, seeded_rng
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
