"""Tells linear time from quadratic time."""

import time
from collections.abc import Callable

LENGTH = 12_500


def is_linear(function: Callable[[str], object], unit: str, start: str = "") -> bool:
    """Tell whether a text four times as long takes less than eight times as long.

    It takes four times as long if the time is linear, and sixteen if it is quadratic. The machine
    may be busy, so one good try of three is enough.
    """
    return any(_ratio(function, unit, start) < 8 for _ in range(3))


def _ratio(function: Callable[[str], object], unit: str, start: str) -> float:
    lengths = (LENGTH // len(unit), 4 * LENGTH // len(unit))
    short, long = (_seconds(function, start + unit * length) for length in lengths)
    return long / (short + 0.003)  # differences of milliseconds say nothing


def _seconds(function: Callable[[str], object], text: str) -> float:
    started = time.process_time()
    function(text)
    return time.process_time() - started
