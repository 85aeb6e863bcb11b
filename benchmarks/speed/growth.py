"""How cost grows with the number of tokens, from text file to text file."""

from __future__ import annotations

import statistics
from functools import partial
from itertools import pairwise
from typing import Any

from markdown import grid
from privatizing import MECHANISMS, SHOWN, WORKERS, privatize
from sizes import Size
from timing import rounds, spread
from zipf import different, of_tokens

TITLE = "Cost against tokens"
EPSILON = 1.5
ABOUT = f"""\
ε = {EPSILON:g}, {WORKERS[0]} processes. A *further token* costs the difference to the row before,
divided by the tokens between them. Where that stays the same, cost grows linearly. It is higher
where the number of different words still grows, because some work is done once for each.

![Seconds against tokens](growth.svg)

"""


def rows(size: Size) -> list[dict[str, Any]]:
    """Seconds for each mechanism and number of tokens."""
    cases = {
        (mechanism, tokens): partial(privatize, of_tokens(tokens), mechanism, EPSILON, WORKERS[0])
        for tokens in size.growth
        for mechanism in MECHANISMS
    }
    return [
        {"mechanism": mechanism, "tokens": tokens, "words": different(tokens), "seconds": times}
        for (mechanism, tokens), times in rounds(cases, size.repeats, size.time).items()
    ]


def table(rows: list[dict[str, Any]], found: dict[str, Any]) -> str:
    """Seconds, and microseconds for each token more."""
    lines = []
    for mechanism, name in SHOWN.items():
        own = [row for row in rows if row["mechanism"] == mechanism]
        further = ["", *(f"{_further(*pair):.2f}" for pair in pairwise(own))]
        lines += [
            (name, f"{row['tokens']:,}", f"{row['words']:,}", spread(row["seconds"], ".2f"), more)
            for row, more in zip(own, further, strict=True)
        ]
    headings = ("mechanism", "tokens", "different words", "seconds", "µs a further token")
    return ABOUT + grid(headings, lines)


def _further(before: dict[str, Any], row: dict[str, Any]) -> float:
    more: float = statistics.median(row["seconds"]) - statistics.median(before["seconds"])
    return 1e6 * more / float(row["tokens"] - before["tokens"])
