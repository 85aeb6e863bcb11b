"""Figures about lexicons and distributions, against sums written out by hand."""

import math

import numpy as np
import pytest
from scipy.stats import skew

from malaprop import Lexicon, ParameterError, seeded_rng
from malaprop.measure.neighbourhoods import nearest_distances, skewness


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

    def test_it_says_nothing_about_privacy(self) -> None:
        """Half of the words in clear: N_w is 1 for them and 0 for the others."""
        assert skewness([1.0] * 50 + [0.0] * 50) == pytest.approx(0.0, abs=1e-12)
        clear = [1.0] * 706 + [0.0] * 294
        assert skewness(clear) == pytest.approx(-0.90, abs=0.01)

    def test_without_spread_there_is_none(self) -> None:
        assert math.isnan(skewness([2.0, 2.0, 2.0, 2.0]))
        assert math.isnan(skewness([1.0, 2.0]))

    def test_a_text_among_the_values_is_not_quoted(self) -> None:
        with pytest.raises(ParameterError, match="list of numbers") as caught:
            skewness([1.0, "my secret"])
        assert "secret" not in str(caught.value)
