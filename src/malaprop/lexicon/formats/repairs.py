"""What can be wrong with a lexicon file, and the one place where it is refused or repaired.

Every reader reports its faults here. Opening a file is strict: the first fault raises.
Importing repairs: the faulty row is left out, counted, and its number remembered.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from malaprop.core.errors import LexiconError

REMEMBERED = 5


class Fault(StrEnum):
    """What can be wrong; the value is the wording of messages and reports."""

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


_NO_ROW_LOST = frozenset({Fault.BLANK, Fault.ROWS, Fault.DIMENSION})


@dataclass(frozen=True)
class Repair:
    """How often a fault was repaired, and the numbers of the first lines or rows."""

    count: int
    first: tuple[int, ...]


@dataclass
class Repairs:
    """The faults of one file: raised if `strict`, else counted."""

    source: str
    strict: bool
    unit: str
    found: dict[Fault, Repair] = field(default_factory=dict)

    def fault(self, kind: Fault, number: int) -> None:
        """Report that line or row `number` (from 1) has a fault."""
        if self.strict:
            raise LexiconError(
                f"{self.source}, {self.unit} {number}: {kind}. Opening a file repairs nothing: "
                f"'malaprop lexicon import' does, and counts what it leaves out."
            )
        old = self.found.get(kind, Repair(0, ()))
        self.found[kind] = Repair(old.count + 1, (*old.first, number)[:REMEMBERED])

    def count(self, kind: Fault) -> int:
        """How often a fault was found."""
        return self.found.get(kind, Repair(0, ())).count

    @property
    def dropped(self) -> int:
        """How many rows were left out."""
        return sum(r.count for kind, r in self.found.items() if kind not in _NO_ROW_LOST)

    def to_dict(self) -> dict[str, Any]:
        """Return the repairs as JSON values, sorted by their wording."""
        return {
            str(kind): {"count": repair.count, "first": list(repair.first), "unit": self.unit}
            for kind, repair in sorted(self.found.items())
        }
