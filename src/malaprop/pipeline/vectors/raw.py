"""Rows of numbers in a stream of bytes, and names of arrays in a file that has several."""

import io
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats
from malaprop.core.errors import DataError, MalapropError, ParameterError, printable
from malaprop.lexicon.formats.limits import BROKEN
from malaprop.pipeline.vectors.base import BLOCK_CELLS, VectorBlock, VectorWriter, as_written

_LISTED = 10


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Say in our own words that a file cannot be read: others may quote what is in it."""
    try:
        yield
    except MalapropError:
        raise
    except OSError as error:
        if isinstance(error, zipfile.BadZipFile | io.UnsupportedOperation) or not error.strerror:
            raise damaged(path) from None
        raise DataError(f"{path.name} cannot be read: {error.strerror}") from None
    except (EOFError, KeyError, RuntimeError, ValueError, *BROKEN):
        raise damaged(path) from None


def damaged(path: Path) -> DataError:
    """Return the error for a file that is not what its name says."""
    return DataError(f"{path.name} is damaged, cut off, or not what its name says: write it again")


def raw_blocks(
    file: IO[bytes],
    path: Path,
    values: "np.dtype[Any]",
    rows: int,
    columns: int,
    *,
    bfloat16: bool = False,
) -> Iterator[VectorBlock]:
    """Yield the rows of a matrix whose numbers follow in the stream, row by row.

    With `bfloat16`, each number of 16 bits is the upper half of a float32: numpy has no such type.
    """
    step = max(1, BLOCK_CELLS // columns)
    for start in range(0, rows, step):
        count = min(step, rows - start)
        size = count * columns * values.itemsize
        with reading(path):
            data = file.read(size)
        if len(data) < size:
            raise damaged(path)
        numbers: NDArray[Any] = np.frombuffer(data, values).reshape(count, columns)
        if bfloat16:
            numbers = (numbers.astype(np.uint32) << 16).view(np.float32)
        with np.errstate(invalid="ignore"):  # NaN is refused later, with the number of its row
            vectors = numbers.astype(np.float64)
        yield VectorBlock(vectors)


class RawWriter(VectorWriter):
    """Writes the numbers of private vectors, row by row, after a header."""

    def __init__(
        self, target: BinaryIO | IO[bytes], values: "np.dtype[Any]", header: bytes
    ) -> None:
        self._target, self._values = target, values
        self._target.write(header)

    def write(self, vectors: Floats, beside: Any = None) -> None:
        """Write private vectors."""
        self._target.write(as_written(vectors, self._values).data.cast("B"))

    def finish(self) -> None:
        """Write nothing: the last number is the end."""


def chosen_part(path: Path, matrices: Mapping[str, object], part: str | None) -> str:
    """Return the name of the matrix to read: the one asked for, or the only one."""
    if part is not None:
        if part not in matrices:
            raise ParameterError(
                f"{path.name} has no matrix of numbers named {part!r}. It has: {_shown(matrices)}."
            )
        return part
    if len(matrices) != 1:
        raise ParameterError(
            f"{path.name} has {len(matrices)} matrices of numbers ({_shown(matrices)}): name the "
            "one to release with `column`"
        )
    return next(iter(matrices))


def _shown(names: Mapping[str, object]) -> str:
    listed = [printable(name) for name in list(names)[:_LISTED]]
    more = [f"and {len(names) - _LISTED} more"] if len(names) > _LISTED else []
    return ", ".join(listed + more) or "none"
