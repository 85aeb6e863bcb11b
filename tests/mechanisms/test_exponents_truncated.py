"""TEM's audited exponent with a threshold γ on lexicons too large to be audited in passing."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from tests.mechanisms.conftest import kept_table, loss_rate, planted

from malaprop import TEM, Lexicon, LexiconError, ParameterError, audit
from malaprop.lexicon.tables import keep
from malaprop.mechanisms.tem_exponents import build_table, loss_rates

GRID = [k / 8 for k in range(-64, 65)]
CROWD = Lexicon([*"abcde"], [[0.0], [5.0], [5.0], [5.0], [5.0]])


def capped(lexicon: Lexicon, gamma: float) -> NDArray[np.float64]:
    return np.minimum(lexicon.distances(np.arange(len(lexicon))), gamma)


class TestRates:
    @pytest.mark.parametrize("gamma", [0.02, 0.5, 2.0, 4.0, 9.0])
    def test_they_bound_the_definition_closely(self, cloud: Lexicon, gamma: float) -> None:
        rates = loss_rates(cloud, gamma)
        assert rates.diameter == gamma
        for k in range(0, len(rates.exponents), 31):
            exact = loss_rate(capped(cloud, gamma), rates.exponents[k])
            assert exact <= rates.losses[k] <= exact * 1.02

    @given(
        vectors=st.tuples(st.integers(2, 24), st.integers(1, 3)).flatmap(
            lambda size: arrays(
                np.float32, size, elements=st.integers(-64, 64).map(lambda k: k / 8)
            )
        ),
        gamma=st.floats(0.05, 20),
        ratio=st.floats(1.0, 60.0),
    )
    @settings(max_examples=60)
    def test_a_table_never_claims_too_much(
        self, vectors: NDArray[np.float32], gamma: float, ratio: float
    ) -> None:
        """Over every pair and every output, nothing exceeds ε·min(d, γ)."""
        lexicon = Lexicon([f"w{i}" for i in range(len(vectors))], vectors)
        table = build_table(lexicon, gamma)
        assert table.fingerprint == lexicon.fingerprint
        assert table.holds_for(gamma)
        epsilon = ratio * table.exponents[0]
        t = table.largest(epsilon)
        found = audit(planted(lexicon, epsilon, t, gamma))
        assert found.holds is True
        for k in range(0, len(table.exponents), 77):
            exact = loss_rate(capped(lexicon, gamma), table.exponents[k])
            assert exact <= table.losses[k] * (1 + 1e-12)

    def test_a_threshold_can_raise_the_loss(self) -> None:
        """Why one table must not stand in for another: beside a crowd, L_γ exceeds L_∞."""
        free, truncated = build_table(CROWD), build_table(CROWD, 1.0)
        assert truncated.largest(2.0) < 1.2898 < 1.68 < free.largest(2.0)
        assert audit(planted(CROWD, 2.0, free.largest(2.0), 1.0)).holds is False


class TestTables:
    def test_a_threshold_has_a_table_of_its_own(self, home: Path, cloud: Lexicon) -> None:
        keep(build_table(cloud))
        table = build_table(cloud, 4.0)
        path = keep(table)
        assert path == home / "exponents" / f"{cloud.fingerprint}-4.0.json"
        assert kept_table(cloud, 4.0) == table
        assert kept_table(cloud) != table
        channel = TEM(epsilon=1.5, gamma=4.0, exponent="audited").on(cloud.with_kept_tables())
        assert channel.law.exponent == table.largest(1.5) > 0.75
        assert channel.law.gamma == channel.guarantee.cap == 4.0
        found = audit(channel)
        assert found.holds is True
        assert found.worst_ratio > 0.95
        assert (
            TEM(epsilon=1.5, gamma=4.0).on(cloud.with_kept_tables()).law.exponent
            == channel.law.exponent
        )

    def test_it_holds_for_no_other_threshold(self, home: Path, cloud: Lexicon) -> None:
        keep(build_table(cloud, 4.0))
        for gamma in (math.nextafter(4.0, 0.0), math.nextafter(4.0, 9.0), 2.0, 1e9, math.inf):
            assert kept_table(cloud, gamma) is None
            assert not TEM(epsilon=1.0, gamma=gamma).on(cloud.with_kept_tables()).law.audited
        assert not TEM(epsilon=1.0).on(cloud.with_kept_tables()).law.audited

    def test_a_table_under_anothers_name_is_not_taken(self, home: Path, cloud: Lexicon) -> None:
        table = build_table(cloud, 4.0)
        kept = keep(table)
        for gamma in (3.0, math.inf):
            other = replace(table, gamma=gamma).file_name
            (home / "exponents" / other).write_text(kept.read_text())
            assert kept_table(cloud, gamma) is None

    def test_without_a_threshold_it_holds_from_the_diameter_on(
        self, home: Path, cloud: Lexicon
    ) -> None:
        table = build_table(cloud)
        keep(table)
        assert TEM(epsilon=1.0, gamma=math.inf).on(cloud.with_kept_tables()).law.audited
        assert TEM(epsilon=1.0, gamma=table.diameter).on(cloud.with_kept_tables()).law.audited
        below = TEM(epsilon=1.0, gamma=0.9 * table.diameter).on(cloud.with_kept_tables())
        assert not below.law.audited
        assert below.law.exponent == 0.5

    def test_a_threshold_that_nothing_reaches_is_none(self, home: Path, cloud: Lexicon) -> None:
        table = build_table(cloud, 1000.0)
        assert table == build_table(cloud)
        keep(table)
        assert kept_table(cloud) == kept_table(cloud, 1000.0) == table

    def test_errors_and_hints_name_the_command(self, home: Path, cloud: Lexicon) -> None:
        command = "malaprop lexicon audit NAME --gamma 2.5"
        with pytest.raises(LexiconError, match=command):
            TEM(epsilon=1.0, gamma=2.5, exponent="audited").on(cloud.with_kept_tables())
        hint = TEM(epsilon=1.0, gamma=2.5).on(cloud.with_kept_tables()).hint
        assert hint.endswith(command)
        keep(build_table(cloud))
        assert (
            TEM(epsilon=1.0, gamma=2.5).on(cloud.with_kept_tables()).hint
            == f"{hint}, or leave 'gamma' out"
        )

    def test_a_hint_names_the_lexicon_only_under_its_own_metric(
        self, home: Path, cloud: Lexicon
    ) -> None:
        cloud.save(home / "lexicons" / "cloud")
        opened = Lexicon.open("cloud")
        assert TEM(epsilon=1.0).on(opened).hint.endswith(" malaprop lexicon audit cloud")
        other = TEM(epsilon=1.0).on(opened.with_metric("manhattan"))
        assert other.hint.endswith("save(FOLDER), and run  malaprop lexicon audit FOLDER")

    def test_a_table_without_its_threshold_is_refused(self, home: Path, cloud: Lexicon) -> None:
        kept = keep(build_table(cloud, 4.0))
        about = json.loads(kept.read_text())
        del about["gamma"]
        kept.write_text(json.dumps(about))
        with pytest.raises(LexiconError, match="remove it"):
            TEM(epsilon=1.0, gamma=4.0).on(cloud.with_kept_tables())

    @pytest.mark.parametrize("gamma", [0.0, -1.0, math.nan])
    def test_impossible_thresholds(self, cloud: Lexicon, gamma: float) -> None:
        with pytest.raises(ParameterError, match="γ"):
            build_table(cloud, gamma)
