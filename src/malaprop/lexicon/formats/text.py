"""Vectors as text: GloVe (no header), word2vec text and fastText `.vec` (header).

A line is a word and d numbers, parted by spaces or tabs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from malaprop.lexicon.formats import limits
from malaprop.lexicon.formats.lines import BOM, LineParser, number
from malaprop.lexicon.formats.repairs import Fault, Repairs
from malaprop.lexicon.formats.streams import Stream, opened
from malaprop.lexicon.formats.table import Block, Table

HEAD = 1 << 20
CHUNK = 4 << 20
SAMPLE = 10


@dataclass(frozen=True)
class Layout:
    """What the first lines say: the header's (rows, dimension) and the rows' own dimension."""

    header: tuple[int, int] | None
    dimension: int


def layout(head: bytes) -> Layout:
    """Find the header and the dimension from the first bytes of a file.

    The dimension is the commonest length of the numbers at the end of the first lines, so that
    one faulty line, or a header that is wrong, does not decide it; 0 if no line has any.
    """
    lines = [line for line in head.removeprefix(BOM).split(b"\n") if line.strip()]
    if len(lines) > 1 and len(head) >= HEAD:
        lines.pop()  # it may be cut
    first, rest = lines[:1], lines[1 : SAMPLE + 1]
    header = _header(first[0]) if first else None
    dimension = _commonest(rest)
    if header is not None and rest and dimension == 1 != header[1]:
        header = None  # a row of a one-dimensional file whose word is a number
    return Layout(header, dimension) if header else Layout(None, _commonest(first + rest))


def table(path: Path, repairs: Repairs) -> Table:
    """Open a text file of vectors."""
    with opened(path) as stream:
        found = layout(stream.content.read(HEAD))
    limits.check_dimension(found.dimension, path.name)
    return Table(
        found.dimension, path.stat().st_size, _blocks(path, found, repairs), repairs, (path,)
    )


def _header(line: bytes) -> tuple[int, int] | None:
    fields = line.split()
    if len(fields) != 2 or not all(field.isdigit() and len(field) < 19 for field in fields):
        return None
    rows, dimension = map(int, fields)
    return (rows, dimension) if dimension > 0 else None


def _commonest(lines: list[bytes]) -> int:
    counts = Counter(count for line in lines if (count := _numbers_at_end(line)))
    return counts.most_common(1)[0][0] if counts else 0


def _numbers_at_end(line: bytes) -> int:
    count = 0
    for field in reversed(line.split()[1:]):
        if number(field) is None:
            break
        count += 1
    return count


def _blocks(path: Path, found: Layout, repairs: Repairs) -> Iterator[Block]:
    parser = LineParser(found.dimension, repairs)
    with opened(path) as stream:
        at, chunk = _start(stream, found, repairs)
        while chunk := chunk + stream.content.read(CHUNK) + limits.line(stream.content, path.name):
            chunk = _plain(chunk)
            for rows in parser.rows(chunk, at):
                yield Block(*rows, stream.done)
            at += chunk.count(b"\n")
            chunk = b""
    # `at` is the line after the last one; one line was the header, some may have been blank.
    if found.header is not None and found.header[0] != at - 2 - repairs.count(Fault.BLANK):
        repairs.fault(Fault.ROWS, 1)


def _start(stream: Stream, found: Layout, repairs: Repairs) -> tuple[int, bytes]:
    """Go past byte order mark, blank lines and header: the first row's number, and its text."""
    at = 1
    line = limits.line(stream.content, repairs.source).removeprefix(BOM)
    while line and not line.strip():
        repairs.fault(Fault.BLANK, at)
        at += 1
        line = limits.line(stream.content, repairs.source)
    if found.header is None:
        return at, line
    if found.header[1] != found.dimension:
        repairs.fault(Fault.DIMENSION, at)
    return at + 1, b""


def _plain(chunk: bytes) -> bytes:
    """Make line ends, tabs and fastText's trailing spaces uniform."""
    if not chunk.endswith(b"\n"):
        chunk += b"\n"
    for old, new in ((b"\r\n", b"\n"), (b"\t", b" "), (b" \n", b"\n")):
        if old in chunk:
            chunk = chunk.replace(old, new)
    return chunk
