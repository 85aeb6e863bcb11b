"""Work on all cores: NumPy's loops over large arrays run side by side."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_MOST_THREADS = 8  # each has large arrays of its own

In = TypeVar("In")
Out = TypeVar("Out")


def in_threads(function: Callable[[In], Out], items: Sequence[In]) -> Iterator[Out]:
    """function(item) for all items in order, some at a time."""
    workers = min(os.cpu_count() or 1, _MOST_THREADS)
    with ThreadPoolExecutor(workers) as pool:
        for start in range(0, len(items), workers):  # so that an interruption waits for few
            yield from pool.map(function, items[start : start + workers])
