"""Urns: tickets that stand for exactly the weights, and sets that are drawn from later."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator
from scipy.stats import chisquare
from tests.core.sampling.scripted import Scripted

from malaprop import ParameterError, seeded_rng
from malaprop.core.arrays import Floats, Ids
from malaprop.core.sampling.urns import Urns, _Tickets, draw_ahead

COUNT = 200_000
WEIGHTS = st.one_of(
    st.floats(0.0, 4.0),
    st.integers(-1074, 2).map(lambda power: 2.0**power),  # exact powers, and subnormal numbers
    st.floats(1e-12, 1.0).map(lambda logarithm: logarithm**8),
)


def no_sets(rows: Ids, members: Ids, rng: Generator) -> Ids:
    raise AssertionError("there are no sets of words here")


def urns(*rows: list[float]) -> Urns:
    """Rows of words."""
    sizes = np.array([len(row) for row in rows])
    members = np.concatenate([np.arange(len(row)) for row in rows])
    return Urns(sizes, members, np.concatenate([np.array(row) for row in rows]), 1000, no_sets)


@given(st.lists(WEIGHTS, min_size=1, max_size=40), st.lists(WEIGHTS, min_size=1, max_size=5))
def test_tickets_stand_for_the_weights(first: list[float], second: list[float]) -> None:
    """Exactly: the tickets of a member times the chance of each are its weight, in any row."""
    rows = [row for row in (first, second) if sum(row) > 1e-100] or [[1.0]]
    urn = urns(*rows)
    tickets = _Tickets(urn)
    assert (tickets._chances >= 0.0).all()
    assert (tickets._chances <= 1.0).all()
    counts = np.bincount(tickets._tickets, minlength=len(urn.weights))
    assert (counts >= 1).all()
    starts = np.cumsum(urn.sizes) - urn.sizes
    for number, (start, size) in enumerate(zip(starts, urn.sizes, strict=True)):
        part = slice(start, start + size)
        where = tickets._first[number] + np.arange(int(tickets._counts[number]))
        assert np.array_equal(
            tickets._tickets[where], np.repeat(np.arange(start, start + size), counts[part])
        )
        stands_for = counts[part] * tickets._chances[part]
        expected = urn.weights[part] * (4.0 * size / urn.weights[part].sum())
        assert np.allclose(stands_for, expected, rtol=1e-14, atol=0.0)
        assert tickets._counts[number] <= 5.0 * size


def fits(weights: list[float], claimed: list[float]) -> float:
    """The p-value of draws from one law against another."""
    rows = urns([1.0, 1.0], weights)
    counts = np.array([7, COUNT])
    drawn = draw_ahead(rows, counts, counts, seeded_rng(3))
    assert [len(part) for part in drawn] == counts.tolist()
    expected = np.array(claimed) / sum(claimed) * COUNT
    return float(chisquare(np.bincount(drawn[1], minlength=len(claimed)), expected).pvalue)


LAWS = [[1.0, 0.7, 0.5, 0.3, 0.08], [0.25] * 3, [1.0, *(0.05 * 0.99**i for i in range(100))]]


@pytest.mark.parametrize("law", LAWS)
def test_draws_follow_the_weights(law: list[float]) -> None:
    assert fits(law, law) > 1e-6


@pytest.mark.parametrize("law", [LAWS[0], LAWS[2]])
@pytest.mark.parametrize("power", [0.95, 1.05])
def test_an_exponent_off_by_5_percent_is_noticed(law: list[float], power: float) -> None:
    assert fits([weight**power for weight in law], law) < 1e-6


@pytest.mark.parametrize(("digit", "drawn"), [(5e-4, [1]), (1e-3, [0])])
def test_a_word_of_probability_1e_20_can_be_drawn(digit: float, drawn: list[int]) -> None:
    """The ticket of the rare word counts with a chance that 53 binary digits cannot tell from 0."""
    row = urns([1.0, 1e-20])
    # Three tries: their tickets, then their levels, then more digits of those that are rare.
    script = Scripted(*[0.999] * 3, *[0.0] * 3, *[0.0] * 3, *[digit] * 3)
    assert draw_ahead(row, np.ones(1, int), np.ones(1, int), script)[0].tolist() == drawn


class TestSets:
    """Members that stand for sets of words, of which a draw may fail."""

    LAW = np.array([0.4, 0.2, 0.2, 0.1, 0.1])

    def rows(self, law: Floats, counts: Ids) -> Urns:
        """Word 0 alone; all others in a set, which fails half of the time; in two rows."""

        def resolve(rows: Ids, members: Ids, rng: Generator) -> Ids:
            assert (members == 9).all()
            words = 1 + rng.choice(4, len(rows), p=law[1:] / law[1:].sum())
            return np.where((rows == 1) & (rng.random(len(rows)) < 0.5), words, -1)

        weights = np.array([1.0, law[0], 2.0 * law[1:].sum()])
        return Urns(np.array([1, 2]), np.array([7, 0, 9]), weights, 8, resolve)

    def fits(self, law: Floats) -> float:
        counts = np.array([300, COUNT])
        alone, drawn = draw_ahead(self.rows(law, counts), counts, counts, seeded_rng(8))
        assert (alone == 7).all()
        return float(chisquare(np.bincount(drawn, minlength=5), self.LAW * COUNT).pvalue)

    def test_draws_follow_the_law(self) -> None:
        assert self.fits(self.LAW) > 1e-6

    def test_a_law_off_by_5_percent_is_noticed(self) -> None:
        assert self.fits(self.LAW**1.05) < 1e-6

    def test_a_set_that_always_fails_is_left_out(self) -> None:
        def fail(rows: Ids, members: Ids, rng: Generator) -> Ids:
            return np.full(len(rows), -1)

        rows = Urns(np.array([2]), np.array([3, 8]), np.array([0.1, 1.0]), 8, fail)
        (drawn,) = draw_ahead(rows, np.array([500]), np.array([500]), seeded_rng(1))
        assert drawn.tolist() == [3] * 500


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=9))
def test_at_least_what_is_needed_is_drawn(orders: list[tuple[int, int]]) -> None:
    least = np.array([order[0] for order in orders])
    counts = least + np.array([order[1] for order in orders])
    rows = urns(*([1.0, 0.3, 0.01][: 1 + i % 3] for i in range(len(orders))))
    for drawn, needed, wanted in zip(
        draw_ahead(rows, least, counts, seeded_rng(2)), least, counts, strict=True
    ):
        assert needed <= len(drawn) <= wanted


def test_a_row_without_weight_is_refused() -> None:
    with pytest.raises(ParameterError):
        draw_ahead(urns([1.0], [0.0, 0.0]), np.ones(2, int), np.ones(2, int), seeded_rng(1))
