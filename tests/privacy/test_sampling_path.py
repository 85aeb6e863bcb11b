"""Draws on a path: exponential numbers without a largest one, and exact comparisons."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom, expon, kstest

from malaprop import seeded_rng
from malaprop.privacy.law import PathLaw
from malaprop.privacy.metrics import UNITS, Path
from malaprop.privacy.sampling import exponentials, leading_zeros

TOP = 1 << 63
LN2 = math.log(2.0)


class Scripted(np.random.Generator):
    """A generator whose words are known."""

    def __init__(self, words: list[int]) -> None:
        super().__init__(np.random.PCG64(0))
        self.words = words

    def integers(self, *_: Any, size: Any = None, **__: Any) -> Any:
        taken, self.words = self.words[:size], self.words[size:]
        assert len(taken) == size
        return np.array(taken, dtype=np.uint64)


def nats(words: list[int]) -> float:
    return float(exponentials(1, Scripted(words))[0][0])


class TestExponentials:
    @pytest.mark.parametrize("zeros", range(64))
    @pytest.mark.parametrize("rest", [0, -1])
    def test_zeros_before_the_first_one(self, zeros: int, rest: int) -> None:
        top = TOP >> zeros
        word = top | (rest & (top - 1))
        words = np.array([word], dtype=np.uint64)
        assert leading_zeros(words, Scripted([])).tolist() == [zeros]

    def test_a_word_of_zeros_is_not_the_end(self) -> None:
        words, script = np.array([0, TOP, 0], dtype=np.uint64), Scripted([1, 0, TOP >> 5])
        assert leading_zeros(words, script).tolist() == [64 + 63, 0, 64 * 2 + 5]
        assert not script.words

    def test_numbers_beyond_any_single_word_occur(self) -> None:
        """With 53 or 64 bits, nothing would be above 37 or 45 nats."""
        assert nats([0, TOP, 0, 0, TOP]) == pytest.approx(128 * LN2 - math.log1p(-1 / 4))
        assert nats([0, TOP, *[0] * 100, TOP]) > 6400 * LN2

    def test_numbers_near_zero_keep_their_digits(self) -> None:
        one = nats([TOP, 0, 0, 0, TOP])
        assert one == 2.0**-130
        assert nats([TOP, 0, 1 << 12, 0, TOP]) == one * (1.0 + 2.0**-52)
        assert nats([TOP, 0, 0, *[0] * 40, TOP]) == 0.0

    def test_it_is_the_closed_form(self) -> None:
        """K = 3; V = 2⁻³·(1 + ½): one zero, two zeros, then the digits."""
        assert nats([TOP >> 3, TOP >> 2, TOP]) == pytest.approx(3 * LN2 - math.log1p(-0.1875 / 2))

    def test_the_law(self) -> None:
        drawn, right = exponentials(300_000, seeded_rng(4))
        assert kstest(drawn, expon.cdf).pvalue > 1e-6
        assert kstest(drawn * 1.05, expon.cdf).pvalue < 1e-6
        for where in (drawn > 0.0, drawn > 2.0):  # the coin does not look at the number
            assert 1e-6 < binom.cdf(right[where].sum(), where.sum(), 0.5) < 1.0 - 1e-6
        share = float((drawn > 9.0).mean())
        assert 1e-6 < binom.cdf(share * 300_000, 300_000, math.exp(-9.0)) < 1.0 - 1e-6


def threshold(path: Path, rate: float, source: int, goal: int) -> float:
    """t·(x_j − x_i) + ln((1 + q)/2), q being the last gap's, without cancellation."""
    gap = float(path.gaps[goal - 1 if goal > source else goal])
    rest = float(path.distances([source])[0, goal]) - gap
    # ln of e^(t·gap)·(1 + q)/2 = 1 + (e^(t·gap) − 1)/2
    last = math.log1p(math.expm1(rate * gap) / 2.0) if rate * gap < 600.0 else rate * gap - LN2
    return rate * rest + last


def passed(path: Path, rate: float, source: int, units: float) -> tuple[int, int]:
    """Where a walk of that length ends, to the left and to the right."""
    found = PathLaw.balanced(path, rate).cuts.walk(
        np.array([source, source]), np.array([units, units]), np.array([False, True])
    )
    return int(found[0]), int(found[1])


class TestCuts:
    @given(
        st.lists(st.one_of(st.integers(1, 5), st.integers(1, 2**30)), min_size=1, max_size=6),
        st.integers(-(2**60), 2**60),
        st.floats(-30, 30),
        st.data(),
    )
    def test_a_walk_passes_each_cut_where_it_should(
        self, gaps: list[int], origin: int, exponent: float, data: st.DataObject
    ) -> None:
        """At every ε from 1e-30 to 1e30, and however far from 0 the path begins."""
        path, rate = Path(origin + np.cumsum([0, *gaps])), 10.0**exponent
        source = data.draw(st.integers(0, len(gaps)))
        for goal in range(len(path)):
            if goal == source:
                continue
            units = threshold(path, rate, source, goal) * UNITS / rate
            side = int(goal > source)
            beyond: Callable[[int, int], bool] = int.__ge__ if goal > source else int.__le__
            assert beyond(passed(path, rate, source, units * (1 + 2.0**-48))[side], goal)
            assert not beyond(passed(path, rate, source, units * (1 - 2.0**-48))[side], goal)

    def test_walks_end_at_the_ends(self) -> None:
        path = Path.even(4)
        assert passed(path, 1.0, 2, math.inf) == (0, 3)
        assert passed(path, 1.0, 2, 0.0) == (2, 2)
        assert passed(path, 1.0, 0, 0.0) == (0, 0)

    def test_a_single_point(self) -> None:
        assert passed(Path(np.array([7])), 1.0, 0, 1e300) == (0, 0)


def test_the_largest_number_of_nats_is_walked() -> None:
    """Point 1 is 61 nats away: no uniform number of 53 bits gets there."""
    from malaprop.privacy.channel import PathChannel

    channel = PathChannel(Path.even(2, 1), 61.0, "1 year")
    start: NDArray[np.int64] = np.array([0])
    far = Scripted([0, TOP, 1, TOP >> 24])  # 88·ln 2 = 61.0, to the right
    assert channel.law.draw(start, far).tolist() == [1]
    near = Scripted([0, TOP, 1, TOP >> 20])  # 84·ln 2
    assert channel.law.draw(start, near).tolist() == [0]
    left = Scripted([0, TOP, 0, TOP >> 24])
    assert channel.law.draw(start, left).tolist() == [0]
