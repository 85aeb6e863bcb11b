"""Blocks of vectors: what a vector format is."""

import io
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, BinaryIO, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon.formats.untrusted import BROKEN, DIMENSIONS
from malaprop.privacy.arrays import Floats
from malaprop.privacy.errors import DataError, MalapropError, ParameterError, printable

# What a format of vectors is: a source that yields blocks, and a writer that takes them.


BLOCK_CELLS: Final = 1 << 19
"""About the most numbers in a block: memory does not grow with the file."""
FLOAT32: Final = np.dtype("<f4")
FLOAT64: Final = np.dtype("<f8")


@dataclass(frozen=True)
class VectorBlock:
    """Consecutive vectors, in rows, and what stands beside them in the file."""

    vectors: Floats
    beside: Any = None


class VectorWriter(ABC):
    """Writes private vectors to a target."""

    @abstractmethod
    def write(self, vectors: Floats, beside: Any = None) -> None:
        """Write private vectors, with what stands beside them."""

    @abstractmethod
    def finish(self) -> None:
        """Write the end of the file."""

    def abandon(self) -> None:  # noqa: B027  most have nothing to do
        """Give up without writing anything more."""


class VectorSource(ABC):
    """A file of vectors that is read once, from start to end.

    A subclass with a `name` is a format, and registers itself by its `suffixes`.
    """

    name: ClassVar[str] = ""
    suffixes: ClassVar[tuple[str, ...]] = ()
    columns: int
    """How many columns the vectors have."""
    rows: int | None
    """How many vectors there are; None if only reading tells."""
    values: "np.dtype[Any]"
    """The type of the numbers that are written: float32, or float64 if the file has that."""
    part: str = ""
    """The array or the column that is read, where a file can have several."""
    beside: tuple[str, ...] = ()
    """What passes to the output as it is, and is not protected."""
    left_out: tuple[str, ...] = ()
    """What the output does not have."""

    def __init_subclass__(cls, *, name: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if name:
            cls.name = name
            formats[name] = cls

    def __init__(self, path: Path, part: str | None) -> None:
        self.path = path
        self._ends = ExitStack()
        try:
            self._open(part)
            self._check()
        except BaseException:
            self._ends.close()
            raise

    def __enter__(self) -> "VectorSource":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ends.close()

    @abstractmethod
    def _open(self, part: str | None) -> None:
        """Open the file and read what describes it: `columns`, `rows`, `values`."""

    @abstractmethod
    def blocks(self) -> Iterator[VectorBlock]:
        """Yield the vectors of the file, in blocks."""

    @abstractmethod
    def writer(self, target: BinaryIO, columns: int) -> VectorWriter:
        """Return what writes a file of the same format, with vectors of so many columns."""

    def _check(self) -> None:
        if not 1 <= self.columns <= DIMENSIONS:
            raise DataError(
                f"{self.path.name} has vectors of {self.columns:,} numbers: there must be 1 to "
                f"{DIMENSIONS:,}"
            )


formats: dict[str, type[VectorSource]] = {}
"""All formats of vectors, by name."""


def written_type(values: "np.dtype[Any]") -> "np.dtype[Any]":
    """Return the type that private vectors are written in: that of the input, if it is a float.

    >>> written_type(np.dtype("float16")).name, written_type(np.dtype("int8")).name
    ('float32', 'float64')
    """
    return FLOAT32 if values.kind == "f" and values.itemsize <= 4 else FLOAT64


def as_written(vectors: Floats, values: "np.dtype[Any]") -> NDArray[Any]:
    """Return private vectors as they are written; narrowing a private vector is post-processing."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(vectors, dtype=values)


# Rows of numbers in a stream of bytes, and names of arrays in a file that has several.


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
