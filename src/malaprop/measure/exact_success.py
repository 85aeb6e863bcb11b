"""The best guess at each output of a law, and how often it is right: exact, for one draw."""

import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import LawChannel
from malaprop.core.progress import Progress, report, stage
from malaprop.core.space import blocks
from malaprop.measure.law_columns import columns_of

_OUTPUTS: Final = 200  # outputs whose candidates are counted
_FACTOR: Final = 2.0
_TOGETHER: Final = 256  # outputs whose columns are computed together,
_COLUMNS: Final = 8  # and weighed at once, in a processor's cache


@dataclass(frozen=True, kw_only=True, eq=False)
class BestGuesses:
    """The best guess at each output."""

    chances: Floats = field(repr=False)
    """How likely each output is together with its best guess; their sum is the success."""
    words: Ids = field(repr=False)
    candidates: float
    """How many words have at least half the posterior probability of the best guess, on average."""


def best_guesses_of(
    channel: LawChannel[Any],
    belief: Floats,
    rng: Generator,
    progress: Progress | None,
    *,
    even: bool,
) -> BestGuesses:
    """Return the best guess at each output of a law; `even` if all words are equally likely.

    If the output itself is then the best guess, only the chances to stay are needed. Otherwise all
    columns are weighed, or all rows if columns are not cheap.
    """
    outputs = channel.substitute(rng.choice(len(belief), size=_OUTPUTS, p=belief), rng)
    columns = columns_of(channel.law)
    guesses_outputs = even and channel.law.outputs_are_best_guesses
    if guesses_outputs and columns.prepare(stage(progress, 0, 2)):
        return BestGuesses(
            chances=columns.staying(stage(progress, 1, 2)) * belief,
            words=np.arange(len(belief)),
            candidates=_candidates(channel, belief, outputs),
        )
    if columns.cheap:
        chances, words = _by_columns(channel, belief, progress)
        near = _candidates(channel, belief, outputs)
        return BestGuesses(chances=chances, words=words, candidates=near)
    return _by_rows(channel, belief, outputs, progress)


def _candidates(channel: LawChannel[Any], belief: Floats, outputs: Ids) -> float:
    with np.errstate(divide="ignore"):
        logs = np.log(belief)
    counts: list[Floats] = []
    for part in columns_of(channel.law).parts(outputs):
        joint = part + logs
        near = joint >= joint.max(axis=1, keepdims=True) - math.log(_FACTOR)
        counts.append(near.sum(axis=1))
    return float(np.concatenate(counts).mean())


def _by_columns(
    channel: LawChannel[Any], belief: Floats, progress: Progress | None
) -> tuple[Floats, Ids]:
    size = len(belief)
    chances, words = np.empty(size), np.empty(size, dtype=np.int64)
    columns = columns_of(channel.law)
    with np.errstate(divide="ignore"):
        logs = np.log(belief)
    steps, row = blocks(size, row_cells=1, budget=_TOGETHER), 0
    for done, block in enumerate(steps, 1):
        for part in columns.parts(np.arange(size)[block], _COLUMNS):
            part += logs
            best = part.argmax(axis=1)
            words[row : row + len(best)] = best
            chances[row : row + len(best)] = np.exp(part[np.arange(len(best)), best])
            row += len(best)
        report(progress, done, len(steps))
    return chances, words


def _by_rows(
    channel: LawChannel[Any], belief: Floats, outputs: Ids, progress: Progress | None
) -> BestGuesses:
    """Go through all rows once: the best guess at each output, and columns of some outputs."""
    size = len(belief)
    best, guesses = np.zeros(size), np.zeros(size, dtype=np.int64)
    columns = np.full((size, len(outputs)), -np.inf, dtype=np.float32)
    possible = np.flatnonzero(belief > 0.0)
    steps = blocks(len(possible), row_cells=size)
    for done, block in enumerate(steps, 1):
        ids = possible[block]
        joint = channel.log_probabilities(ids) + np.log(belief[ids])[:, None]
        columns[ids] = joint[:, outputs]
        rows = joint.argmax(axis=0)
        chances = np.exp(joint[rows, np.arange(size)])
        better = chances > best
        best[better], guesses[better] = chances[better], ids[rows[better]]
        report(progress, done, len(steps))
    near = (columns >= columns.max(axis=0) - math.log(_FACTOR)).sum(axis=0)
    return BestGuesses(chances=best, words=guesses, candidates=float(near.mean()))
