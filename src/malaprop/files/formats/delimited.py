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
from typing import Any, Final, NamedTuple

from malaprop.files.formats.file_format import (
    LONGEST_RECORD,
    TOO_LONG,
    UNSHOWN,
    RecordError,
    has_lone_surrogates,
    no_such_column,
)
from malaprop.files.formats.text_records import DecodedText, Record, RecordReader
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
    """A position in a record; after a quote, a field is closed unless another quote follows."""

    START, PLAIN, QUOTED, CLOSING = range(4)


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
        """Skip to the end of the record; keep only its last line end.

        Follows the quotes as the reader of fields does, without holding the record: `at` is the
        state at the end of what was read.
        """
        stop = re.compile(rf"[{re.escape(self._separator)}\r\n]")
        at, last = _At.START, ""
        for piece in chain(self._record, self._pieces):
            last = (last + piece)[-2:]
            place = 0
            while place < len(piece):
                if at is _At.QUOTED:
                    place = piece.find('"', place) + 1 or len(piece)
                    at = _At.CLOSING if piece[place - 1] == '"' else at
                elif piece[place] == '"' and at is not _At.PLAIN:  # it opens a field, or is doubled
                    at, place = _At.QUOTED, place + 1
                else:
                    end = stop.search(piece, place)
                    if at is _At.CLOSING and (end is None or end.start() > place):
                        raise csv.Error
                    at, place = (_At.START, end.end()) if end else (_At.PLAIN, len(piece))
            if at is _At.START and piece.endswith(_LINE_ENDS):
                break
        if at is _At.QUOTED:
            raise csv.Error
        self._record = [last[len(last.rstrip("\r\n")) :]]

    def cut(self) -> str:
        """Return the characters of the current record, and start the next one."""
        record = "".join(self._record)
        self._record.clear()
        self._size = 0
        return record


class _DelimitedReader(RecordReader):
    """Reads a file of separated values whose first record names the columns.

    An empty field, quoted or not, holds nothing to privatize and stays as it is. A private text
    is quoted if necessary, whether or not the true one was.
    """

    newline = ""
    spark = "files"  # a record may have several lines

    def open(self) -> None:
        super().open()
        self._separator = self.layout.delimiter or self.separator
        separator = re.escape(self._separator)
        self._field = re.compile(rf'"(?:[^"]++|"")*+"|[^{separator}\r\n]*+')
        self._special = re.compile(rf'[{separator}"\r\n]')
        self.columns: list[str] = []
        self._asked: list[int] = []

    def render(self, text: str) -> str:
        """Quote a text that would not be read back as one field; an empty one is quoted too."""
        if text and not self._special.search(text):
            return text
        return '"' + text.replace('"', '""') + '"'

    def records(self) -> Iterator[Record]:
        tape = _Tape(self.text, self._separator)
        reader = csv.reader(tape, delimiter=self._separator, strict=True)
        number = 0
        while row := _next_row(reader, tape, number):
            if not (row.fields or row.flaw):
                yield Record([row.raw], [], counts=False)
                continue
            if number:
                yield self._record(row)
            else:
                self._read_header(row)
                yield Record([row.raw], [], counts=False)
            number += 1
        if not number:
            raise DataError("the input is empty: its first record must name the columns")

    def _read_header(self, row: _Row) -> None:
        if row.flaw or has_lone_surrogates(row.raw):
            flaw = row.flaw or RecordError(f"cannot be read as {self.layout.encoding}")
            raise DataError(f"the header {flaw.reason}: {flaw.remedy}".removesuffix(": "))
        for column in (*self.layout.columns, self.layout.label):
            if column is not None and column not in row.fields:
                if len(row.fields) > 1:
                    raise no_such_column(column, "header", row.fields)
                raise ParameterError(  # the one column may be a whole line, and no header
                    f"no column is named {column!r} in the header, which has 1 column ({UNSHOWN}): "
                    "name the delimiter with `delimiter` if it is another one"
                )
        self.columns = row.fields
        self._asked = [i for i, name in enumerate(row.fields) if name in self.layout.columns]

    def _record(self, row: _Row) -> Record:
        flaw = row.flaw
        if not flaw and len(row.fields) != len(self.columns):
            # A text with a stray delimiter would spill into other columns.
            flaw = RecordError(
                f"has {len(row.fields)} field{'s' * (len(row.fields) != 1)}, the header has "
                f"{len(self.columns)} (at line {row.line})",
                "a field that contains the delimiter or a line end must be quoted",
            )
        return self.screened(row.number, row.raw, None if flaw else self._cut(row), flaw)

    def stand_in(self, raw: str) -> Record:
        pieces = ["", self._separator] * len(self.columns)
        end = raw[len(raw.rstrip("\r\n")) :]
        return Record([*pieces[:-1], end], [2 * place for place in self._asked])

    def _cut(self, row: _Row) -> Record:
        fields = list(zip(row.fields, self._places(row.raw), strict=True))
        label = self.layout.label
        texts = [fields[place] for place in self._asked if row.fields[place]]
        told = "" if label is None else row.fields[self.columns.index(label)]
        return Record.cut(row.raw, texts, told)

    def _places(self, raw: str) -> Iterator[tuple[int, int]]:
        """Yield where each field of a well-formed record starts and ends, quotes included."""
        position = 0
        while field := self._field.match(raw, position):
            yield field.span()
            position = field.end() + 1
            if raw[position - 1 : position] != self._separator:
                return


class _CsvReader(_DelimitedReader, name="csv"):
    suffixes = (".csv",)
    separator = ","


class _TsvReader(_DelimitedReader, name="tsv"):
    suffixes = (".tsv", ".tab")
    separator = "\t"


def _next_row(reader: Any, tape: _Tape, number: int) -> _Row | None:
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
        record = f"record {number}" if number else "the header"
        raise DataError(
            f"{record} is not well-formed (at line {reader.line_num}): a quote is not closed, or "
            "more text follows a closing quote; quotes inside a quoted field must be doubled. "
            "Where the next record begins cannot be told, so `on_error` does not help"
        )
    return None if fields is None else _Row(number, reader.line_num, fields, tape.cut(), flaw)
