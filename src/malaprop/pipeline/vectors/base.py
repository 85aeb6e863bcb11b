"""What a format of vectors is: a source that yields blocks, and a writer that takes them."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats
from malaprop.core.errors import DataError
from malaprop.lexicon.formats.limits import DIMENSIONS

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
