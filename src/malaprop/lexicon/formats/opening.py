"""Open a file of vectors, whatever its format.

`read` is strict and serves `Lexicon.open`. `open_vector_file` and `screened_blocks` give the
importer the same rows as a stream of blocks, without the faulty ones.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from malaprop.core.errors import LexiconError
from malaprop.lexicon.formats.arrays import open_npy, open_safetensors
from malaprop.lexicon.formats.recognise import LexiconFormat, recognise
from malaprop.lexicon.formats.repairs import Repairs
from malaprop.lexicon.formats.screening import screened_blocks
from malaprop.lexicon.formats.text import open_text
from malaprop.lexicon.formats.vector_file import VectorFile
from malaprop.lexicon.formats.word2vec import open_word2vec


class WordsAndVectors(NamedTuple):
    """All words and vectors of a file."""

    words: tuple[str, ...]
    vectors: NDArray[np.float32]


def open_vector_file(
    path: Path, *, vocabulary: Path | None = None, strict: bool = True
) -> VectorFile:
    """Recognise the format of a file and open it. Rows are read as its blocks are consumed."""
    file_format = recognise(path)
    if vocabulary is not None and file_format not in (LexiconFormat.NPY, LexiconFormat.SAFETENSORS):
        raise LexiconError(
            f"{path.name} has words of its own: only .npy and .safetensors take a vocabulary"
        )
    repairs = Repairs(path.name, strict, "line" if file_format is LexiconFormat.TEXT else "row")
    match file_format:
        case LexiconFormat.TEXT:
            return open_text(path, repairs)
        case LexiconFormat.WORD2VEC:
            return open_word2vec(path, repairs)
        case LexiconFormat.NPY:
            return open_npy(path, vocabulary, repairs)
        case LexiconFormat.SAFETENSORS:
            return open_safetensors(path, vocabulary, repairs)


def read(
    path: Path, *, vocabulary: Path | None = None, metric: str = "euclidean"
) -> WordsAndVectors:
    """Read the words and vectors of a faultless file.

    Raises LexiconError at the first fault. The vectors are read-only.
    """
    file = open_vector_file(path, vocabulary=vocabulary, strict=True)
    words: list[str] = []
    # A bytearray grows in place; a list of arrays would need twice the memory.
    values = bytearray()
    for block in screened_blocks(file, metric=metric):
        if not block.words:  # blank lines only, or the header
            continue
        words += block.words
        values += np.ascontiguousarray(block.vectors).data.cast("B")
    vectors = np.frombuffer(values, dtype=np.float32).reshape(len(words), file.dimension)
    vectors.flags.writeable = False
    return WordsAndVectors(tuple(words), vectors)
