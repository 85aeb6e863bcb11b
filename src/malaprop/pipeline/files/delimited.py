"""Comma- and tab-separated values.

The standard library's reader, in its strict mode, says where a record ends and what its fields
are; a field's place in the record's own characters says what to replace. So all other fields
keep not only their values but their very characters: quotes, leading zeros, line ends.
"""

import csv
import re
from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

from malaprop.core.errors import DataError, ParameterError
from malaprop.pipeline.files.copying import Passing
from malaprop.pipeline.files.decoding import DecodedText
from malaprop.pipeline.files.layout import Layout
from malaprop.pipeline.files.textual import Record, TextCopy

_LONGEST_FIELD: Final = 2**31 - 1


class _Row(NamedTuple):
    """A record as it stands in the file; the header is number 0, and a blank line has no fields."""

    number: int
    line: int  # the number of its last line
    fields: list[str]
    raw: str


class DelimitedCopy(TextCopy):
    """The copy of a file of separated values whose first record names the columns.

    An empty field, quoted or not, holds nothing to privatize and stays as it is. A private text
    is quoted if it has to be, whether or not the true one was.
    """

    newline = ""

    def __init__(self, source: BinaryIO, target: BinaryIO, layout: Layout) -> None:
        super().__init__(source, target, layout)
        separator = re.escape(layout.separator)
        self._field = re.compile(rf'"(?:[^"]++|"")*+"|[^{separator}\r\n]*+')
        self._special = re.compile(rf'[{separator}"\r\n]')
        self._header: list[str] = []
        self._asked: list[int] = []

    def records(self, text: DecodedText) -> Iterator[Record]:
        """Yield the header, the records, and blank lines wherever they are."""
        for row in self._rows(text):
            if not row.fields:
                yield Record([row.raw], [], counts=False)
            elif not row.number:
                self._read_header(row.fields)
                yield Record([row.raw], [], counts=False)
            else:
                self._check_width(row)
                yield self._record(row)
        if not self._header:
            raise DataError("the input is empty: its first record must name the columns")

    def render(self, text: str) -> str:
        """Quote a text that would not be read back as one field; an empty one is quoted too."""
        if text and not self._special.search(text):
            return text
        return '"' + text.replace('"', '""') + '"'

    def finish(self) -> Passing:
        """Return the columns that were not asked for."""
        others = (name for name in self._header if name not in self.layout.columns)
        return Passing(columns=tuple(dict.fromkeys(others)))

    def _rows(self, text: DecodedText) -> Iterator[_Row]:
        pending: list[str] = []

        def tape() -> Iterator[str]:
            for line in text.lines():
                pending.append(line)
                yield line

        reader = csv.reader(tape(), delimiter=self.layout.separator, strict=True)
        number = 0
        usual = csv.field_size_limit(_LONGEST_FIELD)
        try:
            for fields in reader:
                yield _Row(number, reader.line_num, fields, "".join(pending))
                number += bool(fields)
                pending.clear()
        except csv.Error:
            raise DataError(_malformed(number, reader.line_num)) from None
        finally:
            csv.field_size_limit(usual)

    def _read_header(self, fields: list[str]) -> None:
        for column in self.layout.columns:
            if column not in fields:
                raise ParameterError(_no_such_column(column, len(fields)))
        self._header = fields
        self._asked = [i for i, name in enumerate(fields) if name in self.layout.columns]

    def _check_width(self, row: _Row) -> None:
        """Refuse ragged records: a text with a stray delimiter spills into other columns."""
        if len(row.fields) != len(self._header):
            raise DataError(
                f"record {row.number} has {_count(len(row.fields), 'field')}, the header has "
                f"{len(self._header)} (at line {row.line}): a field that contains the delimiter or "
                "a line end must be quoted"
            )

    def _record(self, row: _Row) -> Record:
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
        while found := self._field.match(raw, position):
            yield found.span()
            position = found.end() + 1
            if raw[position - 1 : position] != self.layout.separator:
                return


def _malformed(number: int, line: int) -> str:
    where = f"record {number}" if number else "the header"
    return (
        f"{where} is not well-formed (at line {line}): a quote is not closed, or more text "
        "follows a closing quote; quotes inside a quoted field must be doubled"
    )


def _no_such_column(column: str, width: int) -> str:
    hint = "check --column"
    if width == 1:
        hint += ", and name the delimiter with --delimiter if it is another one"
    return (
        f"no column is named {column!r} in the header, which has {_count(width, 'column')}: {hint}"
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + "s" * (number != 1)
