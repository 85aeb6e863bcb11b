"""Blocks of words and vectors, screened and repaired."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon.formats import untrusted
from malaprop.privacy.errors import LexiconError
from malaprop.privacy.metrics import EDGE

HEAD = 1 << 20
"""Bytes at the start of a file by which its format is recognised."""
_REMEMBERED = 5
_SUSPECT = re.compile(f" |{untrusted.CONTROL.pattern}")


class FileFault(StrEnum):
    """A fault; its value is the wording of messages and reports."""

    BLANK = "blank line"
    ENCODING = "broken UTF-8"
    EMPTY = "empty word"
    LONG = "word of more than 4,096 characters"
    SPACES = "word with spaces"
    CONTROL = "word with control characters"
    DUPLICATE = "duplicate word"
    RAGGED = "wrong number of columns"
    NUMBER = "unreadable number"
    NOT_FINITE = "NaN, infinite or too large value"
    ZERO = "zero vector, which has no direction"
    OUTSIDE = "vector outside the Poincaré ball"
    TRUNCATED = "incomplete row"
    ROWS = "header with a wrong number of rows"
    DIMENSION = "header with a wrong dimension"
    KNOWN = "word that the lexicon has already"
    LACKING = "word that the lexicon lacks"
    NO_WORD = "no single word, or a value such as a number"


_NO_ROW_LOST = frozenset({FileFault.BLANK, FileFault.ROWS, FileFault.DIMENSION})


@dataclass(frozen=True)
class Repair:
    """How often a fault was repaired, and the numbers of the first lines or rows with it."""

    count: int
    first: tuple[int, ...]


@dataclass
class Repairs:
    """The faults of one file, in the one place where they are refused or repaired.

    Opening a file is strict: the first fault raises an error. Importing repairs: the faulty row is
    left out and counted, and its number is remembered.
    """

    source: str
    strict: bool
    unit: str
    by_fault: dict[FileFault, Repair] = field(default_factory=dict)

    def fault(self, fault: FileFault, number: int) -> None:
        """Report that line or row `number` (from 1) has a fault."""
        if self.strict:
            raise LexiconError(
                f"{self.source}, {self.unit} {number}: {fault}. Opening a file repairs nothing. To "
                "leave out and count faulty rows, use 'malaprop lexicon import'."
            )
        old = self.by_fault.get(fault, Repair(0, ()))
        self.by_fault[fault] = Repair(old.count + 1, (*old.first, number)[:_REMEMBERED])

    def count(self, fault: FileFault) -> int:
        return self.by_fault.get(fault, Repair(0, ())).count

    def decode(self, words: Sequence[bytes], first: int) -> tuple[list[int], list[str]]:
        """Return the numbers of the rows whose words are UTF-8, from `first` on, and the words."""
        numbers, decoded = [], []
        for number, word in enumerate(words, first):
            try:
                decoded.append(word.decode())
            except UnicodeDecodeError:
                self.fault(FileFault.ENCODING, number)
            else:
                numbers.append(number)
        return numbers, decoded

    @property
    def dropped(self) -> int:
        return sum(
            repair.count for fault, repair in self.by_fault.items() if fault not in _NO_ROW_LOST
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the repairs as JSON values, sorted by their wording."""
        return {
            str(fault): {"count": repair.count, "first": list(repair.first), "unit": self.unit}
            for fault, repair in sorted(self.by_fault.items())
        }


@dataclass(frozen=True)
class RowBlock:
    """Consecutive rows: their numbers in the file, words and vectors.

    `done` is how much of the file's `total` has been read.
    """

    numbers: Sequence[int]
    words: list[str]
    vectors: NDArray[np.float32]
    done: int


