"""The audit of channels on paths, and faults planted in them."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malaprop import Guarantee, Kind, audit
from malaprop.measure.audit import worst_gap
from malaprop.privacy.arrays import Floats
from malaprop.privacy.channel import PathChannel
from malaprop.privacy.law import PathLaw
from malaprop.privacy.metrics import Path

SMALL = Path.of_steps([0.0, 0.1, 0.5, 1.5, 4.0, 4.25])
DAYS = Path.even(20_000, 7)
PATHS = pytest.mark.parametrize("path", [SMALL, DAYS], ids=["small", "long"])


def planted(path: Path, law: PathLaw) -> PathChannel:
    """A promise of 1 a step with another law."""
    return PathChannel(path, 1.0, "1 week", law=law)


@PATHS
@pytest.mark.parametrize("epsilon", [1e-30, 1e-3, 1.0, 40.0, 1e30])
def test_it_holds(path: Path, epsilon: float) -> None:
    result = audit(PathChannel(path, epsilon, "1 week"))
    assert result.holds is True
    assert result.worst_ratio == pytest.approx(1.0, abs=1e-8)


def test_rounding_of_rare_outputs_is_no_fault() -> None:
    """Log-probabilities of 10⁴ nats have an error of 10⁻¹², a tenth of a millionth of a gap."""
    far, epsilon = Path(np.array([0, 1, 2, 644_526_322])), 10.0**1.25
    assert audit(PathChannel(far, epsilon, "1 week")).holds is True
    fault = PathLaw.balanced(far, 1.05 * epsilon)
    assert audit(PathChannel(far, epsilon, "1 week", law=fault)).holds is False


def test_one_and_two_points() -> None:
    assert audit(PathChannel(Path(np.array([0])), 1.0, "1 week")).holds is True
    two = audit(PathChannel(Path.even(2), 1.0, "1 week"))
    assert two.holds is True
    assert two.loss == pytest.approx(1.0)


@PATHS
@pytest.mark.parametrize("epsilon", [1e-30, 1e-3, 1.0, 1e30])
def test_a_scale_five_percent_off(path: Path, epsilon: float) -> None:
    def off_by(share: float) -> PathChannel:
        law = PathLaw.balanced(path, share * epsilon)
        return PathChannel(path, epsilon, "1 week", law=law)

    result = audit(off_by(1.05))
    assert result.holds is False
    assert result.worst_ratio == pytest.approx(1.05)
    assert audit(off_by(0.95)).holds is True


@PATHS
@pytest.mark.parametrize("gap", [0, 2, -1])
@pytest.mark.parametrize("share", [0.9, 0.0])
def test_a_wrong_weight(path: Path, gap: int, share: float) -> None:
    """A cut in the wrong place, at an end or within, makes one point too likely."""
    lags = PathLaw.balanced(path, 1.0).lags.copy()
    lags[gap] *= share
    result = audit(planted(path, PathLaw(path, 1.0, lags)))
    assert result.holds is False
    assert str(gap % (len(path) - 1)) in " ".join(result.pair or ())


@given(
    st.lists(st.integers(1, 2**21), min_size=1, max_size=7),
    st.lists(st.floats(0, 1), min_size=7, max_size=7),
    st.floats(-2, 1),
)
def test_gaps_tell_what_all_pairs_tell(
    gaps: list[int], shares: list[float], exponent: float
) -> None:
    path, t = Path(np.cumsum([0, *gaps])), 10.0**exponent
    bounds = np.minimum(t * path.gaps / 2.0, math.log(2.0))
    law = PathLaw(path, t, bounds * shares[: len(gaps)])
    every = np.arange(len(path))
    rows = law.log_probabilities(every)
    far = path.distances(every) + np.eye(len(path))
    ratios = (rows[:, None] - rows[None]).max(axis=2) / far
    worst = worst_gap(law, 1.0)
    # What rounding may have added is taken off, which tells on gaps of a millionth of a step.
    slack = 2.0**-43 / path.gaps.min()
    assert worst.ratio == pytest.approx(ratios.max(), rel=1e-6, abs=slack)
    first, second = worst.pair
    assert rows[first, worst.output] - rows[second, worst.output] == pytest.approx(worst.loss)


class CutOff(PathLaw):
    """Never goes farther than two steps, and says so."""

    def log_probabilities(self, ids: Any) -> Floats:
        rows = super().log_probabilities(ids)
        rows[self.path.distances(ids) > 2.0] = -math.inf
        return np.asarray(rows - np.log(np.exp(rows).sum(axis=1, keepdims=True)))


def test_a_cut_off() -> None:
    result = audit(planted(SMALL, CutOff.balanced(SMALL, 1.0)))
    assert result.holds is False
    assert result.worst_ratio == math.inf
    assert audit(planted(DAYS, CutOff.balanced(DAYS, 1.0))).holds is None


class Silent(PathLaw):
    """States the balanced law; a derived class may draw anything."""


class Derived(PathChannel):
    pass


@PATHS
def test_what_is_not_proved_is_not_certified(path: Path) -> None:
    assert audit(planted(path, Silent.balanced(path, 1.0))).holds is None
    result = audit(Derived(path, 1.0, "1 week"))
    assert result.holds is None
    assert result.at_most == math.inf


def test_rows_that_are_no_law() -> None:
    class Wrong(PathLaw):
        def log_probabilities(self, ids: Any) -> Floats:
            return super().log_probabilities(ids) + 0.1

    result = audit(planted(SMALL, Wrong.balanced(SMALL, 1.0)))
    assert result.holds is None
    assert math.isnan(result.worst_ratio)


def test_another_promise_is_not_certified() -> None:
    boasting = PathChannel(SMALL, 1.0, "1 week")
    promise = Guarantee(kind=Kind.METRIC, epsilon=9.0, metric="euclidean")
    object.__setattr__(boasting, "guarantee", promise)
    assert audit(boasting).holds is None


def test_it_says_which_points() -> None:
    text = str(audit(planted(SMALL, PathLaw.balanced(SMALL, 2.0))))
    assert "FAILS" in text
    assert "point " in text
