"""The measure of linear time finds quadratic time."""

import re

from tests.text.linear import is_linear


def test_quadratic_time_is_found() -> None:
    assert is_linear(re.compile("[^>]").findall, "<a ")
    assert not is_linear(re.compile("<a [^>]*>").findall, "<a ")
