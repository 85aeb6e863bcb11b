"""TEM's exponent for one ε alone: the largest that holds, kept for that ε and for no other."""

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
from malaprop.lexicon.tables import ExponentTable, keep
from malaprop.mechanisms import tem_exponents as core
from malaprop.mechanisms.tem_exponents import build_table, exponent_for
from malaprop.privacy.arrays import blocks


def capped(lexicon: Lexicon, gamma: float) -> NDArray[np.float64]:
    return np.minimum(lexicon.distances(np.arange(len(lexicon))), gamma)


def by_force(distances: NDArray[np.float64], epsilon: float) -> list[float]:
    """Those of the 64 exponents that hold, by looking at every pair."""
    tried = [epsilon / 2 * (1 + k / 64) for k in range(64)]
    return [t for t in tried if loss_rate(distances, t) <= epsilon]


class TestTheExponent:
    @pytest.mark.parametrize("gamma", [0.5, 4.0, math.inf])
    @pytest.mark.parametrize("epsilon", [0.1, 0.7, 1.5, 3.0, 20.0, 400.0])
    def test_it_is_the_largest_of_64(self, cloud: Lexicon, epsilon: float, gamma: float) -> None:
        distances = capped(cloud, gamma)
        found, diameter = exponent_for(cloud, epsilon, gamma)
        assert found == max(by_force(distances, epsilon))
        assert diameter == distances.max()

    @pytest.mark.parametrize("epsilon", [0.7, 1.5])
    def test_it_does_not_depend_on_how_words_are_grouped(
        self, cloud: Lexicon, epsilon: float, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """In blocks of 16 words, some are skipped, and exponents drop out one by one."""
        whole = exponent_for(cloud, epsilon, math.inf)
        monkeypatch.setattr(core, "blocks", lambda count, row_cells: blocks(count, row_cells, 1))
        assert exponent_for(cloud, epsilon, math.inf) == whole

    @given(
        vectors=st.tuples(st.integers(2, 24), st.integers(1, 3)).flatmap(
            lambda size: arrays(
                np.float32, size, elements=st.integers(-64, 64).map(lambda k: k / 8)
            )
        ),
        epsilon=st.floats(0.01, 60.0),
        gamma=st.one_of(st.just(math.inf), st.floats(0.05, 20)),
    )
    @settings(max_examples=60)
    def test_it_never_claims_too_much(
        self, vectors: NDArray[np.float32], epsilon: float, gamma: float
    ) -> None:
        """Over every pair and every output, nothing exceeds ε·min(d, γ); little is lost."""
        lexicon = Lexicon([f"w{i}" for i in range(len(vectors))], vectors)
        table = build_table(lexicon, gamma, epsilon=epsilon)
        (t,) = table.exponents
        assert epsilon / 2 <= t <= epsilon
        distances = capped(lexicon, gamma)
        assert loss_rate(distances, t) <= epsilon * (1 + 1e-12)
        assert t >= max(by_force(distances, epsilon * (1 - 1e-9)), default=0.0) * (1 - 1e-9)
        assert audit(planted(lexicon, epsilon, t, gamma)).holds is True

    def test_near_twins_take_what_rounding_may(self) -> None:
        """Where distances are as small as rounding errors, ε/2 remains."""
        lexicon = Lexicon(["a", "b", "c"], [[0.0], [1e-12], [1.0]])
        assert exponent_for(lexicon, 1.0, math.inf)[0] == 0.5

    def test_words_that_nothing_tells_apart(self) -> None:
        assert exponent_for(Lexicon(["a"], [[1.0]]), 1.5, math.inf) == (1.5, 0.0)
        assert exponent_for(Lexicon(["a", "b"], [[1.0], [1.0]]), 1.5, math.inf) == (1.5, 0.0)

    def test_it_is_at_least_that_of_the_grid(self, cloud: Lexicon) -> None:
        table = build_table(cloud)
        for epsilon in (1.1, 2.3):
            assert (
                build_table(cloud, epsilon=epsilon).exponents[0]
                >= table.largest(epsilon) - epsilon / 128
            )


class TestKept:
    def test_it_is_found_again(self, home: Path, cloud: Lexicon) -> None:
        steps: list[tuple[int, int]] = []
        table = build_table(cloud, epsilon=1.5, progress=lambda *step: steps.append(step))
        assert steps[-1][0] == steps[-1][1]
        path = keep(table)
        assert path == home / "exponents" / f"{cloud.fingerprint}-e1.5.json"
        assert ExponentTable.read(path, cloud.fingerprint) == table
        channel = TEM(epsilon=1.5, exponent="audited").on(cloud.with_kept_tables())
        assert channel.law.audited
        assert channel.law.exponent == table.exponents[0] > 0.75
        assert channel.guarantee.cap == pytest.approx(table.diameter)
        found = audit(channel)
        assert found.holds is True
        assert found.worst_ratio > 0.98
        assert TEM(epsilon=1.5).on(cloud.with_kept_tables()).law.exponent == channel.law.exponent
        assert TEM(epsilon=1.5, gamma=math.inf).on(cloud.with_kept_tables()).law.audited

    def test_no_other_epsilon_has_it(self, home: Path, cloud: Lexicon) -> None:
        keep(build_table(cloud, epsilon=1.5))
        assert kept_table(cloud) is None
        for epsilon in (math.nextafter(1.5, 0), math.nextafter(1.5, 2), 0.5, 3.0):
            other = TEM(epsilon=epsilon).on(cloud.with_kept_tables())
            assert not other.law.audited
            assert other.law.exponent == epsilon / 2

    def test_another_epsilon_is_refused_with_what_to_do(self, home: Path, cloud: Lexicon) -> None:
        keep(build_table(cloud, epsilon=1.5))
        keep(build_table(cloud, 4.0, epsilon=1.0))
        said = r"malaprop lexicon audit NAME \(add --epsilon .* is for ε = 1.5\), or use"
        with pytest.raises(LexiconError, match=said):
            TEM(epsilon=1.6, exponent="audited").on(cloud.with_kept_tables())
        said = r"audit NAME --gamma 4.0 \(add --epsilon .* is for ε = 1\), or use"
        with pytest.raises(LexiconError, match=said):
            TEM(epsilon=1.6, gamma=4.0, exponent="audited").on(cloud.with_kept_tables())

    def test_under_the_name_of_another_it_is_not_taken(self, home: Path, cloud: Lexicon) -> None:
        table = build_table(cloud, epsilon=1.5)
        kept = keep(table)
        names = [(math.inf, None), (math.inf, 1.2), (4.0, 1.2), (4.0, None)]
        for gamma, epsilon in names:
            other = replace(table, gamma=gamma, epsilon=epsilon).file_name
            (home / "exponents" / other).write_text(kept.read_text())
        for gamma in (math.inf, 4.0):
            assert kept_table(cloud, gamma) is None
            assert not TEM(epsilon=1.2, gamma=gamma).on(cloud.with_kept_tables()).law.audited

    def test_it_belongs_to_its_threshold(self, home: Path, cloud: Lexicon) -> None:
        table = build_table(cloud, 4.0, epsilon=1.5)
        assert keep(table).name == f"{cloud.fingerprint}-4.0-e1.5.json"
        assert (
            TEM(epsilon=1.5, gamma=4.0).on(cloud.with_kept_tables()).law.exponent
            == table.exponents[0]
        )
        for gamma in (None, math.inf, 3.0, math.nextafter(4.0, 9.0)):
            assert not TEM(epsilon=1.5, gamma=gamma).on(cloud.with_kept_tables()).law.audited
        assert build_table(cloud, 1000.0, epsilon=1.5) == build_table(cloud, epsilon=1.5)

    def test_the_larger_of_two_is_taken(self, home: Path, cloud: Lexicon) -> None:
        whole, single = build_table(cloud), build_table(cloud, epsilon=1.5)
        keep(whole)
        keep(single)
        best = max(whole.largest(1.5), single.largest(1.5))
        assert TEM(epsilon=1.5).on(cloud.with_kept_tables()).law.exponent == best
        assert TEM(epsilon=1.4).on(cloud.with_kept_tables()).law.exponent == whole.largest(1.4)
        least = ExponentTable(
            fingerprint=cloud.fingerprint,
            epsilon=1.5,
            diameter=single.diameter,
            exponents=(0.75,),
            losses=(1.5,),
        )
        keep(least)
        assert (
            TEM(epsilon=1.5).on(cloud.with_kept_tables()).law.exponent == whole.largest(1.5) > 0.75
        )

    @pytest.mark.parametrize("without", ["gamma", "epsilon", "losses"])
    def test_a_damaged_one_is_refused(self, home: Path, cloud: Lexicon, without: str) -> None:
        kept = keep(build_table(cloud, epsilon=1.5))
        about = json.loads(kept.read_text())
        del about[without]
        kept.write_text(json.dumps(about))
        with pytest.raises(LexiconError, match="remove it"):
            TEM(epsilon=1.5).on(cloud.with_kept_tables())

    @pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf])
    def test_impossible_epsilons(self, cloud: Lexicon, epsilon: float) -> None:
        with pytest.raises(ParameterError, match="ε must be a number above 0"):
            build_table(cloud, epsilon=epsilon)

    def test_impossible_thresholds_and_metrics(self, cloud: Lexicon) -> None:
        with pytest.raises(ParameterError, match="γ"):
            build_table(cloud, 0.0, epsilon=1.0)
        own = Lexicon(["a", "b"], [[0.0], [1.0]], metric=lambda x, y: float(abs(x - y).sum()))
        with pytest.raises(LexiconError, match="fingerprint"):
            build_table(own, epsilon=1.0)
