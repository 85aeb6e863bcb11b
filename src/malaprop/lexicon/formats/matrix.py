"""A matrix in a `.npy` or `.safetensors` file, with a vocabulary file of one word per line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon.formats import untrusted
from malaprop.lexicon.formats.arrays import MAGIC, ArrayFileError, SafetensorsHeader, map_array
from malaprop.lexicon.formats.rows import RowBlock, VectorFile, to_float32
from malaprop.lexicon.formats.untrusted import open_stream
from malaprop.privacy.errors import LexiconError

_BLOCK = 4096
_BESIDE = ("words.txt", "vocabulary.txt", "vocab.txt")


class MatrixFile(VectorFile):
    """The rows of a matrix; its words are in the vocabulary."""

    suffixes = (".npy", ".safetensors")
    has_words = False

    @classmethod
    def recognises(cls, head: bytes, path: Path) -> bool:
        return head.startswith(MAGIC) or _is_safetensors(head)

    def _open(self, vocabulary: Path | None) -> int:
        path = self.path
        try:
            self._matrix = _mapped(path)
        except ArrayFileError as error:
            raise LexiconError(f"{path.name} {error}") from None
        except OSError as error:
            raise LexiconError(f"{path.name} cannot be read: {error.strerror}") from None
        shape = self._matrix.shape
        if len(shape) != 2 or 0 in shape:
            raise LexiconError(
                f"{path.name} has an array of shape {shape}: save a matrix with one row per word"
            )
        untrusted.check_dimension(shape[1], path.name)
        vocabulary = vocabulary or _find_vocabulary(path)
        self.files, self.total = (path, vocabulary), shape[0]
        self._words = _lines(vocabulary, shape[0])
        count = len(self._words)
        if count != shape[0]:
            # No repair: nobody can tell which line is missing, and all words after it would shift.
            told = f"{count:,}" if count < shape[0] else f"more than {shape[0]:,}"
            raise LexiconError(
                f"{vocabulary.name} has {told} lines and {path.name} {shape[0]:,} rows: "
                "a vocabulary has one line per row"
            )
        return int(shape[1])

    def _blocks(self) -> Iterator[RowBlock]:
        for start in range(0, self.total, _BLOCK):
            stop = min(start + _BLOCK, self.total)
            numbers, decoded = self.repairs.decode(self._words[start:stop], start + 1)
            rows = np.asarray(numbers, dtype=np.intp) - start - 1
            yield RowBlock(numbers, decoded, to_float32(self._matrix[start:stop])[rows], stop)


def _is_safetensors(head: bytes) -> bool:
    # A length of up to 100 MB (the format's own limit), then a JSON object.
    return head[8:9] == b"{" and int.from_bytes(head[:8], "little") <= 100_000_000


def _mapped(path: Path) -> NDArray[Any]:
    """Memory-map the only matrix of a file."""
    with path.open("rb") as file:
        head = file.read(len(MAGIC) + 3)
        named = path.suffix.lower() == ".safetensors" and not head.startswith(MAGIC)
        if not _is_safetensors(head) and not named:
            return map_array(path)
        file.seek(0)
        header = SafetensorsHeader.read(file)
    if len(header.matrices) != 1:
        count = len(header.matrices)
        raise ArrayFileError(f"holds {count} matrices: save the one you want by itself")
    array = header.array(*header.matrices)
    if array.dtype.kind != "f":
        raise ArrayFileError(f"has values of type {array.stated}: save them as float32")
    return map_array(path, array)


def _find_vocabulary(path: Path) -> Path:
    """Find the vocabulary beside a matrix: its name with .txt or .vocab, or a usual name."""
    candidates = [path.with_suffix(".txt"), path.with_suffix(".vocab")]
    candidates += [path.with_name(name) for name in _BESIDE]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise LexiconError(
        f"{path.name} has vectors but no words: name its vocabulary (one word per line), "
        f"or put it in the same folder as {candidates[0].name}"
    )


def _lines(vocabulary: Path, rows: int) -> list[bytes]:
    """Read the words, and at most one too many."""
    words: list[bytes] = []
    length = 0
    with open_stream(vocabulary) as stream:
        while len(words) <= rows and (line := untrusted.line(stream.content, vocabulary.name)):
            length += len(line)
            untrusted.check_words(len(words), length, vocabulary.name)
            words.append(line.removesuffix(b"\n").removesuffix(b"\r"))
    if words:
        words[0] = words[0].removeprefix(b"\xef\xbb\xbf")
    return words
