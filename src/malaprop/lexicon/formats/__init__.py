"""Reading lexicons from the files that people have.

`read` is strict and serves `Lexicon.open`; `open_table` and `screened` give the importer the
same rows as a stream of blocks, without the faulty ones.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from malaprop.core.errors import LexiconError
from malaprop.lexicon.formats import arrays, keyed_vectors, text, word2vec
from malaprop.lexicon.formats.recognise import Format, recognise
from malaprop.lexicon.formats.repairs import Fault, Repair, Repairs
from malaprop.lexicon.formats.table import Block, Table, screened

__all__ = [
    "Block",
    "Content",
    "Fault",
    "Repair",
    "Repairs",
    "Table",
    "open_table",
    "read",
    "screened",
]


class Content(NamedTuple):
    """All words and vectors of a file."""

    words: tuple[str, ...]
    vectors: NDArray[np.float32]


def open_table(path: Path, *, vocabulary: Path | None = None, strict: bool = True) -> Table:
    """Recognise a file and open it; its rows are read when its blocks are."""
    kind = recognise(path)
    if vocabulary is not None and kind not in (Format.NPY, Format.SAFETENSORS):
        raise LexiconError(
            f"{path.name} has words of its own: a vocabulary belongs to .npy or .safetensors"
        )
    repairs = Repairs(path.name, strict, "line" if kind is Format.TEXT else "row")
    match kind:
        case Format.TEXT:
            return text.table(path, repairs)
        case Format.WORD2VEC:
            return word2vec.table(path, repairs)
        case Format.NPY:
            return arrays.npy_table(path, vocabulary, repairs)
        case Format.SAFETENSORS:
            return arrays.safetensors_table(path, vocabulary, repairs)
        case Format.KEYED_VECTORS:
            return keyed_vectors.table(path, repairs)


def read(path: Path, *, vocabulary: Path | None = None, metric: str = "euclidean") -> Content:
    """Read the words and vectors of a file in which nothing is wrong.

    Raises LexiconError at the first fault; the vectors are read-only.
    """
    table = open_table(path, vocabulary=vocabulary, strict=True)
    words: list[str] = []
    # A bytearray grows in place, where a list of arrays would need the memory twice.
    values = bytearray()
    for block in screened(table, metric=metric):
        if not block.words:  # blank lines only, or the header
            continue
        words += block.words
        values += np.ascontiguousarray(block.vectors).data.cast("B")
    vectors = np.frombuffer(values, dtype=np.float32).reshape(len(words), table.dimension)
    vectors.flags.writeable = False
    return Content(tuple(words), vectors)
