"""GloVe, fastText and word2vec, text and binary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon.formats import untrusted
from malaprop.lexicon.formats.rows import HEAD, FileFault, RowBlock, VectorFile, to_float32
from malaprop.lexicon.formats.untrusted import ByteStream, open_stream
from malaprop.privacy.errors import LexiconError

CHUNK = 4 << 20
_BINARY_CHUNK = 2 << 20
LONGEST_WORD = 1 << 16
_BOM = b"\xef\xbb\xbf"
_SAMPLE = 10  # lines by which the dimension is found
_FEW = 16
_SHORT = 8192  # bytes for which parsing line by line takes as long as one call of pyarrow

ParsedRows = tuple[Sequence[int], list[str], NDArray[np.float32]]
"""The numbers of lines, their words and their vectors."""


class TextLayout(NamedTuple):
    """The header's (rows, dimension), if there is one, and the dimension of the rows themselves."""

    header: tuple[int, int] | None
    dimension: int


def detect_layout(head: bytes) -> TextLayout:
    """Detect the header and the dimension from the first bytes of a file.

    The dimension is how many numbers most of the first lines end in, so that a single faulty line
    or a wrong header does not decide it. It is 0 if most of them end in none, as in a binary file:
    a line of it may end in a digit by chance.
    """
    lines = [line for line in head.removeprefix(_BOM).split(b"\n") if line.strip()]
    if len(lines) > 1 and len(head) >= HEAD:
        lines.pop()  # it may be incomplete
    first, rest = lines[:1], lines[1 : _SAMPLE + 1]
    header = _header(first[0]) if first else None
    dimension = _commonest(rest)
    if header is not None and rest and dimension == 1 != header[1]:
        header = None  # it is a row of a one-dimensional file whose word is a number
    return TextLayout(header, dimension if header else _commonest(first + rest))


def _header(line: bytes) -> tuple[int, int] | None:
    fields = line.split()
    if len(fields) != 2 or not all(field.isdigit() and len(field) < 19 for field in fields):
        return None
    rows, dimension = map(int, fields)
    return (rows, dimension) if dimension > 0 else None


def _commonest(lines: list[bytes]) -> int:
    """Return how many numbers most of some lines end in."""
    counts: Counter[int] = Counter()
    for line in lines:
        numbers = [_number(field) is not None for field in reversed(line.split()[1:])]
        counts[(*numbers, False).index(False)] += 1
    return counts.most_common(1)[0][0] if counts else 0


def _number(field: bytes) -> float | None:
    try:
        # Python accepts 1_000, which no file of vectors means as a number.
        return None if b"_" in field else float(field)
    except ValueError:
        return None


class Word2vecFile(VectorFile):
    """The binary format of word2vec: a header line, then for each row a word, a space, d floats."""

    @classmethod
    def recognises(cls, head: bytes, path: Path) -> bool:
        layout = detect_layout(head)
        binary = b"\0" in head and path.suffix.lower() == ".bin"
        return layout.header is not None and (layout.dimension == 0 or binary)

    def _open(self, vocabulary: Path | None) -> int:
        with open_stream(self.path) as stream:
            header = detect_layout(untrusted.line(stream.content, self.path.name)).header
        if header is None:
            raise LexiconError(
                f"{self.path.name} does not start with a line of two numbers: its rows and its "
                "dimension"
            )
        self._expected = header[0]
        return header[1]

    def _blocks(self) -> Iterator[RowBlock]:
        rows = 0
        rest = b""
        with open_stream(self.path) as stream:
            untrusted.line(stream.content, self.path.name)
            # A row fits into a chunk plus the rest of the last one.
            size = max(_BINARY_CHUNK, 4 * self.dimension + LONGEST_WORD)
            while data := stream.content.read(size):
                words, vectors, rest = _split(rest + data, self.dimension)
                numbers, decoded = self.repairs.decode(words, rows + 1)
                kept = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(-1, self.dimension)
                kept = kept[np.asarray(numbers, dtype=np.intp) - (rows + 1)]
                rows += len(words)
                yield RowBlock(numbers, decoded, kept.astype(np.float32, copy=False), stream.done)
                if len(rest) > size:
                    break  # no space in sight: these are not rows
        if rest.strip(b"\n"):
            self.repairs.fault(FileFault.TRUNCATED, rows + 1)
        if rows != self._expected:
            self.repairs.fault(FileFault.ROWS, 1)


def _split(data: bytes, dimension: int) -> tuple[list[bytes], list[bytes], bytes]:
    """Split complete rows off the data: words, vectors as bytes, and the rest.

    Some writers put a line feed after each row, some do not. It is read as the beginning of the
    next word and stripped there, as in word2vec's own reader.
    """
    words: list[bytes] = []
    vectors: list[bytes] = []
    start = 0
    while True:
        space = data.find(b" ", start, start + LONGEST_WORD)
        end = space + 1 + 4 * dimension
        if space < 0 or end > len(data):
            return words, vectors, data[start:]
        words.append(data[start:space].lstrip(b"\n"))
        vectors.append(data[space + 1 : end])
        start = end


