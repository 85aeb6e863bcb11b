"""Margins count the choice of words and the draws, and are wide where little is known."""

import numpy as np
import pytest

from malaprop.measure.calibration import highest_share, margin, tail

TWO = np.array([[0.1, 0.5]])


def test_few_words_of_many_tell_little_of_the_error() -> None:
    assert margin(TWO, whole=False) == pytest.approx(6.3138 * 0.2, rel=1e-4)  # Student's t
    assert margin(TWO, whole=True) == 0.0
    many = np.tile(TWO, 50)
    assert margin(many, whole=False) == pytest.approx(1.645 * 0.2 / 99**0.5, rel=1e-3)


def test_batches_tell_the_error_of_draws() -> None:
    assert margin(np.array([[0.2, 0.2], [0.4, 0.4]]), whole=True) == pytest.approx(
        6.3138 * 0.1, rel=1e-4
    )


def test_a_share_of_no_draw_may_still_be_above_0() -> None:
    assert highest_share(0.0, 128) == pytest.approx(1.0 - 0.05 ** (1 / 128))


def test_the_tail_of_a_sample_is_beyond_that_of_its_words() -> None:
    values = np.linspace(0.0, 1.0, 101)
    whole, sample = tail(values, 0.1, whole=True), tail(values, 0.1, whole=False)
    assert (whole.value, whole.unsafe) == (0.9, 0.9)
    assert sample.value == 0.9
    assert sample.unsafe == pytest.approx(0.95)  # 1.645·√(101·0.1·0.9) = 4.96 places beyond
    drawn = tail(values, 0.0, whole=False, runs=100)
    assert drawn.value == drawn.unsafe == 1.0
