"""Vectors as text: GloVe (no header), word2vec text and fastText `.vec` (header).

A line is a word and d numbers, separated by spaces or tabs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from malaprop.lexicon.formats import limits
from malaprop.lexicon.formats.line_parser import BOM, LineParser, number
from malaprop.lexicon.formats.repairs import FileFault, Repairs
from malaprop.lexicon.formats.streams import ByteStream, open_stream
from malaprop.lexicon.formats.vector_file import RowBlock, VectorFile

HEAD = 1 << 20
CHUNK = 4 << 20
SAMPLE = 10


@dataclass(frozen=True)
class TextLayout:
    """The header's (rows, dimension), if there is one, and the dimension of the rows themselves."""

    header: tuple[int, int] | None
    dimension: int


def detect_layout(head: bytes) -> TextLayout:
    """Detect the header and the dimension from the first bytes of a file.

    The dimension is how many numbers most of the first lines end in, so that a single faulty line
    or a wrong header does not decide it. It is 0 if most of them end in none, as in a binary file:
    a line of it may end in a digit by chance.
    """
    lines = [line for line in head.removeprefix(BOM).split(b"\n") if line.strip()]
    if len(lines) > 1 and len(head) >= HEAD:
        lines.pop()  # it may be incomplete
    first, rest = lines[:1], lines[1 : SAMPLE + 1]
    header = _header(first[0]) if first else None
    dimension = _commonest(rest)
    if header is not None and rest and dimension == 1 != header[1]:
        header = None  # it is a row of a one-dimensional file whose word is a number
    return TextLayout(header, dimension if header else _commonest(first + rest))


def open_text(path: Path, repairs: Repairs) -> VectorFile:
    """Open a text file of vectors."""
    with open_stream(path) as stream:
        layout = detect_layout(stream.content.read(HEAD))
    limits.check_dimension(layout.dimension, path.name)
    return VectorFile(
        layout.dimension, path.stat().st_size, _blocks(path, layout, repairs), repairs, (path,)
    )


def _header(line: bytes) -> tuple[int, int] | None:
    fields = line.split()
    if len(fields) != 2 or not all(field.isdigit() and len(field) < 19 for field in fields):
        return None
    rows, dimension = map(int, fields)
    return (rows, dimension) if dimension > 0 else None


def _commonest(lines: list[bytes]) -> int:
    counts = Counter(map(_numbers_at_end, lines))
    return counts.most_common(1)[0][0] if counts else 0


def _numbers_at_end(line: bytes) -> int:
    count = 0
    for field in reversed(line.split()[1:]):
        if number(field) is None:
            break
        count += 1
    return count


def _blocks(path: Path, layout: TextLayout, repairs: Repairs) -> Iterator[RowBlock]:
    parser = LineParser(layout.dimension, repairs)
    with open_stream(path) as stream:
        at, chunk = _start(stream, layout, repairs)
        while chunk := chunk + stream.content.read(CHUNK) + limits.line(stream.content, path.name):
            chunk = _plain(chunk)
            for rows in parser.rows(chunk, at):
                yield RowBlock(*rows, stream.done)
            at += chunk.count(b"\n")
            chunk = b""
    # `at` is the line after the last; one line was the header, and some may have been blank.
    if layout.header is not None and layout.header[0] != at - 2 - repairs.count(FileFault.BLANK):
        repairs.fault(FileFault.ROWS, 1)


def _start(stream: ByteStream, layout: TextLayout, repairs: Repairs) -> tuple[int, bytes]:
    """Skip byte order mark, blank lines and header; return the first row's number and text."""
    at = 1
    line = limits.line(stream.content, repairs.source).removeprefix(BOM)
    while line and not line.strip():
        repairs.fault(FileFault.BLANK, at)
        at += 1
        line = limits.line(stream.content, repairs.source)
    if layout.header is None:
        return at, line
    if layout.header[1] != layout.dimension:
        repairs.fault(FileFault.DIMENSION, at)
    return at + 1, b""


def _plain(chunk: bytes) -> bytes:
    """Normalize line ends, tabs and fastText's trailing spaces."""
    if not chunk.endswith(b"\n"):
        chunk += b"\n"
    for old, new in ((b"\r\n", b"\n"), (b"\t", b" "), (b" \n", b"\n")):
        if old in chunk:
            chunk = chunk.replace(old, new)
    return chunk
