"""Long fields in files of separated values.

The standard library's reader refuses fields beyond a limit, which belongs to the whole process. So
the limit is raised only while a row is read: a reader that is left halfway leaves nothing changed.
"""

import csv
import threading
from collections.abc import Iterator
from typing import Final

_LONGEST: Final = 1 << 24  # beyond it, a quote is more likely not closed


class _Limit:
    """The process's limit, raised in its context; several threads may need that at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._readers = 0
        self._usual = 0

    # Methods, not a generator: that would take as long as reading a short row.
    def __enter__(self) -> None:
        with self._lock:
            if not self._readers:
                self._usual = csv.field_size_limit(_LONGEST)
            self._readers += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._readers -= 1
            if not self._readers:
                csv.field_size_limit(self._usual)


_LIMIT: Final = _Limit()


def next_row(reader: Iterator[list[str]]) -> list[str] | None:
    """Return the next row of a `csv.reader`, or None at its end.

    Fields may have up to 16 million characters.
    """
    with _LIMIT:
        return next(reader, None)
