"""What was in a file: records, texts, and what could not be processed."""

from dataclasses import dataclass, field
from typing import NamedTuple


class FaultyRecord(NamedTuple):
    """A record that could not be processed."""

    record: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class FileCounts:
    """What was in a file.

    - `records`: lines of a txt file, objects, rows without the header;
    - `cells`: texts that went through the transform;
    - `missing`: records (of JSON lines) that lack a column that was asked for;
    - `other_columns`: the columns that were not asked for and pass unchanged; of JSON lines
      the first thousand keys;
    - `left_out`: what the format drops, such as the attachments of mails, and how many;
    - `faulty`: records that could not be processed, and `faults`, the first thousand of them.
    """

    records: int
    cells: int
    missing: int = 0
    other_columns: tuple[str, ...] = ()
    faulty: int = 0
    faults: tuple[FaultyRecord, ...] = field(default=(), repr=False)
    left_out: tuple[tuple[str, int], ...] = ()
