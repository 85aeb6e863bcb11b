"""TEM's audited exponent: the values, the tables, and what happens without one."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from tests.mechanisms.conftest import kept_table, loss_rate

from malaprop import TEM, Lexicon, LexiconError, ParameterError, audit
from malaprop.lexicon import store
from malaprop.lexicon.tables import ExponentTable, keep
from malaprop.mechanisms.tem_exponents import build_table, largest_exponent, loss_rates


class TestSmallLexicons:
    def test_the_reference_on_three_points(self, line: Lexicon) -> None:
        audited = TEM(epsilon=2.0, gamma=2.0, exponent="audited").on(line)
        assert audited.law.exponent == pytest.approx(1.94432416, abs=5e-9)
        assert TEM(epsilon=2.0, gamma=2.0).on(line).law.exponent == audited.law.exponent
        assert audited.guarantee.epsilon == 2.0

    def test_another_threshold_is_audited_by_itself(self, line: Lexicon) -> None:
        free = TEM(epsilon=2.0).on(line)
        assert free.law.exponent == pytest.approx(1.93533162, abs=5e-9)
        assert free.guarantee.cap == pytest.approx(3.0)
        assert free.guarantee.loss(2.0) == 4.0

    def test_a_threshold_can_make_it_smaller(self) -> None:
        crowd = Lexicon([*"abcde"], [[0.0], [5.0], [5.0], [5.0], [5.0]])
        assert TEM(epsilon=2.0).on(crowd).law.exponent == pytest.approx(1.7228771825, abs=1e-8)
        capped = TEM(epsilon=2.0, gamma=1.0).on(crowd)
        assert capped.law.exponent == pytest.approx(1.2897297704, abs=1e-8)

    @given(
        vectors=st.tuples(st.integers(2, 9), st.integers(1, 3)).flatmap(
            lambda size: arrays(np.float32, size, elements=st.floats(-8, 8, width=16))
        ),
        epsilon=st.floats(0.05, 10),
        gamma=st.one_of(st.just(math.inf), st.floats(0.5, 10)),
    )
    def test_it_is_the_largest_that_holds(
        self, vectors: NDArray[np.float32], epsilon: float, gamma: float
    ) -> None:
        lexicon = Lexicon([f"w{i}" for i in range(len(vectors))], vectors)
        distances = np.minimum(lexicon.distances(np.arange(len(lexicon))), gamma)
        t = largest_exponent(distances, epsilon)
        assert epsilon / 2 <= t <= epsilon
        if distances[distances > 0].min(initial=1.0) < 1e-4:
            return  # where rounding is in the way, it stays below
        assert loss_rate(distances, t) <= epsilon * (1 + 1e-12)
        if t < epsilon:
            assert loss_rate(distances, t * (1 + 1e-6)) > epsilon
        assert audit(TEM(epsilon=epsilon, gamma=gamma).on(lexicon)).holds is True

    def test_equal_sums_need_no_factor_at_all(self) -> None:
        cycle = Lexicon(["a", "b", "c", "d"], [[1, 0], [0, 1], [-1, 0], [0, -1]])
        assert TEM(epsilon=1.3).on(cycle).law.exponent == pytest.approx(1.3, rel=1e-9)

    def test_one_word_and_twins(self) -> None:
        assert TEM(epsilon=1.0).on(Lexicon(["a"], [[1.0]])).law.exponent == 1.0
        assert TEM(epsilon=1.0).on(Lexicon(["a", "b"], [[1.0], [1.0]])).law.exponent == 1.0

    def test_the_guarantee_says_so(self, line: Lexicon) -> None:
        audited = TEM(epsilon=2.0).on(line)
        assert any("verified" in fact for fact in audited.guarantee.public)
        assert audited.hint == ""
        half = TEM(epsilon=2.0, exponent="half").on(line)
        assert half.law.exponent == 1.0
        assert not any("verified" in fact for fact in half.guarantee.public)


class TestRates:
    def test_they_bound_the_definition_closely(self, cloud: Lexicon) -> None:
        rates = loss_rates(cloud)
        distances = cloud.distances(np.arange(len(cloud)))
        assert rates.diameter == distances.max()
        for k in range(0, len(rates.exponents), 23):
            exact = loss_rate(distances, rates.exponents[k])
            assert exact <= rates.losses[k] <= exact * 1.01
        ratios = rates.exponents[1:] / rates.exponents[:-1]
        assert ratios.max() < 1.02
        assert (rates.losses <= 2 * rates.exponents).all()

    def test_twins_and_near_twins(self) -> None:
        rng = np.random.Generator(np.random.PCG64(1))
        vectors = rng.normal(size=(40, 2))
        vectors[7] = vectors[3]
        vectors[9] = vectors[3] + 1e-4
        lexicon = Lexicon([f"w{i}" for i in range(40)], vectors)
        rates = loss_rates(lexicon)
        distances = lexicon.distances(np.arange(40))
        for k in range(0, len(rates.exponents), 40):
            exact = loss_rate(distances, rates.exponents[k])
            assert exact <= rates.losses[k] <= min(exact * 1.1, 2 * rates.exponents[k]) + 1e-9

    def test_one_word(self) -> None:
        rates = loss_rates(Lexicon(["a"], [[1.0]]))
        np.testing.assert_array_equal(rates.losses, rates.exponents)


class TestTables:
    def test_a_kept_table_is_used(self, home: Path, cloud: Lexicon) -> None:
        with pytest.raises(LexiconError, match="malaprop lexicon audit"):
            TEM(epsilon=1.0, exponent="audited").on(cloud.with_kept_tables())
        before = TEM(epsilon=1.0).on(cloud.with_kept_tables())
        assert before.law.exponent == 0.5
        assert "malaprop lexicon audit" in before.hint
        steps: list[tuple[int, int]] = []
        table = build_table(cloud, progress=lambda *step: steps.append(step))
        assert steps[-1][0] == steps[-1][1]
        path = keep(table)
        assert path == home / "exponents" / f"{cloud.fingerprint}.json"
        assert kept_table(cloud) == table
        channel = TEM(epsilon=1.0, exponent="audited").on(cloud.with_kept_tables())
        assert channel.law.exponent == table.largest(1.0) > 0.5
        assert channel.guarantee.cap == pytest.approx(table.diameter)
        assert TEM(epsilon=1.0).on(cloud.with_kept_tables()).law.exponent == channel.law.exponent
        assert audit(channel).holds is True
        assert audit(channel).worst_ratio > 0.95

    def test_beyond_the_grid_it_is_half(self) -> None:
        table = ExponentTable(fingerprint="", diameter=1.0, exponents=(1.0, 2.0), losses=(1.5, 2.2))
        assert table.largest(1.4) == 0.7
        assert table.largest(1.5) == 1.0
        assert table.largest(3.0) == 2.0
        assert table.largest(100.0) == 50.0

    def test_a_users_function_is_not_kept(self, home: Path, cloud: Lexicon) -> None:
        def taxi(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
            return float(np.abs(x - y).sum())

        own = Lexicon(cloud.words[:20], cloud.vectors[:20], metric=taxi)
        with pytest.raises(LexiconError, match="fingerprint"):
            build_table(own)
        assert not own.with_kept_tables().tables.all


class TestEnglish:
    def test_its_table_is_shipped(self, english: Lexicon) -> None:
        table = kept_table(english)
        assert table is not None
        t, losses = np.array(table.exponents), np.array(table.losses)
        assert t.min() <= 0.3
        assert t.max() >= 10.0
        assert (t[1:] / t[:-1]).max() < 1.02
        assert (np.diff(losses) > 0).all()
        assert (losses >= t).all()
        assert (losses <= 2 * t).all()

    def test_words_that_can_be_checked_are_within_it(self, english: Lexicon) -> None:
        """Exactly for some rows: no pair of theirs exceeds L(t)."""
        table = kept_table(english)
        assert table is not None
        ids = np.arange(0, len(english), 2200)
        distances = english.distances(ids)
        for epsilon in (0.7, 1.5, 3.0):
            t = table.largest(epsilon)
            log_sums = np.log(np.exp(-t * distances).sum(axis=1))
            near = distances[:, ids]
            loss = t * near + np.abs(log_sums[:, None] - log_sums)
            assert (loss <= epsilon * near + 1e-9).all()

    def test_the_worst_pair_of_all_attains_it(self, english: Lexicon) -> None:
        table = kept_table(english)
        assert table is not None
        k = table.exponents.index(2.0)
        pair = [english.index[word] for word in WORST_AT_2]
        distances = english.distances(pair)
        log_sums = np.log(np.exp(-2.0 * distances).sum(axis=1))
        rate = 2.0 + abs(log_sums[0] - log_sums[1]) / distances[0, pair[1]]
        assert rate == pytest.approx(table.losses[k], rel=1e-9)

    def test_it_is_the_default(self, english: Lexicon) -> None:
        channel = TEM(epsilon=1.5).on(english)
        assert channel.law.audited
        assert 1.15 < channel.law.exponent < 1.25
        assert TEM(epsilon=1.5, exponent="half").on(english).law.exponent == 0.75

    def test_the_file_is_what_the_package_names(self) -> None:
        about = json.loads((store.embedded()["english"] / ExponentTable.shipped).read_text())
        assert about["format"] == 1
        assert len(about["losses"]) == 385


WORST_AT_2 = ("two", "three")


@pytest.mark.parametrize("exponent", ["Half", "", 1.5, True])
def test_wrong_exponents_are_refused(exponent: object) -> None:
    with pytest.raises(ParameterError, match="exponent"):
        TEM(epsilon=1.0, exponent=exponent)  # type: ignore[arg-type]
