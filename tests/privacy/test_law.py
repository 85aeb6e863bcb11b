"""The balanced law on a path: closed form, exact loss, and what is drawn."""

import math
import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chisquare

from malaprop import Balanced, Kind, Lexicon, ParameterError, secure_rng, seeded_rng
from malaprop.privacy.channel import PathChannel
from malaprop.privacy.guarantee import is_proved, proof_of
from malaprop.privacy.law import PathLaw
from malaprop.privacy.metrics import Path

GAPS = st.lists(
    st.one_of(st.integers(1, 9), st.integers(1, 2**21), st.integers(1, 2**34)), max_size=12
)
UNEVEN = Path.of_steps([0.0, 0.1, 0.2, 1.2, 1.5, 3.5, 3.75, 4.0, 6.0])


def path_of(gaps: list[int]) -> Path:
    return Path(np.cumsum([-17, *gaps]))


def weights(path: Path, t: float) -> NDArray[np.float64]:
    """ν = (1 − q_l·q_r)/((1 + q_l)(1 + q_r)), a missing gap having q = 0."""
    left, right = np.append(math.inf, path.gaps), np.append(path.gaps, math.inf)
    q_left, q_right = np.exp(-t * left), np.exp(-t * right)
    return np.asarray(-np.expm1(-t * (left + right)) / ((1.0 + q_left) * (1.0 + q_right)))


class TestBalance:
    @given(GAPS, st.floats(-30, 30))
    def test_the_closed_form_at_every_epsilon(self, gaps: list[int], exponent: float) -> None:
        path, t = path_of(gaps), 10.0**exponent
        every = np.arange(len(path))
        rows = PathLaw.balanced(path, t).log_probabilities(every)
        stated = np.log(weights(path, t)) - t * path.distances(every)
        np.testing.assert_allclose(rows, stated, rtol=1e-13, atol=1e-13)
        assert np.abs(np.exp(rows).sum(axis=1) - 1.0).max() <= 2e-11

    @given(GAPS, st.floats(-9, 3))
    def test_the_weights_balance(self, gaps: list[int], exponent: float) -> None:
        path, t = path_of(gaps), 10.0**exponent
        masses = np.exp(-t * path.distances(np.arange(len(path)))) @ weights(path, t)
        assert np.abs(masses - 1.0).max() <= 2e-11

    def test_the_reference_values(self) -> None:
        three = np.exp(PathLaw.balanced(Path.even(3), 1.0).log_probabilities([0, 1, 2]))
        kept = [0.7310585786, 0.4621171573, 0.7310585786]
        assert three.diagonal() == pytest.approx(kept, abs=1e-10)
        assert three[0] == pytest.approx([0.7310585786, 0.1700034016, 0.0989380198], abs=1e-10)
        four = PathLaw.balanced(Path.even(4), math.log(2.0)).side_weights.own
        assert np.exp(four) == pytest.approx(np.array([2, 1, 1, 2]) / 3, abs=1e-15)

    def test_it_is_the_balanced_mechanism_of_a_graph(self) -> None:
        """On a chain of words, by another way: conjugate gradients on the graph."""
        words = [*"abcdef"]
        chain = Lexicon(words, np.arange(6.0)[:, None]).with_graph(edges=list(pairwise(words)))
        graph = Balanced(epsilon=1.2).on(chain).log_probabilities(range(6))
        path = PathLaw.balanced(Path.even(6), 1.2).log_probabilities(range(6))
        np.testing.assert_allclose(path, graph, atol=3e-3)

    @given(GAPS, st.floats(-6, 2))
    def test_the_loss_is_exactly_epsilon_a_step(self, gaps: list[int], exponent: float) -> None:
        """Ends included: between any two points, over all outputs."""
        path, t = path_of(gaps), 10.0**exponent
        every = np.arange(len(path))
        rows = PathLaw.balanced(path, t).log_probabilities(every)
        losses = (rows[:, None] - rows[None]).max(axis=2)
        rounding = 1e-12 + 1e-15 * np.abs(rows).max()
        np.testing.assert_allclose(losses, t * path.distances(every), rtol=1e-12, atol=rounding)

    def test_one_point_stays(self) -> None:
        law = PathLaw.balanced(Path(np.array([3])), 2.0)
        assert law.log_probabilities([0]).tolist() == [[0.0]]

    def test_the_tails_are_those_of_the_sampler(self) -> None:
        """Pr[Y ≥ x_j | x_i] = e^(−t(x_j − x_i))/(1 + q) to the right of x_i."""
        t = 0.7
        rows = np.exp(PathLaw.balanced(UNEVEN, t).log_probabilities([2]))[0]
        for j in range(3, len(UNEVEN)):
            far = float(UNEVEN.distances([2])[0, j])
            q = math.exp(-t * UNEVEN.gaps[j - 1])
            assert rows[j:].sum() == pytest.approx(math.exp(-t * far) / (1.0 + q), rel=1e-12)


