import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator
from scipy.stats import chisquare
from tests.privacy.scripted import Scripted

from malaprop import seeded_rng
from malaprop.privacy.arrays import Floats, Ids, order_of
from malaprop.privacy.sampling import LawRows, Rest, full_rows

COUNT = 200_000


def some(rows: LawRows, count: int, rng: Generator) -> Ids:
    """Draws from the first row."""
    return rows.draw(np.array([count]), rng)[0]


def fits(log_weights: list[float], claimed: list[float], seed: int) -> float:
    """The p-value of draws from one law against another."""
    drawn = np.bincount(
        some(full_rows(np.array([log_weights])), COUNT, seeded_rng(seed)), minlength=len(claimed)
    )
    expected = np.exp(np.array(claimed) - np.logaddexp.reduce(claimed)) * COUNT
    return float(chisquare(drawn, expected).pvalue)


@pytest.mark.parametrize("bound", [3, 1 << 16, (1 << 16) + 1, 400_000])
def test_equal_numbers_keep_their_order(bound: int) -> None:
    numbers = np.append(seeded_rng(1).integers(bound, size=500), [bound - 1, 0, bound - 1])
    pairs = sorted(zip(numbers.tolist(), range(len(numbers)), strict=True))
    assert order_of(numbers, bound).tolist() == [place for _, place in pairs]


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
    drawn = some(full_rows(np.array([law])), 20, seeded_rng(seed))
    assert len(drawn) == 20
    assert all(law[i] > max(law) - 700 for i in drawn)


def test_impossible_words_are_never_drawn() -> None:
    drawn = some(full_rows(np.array([[-np.inf, 0.0, -np.inf]])), 1000, seeded_rng(1))
    assert (drawn == 1).all()


def test_a_word_of_probability_1e_20_can_be_drawn() -> None:
    """One 53-bit uniform number could not reach it, and its absence would betray the input."""
    row = full_rows(np.array([[0.0, np.log(1e-20)]]))
    # Ten tries for one draw, each with two uniform numbers, the digits of one.
    rare = some(row, 1, Scripted(*[0.0] * 10, *[1e-5] * 10))
    common = some(row, 1, Scripted(*[2.0**-53] * 10, *[0.0] * 10))
    assert rare.tolist() == [1]
    assert common.tolist() == [0]


class TestRest:
    """Words that are weighed only when they are tried."""

    LAW = np.exp(-np.linspace(0.0, 6.0, 60))

    def row(self, head: int, bound: float) -> LawRows:
        def weights(rows: Ids, words: Ids, compared: Floats | None = None) -> Floats:
            return np.where(words < head, 0.0, self.LAW[words])

        rest = Rest(np.arange(len(self.LAW)), np.array([bound]), weights)
        return LawRows(np.array([head]), np.arange(head), self.LAW[:head], rest)

    def fits(self, row: LawRows, law: Floats) -> float:
        drawn = np.bincount(some(row, COUNT, seeded_rng(4)), minlength=len(law))
        return float(chisquare(drawn, law / law.sum() * COUNT).pvalue)

    @pytest.mark.parametrize("head", [1, 7, 30, 59, 60])
    @pytest.mark.parametrize("slack", [1.0, 1.7, 40.0])
    def test_draws_follow_the_law(self, head: int, slack: float) -> None:
        bound = slack * float(self.LAW[min(head, 59)])
        assert self.fits(self.row(head, min(bound, 1.0)), self.LAW) > 1e-6

    @pytest.mark.parametrize("head", [1, 30])
    def test_a_law_off_by_5_percent_is_noticed(self, head: int) -> None:
        assert self.fits(self.row(head, 1.0), self.LAW**1.05) < 1e-6

    @pytest.mark.parametrize("bound", [0.0, 2.0**-1020, 2.0**-1074])
    def test_a_rest_of_vanishing_weight_is_left_out(self, bound: float) -> None:
        rest = Rest(
            np.arange(9), np.array([bound]), lambda rows, words, compared: np.zeros(len(words))
        )
        row = LawRows(np.array([2]), np.arange(2), np.array([1.0, 0.5]), rest)
        assert set(some(row, 1000, seeded_rng(1)).tolist()) == {0, 1}


def test_rows_are_drawn_independently() -> None:
    """Several rows at once, some of which need far more tries: each follows its own law."""
    laws = np.exp(-np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 0.5], [9.0, 9.0, 0.0]]))

    def weights(rows: Ids, words: Ids, compared: Floats | None = None) -> Floats:
        return np.where(words == rows, 0.0, laws[rows, words])

    rest = Rest(np.arange(3), np.ones(3), weights)
    rows = LawRows(np.ones(3, dtype=np.int64), np.arange(3), np.diagonal(laws).copy(), rest)
    counts = np.array([COUNT, 50_000, 0])
    first, second, none = rows.draw(counts, seeded_rng(5))
    assert len(none) == 0
    for drawn, law in ((first, laws[0]), (second, laws[1])):
        expected = law / law.sum() * len(drawn)
        assert chisquare(np.bincount(drawn, minlength=3), expected).pvalue > 1e-6
