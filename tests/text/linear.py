"""Tells linear time from quadratic time."""

import gc
import time
from collections.abc import Callable

LENGTH = 12_500
TRIES = 5
SLACK = 0.003  # seconds: smaller differences say nothing


def is_linear(function: Callable[[str], object], unit: str, start: str = "") -> bool:
    """Tell whether a text four times as long takes less than eight times as long.

    It takes four times as long if the time is linear, and sixteen if it is quadratic. Other work
    on the machine only adds to a time, so the least of several is compared with the least.
    """
    lengths = (LENGTH // len(unit), 4 * LENGTH // len(unit))
    short, long = (start + unit * length for length in lengths)
    most = 8 * (min(_seconds(function, short) for _ in range(TRIES)) + SLACK)
    return any(_seconds(function, long) < most for _ in range(TRIES))


def _seconds(function: Callable[[str], object], text: str) -> float:
    # Collecting garbage takes time that depends on all that the process holds.
    gc.disable()
    try:
        started = time.process_time()
        function(text)
        return time.process_time() - started
    finally:
        gc.enable()
