"""The base of all formats, and their registry.

A copy reads its source in batches, and writes each batch to its target with private texts in
the place of the true ones. Everything else in the file goes from source to target untouched.

A copy that is defined with a `name` registers itself as the format of that name, and so appears in
the library, on the command line and in the tests.
"""

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Final, Generic, Protocol, TypeVar

from malaprop.pipeline.formats.faults import Faults

if TYPE_CHECKING:
    from malaprop.pipeline.formats.layout import Layout

_registry: "dict[str, type[AnyCopy]]" = {}

registry: "Mapping[str, type[AnyCopy]]" = MappingProxyType(_registry)
"""The copies of all formats, by the formats' names."""

# A batch ends with the record that reaches one of these (of plain text, before the line that would
# exceed it), so that memory depends on the longest record and not on the number of records.
BATCH_CHARACTERS: Final = 2**20
BATCH_RECORDS: Final = 32_768
# Small files have smaller batches, so that there are some for each worker: about this many, but
# none so small that sending it to a worker takes longer than the work.
_PARTS: Final = 16
SMALLEST_BATCH: Final = 2**16
BATCH_RULES: Final = (BATCH_CHARACTERS, BATCH_RECORDS, _PARTS, SMALLEST_BATCH)


def batch_characters(size: int | None) -> int:
    """Return how many characters make up a batch of a file of `size` bytes, if that is known.

    It depends on the size alone, so that a resumed run has the same batches.
    """
    if size is None:
        return BATCH_CHARACTERS
    return min(max(size // _PARTS, SMALLEST_BATCH), BATCH_CHARACTERS)


class AnyBatch(Protocol):
    """Consecutive records; `texts` are their cells to privatize, in order."""

    @property
    def texts(self) -> list[str]:
        """The texts to privatize."""

    @property
    def records(self) -> int:
        """The number of records."""


BatchT = TypeVar("BatchT", bound=AnyBatch)


@dataclass(frozen=True, kw_only=True)
class Passing:
    """What is copied from source to target unchanged.

    `missing` counts the records that lack a column that was asked for; `columns` names all
    columns that were not asked for.
    """

    missing: int = 0
    columns: tuple[str, ...] = ()


class Copy(ABC, Generic[BatchT]):
    """A copy in progress of one file, from a source to a target.

    `size` is that of the source in bytes, where it is known. A subclass with a `name` is a format:

        class CsvCopy(DelimitedCopy, name="csv"):
            suffixes = (".csv",)
            separator = ","
    """

    name: ClassVar[str] = ""
    """The name of the format."""
    suffixes: ClassVar[tuple[str, ...]] = ()
    """How the names of such files end."""
    has_columns: ClassVar[bool] = True
    """Whether records have columns, so that those to privatize must be named."""
    separator: ClassVar[str] = ""
    """The character between two fields, unless the layout names another one."""
    packable: ClassVar[bool] = True
    """Whether such files may be packed as a whole (`.gz`, `.zst`)."""
    seeks: ClassVar[bool] = False
    """Whether the source must be seekable: it is not read from start to end."""

    def __init_subclass__(cls, *, name: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if name:
            cls.name = name
            _registry[name] = cls

    def __init__(
        self, source: BinaryIO, target: BinaryIO, layout: "Layout", size: int | None = None
    ) -> None:
        self.source = source
        self.target = target
        self.layout = layout
        self.batch_characters = batch_characters(size)
        self.faults = Faults(layout.on_error)

    @property
    @abstractmethod
    def consumed(self) -> int:
        """The number of bytes of the source that are read so far."""

    @abstractmethod
    def batches(self) -> Generator[BatchT, None, None]:
        """Yield the records of the source, batch by batch."""

    @abstractmethod
    def write(self, batch: BatchT, private: list[str]) -> None:
        """Write a batch with `private` in place of its texts."""

    @abstractmethod
    def finish(self) -> Passing:
        """Write the end of the file; call it once all batches are written."""

    def abandon(self) -> None:
        """Give up without writing anything more."""


AnyCopy = Copy[Any]
