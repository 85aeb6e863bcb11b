"""One file in, one file out."""

import io
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from malaprop.core.errors import OutputError
from malaprop.pipeline.formats import Layout
from malaprop.pipeline.formats.packing import packing_of
from malaprop.pipeline.outputs.access import Access, status_of
from malaprop.pipeline.outputs.staging import Staging
from malaprop.pipeline.outputs.watching import Sight, sight

PIPE: Final = "-"
"""Standard input or output, in place of a path."""


class Copied(Protocol):
    """A file to read and one to make, as far as their names go."""

    @property
    def source(self) -> str:
        """The input."""

    @property
    def target(self) -> str:
        """The output."""

    def status(self) -> os.stat_result | None:
        """Return the status of the input, if it is a regular file."""


class FileJob(Copied, Protocol):
    """A job whose output is staged, and can be resumed if it is `lasting`."""

    @property
    def lasting(self) -> bool:
        """Whether input and output are files, so that a run that was stopped can be resumed."""

    def sight(self) -> Sight | None:
        """Return what tells whether the input changes, if it is a regular file."""

    def open_source(self) -> AbstractContextManager[BinaryIO]:
        """Open the input."""

    def open_target(self, stage: Staging, limits: Sequence[Access], *, force: bool) -> BinaryIO:
        """Open the output; its permissions will be within the limits."""


@dataclass(frozen=True)
class Job:
    """An input to read and an output to make; "-" is standard input or output."""

    source: str
    target: str
    layout: Layout

    @property
    def size(self) -> int | None:
        """The size of the input in bytes, if it is known beforehand."""
        path = Path(self.source)
        return path.stat().st_size if self.source != PIPE and path.is_file() else None

    @property
    def packed(self) -> bool:
        """Whether the input is compressed, so that its size does not tell how much is in it."""
        return packing_of(self.source) is not None

    @property
    def lasting(self) -> bool:
        """Whether input and output are files, so that a run that was stopped can be resumed."""
        return PIPE not in (self.source, self.target) and Path(self.source).is_file()

    def status(self) -> os.stat_result | None:
        """Return the status of the input, if it is a regular file; also behind standard input."""
        if self.source == PIPE:
            return status_of(sys.stdin)
        with suppress(FileNotFoundError):
            status = os.stat(self.source)
            return status if stat.S_ISREG(status.st_mode) else None
        return None

    def sight(self) -> Sight | None:
        """Return what tells whether the input changes, if it is a regular file."""
        status = self.status()
        return None if status is None else sight(status)

    @contextmanager
    def open_source(self) -> Iterator[BinaryIO]:
        """Open the input."""
        if self.source == PIPE:
            yield sys.stdin.buffer
            return
        with Path(self.source).open("rb") as file:
            yield file

    def open_target(self, stage: Staging, limits: Sequence[Access], *, force: bool) -> BinaryIO:
        """Open the output; its permissions will be within the limits."""
        if self.target == PIPE:
            return _standard_output()
        return stage.open(Path(self.target), force=force, limits=limits)


def _standard_output() -> BinaryIO:
    """Return standard output with a buffer: unbuffered, a write may be cut short."""
    if sys.stdout is None:
        raise OutputError("standard output is closed: open it, or name a file with `output`")
    stream = sys.stdout.buffer
    if isinstance(stream, io.RawIOBase):
        return open(stream.fileno(), "wb", closefd=False)
    return stream
