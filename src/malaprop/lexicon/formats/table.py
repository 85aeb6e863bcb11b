"""A lexicon file as a stream of blocks, and the screen that every block goes through.

A reader knows its format and nothing else. What makes a row fit for a lexicon (a clean word
that is not there yet, a finite vector) is decided here, for all formats alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.core.errors import LexiconError
from malaprop.core.metrics.poincare import EDGE
from malaprop.lexicon.formats import limits
from malaprop.lexicon.formats.repairs import Fault, Repairs

# Controls (C0, C1), Unicode's line separators, and halves of surrogate pairs, which have no UTF-8.
# A no-break space is let through: it is in GloVe's own words, and no format uses it as a sign.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_SUSPECT = re.compile(f" |{CONTROL.pattern}")


@dataclass(frozen=True)
class Block:
    """Some rows: their numbers in the file, words and vectors; `done` of the table's total."""

    numbers: Sequence[int]
    words: list[str]
    vectors: NDArray[np.float32]
    done: int


@dataclass(frozen=True)
class Table:
    """A file that was recognised: its blocks can be read once."""

    dimension: int
    total: int
    blocks: Iterator[Block]
    repairs: Repairs
    files: tuple[Path, ...]


def to_float32(values: NDArray[Any]) -> NDArray[np.float32]:
    """Convert numbers to float32; what is too large becomes infinite, which the screen sees."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.ascontiguousarray(values, dtype=np.float32)


def screened(
    table: Table, *, metric: str = "euclidean", limit: int | None = None
) -> Iterator[Block]:
    """Yield the table's blocks without their faulty rows, at most `limit` rows in all.

    Raises LexiconError if no row, or fewer than half of the rows read, is fit. Faults are counted
    in whole blocks, also where the limit cuts the last one.
    """
    limits.check_dimension(table.dimension, table.repairs.source)
    seen: set[str] = set()
    good = characters = 0
    for block in table.blocks:
        fit = _fit(block, seen, table.repairs, metric)
        good += len(fit)
        if limit is not None and len(seen) + len(fit) >= limit:
            fit = fit[: limit - len(seen)]
        if len(fit) < len(block.words):
            block = _take(block, fit)
        seen.update(block.words)
        characters += sum(map(len, block.words))
        limits.check_words(len(seen), characters, table.repairs.source)
        yield block
        if limit is not None and len(seen) >= limit:
            break
        if table.repairs.dropped + table.repairs.count(Fault.BLANK) > good + limits.FAULTY:
            raise _mostly_faulty(good, table.repairs)
    _check_yield(good, table.repairs)


def _fit(block: Block, seen: set[str], repairs: Repairs, metric: str) -> Sequence[int]:
    """Return the positions of the rows without a fault."""
    words = block.words
    unfit = np.logical_not(np.isfinite(block.vectors).all(axis=1))
    stray, why = _without_place(block.vectors, metric)
    clean = (
        all(0 < len(word) <= limits.WORD for word in words)
        and not any(map(_SUSPECT.search, words))
        and len(set(words)) == len(words)
        and seen.isdisjoint(words)
    )
    if clean and not unfit.any() and not stray.any():
        return range(len(words))
    fit: dict[str, int] = {}
    for i, word in enumerate(words):
        fault = _word_fault(word)
        if fault is None and unfit[i]:
            fault = Fault.NOT_FINITE
        elif fault is None and stray[i]:
            fault = why
        elif fault is None and (word in fit or word in seen):
            fault = Fault.DUPLICATE
        if fault is None:
            fit[word] = i
        else:
            repairs.fault(fault, block.numbers[i])
    return list(fit.values())


def _without_place(vectors: NDArray[np.float32], metric: str) -> tuple[NDArray[np.bool_], Fault]:
    """Tell which vectors a metric has no place for."""
    if metric == "angular":
        return np.logical_not(vectors.any(axis=1)), Fault.ZERO
    if metric == "poincare":
        return np.linalg.norm(vectors.astype(np.float64), axis=1) > EDGE, Fault.OUTSIDE
    return np.zeros(len(vectors), dtype=np.bool_), Fault.ZERO


def _word_fault(word: str) -> Fault | None:
    if not word:
        return Fault.EMPTY
    if len(word) > limits.WORD:
        return Fault.LONG
    if CONTROL.search(word):
        return Fault.CONTROL
    return Fault.SPACES if " " in word else None


def _take(block: Block, rows: Sequence[int]) -> Block:
    return Block(
        [block.numbers[i] for i in rows],
        [block.words[i] for i in rows],
        block.vectors[np.asarray(rows, dtype=np.intp)],
        block.done,
    )


def _check_yield(kept: int, repairs: Repairs) -> None:
    dropped = repairs.dropped
    if kept == 0:
        raise LexiconError(
            f"{repairs.source} has no row that fits a lexicon ({dropped:,} are faulty): "
            "it should have a word and its numbers in each row"
        )
    if kept < dropped:
        raise _mostly_faulty(kept, repairs)


def _mostly_faulty(kept: int, repairs: Repairs) -> LexiconError:
    dropped = max(repairs.dropped, repairs.count(Fault.BLANK))
    worst = max(repairs.found, key=lambda kind: repairs.found[kind].count)
    return LexiconError(
        f"{repairs.source}: {dropped:,} of {kept + dropped:,} rows are faulty (most: {worst}), "
        "more than half. It is damaged or in another format; it is not imported"
    )
