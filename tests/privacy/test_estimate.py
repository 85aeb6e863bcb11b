"""Figures with their errors, and how often intervals cover the truth."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from malaprop import seeded_rng
from malaprop.privacy.estimate import Estimate, bootstrap_intervals


def test_they_cover_the_truth_as_often_as_they_say() -> None:
    """Of skewed values, 60 each: an interval of 95 % covers the mean in 93 % of cases or so."""
    rng = seeded_rng(5)
    values = rng.exponential(size=(60, 400))
    found = bootstrap_intervals(values, rng)
    covered = ((found[:, 0] <= 1.0) & (found[:, 1] >= 1.0)).mean()
    assert 0.88 < covered < 0.97


def test_they_follow_the_seed_and_stay_within_the_values() -> None:
    shares = np.array([0.0] * 9 + [1.0])
    low, high = Estimate.of_sample(shares, seeded_rng(1)).interval
    assert (low, high) == Estimate.of_sample(shares, seeded_rng(1)).interval
    assert 0.0 <= low <= 0.1 <= high <= 1.0
    assert Estimate.of_sample(np.array([0.3]), seeded_rng(1)).interval == (0.3, 0.3)


def test_the_interval_of_runs_that_share_texts_is_wider() -> None:
    values = [0.7, 0.72, 0.69, 0.75, 0.71]
    plain, shared = Estimate.of_runs(values), Estimate.of_runs(values, shared=1 / 3)
    assert plain.value == shared.value == pytest.approx(np.mean(values))
    # Student's t with 4 degrees of freedom, by the tables: 2.776.
    margin = 2.7764451 * np.std(values, ddof=1) / 5**0.5
    assert plain.interval[1] - plain.value == pytest.approx(margin)
    ratio = (shared.interval[1] - shared.value) / margin
    assert ratio == pytest.approx((1 + 5 / 3) ** 0.5)
    assert Estimate.of_runs([0.99, 0.9, 1.0]).interval[1] == 1.0


def test_one_run_has_the_interval_of_its_test_texts() -> None:
    alone = Estimate.of_runs([0.5], tested=20)
    # Clopper and Pearson, 10 of 20, by the tables.
    assert alone.interval == pytest.approx((0.272, 0.728), abs=0.001)
    assert Estimate.of_runs([1.0, 1.0], tested=20).interval[0] == pytest.approx(0.025 ** (1 / 20))
    thrice = Estimate.of_runs([0.7] * 3, tested=20)  # whose mean is not 0.7, to the last digit
    assert thrice.interval == pytest.approx(Estimate.of_runs([0.7], tested=20).interval)
    assert Estimate.of_runs([0.5]).interval == (0.5, 0.5)


def test_a_figure_says_its_error_unless_it_is_exact_or_a_bound() -> None:
    share = Estimate.of_share(10, 20, over="words")
    assert f"{share:.3f}" == "0.500 (0.272 to 0.728)"
    assert f"{replace(share, bound='at most'):.0%}" == "at most 50%"
    assert str(Estimate.exact(0.25)) == "0.25"


def test_a_figure_has_plain_values_for_json() -> None:
    runs = Estimate.of_runs([0.7, 0.8, 0.9])
    plain = json.loads(json.dumps(runs.to_dict()))
    assert list(plain) == ["value", "spread", "interval", "values"]
    assert plain == runs.to_dict()


def test_unknown_degrees_of_freedom_decide_nothing() -> None:
    assert Estimate.of_errors(1.0, (0.1, None)).interval == (-math.inf, math.inf)
    assert Estimate.of_errors(1.0, (None, None)).is_exact
