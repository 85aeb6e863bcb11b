"""Lexicons from common file formats.

A format is a `VectorFile`: it says which files are its own and reads their rows. `read` is strict
and serves `Lexicon.open`. `open_vector_file` and `screened_blocks` give the importer the same rows
as a stream of blocks, without the faulty ones.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon.formats.matrix import MatrixFile
from malaprop.lexicon.formats.rows import HEAD, FileFault, Repairs, VectorFile, screened_blocks
from malaprop.lexicon.formats.untrusted import open_stream
from malaprop.lexicon.formats.word_vectors import TextFile, Word2vecFile
from malaprop.privacy.errors import LexiconError

__all__ = ["FileFault", "Repairs", "open_vector_file", "read", "recognise", "screened_blocks"]
_FORMATS: tuple[type[VectorFile], ...] = (MatrixFile, Word2vecFile, TextFile)
_PICKLES = tuple(bytes([0x80, protocol]) for protocol in range(2, 6))


def recognise(path: Path) -> type[VectorFile]:
    """Return the format of a file: by its content first, by its suffix second.

    Raises LexiconError if it has none, or if it is empty.
    """
    with open_stream(path) as stream:
        head = stream.content.read(HEAD)
        compressed = stream.compressed
    if not head.strip():
        raise LexiconError(f"{path.name} is empty: a lexicon has at least one word")
    if head.startswith(_PICKLES):
        raise LexiconError(
            f"{path.name} is a pickle, and loading one can run any program, so it is not read. If "
            "gensim wrote it and you trust it, convert it in Python: from gensim.models import "
            f"KeyedVectors; KeyedVectors.load({str(path)!r})"
            f".save_word2vec_format({str(path) + '.vec'!r}). A whole model takes .wv before "
            ".save_word2vec_format"
        )
    known = [each for each in _FORMATS if each.recognises(head, path)]
    known += [each for each in _FORMATS if path.suffix.lower() in each.suffixes]
    if not known:
        raise LexiconError(
            f"{path.name} is in no format that can be read. These are: GloVe, word2vec or fastText "
            "text, word2vec binary, .npy or .safetensors with a vocabulary"
        )
    if compressed and not known[0].has_words:
        raise LexiconError(
            f"{path.name} is compressed, which only text and word2vec may be: unpack it first"
        )
    return known[0]


def open_vector_file(
    path: Path, *, vocabulary: Path | None = None, strict: bool = True
) -> VectorFile:
    """Recognise the format of a file and open it. Rows are read as its blocks are consumed."""
    file_format = recognise(path)
    if vocabulary is not None and file_format.has_words:
        raise LexiconError(
            f"{path.name} has words of its own: only .npy and .safetensors take a vocabulary"
        )
    return file_format(path, Repairs(path.name, strict, file_format.unit), vocabulary)


def read(
    path: Path, *, vocabulary: Path | None = None
) -> tuple[tuple[str, ...], NDArray[np.float32]]:
    """Return the words and vectors of a faultless file.

    Raises LexiconError at the first fault. The vectors are read-only.
    """
    file = open_vector_file(path, vocabulary=vocabulary)
    words: list[str] = []
    # A bytearray grows in place; a list of arrays would need twice the memory.
    values = bytearray()
    for block in screened_blocks(file):
        if block.words:  # there may be blank lines only, or the header
            words += block.words
            values += np.ascontiguousarray(block.vectors).data.cast("B")
    vectors = np.frombuffer(values, dtype=np.float32).reshape(len(words), file.dimension)
    vectors.flags.writeable = False
    return tuple(words), vectors
