"""Parses lines of a word and its numbers: whole chunks fast, faulty lines with care.

pyarrow's CSV parser reads 400,000 × 300 numbers in 7 s where `float` takes 44 s. A chunk that it
rejects is halved until only the few faulty lines are left; these are read one by one. Both ways
parse to float64 and round once to float32, so the values of a row do not depend on the rows around
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon.formats.repairs import FileFault, Repairs
from malaprop.lexicon.formats.vector_file import to_float32

BOM = b"\xef\xbb\xbf"
FEW = 16
SHORT = 8192
"""Bytes for which parsing line by line takes as long as one call of pyarrow."""

ParsedRows = tuple[Sequence[int], list[str], NDArray[np.float32]]
"""The numbers of lines, their words and their vectors."""


class LineParser:
    """Parses chunks of lines that all end in a line feed, with fields separated by spaces."""

    def __init__(self, dimension: int, repairs: Repairs) -> None:
        import pyarrow as pa
        from pyarrow import csv

        self._dimension = dimension
        self._repairs = repairs
        names = [str(i) for i in range(dimension + 1)]
        types = {"0": pa.string()} | dict.fromkeys(names[1:], pa.float64())
        self._options = (
            # One block: pyarrow would otherwise cut the chunk into several.
            csv.ReadOptions(column_names=names, block_size=(1 << 31) - 1),
            csv.ParseOptions(delimiter=" ", quote_char=False, ignore_empty_lines=False),
            csv.ConvertOptions(column_types=types, null_values=[]),
        )

    def rows(self, chunk: bytes, at: int) -> Iterator[ParsedRows]:
        """Yield the rows of a chunk whose first line has the number `at`."""
        lines = chunk.count(b"\n")
        # A row has at least a character for the word and two for each number. pyarrow would take
        # shorter lines for empty rows, and allocate memory for millions of them.
        plausible = lines * (2 * self._dimension + 2) <= len(chunk)
        parsed = self._fast(chunk) if plausible else None
        if parsed is not None:
            yield range(at, at + lines), *parsed
        elif lines <= FEW or len(chunk) <= SHORT:
            yield self._careful(chunk, at)
        else:
            middle = chunk.rfind(b"\n", 0, len(chunk) // 2) + 1 or chunk.find(b"\n") + 1
            yield from self.rows(chunk[:middle], at)
            yield from self.rows(chunk[middle:], at + chunk.count(b"\n", 0, middle))

    def _fast(self, chunk: bytes) -> tuple[list[str], NDArray[np.float32]] | None:
        import pyarrow as pa
        from pyarrow import csv

        # pyarrow would treat a lone \r as a line end and drop a byte order mark.
        if b"\r" in chunk or chunk.startswith(BOM):
            return None
        try:
            read = csv.read_csv(pa.BufferReader(chunk), *self._options)
        except pa.ArrowInvalid:
            return None
        vectors = np.empty((read.num_rows, self._dimension), dtype=np.float32)
        with np.errstate(over="ignore"):
            for i in range(self._dimension):
                vectors[:, i] = read.column(i + 1).to_numpy()
        return read.column(0).to_pylist(), vectors

    def _careful(self, chunk: bytes, at: int) -> ParsedRows:
        numbers, words, values = [], [], []
        for line_number, line in enumerate(chunk.removesuffix(b"\n").split(b"\n"), at):
            row = _row(line, self._dimension)
            if isinstance(row, FileFault):
                self._repairs.fault(row, line_number)
            else:
                numbers.append(line_number)
                words.append(row[0])
                values.append(row[1])
        vectors = np.array(values, dtype=np.float64).reshape(len(values), self._dimension)
        return numbers, words, to_float32(vectors)


def number(field: bytes) -> float | None:
    """Parse a number; None if the field is not one."""
    try:
        # Python accepts 1_000, which no file of vectors means as a number.
        return None if b"_" in field else float(field)
    except ValueError:
        return None


def _row(line: bytes, dimension: int) -> tuple[str, list[float]] | FileFault:
    first, *others = line.rstrip(b" \r").split(b" ")
    others = [field for field in others if field]
    if not first and not others:
        return FileFault.BLANK
    values = [number(field) for field in others]
    extra, last = values[:-dimension], values[-dimension:]
    numbers = [value for value in last if value is not None]
    if len(last) < dimension or (extra and None not in extra):
        return FileFault.RAGGED
    if len(numbers) < dimension:
        return FileFault.NUMBER
    if extra:
        return FileFault.SPACES
    try:
        return first.decode(), numbers
    except UnicodeDecodeError:
        return FileFault.ENCODING