class TestLags:
    @pytest.mark.parametrize("lags", [[0.1], [0.1, -1e-9], [0.1, 0.6], [0.1, math.nan]])
    def test_cuts_stay_in_their_gaps(self, lags: list[float]) -> None:
        with pytest.raises(ParameterError, match="lags"):
            PathLaw(Path.even(3), 1.0, np.array(lags))

    @given(st.lists(st.floats(0, 1), min_size=4, max_size=4), st.floats(-3, 1))
    def test_any_cuts_give_a_law(self, shares: list[float], exponent: float) -> None:
        path, t = Path.even(5), 10.0**exponent
        law = PathLaw(path, t, np.array(shares) * min(t / 2.0, math.log(2.0)))
        rows = np.exp(law.log_probabilities(np.arange(5)))
        assert np.abs(rows.sum(axis=1) - 1.0).max() < 1e-12

    def test_any_cuts_are_drawn_as_stated(self) -> None:
        law = PathLaw(UNEVEN, 1.0, np.minimum(UNEVEN.gaps / 5.0, 0.5))
        assert p_value(law, law, 3) > 1e-6
        assert p_value(law, PathLaw.balanced(UNEVEN, 1.0), 3) < 1e-6


def p_value(drawn: PathLaw, stated: PathLaw, source: int, count: int = 400_000) -> float:
    """How likely draws from one law are by another."""
    points = drawn.draw(np.full(count, source), seeded_rng(8))
    seen = np.bincount(points, minlength=len(drawn.path))
    return float(chisquare(seen, np.exp(stated.log_probabilities([source]))[0] * count).pvalue)


@pytest.mark.parametrize("source", [0, 3, 5, 8])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
def test_the_draws_follow_the_law(source: int, epsilon: float) -> None:
    law = PathLaw.balanced(UNEVEN, epsilon)
    assert p_value(law, law, source) > 1e-6
    for share in (0.95, 1.05):
        assert p_value(law, PathLaw.balanced(UNEVEN, epsilon * share), source) < 1e-6


def test_draws_of_many_points_at_once_are_independent() -> None:
    law = PathLaw.balanced(UNEVEN, 1.0)
    pairs = law.draw(np.tile([2, 7], 400_000), secure_rng()).reshape(-1, 2)
    joint = np.bincount(pairs[:, 0] * 9 + pairs[:, 1], minlength=81)
    first, second = np.exp(law.log_probabilities([2, 7]))
    expected = np.outer(first, second).ravel() * len(pairs)
    assert chisquare(joint, expected).pvalue > 1e-6


class TestChannel:
    def test_it_promises_epsilon_a_step_without_a_cut_off(self) -> None:
        guarantee = PathChannel(Path.even(300), 1.5, "1 year").guarantee
        assert guarantee.kind is Kind.METRIC
        assert guarantee.loss(200.0) == 300.0
        assert (guarantee.cap, guarantee.zcdp) == (math.inf, 1.125)
        assert "d being their distance in steps of 1 year." in str(guarantee)
        assert "adds less than" in guarantee.numerics

    @pytest.mark.parametrize("epsilon", [1e-30, 1e-12, 1.0, 1e6, 1e30])
    @pytest.mark.parametrize("size", [1, 2, 109_572])
    def test_every_epsilon_and_size(self, epsilon: float, size: int) -> None:
        channel = PathChannel(Path.even(size, 7), epsilon, "1 week")
        drawn = channel.substitute(np.full(100, size // 2), secure_rng())
        assert drawn.dtype == np.int64
        assert ((drawn >= 0) & (drawn < size)).all()
        assert (drawn == size // 2).all() or epsilon < 1e6
        rows = channel.log_probabilities([0, size - 1])
        assert not np.isnan(rows).any()
        assert np.abs(np.exp(rows).sum(axis=1) - 1.0).max() < 2e-11

    def test_at_the_least_epsilon_the_ends_are_a_coin(self) -> None:
        channel = PathChannel(Path.even(1000), 1e-30, "1 year")
        drawn = channel.substitute(np.arange(1000).repeat(100), seeded_rng(2))
        assert set(drawn.tolist()) == {0, 999}

    @pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, 1e31, "1", True, None])
    def test_wrong_epsilons(self, epsilon: Any) -> None:
        with pytest.raises(ParameterError, match="epsilon"):
            PathChannel(Path.even(3), epsilon, "1 year")

    def test_wrong_parts(self) -> None:
        with pytest.raises(ParameterError, match="needs a Path"):
            PathChannel([0, 1], 1.0, "1 year")  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match="same path"):
            PathChannel(Path.even(3), 1.0, "1 year", law=PathLaw.balanced(Path.even(4), 1.0))
        with pytest.raises(ParameterError, match="Generator"):
            PathChannel(Path.even(3), 1.0, "1 year").substitute([0], 7)  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match="Points of a path"):
            PathChannel(Path.even(3), 1.0, "1 year").substitute([3], secure_rng())

    def test_nothing_in_nothing_out(self) -> None:
        assert PathChannel(Path.even(3), 1.0, "1 year").substitute([], secure_rng()).tolist() == []

    def test_it_is_proved_and_picklable(self) -> None:
        channel = PathChannel(UNEVEN, 1.0, "a tenth")
        same = pickle.loads(pickle.dumps(channel))  # noqa: S301 - our own bytes
        assert proof_of(channel)
        assert is_proved(channel.law)
        assert is_proved(channel.guarantee)
        assert same.drawn_by == channel.drawn_by
        assert same.drawn_by != PathChannel(UNEVEN, 1.1, "a tenth").drawn_by
        assert channel.unit == "a tenth"
        assert channel.path == UNEVEN
