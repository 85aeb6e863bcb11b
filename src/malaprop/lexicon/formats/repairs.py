"""Faults of lexicon files, and the one place where they are refused or repaired.

Every reader reports its faults here. Opening a file is strict: the first fault raises an error.
Importing repairs: the faulty row is left out and counted, and its number is remembered.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from malaprop.core.errors import LexiconError

REMEMBERED = 5


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


_NO_ROW_LOST = frozenset({FileFault.BLANK, FileFault.ROWS, FileFault.DIMENSION})


@dataclass(frozen=True)
class Repair:
    """How often a fault was repaired, and the numbers of the first lines or rows with it."""

    count: int
    first: tuple[int, ...]


@dataclass
class Repairs:
    """The faults of one file: raised as an error if `strict`, otherwise counted."""

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
        self.by_fault[fault] = Repair(old.count + 1, (*old.first, number)[:REMEMBERED])

    def count(self, fault: FileFault) -> int:
        """Return how often a fault was found."""
        return self.by_fault.get(fault, Repair(0, ())).count

    @property
    def dropped(self) -> int:
        """The number of rows left out."""
        return sum(
            repair.count for fault, repair in self.by_fault.items() if fault not in _NO_ROW_LOST
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the repairs as JSON values, sorted by their wording."""
        return {
            str(fault): {"count": repair.count, "first": list(repair.first), "unit": self.unit}
            for fault, repair in sorted(self.by_fault.items())
        }
