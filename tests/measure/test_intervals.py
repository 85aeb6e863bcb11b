"""Bootstrap intervals of means: how often they cover the truth."""

import numpy as np

from malaprop import seeded_rng
from malaprop.privacy.estimate import bootstrap_interval, bootstrap_intervals


def test_they_cover_the_truth_as_often_as_they_say() -> None:
    """Of skewed values, 60 each: an interval of 95 % covers the mean in 93 % of cases or so."""
    rng = seeded_rng(5)
    values = rng.exponential(size=(60, 400))
    found = bootstrap_intervals(values, rng)
    covered = ((found[:, 0] <= 1.0) & (found[:, 1] >= 1.0)).mean()
    assert 0.88 < covered < 0.97


def test_they_follow_the_seed_and_stay_within_the_values() -> None:
    shares = np.array([0.0] * 9 + [1.0])
    low, high = bootstrap_interval(shares, seeded_rng(1))
    assert (low, high) == bootstrap_interval(shares, seeded_rng(1))
    assert 0.0 <= low <= 0.1 <= high <= 1.0
    assert bootstrap_interval(np.array([0.3]), seeded_rng(1)) == (0.3, 0.3)
