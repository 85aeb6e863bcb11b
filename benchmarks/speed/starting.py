"""What a fresh process takes to begin."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

from markdown import grid
from sizes import Size
from timing import MALAPROP, rounds, seconds, spread

TITLE = "Cold start"
OPEN = """
import time, malaprop
begun = time.perf_counter()
malaprop.Lexicon.open("english")
print(time.perf_counter() - begun)
"""
SENTENCE = """
import malaprop
malaprop.Privatizer(epsilon=1.5)("The patient was given aspirin.").text
"""
ABOUT = """\
Each runs in a fresh process, timed from start to end unless stated otherwise. Files are in the
system's cache.

"""
AIMS = {"import malaprop": 0.25, "malaprop --help": 0.4, "Lexicon.open": 0.3, "first sentence": 1.5}
SHOWN = {
    "python": "`python -c pass`, for comparison",
    "import malaprop": "`python -c 'import malaprop'`",
    "malaprop --help": "`malaprop --help`",
    "Lexicon.open": '`Lexicon.open("english")`, the call alone, in a fresh process',
    "first sentence": "`python -c`: import, `Privatizer(epsilon=1.5)`, a sentence",
}


def rows(size: Size) -> list[dict[str, Any]]:
    """Seconds of each way to begin."""
    python = [sys.executable, "-c"]
    cases: dict[str, Callable[[], float]] = {
        "python": lambda: seconds([*python, "pass"]),
        "import malaprop": lambda: seconds([*python, "import malaprop"]),
        "malaprop --help": lambda: seconds([MALAPROP, "--help"]),
        "Lexicon.open": lambda: _printed([*python, OPEN]),
        "first sentence": lambda: seconds([*python, SENTENCE]),
    }
    for run in cases.values():
        run()
    found = rounds(cases, size.starts, float("inf"))
    return [{"what": name, "seconds": times} for name, times in found.items()]


def _printed(command: list[str]) -> float:
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def table(rows: list[dict[str, Any]], found: dict[str, Any]) -> str:
    """Seconds beside the aims."""
    lines = [
        (SHOWN[row["what"]], spread(row["seconds"], ".3f"), f"{AIMS.get(row['what'], '')}")
        for row in rows
    ]
    return ABOUT + grid(("what", "seconds", "aim"), lines)
