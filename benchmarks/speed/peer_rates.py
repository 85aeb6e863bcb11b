"""The part that is the same for all peers. It runs in their environments: no other package."""

import itertools
import json
import sys
import time
from collections.abc import Callable
from typing import Any

Task = dict[str, Any]


def run(prepare: Callable[[Task, str, float], Callable[[str], object]]) -> None:
    """Read a task as JSON, write a list of rates for each case, in words a second.

    `prepare(task, mechanism, epsilon)` gives the function that replaces a word.
    """
    task = json.load(sys.stdin)
    found = [_rates(prepare(task, name, epsilon), task) for name, epsilon in task["cases"]]
    print(json.dumps(found))


def _rates(replace: Callable[[str], object], task: Task) -> list[float]:
    words = itertools.cycle(task["words"])
    replace(next(words))  # what happens once is not counted
    found = []
    for _ in range(task["repeats"]):
        begun, done = time.perf_counter(), 0
        while time.perf_counter() - begun < task["seconds"]:
            replace(next(words))
            done += 1
        found.append(done / (time.perf_counter() - begun))
    return found
