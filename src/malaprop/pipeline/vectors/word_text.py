"""GloVe and word2vec text: a line is a word and its numbers; the words stay as they are."""

from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.core.errors import DataError, ParameterError
from malaprop.lexicon.formats.repairs import FileFault, Repairs
from malaprop.lexicon.formats.streams import open_stream
from malaprop.lexicon.formats.text import HEAD, detect_layout, open_text
from malaprop.pipeline.vectors.base import (
    BLOCK_CELLS,
    FLOAT32,
    VectorBlock,
    VectorSource,
    VectorWriter,
    as_written,
)
from malaprop.pipeline.vectors.raw import reading


class _Faultless(Repairs):
    """Refuses a file at its first fault: to leave out a row would be to lose a vector."""

    def fault(self, fault: FileFault, number: int) -> None:
        raise DataError(f"{self.source}, line {number:,}: {fault}. Mend the file first")


class WordTextSource(VectorSource, name="text"):
    """A file of words and their vectors. The words are public: they reach the output."""

    suffixes = (".txt", ".vec")

    def _open(self, part: str | None) -> None:
        if part is not None:
            raise ParameterError(f"{self.path.name} has no columns with names: leave out `column`")
        with reading(self.path):
            with open_stream(self.path) as stream:
                if stream.compressed:
                    raise DataError(f"{self.path.name} is compressed: unpack it first")
                header = detect_layout(stream.content.read(HEAD)).header
            self._file = open_text(self.path, _Faultless(self.path.name, True, "line"))
        if not self._file.dimension:
            raise DataError(
                f"{self.path.name} is not a file of vectors: a line is a word and its numbers"
            )
        self._headed = header is not None
        self.rows = header[0] if header else None
        self.columns, self.values = self._file.dimension, FLOAT32
        self.beside = ("the words",)

    def blocks(self) -> Iterator[VectorBlock]:
        """Yield the vectors with their words, in blocks."""
        step = max(1, BLOCK_CELLS // self.columns)
        for block in self._file.blocks:
            for start in range(0, len(block.words), step):
                rows = slice(start, start + step)
                vectors = block.vectors[rows].astype(np.float64)
                yield VectorBlock(vectors, block.words[rows])

    def writer(self, target: BinaryIO, columns: int) -> VectorWriter:
        """Return what writes such a file, with a header if this one has one."""
        return WordTextWriter(target, columns, f"{self.rows} {columns}\n" if self._headed else "")


class WordTextWriter(VectorWriter):
    """Writes words and private vectors; nine digits give back a float32."""

    def __init__(self, target: BinaryIO, columns: int, header: str) -> None:
        self._target, self._line = target, "%s" + " %.9g" * columns + "\n"
        target.write(header.encode())

    def write(self, vectors: Floats, beside: Any = None) -> None:
        """Write private vectors with their words."""
        numbers = as_written(vectors, FLOAT32).tolist()
        lines = [self._line % (word, *row) for word, row in zip(beside, numbers, strict=True)]
        self._target.write("".join(lines).encode())

    def finish(self) -> None:
        """Write nothing: the last line is the end."""
