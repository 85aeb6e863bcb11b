"""Comma- and tab-separated values.

Records are read as the standard library's reader does in strict mode, but by the places of their
fields, which say what to replace. So all other fields keep not only their values but their exact
characters: quotes, leading zeros, line ends.

After a wrong quote, the next record cannot be located: a line of a text could pass for a record,
and be copied. So a wrong quote ends the run, whatever `on_error` says.
"""

import re
from collections.abc import Iterator
from enum import Enum
from itertools import chain
from typing import Final, NamedTuple, cast

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

# Where the fields of a record stand.

_LINE_ENDS: Final = ("\r", "\n")
_TO_ITS_QUOTE: Final = re.compile(r'(?:[^"]++|"")*+("?)')


class _Row(NamedTuple):
    """A record as it is in the file; the header is number 0, and a blank line has no fields.

    One that is too long has nothing but its line end: no fields that anybody could trust.
    """

    number: int
    line: int  # the number of its last line
    raw: str
    ends: list[int]  # where its fields end; the next one begins behind the separator
    flaw: RecordError | None = None

    def place(self, field: int) -> tuple[int, int]:
        """Return where a field starts and ends, quotes included."""
        return self.ends[field - 1] + 1 if field else 0, self.ends[field]

    def value(self, field: int) -> str:
        start, end = self.place(field)
        if not self.raw.startswith('"', start):
            return self.raw[start:end]
        return self.raw[start + 1 : end - 1].replace('""', '"')


class _At(Enum):
    """A position in a record; after a quote, a field is closed unless another quote follows."""

    START, PLAIN, QUOTED, CLOSING, END = range(5)


class _Scanner:
    """Finds the ends of fields, piece by piece of a record."""

    def __init__(self, separator: str) -> None:
        self._separator, plain = separator, rf"[^{re.escape(separator)}\r\n]*+"
        self._plain = re.compile(plain)
        # For speed, all fields at once; what is left has no end in its piece.
        self._whole = re.compile(
            rf'(?:"(?:[^"]++|"")*+"|(?!"){plain})({re.escape(separator)}|\r\n?|\n)|(?s:.)+'
        )

    def scan(self, piece: str, at: _At) -> tuple[_At, list[int]]:
        """Return where a piece leads to, and where fields end in it; an empty one ends the file."""
        if not piece:
            if at is _At.QUOTED:
                raise ValueError
            return _At.END, [0]
        ends: list[int] = []
        place = 0
        if at is _At.START:
            ends = [found.start(1) for found in self._whole.finditer(piece)]
            if ends[-1] >= 0:
                return (_At.START if piece[-1] == self._separator else _At.END), ends
            ends.pop()
            place = ends[-1] + 1 if ends else 0
        while place < len(piece) and at is not _At.END:
            if at is _At.QUOTED:
                found = cast("re.Match[str]", _TO_ITS_QUOTE.match(piece, place))
                at, place = _At.CLOSING if found[1] else at, found.end()
            elif piece[place] == '"' and at is not _At.PLAIN:  # it opens a field, or is doubled
                at, place = _At.QUOTED, place + 1
            else:
                end = cast("re.Match[str]", self._plain.match(piece, place)).end()
                if at is _At.CLOSING and end > place:
                    raise ValueError
                at, place = _At.PLAIN, end + 1
                if end < len(piece):
                    ends.append(end)
                    at = _At.START if piece[end] == self._separator else _At.END
        return at, ends