def to_float32(values: NDArray[Any]) -> NDArray[np.float32]:
    """Convert numbers to float32. Too large ones become infinite, which screening rejects."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.ascontiguousarray(values, dtype=np.float32)


class VectorFile(ABC):
    """An open file of words and vectors; a subclass is a format.

    A format knows how rows are written and nothing else. `screened_blocks` decides what makes a row
    fit for a lexicon: a clean word that has not occurred yet, and a finite vector.
    """

    suffixes: ClassVar[tuple[str, ...]] = ()
    """How names of such files end, if that tells where their content does not."""
    unit: ClassVar[str] = "row"
    """What faults are counted in."""
    has_words: ClassVar[bool] = True
    """Whether words are in the file itself, and it may be compressed; else in a vocabulary."""
    files: tuple[Path, ...]
    total: int
    """How much there is to read, in bytes or in rows."""

    def __init__(self, path: Path, repairs: Repairs, vocabulary: Path | None = None) -> None:
        """Open a file; its `blocks` are read as they are consumed, once."""
        self.path, self.repairs = path, repairs
        self.files, self.total = (path,), path.stat().st_size
        self.dimension = self._open(vocabulary)
        untrusted.check_dimension(self.dimension, path.name)
        self.blocks = self._blocks()

    @classmethod
    @abstractmethod
    def recognises(cls, head: bytes, path: Path) -> bool:
        """Tell whether the first bytes of a file are those of this format."""

    @abstractmethod
    def _open(self, vocabulary: Path | None) -> int:
        """Read what describes the file; return the dimension of its vectors."""

    @abstractmethod
    def _blocks(self) -> Iterator[RowBlock]: ...


def screened_blocks(
    file: VectorFile, *, metric: str = "euclidean", limit: int | None = None
) -> Iterator[RowBlock]:
    """Yield the blocks of a file without their faulty rows, at most `limit` rows in all.

    Raises LexiconError if no row is fit, or fewer than half of the rows read. Faults are counted
    for whole blocks, even if the limit cuts the last one short.
    """
    seen: set[str] = set()
    good = characters = 0
    for block in file.blocks:
        fit = _fit(block, seen, file.repairs, metric)
        good += len(fit)
        if limit is not None and len(seen) + len(fit) >= limit:
            fit = fit[: limit - len(seen)]
        if len(fit) < len(block.words):
            block = RowBlock(
                [block.numbers[i] for i in fit],
                [block.words[i] for i in fit],
                block.vectors[np.asarray(fit, dtype=np.intp)],
                block.done,
            )
        seen.update(block.words)
        characters += sum(map(len, block.words))
        untrusted.check_words(len(seen), characters, file.repairs.source)
        yield block
        if limit is not None and len(seen) >= limit:
            break
        if file.repairs.dropped + file.repairs.count(FileFault.BLANK) > good + untrusted.FAULTY:
            raise _mostly_faulty(good, file.repairs)
    if good == 0:
        raise LexiconError(
            f"{file.repairs.source} has no row that is fit for a lexicon "
            f"({file.repairs.dropped:,} are faulty): each row should have a word and its numbers"
        )
    if good < file.repairs.dropped:
        raise _mostly_faulty(good, file.repairs)


def _fit(block: RowBlock, seen: set[str], repairs: Repairs, metric: str) -> Sequence[int]:
    """Return the positions of the rows without a fault, and report the others."""
    words = block.words
    not_finite = np.logical_not(np.isfinite(block.vectors).all(axis=1))
    outside, why = _outside(block.vectors, metric)
    clean = (
        all(0 < len(word) <= untrusted.WORD for word in words)
        and not any(map(_SUSPECT.search, words))
        and len(set(words)) == len(words)
        and seen.isdisjoint(words)
    )
    if clean and not not_finite.any() and not outside.any():
        return range(len(words))
    fit: dict[str, int] = {}
    for i, word in enumerate(words):
        fault = (
            _word_fault(word)
            or (FileFault.NOT_FINITE if not_finite[i] else None)
            or (why if outside[i] else None)
            or (FileFault.DUPLICATE if word in fit or word in seen else None)
        )
        if fault:
            repairs.fault(fault, block.numbers[i])
        else:
            fit[word] = i
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
    if len(word) > untrusted.WORD:
        return FileFault.LONG
    if untrusted.CONTROL.search(word):
        return FileFault.CONTROL
    return FileFault.SPACES if " " in word else None


def _mostly_faulty(kept: int, repairs: Repairs) -> LexiconError:
    dropped = max(repairs.dropped, repairs.count(FileFault.BLANK))
    worst = max(repairs.by_fault, key=lambda fault: repairs.by_fault[fault].count)
    return LexiconError(
        f"{repairs.source}: {dropped:,} of {kept + dropped:,} rows are faulty (most: {worst}), "
        "more than half. The file is damaged or in another format, so it was not imported"
    )
