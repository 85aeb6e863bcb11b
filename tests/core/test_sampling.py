from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator
from scipy.stats import chisquare

from malaprop import seeded_rng
from malaprop.core.sampling import draw

COUNT = 200_000


def fits(log_weights: list[float], claimed: list[float], seed: int) -> float:
    """The p-value of draws from one law against another."""
    drawn = np.bincount(
        draw(np.array(log_weights), COUNT, seeded_rng(seed)), minlength=len(claimed)
    )
    expected = np.exp(np.array(claimed) - np.logaddexp.reduce(claimed)) * COUNT
    return float(chisquare(drawn, expected).pvalue)


LAWS = [
    [0.0, -0.3, -0.7, -1.1, -2.5],
    [-5.0, -5.0, -5.0],
    [0.0, -0.6931471805599453, -1.3862943611198906],  # exactly at the borders of magnitudes
    [700.0, 699.5, 697.0],
    [0.0, *[-3.0 - 0.01 * i for i in range(100)]],
]


@pytest.mark.parametrize("law", LAWS)
def test_draws_follow_the_law(law: list[float]) -> None:
    assert fits(law, law, seed=11) > 1e-6


@pytest.mark.parametrize("law", [LAWS[0], LAWS[4]])
@pytest.mark.parametrize("factor", [0.95, 1.05])
def test_an_exponent_off_by_5_percent_is_noticed(law: list[float], factor: float) -> None:
    assert fits([factor * weight for weight in law], law, seed=12) < 1e-6


@given(st.lists(st.floats(-2000.0, 50.0), min_size=1, max_size=30), st.integers(0, 99))
def test_any_weights_give_valid_indices(law: list[float], seed: int) -> None:
    drawn = draw(np.array(law), 20, seeded_rng(seed))
    assert len(drawn) == 20
    assert all(law[i] > max(law) - 700 for i in drawn)


def test_impossible_words_are_never_drawn() -> None:
    drawn = draw(np.array([-np.inf, 0.0, -np.inf]), 1000, seeded_rng(1))
    assert (drawn == 1).all()


class Scripted(Generator):
    """A generator whose uniform numbers are given."""

    def __init__(self, numbers: Iterator[float]) -> None:
        super().__init__(np.random.PCG64(1))
        self.numbers = numbers

    def random(self, size: int | tuple[int, int]) -> np.ndarray:  # type: ignore[override]
        return np.array([next(self.numbers) for _ in range(np.prod(size))]).reshape(size)


def test_a_word_of_probability_1e_20_can_be_drawn() -> None:
    """One 53-bit uniform number could not reach it, and its absence would betray the input."""
    law = np.array([0.0, np.log(1e-20)])
    rest = [0.0] * 10
    rare = draw(law, 1, Scripted(iter([0.0, 1e-5, 0.0, *rest])))
    common = draw(law, 1, Scripted(iter([2.0**-53, 0.0, 0.0, *rest])))
    assert rare.tolist() == [1]
    assert common.tolist() == [0]
