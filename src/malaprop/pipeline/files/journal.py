"""What was drawn for an output, kept until the output is whole, so that it is never redrawn."""

import contextlib
import json
import os
from pathlib import Path
from time import monotonic
from typing import BinaryIO, Final, NamedTuple

from malaprop.pipeline.files.disk import PartialFile, lock, refusing, remove, sync_folder
from malaprop.pipeline.files.sidefile import (
    Header,
    Place,
    Side,
    Stamp,
    line,
    parse,
    seal_line,
    side_path,
)

# What a loss of power may take away is redrawn, and nobody has seen it: so not every batch has
# to wait for the disk.
_SYNC_SECONDS: Final = 1.0


class Drawn(NamedTuple):
    """The private texts of a batch, and how their pieces were treated."""

    texts: list[str]
    counts: dict[str, int]


class Journal:
    """The journal of one output. `path` is the output's name as the user gave it."""

    def __init__(self, path: Path, final: Path, header: Header, side: Side | None = None) -> None:
        self._path = path
        self._final = final
        self._places: dict[int, Place] = dict(side.batches) if side else {}
        self._synced = monotonic()
        with refusing(path):
            descriptor = os.open(side_path(final), os.O_RDWR | os.O_CREAT, 0o600)
            self._file: BinaryIO = PartialFile(descriptor, path, "r+b")
            try:
                lock(descriptor, path)
                self._prepare(header, side)
            except BaseException:
                self._file.close()
                raise

    def _prepare(self, header: Header, side: Side | None) -> None:
        self._file.truncate(side.end if side else 0)
        self._file.seek(0, os.SEEK_END)
        if side is None:
            self._append(header.line())
        self._sync()
        sync_folder(self._final.parent)

    def __contains__(self, number: int) -> bool:
        return number in self._places

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, number: int) -> Drawn:
        """What was drawn for a batch."""
        with refusing(self._path):
            place, length = self._places[number]
            self._file.seek(place)
            found = parse(self._file.read(length))
            self._file.seek(0, os.SEEK_END)
        if found is None:
            raise OSError(f"{side_path(self._final)} was changed while it was in use")
        texts, counts = json.loads(found[1].decode("utf-8", "surrogatepass"))
        return Drawn(texts, counts)

    def keep(self, number: int, drawn: Drawn) -> None:
        """Write down what was drawn for a batch."""
        ascii_only = all(map(str.isascii, drawn.texts))
        written = line(b"%d" % number, drawn, ascii_only=ascii_only)
        self._places[number] = self._append(written)
        if monotonic() - self._synced >= _SYNC_SECONDS:
            self._sync()

    def close(self) -> None:
        """Leave the journal as it is; one without a batch is of no use to anybody."""
        if self._file.closed:
            return
        if not self._places:
            remove(side_path(self._final))
        with contextlib.suppress(OSError):
            self._file.close()

    def _append(self, data: bytes) -> Place:
        """Write at the end; take back what a full disk has let pass of it."""
        place = self._file.tell()
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except BaseException:
            with contextlib.suppress(OSError):
                self._file.truncate(place)
                self._file.seek(place)
            raise
        return place, len(data)

    def _sync(self) -> None:
        with refusing(self._path):
            os.fsync(self._file.fileno())
        self._synced = monotonic()


def seal(path: Path, final: Path, whole: Stamp) -> None:
    """Write down, before an output gets its name, that all is drawn, and what it will be."""
    with refusing(path), side_path(final).open("ab") as file:
        file.write(seal_line(whole))
        file.flush()
        os.fsync(file.fileno())
