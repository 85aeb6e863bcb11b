"""Lexicons from common file formats: `opening` recognises a file and reads it.

Nothing is imported here: opening a compiled lexicon needs two small modules of this package only.
"""

from __future__ import annotations

from enum import Enum, auto
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon.formats.matrix import open_npy, open_safetensors
from malaprop.lexicon.formats.rows import Repairs, VectorFile, screened_blocks
from malaprop.lexicon.formats.untrusted import open_stream
from malaprop.lexicon.formats.word_vectors import HEAD, detect_layout, open_text, open_word2vec
from malaprop.privacy.errors import LexiconError

# Recognises the format of a lexicon file: by its content first, by its suffix second.


class LexiconFormat(Enum):
    """The formats that can be read."""

    TEXT = auto()
    WORD2VEC = auto()
    NPY = auto()
    SAFETENSORS = auto()


_SUFFIXES = {".npy": LexiconFormat.NPY, ".safetensors": LexiconFormat.SAFETENSORS}
_PICKLES = tuple(bytes([0x80, protocol]) for protocol in range(2, 6))


def recognise(path: Path) -> LexiconFormat:
    """Return the format of a file. Raises LexiconError if it has none, or if it is empty."""
    with open_stream(path) as stream:
        head = stream.content.read(HEAD)
        compressed = stream.compressed
    if not head.strip():
        raise LexiconError(f"{path.name} is empty: a lexicon has at least one word")
    if head.startswith(_PICKLES):
        raise LexiconError(_pickle_refusal(path))
    file_format = _by_magic(head) or _by_rows(head, path) or _SUFFIXES.get(path.suffix.lower())
    if file_format is None:
        raise LexiconError(
            f"{path.name} is in no format that can be read. These are: GloVe, word2vec or fastText "
            "text, word2vec binary, .npy or .safetensors with a vocabulary"
        )
    if compressed and file_format not in (LexiconFormat.TEXT, LexiconFormat.WORD2VEC):
        raise LexiconError(
            f"{path.name} is compressed, which only text and word2vec may be: unpack it first"
        )
    return file_format


def _by_magic(head: bytes) -> LexiconFormat | None:
    if head.startswith(b"\x93NUMPY"):
        return LexiconFormat.NPY
    # A length of up to 100 MB (the format's own limit), then a JSON object.
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") <= 100_000_000:
        return LexiconFormat.SAFETENSORS
    return None


def _by_rows(head: bytes, path: Path) -> LexiconFormat | None:
    layout = detect_layout(head)
    if layout.header is not None and (
        layout.dimension == 0 or (b"\0" in head and path.suffix.lower() == ".bin")
    ):
        return LexiconFormat.WORD2VEC
    return LexiconFormat.TEXT if layout.dimension else None


def _pickle_refusal(path: Path) -> str:
    file, text = str(path), f"{path}.vec"
    return (
        f"{path.name} is a pickle, and loading one can run any program, so it is not read. If "
        "gensim wrote it and you trust it, convert it in Python: from gensim.models import "
        f"KeyedVectors; KeyedVectors.load({file!r}).save_word2vec_format({text!r}). A whole model "
        "takes .wv before .save_word2vec_format"
    )


# Open a file of vectors, whatever its format.
#
# `read` is strict and serves `Lexicon.open`. `open_vector_file` and `screened_blocks` give the
# importer the same rows as a stream of blocks, without the faulty ones.


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
