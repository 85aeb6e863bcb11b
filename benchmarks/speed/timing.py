"""Time commands and functions, and sum up repeats.

Repeats go round all cases, one of each in turn, so that a machine that slows down or is shared
slows all cases alike, and ratios hold.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

Case = TypeVar("Case", bound=Hashable)
MALAPROP = Path(sys.executable).with_name("malaprop")


def seconds(command: Sequence[str | Path], timeout: float | None = None) -> float:
    """How long a command takes from start to end; what it says is shown only if it fails."""
    begun = time.perf_counter()
    done = subprocess.run([str(one) for one in command], capture_output=True, timeout=timeout)
    taken = time.perf_counter() - begun
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stderr.decode(errors='replace')[-2000:]}")
    return taken


def rounds(
    cases: Mapping[Case, Callable[[], float]], repeats: int, budget: float
) -> dict[Case, list[float]]:
    """What each case gives, in up to so many rounds, as long as the time allows another one."""
    found: dict[Case, list[float]] = {case: [] for case in cases}
    begun = time.perf_counter()
    for turn in range(1, repeats + 1):
        for case, run in cases.items():
            shown = ", ".join(map(str, case)) if isinstance(case, tuple) else str(case)
            say(f"round {turn} of at most {repeats}: {shown}")
            found[case].append(run())
        spent = time.perf_counter() - begun
        if spent * (turn + 1) / turn > budget:
            break
    return found


def say(what: str) -> None:
    """Show what is being done: in place on a terminal, line by line elsewhere."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K  {what[:100]}", end="", file=sys.stderr, flush=True)
    else:
        print(f"  {what}", file=sys.stderr, flush=True)


def spread(values: Sequence[float], digits: str = ",.0f") -> str:
    """The median, and the least and the greatest where there are several.

    >>> spread([3.0, 1.0, 2.0], ".1f")
    '2.0 (1.0 to 3.0)'
    """
    middle = format(statistics.median(values), digits)
    low, high = format(min(values), digits), format(max(values), digits)
    return middle if low == high else f"{middle} ({low} to {high})"


def ratios(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """All that a ratio can be, of any of our repeats to any of theirs, about their medians.

    >>> ratios([4.0, 8.0, 9.0], [2.0])
    [2.0, 4.0, 4.5]
    """
    middle = statistics.median(ours) / statistics.median(theirs)
    return [min(ours) / max(theirs), middle, max(ours) / min(theirs)]


def processor_seconds() -> tuple[float, float]:
    """What all processes of the machine have used so far, and what this one and its children have.

    Both 0 where the system does not tell.
    """
    stat = Path("/proc/stat")
    if not stat.exists():
        return 0.0, 0.0
    user, nice, system, _, _, irq, soft, steal = map(int, stat.read_text().split()[1:9])
    every = (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")
    return every, sum(os.times()[:4])