class TextFile(VectorFile):
    """A line is a word and d numbers, separated by spaces or tabs. GloVe has no header.

    pyarrow's CSV parser reads 400,000 × 300 numbers in 7 s where `float` takes 44 s. A chunk that
    it rejects is halved until only the few faulty lines are left; these are read one by one. Both
    ways parse to float64 and round once to float32, so the values of a row do not depend on the
    rows around it.
    """

    unit = "line"
    layout: TextLayout

    @classmethod
    def recognises(cls, head: bytes, path: Path) -> bool:
        """Tell whether most of the first lines end in numbers."""
        return detect_layout(head).dimension > 0

    def _open(self, vocabulary: Path | None) -> int:
        with open_stream(self.path) as stream:
            self.layout = detect_layout(stream.content.read(HEAD))
        return self.layout.dimension

    def _blocks(self) -> Iterator[RowBlock]:
        with open_stream(self.path) as stream:
            at, chunk = self._start(stream)
            while (
                chunk := chunk
                + stream.content.read(CHUNK)
                + untrusted.line(stream.content, self.path.name)
            ):
                if not chunk.endswith(b"\n"):
                    chunk += b"\n"
                # Other line ends, tabs, and fastText's spaces at the end of a line.
                for old, new in ((b"\r\n", b"\n"), (b"\t", b" "), (b" \n", b"\n")):
                    chunk = chunk.replace(old, new) if old in chunk else chunk
                for rows in self._rows(chunk, at):
                    yield RowBlock(*rows, stream.done)
                at += chunk.count(b"\n")
                chunk = b""
        # `at` is the line after the last; one line was the header, and some may have been blank.
        header, blank = self.layout.header, self.repairs.count(FileFault.BLANK)
        if header is not None and header[0] != at - 2 - blank:
            self.repairs.fault(FileFault.ROWS, 1)

    def _start(self, stream: ByteStream) -> tuple[int, bytes]:
        """Skip byte order mark, blank lines and header; return the first row's number and text."""
        at = 1
        line = untrusted.line(stream.content, self.path.name).removeprefix(_BOM)
        while line and not line.strip():
            self.repairs.fault(FileFault.BLANK, at)
            at += 1
            line = untrusted.line(stream.content, self.path.name)
        if self.layout.header is None:
            return at, line
        if self.layout.header[1] != self.dimension:
            self.repairs.fault(FileFault.DIMENSION, at)
        return at + 1, b""

    @cached_property
    def _options(self) -> tuple[Any, ...]:
        import pyarrow as pa
        from pyarrow import csv

        names = [str(i) for i in range(self.dimension + 1)]
        types = {"0": pa.string()} | dict.fromkeys(names[1:], pa.float64())
        return (
            # One block: pyarrow would otherwise cut the chunk into several.
            csv.ReadOptions(column_names=names, block_size=(1 << 31) - 1),
            csv.ParseOptions(delimiter=" ", quote_char=False, ignore_empty_lines=False),
            csv.ConvertOptions(column_types=types, null_values=[]),
        )

    def _rows(self, chunk: bytes, at: int) -> Iterator[ParsedRows]:
        """Yield the rows of a chunk of whole lines, of which the first has the number `at`."""
        lines = chunk.count(b"\n")
        # A row has at least a character for the word and two for each number. pyarrow would take
        # shorter lines for empty rows, and allocate memory for millions of them.
        plausible = lines * (2 * self.dimension + 2) <= len(chunk)
        parsed = self._fast(chunk) if plausible else None
        if parsed is not None:
            yield range(at, at + lines), *parsed
        elif lines <= _FEW or len(chunk) <= _SHORT:
            yield self._careful(chunk, at)
        else:
            middle = chunk.rfind(b"\n", 0, len(chunk) // 2) + 1 or chunk.find(b"\n") + 1
            yield from self._rows(chunk[:middle], at)
            yield from self._rows(chunk[middle:], at + chunk.count(b"\n", 0, middle))

    def _fast(self, chunk: bytes) -> tuple[list[str], NDArray[np.float32]] | None:
        import pyarrow as pa
        from pyarrow import csv

        # pyarrow would treat a lone \r as a line end and drop a byte order mark.
        if b"\r" in chunk or chunk.startswith(_BOM):
            return None
        try:
            read = csv.read_csv(pa.BufferReader(chunk), *self._options)
        except pa.ArrowInvalid:
            return None
        words, *numbers = read.columns
        columns = np.column_stack([column.to_numpy() for column in numbers])
        return words.to_pylist(), to_float32(columns)

    def _careful(self, chunk: bytes, at: int) -> ParsedRows:
        numbers, words, values = [], [], []
        for line_number, line in enumerate(chunk.removesuffix(b"\n").split(b"\n"), at):
            row = _row(line, self.dimension)
            if isinstance(row, FileFault):
                self.repairs.fault(row, line_number)
            else:
                numbers.append(line_number)
                words.append(row[0])
                values.append(row[1])
        vectors = np.array(values, dtype=np.float64).reshape(len(values), self.dimension)
        return numbers, words, to_float32(vectors)


def _row(line: bytes, dimension: int) -> tuple[str, list[float]] | FileFault:
    first, *others = line.rstrip(b" \r").split(b" ")
    others = [field for field in others if field]
    if not first and not others:
        return FileFault.BLANK
    values = [_number(field) for field in others]
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
