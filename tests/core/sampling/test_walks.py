"""Walks: each has exactly the probability that its steps and its end give it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from tests.core.metrics.test_border_search import even_graph
from tests.core.sampling.walk_laws import law_of_walks

from malaprop import seeded_rng
from malaprop.core.arrays import Floats
from malaprop.core.sampling.walks import Walks


def walks_of(size: int, seed: int, exponent: float) -> tuple[Walks, Floats]:
    search = even_graph(size, seed).borders
    assert search is not None
    weights = np.random.Generator(np.random.PCG64(seed)).uniform(0.2, 1.0, size)
    return Walks(search.edges, weights, np.exp(-exponent * 0.5 * np.arange(16))), weights


def expected(walks: Walks, weights: Floats, place: int) -> Floats:
    """What all walks from a place weigh, by place and length; none goes back by a short edge."""
    edges, last = walks._edges, len(walks._falls)
    size = len(weights)
    ways = np.zeros((last, size, size + 1))  # by length, place, and the place before; −1 if any
    ways[0, place, -1] = 1.0
    for length in range(last):
        for here in range(size):
            for before in np.flatnonzero(ways[length, here]):
                number = ways[length, here, before]
                for there in set(edges.near[here].tolist()) - {here, before}:
                    if length + edges.length < last:
                        ways[length + edges.length, there, here] += number
                for edge in range(edges.first[here], edges.first[here] + edges.counts[here]):
                    if length + edges.lengths[edge] < last:
                        ways[length + edges.lengths[edge], edges.there[edge], -1] += number
    return np.asarray(ways.sum(axis=2) * walks._falls[:, None] * weights)


@given(st.integers(4, 14), st.integers(0, 2**32), st.floats(1.0, 4.0))
def test_each_walk_has_its_weight(size: int, seed: int, exponent: float) -> None:
    """The bounds cancel: probability times bound of the start is ν of the end times the falls."""
    walks, weights = walks_of(size, seed, exponent)
    if not walks.usable:
        return
    law = law_of_walks(walks, 0, 0)
    weighed = expected(walks, weights, 0)
    for (place, length), chance in law.items():
        assert chance * walks.bounds[0] == pytest.approx(weighed[length, place], rel=1e-12)
    assert len(law) == np.count_nonzero(weighed)


def fits(claimed: float, drawn: float) -> float:
    """The p-value of walks made with one exponent against the law of another."""
    walks, _ = walks_of(40, 5, drawn)
    law = law_of_walks(walks_of(40, 5, claimed)[0], 3, 4)
    ends = walks.make(np.full(400_000, 3), np.full(400_000, 4), seeded_rng(2))
    assert len(np.unique(ends.walks)) == len(ends.walks)
    seen = np.bincount(ends.places * 20 + ends.lengths, minlength=800)
    chances = np.zeros(800)
    for (place, length), chance in law.items():
        chances[place * 20 + length] = chance
    often = chances * 400_000 > 20
    counts = np.append(seen[often], 400_000 - seen[often].sum())
    shares = np.append(chances[often], 1.0 - chances[often].sum())
    return float(chisquare(counts, shares * 400_000).pvalue)


def test_walks_follow_their_law() -> None:
    assert fits(2.0, 2.0) > 1e-6


@pytest.mark.parametrize("drawn", [1.9, 2.1])
def test_an_exponent_off_by_5_percent_is_noticed(drawn: float) -> None:
    assert fits(2.0, drawn) < 1e-6


def test_walks_that_would_never_end_are_not_usable() -> None:
    assert walks_of(40, 5, 2.0)[0].usable
    assert not walks_of(40, 5, 0.3)[0].usable


def test_the_stated_rounding_is_that_of_sums_over_their_last_terms() -> None:
    """Rare steps come first, so the error hardly grows if they become rarer."""
    for exponent in (2.0, 12.0):
        walks, _ = walks_of(200, 5, exponent)
        terms = np.diff(walks._ends, axis=1, prepend=0.0)
        ratio = (walks._ends[:, 1:] / np.where(terms[:, 1:] > 0.0, terms[:, 1:], np.inf)).max()
        steps, ends = 16 / 2, 2 * walks._ends.shape[1] + 12
        assert steps * ends * ratio <= walks.rounding * (1.0 + 1e-9)
    assert walks.rounding < 1e6


def test_words_that_never_come_out_are_passed() -> None:
    search = even_graph(30, 1).borders
    assert search is not None
    weights = np.where(np.arange(30) % 3 == 0, 0.0, 1.0)
    walks = Walks(search.edges, weights, np.exp(-np.arange(16)))
    ends = walks.make(
        np.zeros(10_000, dtype=np.int64), np.zeros(10_000, dtype=np.int64), seeded_rng(1)
    )
    assert walks.usable
    assert np.isfinite(walks.rounding)
    assert (weights[ends.places] > 0.0).all()
