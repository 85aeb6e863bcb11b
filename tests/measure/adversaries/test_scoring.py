"""Intervals of what attacks recover."""

from typing import Any

import numpy as np
import pytest

from malaprop.measure.adversaries import recovered_share


def interval(hits: Any, lengths: Any, rng: Any) -> tuple[float, float]:
    return recovered_share(np.atleast_2d(hits), lengths, rng).interval


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    """Over texts that share their luck: an interval over words would be far too short."""
    rng = np.random.Generator(np.random.PCG64(6))
    covered = 0
    for _ in range(200):
        lucky = rng.random(60) < 0.4
        hits = np.repeat(lucky, 20)
        low, high = interval(hits, np.full(60, 20), rng)
        covered += low <= 0.4 <= high
    assert 176 <= covered <= 199


def test_the_interval_covers_texts_and_draws_as_often_as_it_says() -> None:
    """Texts differ, and each draw has its own luck: more draws narrow the latter part alone."""
    rng = np.random.Generator(np.random.PCG64(8))
    covered, widths = 0, {1: 0.0, 5: 0.0}
    for _ in range(200):
        chances = np.repeat(rng.choice([0.2, 0.6], size=60), 20)
        hits = rng.random((5, 60 * 20)) < chances
        for draws in widths:
            low, high = interval(hits[:draws], np.full(60, 20), rng)
            widths[draws] += (high - low) / 200
        covered += low <= 0.4 <= high
    assert 176 <= covered <= 199
    # Of a text's share: between texts 0.04, and 0.2/20 from the noise of one draw.
    expected = ((0.04 + 0.2 / 20 / 5) / (0.04 + 0.2 / 20)) ** 0.5
    assert widths[5] / widths[1] == pytest.approx(expected, abs=0.02)


def test_a_few_long_texts_have_an_interval_too() -> None:
    rng = np.random.Generator(np.random.PCG64(6))
    low, high = interval(rng.random(1000) < 0.4, np.array([700, 0, 300]), rng)
    assert low < 0.4 < high < low + 0.2


@pytest.mark.parametrize("words", [4, 20, 60])
def test_the_interval_of_a_few_words_is_wide_enough(words: int) -> None:
    """A bootstrap over one or two runs of words would be of no width, or nearly."""
    rng = np.random.Generator(np.random.PCG64(9))
    covered = 0
    for _ in range(200):
        low, high = interval(rng.random(words) < 0.4, np.array([words]), rng)
        covered += low <= 0.4 <= high
    assert covered >= 181  # of 200 at 95 % or more: fewer once in 700


def test_words_that_are_all_recovered_do_not_make_a_certainty() -> None:
    rng = np.random.Generator(np.random.PCG64(9))
    low, high = interval(np.ones((5, 300), dtype=bool), np.full(30, 10), rng)
    assert low == pytest.approx(0.025 ** (1 / 300))
    assert high == 1.0
