"""Permute-and-flip: its law against exact arithmetic and against the procedure itself."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chisquare

from malaprop import TEM, Lexicon, PermuteAndFlip, audit, seeded_rng
from malaprop.mechanisms.permute_and_flip import log_law


def procedure(coins: list[Fraction]) -> list[Fraction]:
    """The mechanism as it is described: all orders, the first heads."""
    found = [Fraction(0)] * len(coins)
    orders = list(itertools.permutations(range(len(coins))))
    for order in orders:
        tails = Fraction(1, len(orders))
        for y in order:
            found[y] += tails * coins[y]
            tails *= 1 - coins[y]
    return found


def integral(coins: list[Fraction]) -> list[Fraction]:
    """a_y·∫ ∏_{z≠y} (1 − u·a_z) du, as a polynomial in exact arithmetic."""
    found = []
    for y in range(len(coins)):
        polynomial = [Fraction(1)]
        for z in range(len(coins)):
            if z != y:
                shifted = [Fraction(0), *(coins[z] * c for c in polynomial)]
                polynomial = [
                    c - s for c, s in zip([*polynomial, Fraction(0)], shifted, strict=True)
                ]
        found.append(coins[y] * sum(c / (k + 1) for k, c in enumerate(polynomial)))
    return found


coins = st.lists(st.fractions(0, 1, max_denominator=50), min_size=0, max_size=4)


@given(coins)
def test_the_integral_is_the_procedure(others: list[Fraction]) -> None:
    """One coin always shows heads: that of the word itself."""
    assert integral([Fraction(1), *others]) == procedure([Fraction(1), *others])


@given(st.lists(st.floats(0.0, 40.0), min_size=0, max_size=40))
def test_the_law_is_exact(others: list[float]) -> None:
    scores = np.array([0.0, *others])
    exact = [float(p) for p in integral([Fraction(math.exp(-x)) for x in scores])]
    np.testing.assert_allclose(np.exp(log_law(scores)), exact, rtol=1e-12)


@pytest.mark.parametrize("scale", [0.0, 1e-6, 0.1, 1.0, 10.0, 1000.0])
def test_a_law_of_many_words_sums_to_one(scale: float) -> None:
    rng = np.random.Generator(np.random.PCG64(1))
    scores = scale * rng.random(20_000)
    scores[7] = 0.0
    assert np.exp(log_law(scores)).sum() == pytest.approx(1.0, abs=1e-12)
    assert np.isfinite(log_law(scores)).all()


def test_equal_words_are_equally_likely() -> None:
    np.testing.assert_allclose(np.exp(log_law(np.zeros(1000))), 1e-3, rtol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_the_guarantee_holds(plane: Lexicon, metric: str, epsilon: float) -> None:
    found = audit(PermuteAndFlip(epsilon=epsilon).on(plane.with_metric(metric)))
    assert found.holds is True
    assert found.worst_ratio > 0.5


def test_the_factor_of_two_is_needed() -> None:
    """Towards ratio 1 at ε/2: one word beside a large crowd."""
    crowd = Lexicon(
        [f"w{i}" for i in range(901)], [[0.0], *([1.0 + i / 2**16] for i in range(900))]
    )
    found = audit(PermuteAndFlip(epsilon=4.0).on(crowd))
    assert found.holds is True
    assert found.worst_ratio > 0.95


def test_it_keeps_more_than_tem(plane: Lexicon) -> None:
    def kept(mechanism: PermuteAndFlip | TEM) -> NDArray[np.float64]:
        return np.diag(mechanism.on(plane).log_probabilities(np.arange(40)))

    tem = TEM(epsilon=1.0, exponent="half", gamma=math.inf)
    assert (kept(PermuteAndFlip(epsilon=1.0)) > kept(tem)).all()


def chi_square(plane: Lexicon, drawn_with: float, claimed: float) -> float:
    drawn = (
        PermuteAndFlip(epsilon=drawn_with).on(plane).substitute(np.full(200_000, 7), seeded_rng(5))
    )
    p = np.exp(PermuteAndFlip(epsilon=claimed).on(plane).log_probabilities([7])[0])
    counts = np.bincount(drawn, minlength=40)
    rare = p <= np.sort(p)[5]  # together, so that none is too rare to be counted
    observed = np.append(counts[~rare], counts[rare].sum())
    expected = np.append(p[~rare], p[rare].sum()) * 200_000
    return float(chisquare(observed, expected).pvalue)


def test_draws_follow_the_law_and_5_percent_is_noticed(plane: Lexicon) -> None:
    assert chi_square(plane, 1.0, 1.0) > 1e-6
    assert chi_square(plane, 1.05, 1.0) < 1e-6
    assert chi_square(plane, 0.95, 1.0) < 1e-6


def test_words_that_are_out_of_reach_do_not_overflow() -> None:
    far = Lexicon(["a", "b", "c"], [[0.0], [1.0], [1e30]])
    law = PermuteAndFlip(epsilon=3.0).on(far).log_probabilities([0, 2])
    assert not np.isnan(law).any()
    assert law[1, 2] == pytest.approx(0.0, abs=1e-12)
