"""Small lexicon files in every format, and the ways in which tests read them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from malaprop.lexicon.formats import Repairs, open_vector_file, read, screened_blocks
from malaprop.privacy.errors import LexiconError

WORDS = ("the", "naïve", "catch22", "NA", "7", "nan", "東京")
VECTORS = np.random.default_rng(7).normal(size=(len(WORDS), 3)).astype(np.float32)

Floats = NDArray[np.float32]


def glove(words: tuple[str, ...], vectors: Floats, end: str = "\n", gap: str = " ") -> bytes:
    rows = (
        gap.join([word, *(repr(float(x)) for x in v)])
        for word, v in zip(words, vectors, strict=True)
    )
    return "".join(row + end for row in rows).encode()


def word2vec(words: tuple[str, ...], vectors: Floats, end: str = "\n") -> bytes:
    return b"%d %d\n" % vectors.shape + glove(words, vectors, end)


def binary(words: tuple[str, ...], vectors: Floats, end: bytes = b"") -> bytes:
    rows = (
        word.encode() + b" " + v.astype("<f4").tobytes() + end
        for word, v in zip(words, vectors, strict=True)
    )
    return b"%d %d\n" % vectors.shape + b"".join(rows)


def zipped(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def check(path: Path, vocabulary: Path | None = None) -> None:
    words, vectors = read(path, vocabulary=vocabulary)
    assert words == WORDS
    assert vectors.dtype == np.float32
    assert not vectors.flags.writeable
    np.testing.assert_array_equal(vectors, VECTORS)


def strict(path: Path) -> str:
    with pytest.raises(LexiconError) as caught:
        read(path)
    return str(caught.value)


def repaired(path: Path, metric: str = "euclidean") -> tuple[list[str], Repairs]:
    file = open_vector_file(path, strict=False)
    return [w for block in screened_blocks(file, metric=metric) for w in block.words], file.repairs


def vocabulary(folder: Path, content: bytes = "\n".join(WORDS).encode() + b"\n") -> Path:
    path = folder / "a.txt"
    path.write_bytes(content)
    return path
