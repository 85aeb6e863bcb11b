"""Means with their errors: over draws of the noise, and over splits."""

import math

import pytest

from malaprop.studies.framework.measuring import mean_of, over_both


def test_a_table_has_an_error_over_draws_and_one_over_splits() -> None:
    table = [[0.1, 0.5], [0.3, 0.7]]  # two draws of the noise, each on two splits
    draws, splits = over_both("accuracy", table, shared=0.25)
    assert [draws.value, splits.value] == pytest.approx([0.4, 0.4])
    assert "spread" not in draws.setting  # that of the cell stands
    assert splits.setting == {"spread": "splits"}
    assert draws.error == pytest.approx(0.1)  # 0.3 and 0.5
    spread = math.sqrt(2) * 0.2  # 0.2 and 0.6
    assert splits.error == pytest.approx(spread * math.sqrt(1 / 2 + 0.25))


def test_one_draw_has_no_error() -> None:
    assert mean_of("accuracy", [0.5]).error is None
    assert next(iter(over_both("accuracy", [[0.1, 0.5]], shared=0.0))).error is None
