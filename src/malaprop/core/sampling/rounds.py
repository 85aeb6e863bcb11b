"""Draws by rejection, in rounds: as many tries as are likely to be needed, until enough succeed.

Whether a try succeeds, and which word it then gives, are independent. So the number of tries may be
chosen before them: docs/proofs/sampling.md.
"""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids


class Trying(Protocol):
    """Rows of a law that are drawn from by tries."""

    def tries(self, rows: Ids, counts: Ids, rng: Generator) -> tuple[Ids, Ids]:
        """Try `counts[i]` times in row `rows[i]`; return the words, and how many each row got."""


class Pace(NamedTuple):
    """How many tries to make in a round."""

    spare: int
    """Tries of each row beyond those that are expected to be needed."""
    together: int
    """About how many tries to make at a time, so that they fit a processor's cache, or memory."""
    most: int
    """The most tries of a row in a round, however many are wanted."""
    divided: bool = False
    """Whether all rows of a round share `most`."""


def draw_in_rounds(
    law: Trying, rates: Floats, least: Ids, counts: Ids, pace: Pace, rng: Generator
) -> list[Ids]:
    """Draw about `counts[i]` words from row i, at least `least[i]`, and no more than `counts[i]`.

    `rates` are about the shares of tries that succeed in each row.
    """
    parts: list[list[Ids]] = [[] for _ in counts]
    drawn, tried = np.zeros_like(counts), np.zeros_like(counts)
    while (short := np.flatnonzero(drawn < least)).size:
        # As many tries as the rate of success so far suggests, and a few more.
        rate = (drawn[short] + 8.0 * rates[short]) / (tried[short] + 8.0)
        most = max(16, pace.most // len(short)) if pace.divided else pace.most
        tries = ((counts[short] - drawn[short]) / rate).astype(np.int64) + pace.spare
        tries = np.minimum(tries, most)
        for some in _blocks(tries, pace.together):
            rows = short[some]
            words, successes = law.tries(rows, tries[some], rng)
            ends = np.cumsum(successes).tolist()
            for row, start, end in zip(rows.tolist(), [0, *ends[:-1]], ends, strict=True):
                parts[row].append(words[start:end])
            drawn[rows] += successes
            tried[rows] += tries[some]
    return [
        (words[0] if len(words) == 1 else np.concatenate([_NONE, *words]))[:count]
        for words, count in zip(parts, counts.tolist(), strict=True)
    ]


_NONE: Ids = np.empty(0, dtype=np.int64)


def _blocks(tries: Ids, together: int) -> Iterable[slice]:
    """Cut rows into runs with about `together` tries each: one, unless many draws are wanted."""
    if tries.sum() <= together:
        return (slice(None),)
    block = (np.cumsum(tries) - tries) // together
    starts = np.flatnonzero(np.diff(block, prepend=-1)).tolist()
    return map(slice, starts, [*starts[1:], len(tries)])
