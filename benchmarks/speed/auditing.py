"""The audited exponent: TEM's guarantee checked over all pairs of words of a lexicon."""

from __future__ import annotations

import os
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

import peers
from folders import cached
from markdown import grid
from sizes import Size
from timing import MALAPROP, say, seconds, spread

TITLE = "Audited exponent"
ABOUT = """\
Euclidean distances, all pairs of words. The first command finds the largest exponent for each ε of
a grid, the second for one ε, the third checks the guarantee of one ε. Aim: 90 s for one ε on 33,000
words.

"""
_ALL = 32_781


def rows(size: Size) -> list[dict[str, Any]]:
    """Seconds to find the exponents of a lexicon, that of one ε, and to check one ε."""
    name, words = ("english", _ALL) if not size.audited else (str(_first(size)), size.audited)
    found = []
    with tempfile.TemporaryDirectory() as home:
        os.environ["MALAPROP_HOME"] = home  # where an audit is kept
        for shown, command in _commands(name).items():
            say(f"{shown}, {words:,} words")
            taken = seconds([MALAPROP, *command])
            found.append({"command": shown, "words": words, "seconds": [taken]})
        del os.environ["MALAPROP_HOME"]
    return found


def _commands(name: str) -> dict[str, list[str]]:
    options = ["--mechanism", "tem", "--epsilon", "1.5", "--lexicon", name]
    return {
        "malaprop lexicon audit": ["lexicon", "audit", name, "--force"],
        "malaprop lexicon audit -e 1.5": ["lexicon", "audit", name, "-e", "1.5", "--force"],
        "malaprop audit -m tem -e 1.5": ["audit", *options],
    }


def _first(size: Size) -> Path:
    """The most common words of `english`, as a file."""
    path = cached(f"first-{size.audited}.txt")
    with peers.vectors().open(encoding="utf-8") as file:
        path.write_text("".join(islice(file, size.audited)), encoding="utf-8")
    return path


def table(rows: list[dict[str, Any]], found: dict[str, Any]) -> str:
    """Seconds of the commands."""
    lines = [
        (f"`{row['command']}`", f"{row['words']:,}", spread(row["seconds"], ".1f")) for row in rows
    ]
    return ABOUT + grid(("command", "words", "seconds"), lines)
