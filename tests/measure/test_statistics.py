"""Figures about a channel, against sums written out by hand."""

import math

import numpy as np
import pytest
from scipy.stats import skew

from malaprop import TEM, Laplace, Lexicon, seeded_rng
from malaprop.measure.statistics import nearest_distances, skewness, spread, unchanged_share


def test_the_share_is_the_mean_of_staying(plane: Lexicon) -> None:
    channel = TEM(epsilon=1.5).on(plane)
    law = np.exp(channel.log_probabilities(range(len(plane))))
    assert unchanged_share(channel) == pytest.approx(np.mean(np.diag(law)), abs=1e-12)


@pytest.mark.parametrize(("epsilon", "share"), [(1e-9, 1 / 3), (200.0, 1.0)])
def test_the_share_at_both_ends(line: Lexicon, epsilon: float, share: float) -> None:
    channel = TEM(epsilon=epsilon, gamma=9.0).on(line)
    assert unchanged_share(channel) == pytest.approx(share, abs=1e-6)


def test_the_share_of_laplace_on_a_line(line: Lexicon) -> None:
    """On a line, Laplace noise has e^(-εx)/2 of its mass beyond x, which gives the share exactly.

    Zero keeps its half line up to 1/2, one the interval (1/2, 2), three the half line from 2.
    """
    epsilon = 1.3
    tails = [math.exp(-epsilon * x) / 2 for x in (0.5, 0.5, 1.0, 1.0)]
    exact = ((1 - tails[0]) + (1 - tails[1] - tails[2]) + (1 - tails[3])) / 3
    channel = Laplace(epsilon=epsilon).on(line)
    rng = seeded_rng(3)
    found = np.mean([unchanged_share(channel, rng) for _ in range(2_000)])  # 24,000 draws
    error = math.sqrt(exact * (1 - exact) / 24_000)
    assert abs(found - exact) < 4 * error
    # The test can tell a share that is off by 5 %.
    assert abs(found - 0.95 * exact) > 4 * error
    assert abs(found - 1.05 * exact) > 4 * error


def test_the_words_are_spread_over_the_lexicon() -> None:
    ids = spread(100_000, 512)
    assert len(ids) == 512
    assert (ids[0], ids[-1]) == (0, 99_999)
    assert set(np.diff(ids).tolist()) <= {195, 196}
    assert spread(3, 512).tolist() == [0, 1, 2]
    assert spread(1, 512).tolist() == [0]


def test_nearest_distances(line: Lexicon) -> None:
    low, middle, high = nearest_distances(line)  # of 1, 1 and 2
    assert middle == 1.0
    assert (low, high) == pytest.approx((1.0, 1.9))


def test_nearest_distances_of_a_larger_lexicon() -> None:
    words = [f"w{i}" for i in range(2_000)]
    evenly = Lexicon(words, np.arange(2_000.0).reshape(-1, 1) * 3)
    assert nearest_distances(evenly) == (3.0, 3.0, 3.0)


class TestSkewness:
    def test_the_reference(self) -> None:
        assert skewness([1, 2, 3, 10]) == pytest.approx(1.76363261480389, abs=1e-14)

    def test_it_is_scipys_with_the_bias_removed(self) -> None:
        values = seeded_rng(1).gamma(2.0, size=50)
        assert skewness(values) == pytest.approx(float(skew(values, bias=False)), rel=1e-12)

    def test_it_says_nothing_of_privacy(self) -> None:
        """Half of the words in clear: N_w is 1 for them and 0 for the others."""
        assert skewness([1.0] * 50 + [0.0] * 50) == pytest.approx(0.0, abs=1e-12)
        clear = [1.0] * 706 + [0.0] * 294
        assert skewness(clear) == pytest.approx(-0.90, abs=0.01)

    def test_without_spread_there_is_none(self) -> None:
        assert math.isnan(skewness([2.0, 2.0, 2.0, 2.0]))
        assert math.isnan(skewness([1.0, 2.0]))
