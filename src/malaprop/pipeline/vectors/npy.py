"""numpy's `.npy`: a header, then the numbers of one matrix."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np

from malaprop.core.errors import DataError, ParameterError
from malaprop.lexicon.formats.npy import ArrayHeader, NpyError, TypeOfValuesError, read_header
from malaprop.pipeline.vectors.base import VectorBlock, VectorSource, VectorWriter, written_type
from malaprop.pipeline.vectors.raw import RawWriter, damaged, raw_blocks, reading


class NpySource(VectorSource, name="npy"):
    """A `.npy` file with one matrix, a row for each vector."""

    suffixes = (".npy",)
    rows: int

    def _open(self, part: str | None) -> None:
        if part is not None:
            raise ParameterError(
                f"{self.path.name} has one array without a name: leave out `column`"
            )
        with reading(self.path):
            self._file = self._ends.enter_context(self.path.open("rb"))
            header = matrix_header(self._file, self.path)
            if header.start + header.length > os.fstat(self._file.fileno()).st_size:
                raise damaged(self.path)
        self._stored = header.dtype
        self.rows, self.columns = header.shape
        self.values = written_type(header.dtype)

    def blocks(self) -> Iterator[VectorBlock]:
        """Yield the vectors, in blocks."""
        return raw_blocks(self._file, self.path, self._stored, self.rows, self.columns)

    def writer(self, target: BinaryIO, columns: int) -> VectorWriter:
        """Return what writes a `.npy` file."""
        return RawWriter(target, self.values, npy_header(self.values, self.rows, columns))


def matrix_header(file: IO[bytes], path: Path) -> ArrayHeader:
    """Read the header of a matrix of real numbers that is stored row by row."""
    try:
        header = read_header(file)
    except TypeOfValuesError:
        raise DataError(
            f"{path.name} has values that are not real numbers: save them as float32"
        ) from None
    except NpyError:
        raise damaged(path) from None
    if len(header.shape) != 2:
        raise DataError(
            f"{path.name} has an array of {len(header.shape)} dimensions: save a matrix with a row "
            "for each vector"
        )
    if header.fortran and 1 not in header.shape:
        raise DataError(
            f"{path.name} is stored column by column: save it with numpy.ascontiguousarray"
        )
    return header


def npy_header(values: "np.dtype[Any]", rows: int, columns: int) -> bytes:
    """Return the header of a matrix, as `numpy.save` writes it.

    >>> len(npy_header(np.dtype("<f4"), 2, 3))
    128
    """
    text = f"{{'descr': '{values.str}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
    padded = text.ljust(-(len(text) + 11) % 64 + len(text)) + "\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded.encode("latin-1")