def _rows(text: DecodedText, separator: str) -> Iterator[_Row]:
    """Yield the records and blank lines of a text, without holding one that is too long."""
    scan = _Scanner(separator).scan
    number = line = size = 0
    record: list[str] = []
    ends: list[int] = []
    at, flaw, unfinished = _At.START, None, False
    for piece in chain(text.pieces(), [""]):
        line += bool(piece) and not unfinished
        try:
            at, found = scan(piece, at)
        except ValueError:
            raise _malformed(number, line) from None
        record.append(piece)
        ends += [size + end for end in found] if size else found
        size += len(piece)
        unfinished = len(piece) >= LONGEST_RECORD and not piece.endswith(_LINE_ENDS)
        if flaw or unfinished or size > LONGEST_RECORD:
            flaw = RecordError(TOO_LONG)
            record, ends = ["".join(record)[-2:]], []
        if at is _At.END and size:
            raw = "".join(record)
            raw = raw[len(raw.rstrip("\r\n")) :] if flaw else raw
            row = _Row(number, line, raw, ends if raw.rstrip("\r\n") else [], flaw)
            yield row
            number += bool(row.ends or flaw)
            record, ends, size, at, flaw = [], [], 0, _At.START, None


def _malformed(number: int, line: int) -> DataError:
    record = f"record {number}" if number else "the header"
    return DataError(
        f"{record} is not well-formed (at line {line}): a quote is not closed, or "
        "more text follows a closing quote; quotes inside a quoted field must be doubled. "
        "Where the next record begins cannot be told, so `on_error` does not help"
    )


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
        self._special = re.compile(rf'[{re.escape(self._separator)}"\r\n]')
        self.columns: list[str] = []
        self._asked: list[int] = []

    def render(self, text: str) -> str:
        """Quote a text that would not be read back as one field; an empty one is quoted too."""
        if text and not self._special.search(text):
            return text
        return '"' + text.replace('"', '""') + '"'

    def records(self) -> Iterator[Record]:
        for row in _rows(self.text, self._separator):
            if row.number and (row.ends or row.flaw):
                yield self._record(row)
                continue
            if row.ends or row.flaw:
                self._read_header(row)
            yield Record([row.raw], [], counts=False)
        if not self.columns:
            raise DataError("the input is empty: its first record must name the columns")

    def _read_header(self, row: _Row) -> None:
        if row.flaw or has_lone_surrogates(row.raw):
            flaw = row.flaw or RecordError(f"cannot be read as {self.layout.encoding}")
            raise DataError(f"the header {flaw.reason}: {flaw.remedy}".removesuffix(": "))
        self.columns = [row.value(field) for field in range(len(row.ends))]
        for column in (*self.layout.columns, self.layout.label):
            if column is not None and column not in self.columns:
                if len(self.columns) > 1:
                    raise no_such_column(column, "header", self.columns)
                raise ParameterError(  # the one column may be a whole line, and no header
                    f"no column is named {column!r} in the header, which has 1 column ({UNSHOWN}): "
                    "name the delimiter with `delimiter` if it is another one"
                )
        self._asked = [i for i, name in enumerate(self.columns) if name in self.layout.columns]

    def _record(self, row: _Row) -> Record:
        flaw = row.flaw
        if not flaw and len(row.ends) != len(self.columns):
            # A text with a stray delimiter would spill into other columns.
            flaw = RecordError(
                f"has {len(row.ends)} field{'s' * (len(row.ends) != 1)}, the header has "
                f"{len(self.columns)} (at line {row.line})",
                "a field that contains the delimiter or a line end must be quoted",
            )
        return self.screened(row.number, row.raw, None if flaw else self._cut(row), flaw)

    def stand_in(self, raw: str) -> Record:
        pieces = ["", self._separator] * len(self.columns)
        end = raw[len(raw.rstrip("\r\n")) :]
        return Record([*pieces[:-1], end], [2 * place for place in self._asked])

    def _cut(self, row: _Row) -> Record:
        label = self.layout.label
        texts = [(value, row.place(i)) for i in self._asked if (value := row.value(i))]
        told = "" if label is None else row.value(self.columns.index(label))
        return Record.cut(row.raw, texts, told)


class _CsvReader(_DelimitedReader, name="csv"):
    suffixes = (".csv",)
    separator = ","


class _TsvReader(_DelimitedReader, name="tsv"):
    suffixes = (".tsv", ".tab")
    separator = "\t"
