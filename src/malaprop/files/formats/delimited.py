"""Comma- and tab-separated values.

The standard library's reader, in strict mode, finds the end of a record and its fields. The
position of a field in the record's characters says what to replace. So all other fields keep not
only their values but their exact characters: quotes, leading zeros, line ends.

After a wrong quote, the next record cannot be located: a line of a text could pass for a record,
and be copied. So a wrong quote ends the run, whatever `on_error` says.
"""

import csv
import re
import threading
from collections.abc import Iterator
from enum import Enum
from itertools import chain
from typing import Any, BinaryIO, Final, NamedTuple

from malaprop.files.formats.file_format import (
    LONGEST_RECORD,
    TOO_LONG,
    UNSHOWN,
    CopySummary,
    Layout,
    RecordError,
    has_lone_surrogates,
    list_columns,
)
from malaprop.files.formats.text_records import DecodedText, Record, RecordCopy
from malaprop.privacy.errors import DataError, ParameterError

# Long fields in files of separated values.
#
# The standard library's reader refuses fields beyond a limit, which belongs to the whole process.
# So the limit is raised only while a row is read: a reader that is left halfway leaves nothing
# changed.


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


_LINE_ENDS: Final = ("\r", "\n")


class _Row(NamedTuple):
    """A record as it is in the file; the header is number 0, and a blank line has no fields.

    One with a flaw has no fields that anybody could trust.
    """

    number: int
    line: int  # the number of its last line
    fields: list[str]
    raw: str
    flaw: RecordError | None = None


class _At(Enum):
    """A position in a record."""

    START = "at the start of a field, or of the next record"
    PLAIN = "in a field without quotes"
    QUOTED = "in a quoted field"
    CLOSING = "after a quote there, which closes it unless another one follows"


class _Quotes:
    """Follows the quotes of a record as the reader does, without holding the record."""

    def __init__(self, separator: str) -> None:
        self._end = re.compile(rf"[{re.escape(separator)}\r\n]")
        self.at = _At.START

    def end_with(self, piece: str) -> bool:
        """Read a piece, and return whether the record ends where it does."""
        place = 0
        while place < len(piece):
            place = self._step(piece, place)
        return self.at is _At.START and piece.endswith(_LINE_ENDS)

    def _step(self, piece: str, place: int) -> int:
        """Read to the next change of state; return where it is."""
        if self.at is _At.QUOTED:
            closing = piece.find('"', place)
            self.at = _At.CLOSING if closing >= 0 else _At.QUOTED
            return closing + 1 or len(piece)
        if piece[place] == '"' and self.at is not _At.PLAIN:  # it opens a field, or is doubled
            self.at = _At.QUOTED
            return place + 1
        end = self._end.search(piece, place)
        if self.at is _At.CLOSING and (end is None or end.start() > place):
            raise csv.Error
        self.at = _At.START if end else _At.PLAIN
        return end.end() if end else len(piece)


class _Tape:
    """Feeds lines to the reader of fields, and keeps those of the current record."""

    def __init__(self, text: DecodedText, separator: str) -> None:
        self._pieces = text.pieces()
        self._separator = separator
        self._size = 0
        self._record: list[str] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        piece = next(self._pieces)
        self._record.append(piece)
        self._size += len(piece)
        unfinished = len(piece) >= LONGEST_RECORD and not piece.endswith(_LINE_ENDS)
        if unfinished or self._size > LONGEST_RECORD:
            self._skip()
            raise RecordError(TOO_LONG)
        return piece

    def _skip(self) -> None:
        """Skip to the end of the record; keep only its last line end."""
        quotes, last = _Quotes(self._separator), ""
        for piece in chain(self._record, self._pieces):
            last = (last + piece)[-2:]
            if quotes.end_with(piece):
                break
        if quotes.at is _At.QUOTED:
            raise csv.Error
        self._record = [last[len(last.rstrip("\r\n")) :]]

    def cut(self) -> str:
        """Return the characters of the current record, and start the next one."""
        record = "".join(self._record)
        self._record.clear()
        self._size = 0
        return record


