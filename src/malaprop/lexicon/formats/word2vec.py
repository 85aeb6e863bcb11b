"""The binary format of word2vec: a header line, then for each row a word, a space, d floats.

Some writers put a line feed after each row, some do not. It is read as the beginning of the next
word and stripped there, as in word2vec's own reader.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from malaprop.core.errors import LexiconError
from malaprop.lexicon.formats import limits
from malaprop.lexicon.formats.repairs import FileFault, Repairs
from malaprop.lexicon.formats.streams import ByteStream, open_stream
from malaprop.lexicon.formats.text import detect_layout
from malaprop.lexicon.formats.vector_file import RowBlock, VectorFile

CHUNK = 2 << 20
LONGEST_WORD = 1 << 16


def open_word2vec(path: Path, repairs: Repairs) -> VectorFile:
    """Open a binary word2vec file, plain or compressed."""
    with open_stream(path) as stream:
        rows, dimension = _header(stream, path.name)
    return VectorFile(
        dimension,
        path.stat().st_size,
        _blocks(path, rows, dimension, repairs),
        repairs,
        (path,),
    )


def _header(stream: ByteStream, name: str) -> tuple[int, int]:
    header = detect_layout(limits.line(stream.content, name)).header
    if header is None:
        raise LexiconError(
            f"{name} does not start with a line of two numbers: its rows and its dimension"
        )
    limits.check_dimension(header[1], name)
    return header


def _blocks(path: Path, expected: int, dimension: int, repairs: Repairs) -> Iterator[RowBlock]:
    rows = 0
    rest = b""
    with open_stream(path) as stream:
        _header(stream, path.name)
        # A row fits into a chunk plus the rest of the last one.
        size = max(CHUNK, 4 * dimension + LONGEST_WORD)
        while data := stream.content.read(size):
            words, vectors, rest = _split(rest + data, dimension)
            numbers, decoded = _decode(words, rows, repairs)
            rows += len(words)
            kept = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(-1, dimension)
            kept = kept[np.asarray(numbers, dtype=np.intp) - (rows - len(words) + 1)]
            yield RowBlock(numbers, decoded, kept.astype(np.float32, copy=False), stream.done)
            if len(rest) > size:
                break  # no space in sight: these are not rows
    if rest.strip(b"\n"):
        repairs.fault(FileFault.TRUNCATED, rows + 1)
    if rows != expected:
        repairs.fault(FileFault.ROWS, 1)


def _split(data: bytes, dimension: int) -> tuple[list[bytes], list[bytes], bytes]:
    """Split complete rows off the data: words, vectors as bytes, and the rest."""
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


def _decode(words: list[bytes], before: int, repairs: Repairs) -> tuple[list[int], list[str]]:
    numbers, decoded = [], []
    for number, word in enumerate(words, before + 1):
        try:
            decoded.append(word.decode())
        except UnicodeDecodeError:
            repairs.fault(FileFault.ENCODING, number)
        else:
            numbers.append(number)
    return numbers, decoded
