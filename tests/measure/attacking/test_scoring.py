"""Intervals of what attacks recover."""

import numpy as np

from malaprop.measure.attacking.scoring import interval


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


def test_a_few_long_texts_have_an_interval_too() -> None:
    rng = np.random.Generator(np.random.PCG64(6))
    low, high = interval(rng.random(1000) < 0.4, np.array([700, 0, 300]), rng)
    assert low < 0.4 < high < low + 0.2
