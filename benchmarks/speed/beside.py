"""Benchmarks that stand alone beside this suite, and print Markdown: run, and put on the page."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any

from folders import BENCHMARKS
from sizes import Size
from timing import say


@dataclass(frozen=True)
class Script:
    """A script `benchmarks/NAME.py`, with its arguments for a size; without, it is not run."""

    TITLE: str
    name: str
    about: str = ""
    arguments: dict[str, list[str]] = field(default_factory=dict)

    def rows(self, size: Size) -> list[dict[str, Any]]:
        """What it prints."""
        path = BENCHMARKS / f"{self.name}.py"
        if size.name not in self.arguments or not path.exists():
            say(f"{self.name}: not a part of the {size.name} run")
            return []
        command = [sys.executable, str(path), *self.arguments[size.name]]
        say(" ".join(command[1:]))
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            raise RuntimeError(f"benchmarks/{self.name}.py failed: what it says is above.")
        return [
            {"command": " ".join(["python", f"benchmarks/{path.name}", *command[2:]])},
            {"text": done.stdout},
        ]

    def table(self, rows: list[dict[str, Any]], found: dict[str, Any]) -> str:
        """What it printed."""
        return f"{self.about}By `{rows[0]['command']}`:\n\n{rows[1]['text'].strip()}\n"


DECODING = Script(
    "Exact search for the nearest word",
    "decoding",
    """\
Random vectors with Laplace noise. Aim: 0.85 times the rate of the bare product, in the same
repeat. "wrong" counts words that are not the nearest in float64.

""",
    {
        "full": ["--repeats", "7"],
        "quick": ["--sizes", "33000x300", "--repeats", "3", "--queries", "1024"],
    },
)
NEIGHBOURS = Script(
    "Exact graph of nearest words",
    "neighbours",
    """\
The ten nearest words of each of the random vectors. Aim: at most 1.1 times faiss' time. faiss works
in float32. "differ" counts the words whose neighbours, in order, are not those of float64.

""",
    {"full": ["--repeats", "2"], "quick": ["--words", "6000", "--repeats", "3"]},
)
