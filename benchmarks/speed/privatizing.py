"""From text file to text file: `malaprop privatize FILE -o OUT`, with its start."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import peers
from folders import cached
from markdown import grid
from sizes import Size
from timing import MALAPROP, ratios, rounds, seconds, spread
from zipf import of_tokens

TITLE = "Text file in, text file out"
MECHANISMS = ("tem", "balanced")
WORKERS = (2, 1)
SHOWN = {"tem": "TEM", "balanced": "Balanced"}
ABOUT = """\
`malaprop privatize` with `english`, from start to end of the process. The text has {tokens:,} words
by Zipf's law{all}. Aims: 500,000 tokens/s, and 10,000 times the best
peer's TEM at the same ε.

![Tokens per second against ε](speed.svg)

"""


def privatize(source: Path, mechanism: str, epsilon: float, workers: int) -> float:
    """Seconds for a text file."""
    output = cached("private.txt")
    options = ["--epsilon", str(epsilon), "--mechanism", mechanism, "--workers", str(workers)]
    return seconds([MALAPROP, "privatize", source, "-o", output, "--force", "--quiet", *options])


def rows(size: Size) -> list[dict[str, Any]]:
    """Tokens a second for each mechanism, ε and number of processes."""
    text = of_tokens(size.tokens, size.every)
    cases = {
        (mechanism, epsilon, workers): partial(privatize, text, mechanism, epsilon, workers)
        for mechanism in MECHANISMS
        for epsilon in size.epsilons
        for workers in WORKERS
        if workers == WORKERS[0] or epsilon == size.epsilons[len(size.epsilons) // 2]
    }
    return [
        {
            "mechanism": mechanism,
            "epsilon": epsilon,
            "workers": workers,
            "tokens": size.tokens,
            "every": size.every,
            "rates": [size.tokens / taken for taken in times],
        }
        for (mechanism, epsilon, workers), times in rounds(cases, size.repeats, size.time).items()
    ]


def table(rows: list[dict[str, Any]], found: dict[str, Any]) -> str:
    """Rates, and ratios to the best peer's TEM of the same ε."""
    lines = []
    for row in rows:
        name, epsilon, rates = SHOWN[row["mechanism"]], row["epsilon"], row["rates"]
        peer = peers.best(found, "TEM", epsilon)
        times = spread(ratios(rates, peer)) if peer else ""
        lines.append((name, f"{epsilon:g}", str(row["workers"]), spread(rates), times))
    headings = ("mechanism", "ε", "processes", "tokens/s", "times the best peer")
    every = ", all of the lexicon's among them" if rows[0].get("every", True) else ""
    about = ABOUT.format(tokens=rows[0]["tokens"], all=every)
    return about + grid(headings, lines) + "\n" + _two_against_one(rows)


def _two_against_one(rows: list[dict[str, Any]]) -> str:
    rates = {(row["mechanism"], row["epsilon"], row["workers"]): row["rates"] for row in rows}
    lines = []
    for (name, epsilon, workers), alone in rates.items():
        if workers == 1:
            times = spread(ratios(rates[name, epsilon, 2], alone), ".2f")
            lines.append((f"{SHOWN[name]}, ε = {epsilon:g}", times))
    return grid(("mechanism", "two processes, times as fast as one"), lines)
