"""Laplace and Mahalanobis against the matrix product that finding the nearest words comes down to.

Both decode exactly: each noisy vector is compared with all words. So the yardstick is `A @ B.T` in
float32, A with a row for each token and B with one for each word. Each repeat times the product
beside the mechanisms.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import peers
from markdown import grid
from numpy.typing import NDArray
from sizes import Size
from timing import ratios, rounds, spread
from zipf import token_ids

import malaprop

Floats32 = NDArray[np.float32]
TITLE = "Noise, then the nearest word"
AIM = 0.85  # times the product's rate
PRODUCT = "A @ B.T"
SHOWN = {PRODUCT: "the product `A @ B.T`"}
ABOUT = f"""\
{{tokens:,}} tokens, all words of `english`, ε = {peers.NOISY_EPSILON:g}, in a warm process.
Aim: {AIM} times the rate of the product, which is measured in the same repeat.

"""
_BLOCK = 512  # rows: what fits into memory, whatever the number of tokens


def rows(size: Size) -> list[dict[str, Any]]:
    """Tokens a second of the mechanisms and of the product."""
    lexicon, count = malaprop.Lexicon.open("english"), size.rows
    ids, rng = token_ids(len(lexicon), count), malaprop.secure_rng()
    every = np.ascontiguousarray(lexicon.vectors, dtype=np.float32)
    some = every[ids]
    runs: dict[str, Any] = {PRODUCT: lambda: _multiply(some, every)}
    for made in (malaprop.Laplace, malaprop.Mahalanobis):
        channel = made(epsilon=peers.NOISY_EPSILON).on(lexicon)
        runs[made.__name__] = lambda channel=channel: channel.substitute(ids, rng)
    for run in runs.values():
        run()  # what happens once is not counted
    cases = {name: lambda run=run: count / _taken(run) for name, run in runs.items()}
    found = rounds(cases, 2 * size.repeats + 1, size.time)
    return [{"work": name, "tokens": count, "rates": rates} for name, rates in found.items()]


def _multiply(some: Floats32, every: Floats32) -> None:
    """The bare product, in blocks that are thrown away."""
    out = np.empty((_BLOCK, len(every)), dtype=np.float32)
    for start in range(0, len(some), _BLOCK):
        part = some[start : start + _BLOCK]
        np.matmul(part, every.T, out=out[: len(part)])


def _taken(run: Any) -> float:
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def table(rows: list[dict[str, Any]], found: dict[str, Any]) -> str:
    """Rates, and ratios to the product of the same repeat and to the best peer."""
    product = next(row["rates"] for row in rows if row["work"] == PRODUCT)
    lines = []
    for row in rows:
        name, rates = row["work"], row["rates"]
        beside = [ours / bare for ours, bare in zip(rates, product, strict=True)]
        peer = peers.best(found, name, peers.NOISY_EPSILON)
        times = spread(ratios(rates, peer)) if peer else ""
        lines.append((SHOWN.get(name, name), spread(rates), spread(beside, ".2f"), times))
    headings = ("work", "tokens/s", "times the product", "times the best peer")
    return ABOUT.format(tokens=rows[0]["tokens"]) + grid(headings, lines)
