"""Factors of odds on a page, as people write numbers."""

import pytest

from malaprop.report.run_report import _factor


@pytest.mark.parametrize(
    ("loss", "text"),
    [(0.5, "1.65"), (5.97, "392"), (7.64, "2,080"), (11.9, "148,000"), (12.07, "e^12.07")],
)
def test_factors_are_rounded_up_and_have_no_exponent_of_ten(loss: float, text: str) -> None:
    assert _factor(loss) == text