class DelimitedCopy(RecordCopy):
    """The copy of a file of separated values whose first record names the columns.

    An empty field, quoted or not, holds nothing to privatize and stays as it is. A private text
    is quoted if necessary, whether or not the true one was.
    """

    newline = ""

    def __init__(
        self, source: BinaryIO, target: BinaryIO, layout: Layout, size: int | None = None
    ) -> None:
        super().__init__(source, target, layout, size)
        self._separator = layout.separator
        separator = re.escape(self._separator)
        self._field = re.compile(rf'"(?:[^"]++|"")*+"|[^{separator}\r\n]*+')
        self._special = re.compile(rf'[{separator}"\r\n]')
        self._header: list[str] = []
        self._asked: list[int] = []

    def records(self, text: DecodedText) -> Iterator[Record]:
        """Yield the header, the records and all blank lines."""
        for row in self._rows(text):
            if row.number and (row.flaw or row.fields):
                yield self._record(row)
                continue
            if row.flaw or row.fields:
                self._read_header(row)
            yield Record([row.raw], [], counts=False)
        if not self._header:
            raise DataError("the input is empty: its first record must name the columns")

    def render(self, text: str) -> str:
        """Quote a text that would not be read back as one field; an empty one is quoted too."""
        if text and not self._special.search(text):
            return text
        return '"' + text.replace('"', '""') + '"'

    def finish(self) -> CopySummary:
        """Return the columns that were not asked for."""
        others = (name for name in self._header if name not in self.layout.columns)
        return CopySummary(columns=tuple(dict.fromkeys(others)))

    def _rows(self, text: DecodedText) -> Iterator[_Row]:
        tape = _Tape(text, self._separator)
        reader = csv.reader(tape, delimiter=self._separator, strict=True)
        number = 0
        while row := self._next_row(reader, tape, number):
            yield row
            number += bool(row.fields or row.flaw)

    def _next_row(self, reader: Any, tape: _Tape, number: int) -> _Row | None:
        """Return the next record; one that is too long has no fields."""
        flaw, malformed = None, False
        fields: list[str] | None = []
        try:
            fields = next_row(reader)
        except csv.Error:
            malformed = True
        except RecordError as too_long:
            flaw = RecordError(too_long.reason)  # without a trace, which holds the record
        if malformed:
            raise _malformed(number, reader.line_num)
        if fields is None:
            return None
        return _Row(number, reader.line_num, fields, tape.cut(), flaw)

    def _read_header(self, row: _Row) -> None:
        if row.flaw or has_lone_surrogates(row.raw):
            flaw = row.flaw or RecordError(f"cannot be read as {self.layout.encoding}")
            raise DataError(f"the header {flaw.reason}: {flaw.remedy}".removesuffix(": "))
        for column in self.layout.columns:
            if column not in row.fields:
                raise ParameterError(_no_such_column(column, row.fields))
        self._header = row.fields
        self._asked = [i for i, name in enumerate(row.fields) if name in self.layout.columns]

    def _record(self, row: _Row) -> Record:
        record = None
        try:
            self._check_fields(row)
            record = self._cut(row)
            self.check(row.raw, record)
        except RecordError as flaw:
            self.faults.meet(row.number, flaw)
            return self.masked(record or self._stand_in(row.raw))
        return record

    def _check_fields(self, row: _Row) -> None:
        """Refuse ragged records: a text with a stray delimiter spills into other columns."""
        if row.flaw:
            raise row.flaw
        if len(row.fields) != len(self._header):
            raise RecordError(
                f"has {_count(len(row.fields), 'field')}, the header has {len(self._header)} "
                f"(at line {row.line})",
                "a field that contains the delimiter or a line end must be quoted",
            )

    def _stand_in(self, raw: str) -> Record:
        """Return a record with only the columns asked for, in place of one that cannot be read."""
        pieces: list[str] = []
        cells = []
        for place in range(len(self._header)):
            if place in self._asked:
                cells.append(len(pieces))
            pieces += ["", self._separator]
        end = raw[len(raw.rstrip("\r\n")) :]
        return Record([*pieces[:-1], end], cells)

    def _cut(self, row: _Row) -> Record:
        raw = row.raw
        places = list(zip(row.fields, self._places(raw), strict=True))
        pieces: list[str] = []
        end = 0
        for asked in self._asked:
            text, (start, stop) = places[asked]
            if text:
                pieces += [raw[end:start], text]
                end = stop
        return Record([*pieces, raw[end:]], list(range(1, len(pieces), 2)))

    def _places(self, raw: str) -> Iterator[tuple[int, int]]:
        """Yield where each field of a well-formed record starts and ends, quotes included."""
        position = 0
        while field := self._field.match(raw, position):
            yield field.span()
            position = field.end() + 1
            if raw[position - 1 : position] != self._separator:
                return


class CsvCopy(DelimitedCopy, name="csv"):
    """The copy of a file of comma-separated values."""

    suffixes = (".csv",)
    separator = ","


class TsvCopy(DelimitedCopy, name="tsv"):
    """The copy of a file of tab-separated values."""

    suffixes = (".tsv", ".tab")
    separator = "\t"


def _malformed(number: int, line: int) -> DataError:
    record = f"record {number}" if number else "the header"
    return DataError(
        f"{record} is not well-formed (at line {line}): a quote is not closed, or more text "
        "follows a closing quote; quotes inside a quoted field must be doubled. Where the next "
        "record begins cannot be told, so `on_error` does not help"
    )


def _no_such_column(column: str, header: list[str]) -> str:
    message = f"no column is named {column!r} in the header, which has "
    if len(header) == 1:  # perhaps a whole line, and perhaps no header
        return (
            f"{message}1 column ({UNSHOWN}): name the delimiter with `delimiter` if it is "
            "another one"
        )
    return message + list_columns(header, column)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + "s" * (number != 1)
