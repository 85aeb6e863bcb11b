"""Screens the rows of a lexicon file, whatever its format.

A reader knows its format and nothing else. This module decides what makes a row fit for a lexicon:
a clean word that has not occurred yet, and a finite vector.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from malaprop.core.errors import LexiconError
from malaprop.core.metrics.poincare import EDGE
from malaprop.lexicon.formats import limits
from malaprop.lexicon.formats.repairs import FileFault, Repairs
from malaprop.lexicon.formats.vector_file import RowBlock, VectorFile

# Controls (C0, C1), Unicode's line separators, and halves of surrogate pairs, which UTF-8 lacks.
# No-break spaces pass: some of GloVe's own words have them, and no format uses them as separators.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_SUSPECT = re.compile(f" |{CONTROL.pattern}")


def screened_blocks(
    file: VectorFile, *, metric: str = "euclidean", limit: int | None = None
) -> Iterator[RowBlock]:
    """Yield the blocks of a file without their faulty rows, at most `limit` rows in all.

    Raises LexiconError if no row is fit, or fewer than half of the rows read. Faults are counted
    for whole blocks, even if the limit cuts the last one short.
    """
    limits.check_dimension(file.dimension, file.repairs.source)
    seen: set[str] = set()
    good = characters = 0
    for block in file.blocks:
        fit = _fit(block, seen, file.repairs, metric)
        good += len(fit)
        if limit is not None and len(seen) + len(fit) >= limit:
            fit = fit[: limit - len(seen)]
        if len(fit) < len(block.words):
            block = _take(block, fit)
        seen.update(block.words)
        characters += sum(map(len, block.words))
        limits.check_words(len(seen), characters, file.repairs.source)
        yield block
        if limit is not None and len(seen) >= limit:
            break
        if file.repairs.dropped + file.repairs.count(FileFault.BLANK) > good + limits.FAULTY:
            raise _mostly_faulty(good, file.repairs)
    _check_yield(good, file.repairs)


def _fit(block: RowBlock, seen: set[str], repairs: Repairs, metric: str) -> Sequence[int]:
    """Return the positions of the rows without a fault, and report the others."""
    words = block.words
    not_finite = np.logical_not(np.isfinite(block.vectors).all(axis=1))
    outside, why = _outside(block.vectors, metric)
    clean = (
        all(0 < len(word) <= limits.WORD for word in words)
        and not any(map(_SUSPECT.search, words))
        and len(set(words)) == len(words)
        and seen.isdisjoint(words)
    )
    if clean and not not_finite.any() and not outside.any():
        return range(len(words))
    fit: dict[str, int] = {}
    for i, word in enumerate(words):
        fault = _word_fault(word)
        if fault is None and not_finite[i]:
            fault = FileFault.NOT_FINITE
        elif fault is None and outside[i]:
            fault = why
        elif fault is None and (word in fit or word in seen):
            fault = FileFault.DUPLICATE
        if fault is None:
            fit[word] = i
        else:
            repairs.fault(fault, block.numbers[i])
    return list(fit.values())


def _outside(vectors: NDArray[np.float32], metric: str) -> tuple[NDArray[np.bool_], FileFault]:
    """Return which vectors do not belong to the metric space, and what fault that is."""
    if metric == "angular":
        return np.logical_not(vectors.any(axis=1)), FileFault.ZERO
    if metric == "poincare":
        return np.linalg.norm(vectors.astype(np.float64), axis=1) > EDGE, FileFault.OUTSIDE
    return np.zeros(len(vectors), dtype=np.bool_), FileFault.ZERO


def _word_fault(word: str) -> FileFault | None:
    if not word:
        return FileFault.EMPTY
    if len(word) > limits.WORD:
        return FileFault.LONG
    if CONTROL.search(word):
        return FileFault.CONTROL
    return FileFault.SPACES if " " in word else None


def _take(block: RowBlock, rows: Sequence[int]) -> RowBlock:
    return RowBlock(
        [block.numbers[i] for i in rows],
        [block.words[i] for i in rows],
        block.vectors[np.asarray(rows, dtype=np.intp)],
        block.done,
    )


def _check_yield(kept: int, repairs: Repairs) -> None:
    dropped = repairs.dropped
    if kept == 0:
        raise LexiconError(
            f"{repairs.source} has no row that is fit for a lexicon ({dropped:,} are faulty): "
            "each row should have a word and its numbers"
        )
    if kept < dropped:
        raise _mostly_faulty(kept, repairs)


def _mostly_faulty(kept: int, repairs: Repairs) -> LexiconError:
    dropped = max(repairs.dropped, repairs.count(FileFault.BLANK))
    worst = max(repairs.by_fault, key=lambda fault: repairs.by_fault[fault].count)
    return LexiconError(
        f"{repairs.source}: {dropped:,} of {kept + dropped:,} rows are faulty (most: {worst}), "
        "more than half. The file is damaged or in another format, so it was not imported"
    )
