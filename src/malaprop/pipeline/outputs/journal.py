"""What was drawn for an output, kept until the output is whole, so that it is never redrawn."""

import contextlib
import json
import os
from pathlib import Path
from time import monotonic
from typing import BinaryIO, Final, NamedTuple

from malaprop.core.errors import OutputError
from malaprop.pipeline.outputs.cipher import decrypted, encrypted, keyed_hash
from malaprop.pipeline.outputs.disk import (
    PartialFile,
    create_locked,
    lock,
    refusing,
    remove,
    sync_folder,
)
from malaprop.pipeline.outputs.owned import open_ours
from malaprop.pipeline.outputs.sidefile import (
    Header,
    Place,
    Side,
    Stamp,
    identity,
    line,
    parse,
    seal_line,
    side_path,
)

# What a power failure destroys was never seen, so it may be redrawn: not every batch has to wait
# for the disk.
_SYNC_SECONDS: Final = 1.0


class Drawn(NamedTuple):
    """The private texts of a batch, and how their tokens were treated."""

    texts: list[str]
    counts: dict[str, int]


class Journal:
    """The journal of one output. `path` is the output's name as the user gave it.

    With a `side`, the journal of the run that left it. Otherwise a new one, which replaces any file
    of that name beside the output.
    """

    def __init__(
        self, path: Path, final: Path, header: Header, key: bytes, side: Side | None = None
    ) -> None:
        self._path = path
        self._final = final
        self._key = key
        self._places: dict[int, Place] = dict(side.batches) if side else {}
        self._synced = monotonic()
        with refusing(path):
            descriptor = self._reopened(side) if side else create_locked(side_path(final), path)
            self._file: BinaryIO = PartialFile(descriptor, path, "r+b")
            try:
                self._prepare(header, side)
            except BaseException:
                self._file.close()
                raise

    def _reopened(self, side: Side) -> int:
        """Open the journal that was read before, if it has not been written to since."""
        descriptor = open_ours(side_path(self._final), os.O_RDWR)
        try:
            lock(descriptor, self._path)
            same = identity(os.fstat(descriptor)) == side.seen
        except BaseException:
            os.close(descriptor)
            raise
        if not same:
            os.close(descriptor)
            raise _changed(self._final)
        return descriptor

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

    def recall(self, number: int, texts: list[str]) -> Drawn:
        """Return what was drawn for a batch; refuse it if it was drawn for other texts."""
        with refusing(self._path):
            place, length = self._places[number]
            self._file.seek(place)
            parsed = parse(self._file.read(length))
            self._file.seek(0, os.SEEK_END)
        if parsed is None:
            raise _changed(self._final)
        try:
            body = decrypted(parsed[1], self._key).decode("utf-8", "surrogatepass")
        except ValueError:
            raise _changed(self._final) from None
        private, counts, origin = json.loads(body)
        if origin != self._origin(texts):
            raise OutputError(
                f"{self._path} cannot be resumed, as the input changed while an earlier run read "
                "it: start over with `force=True` and without `resume`"
            )
        return Drawn(private, counts)

    def keep(self, number: int, texts: list[str], drawn: Drawn) -> None:
        """Write what was drawn for a batch of texts."""
        value = (*drawn, self._origin(texts))
        # This halves the time for ASCII texts.
        ascii_only = all(map(str.isascii, drawn.texts))
        body = json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
        encoded = encrypted(body.encode("utf-8", "surrogatepass"), self._key)
        self._places[number] = self._append(line(b"%d" % number, encoded))
        if monotonic() - self._synced >= _SYNC_SECONDS:
            self._sync()

    def close(self) -> None:
        """Close the journal; remove one without a batch, which is of no use."""
        if self._file.closed:
            return
        if not self._places:
            remove(side_path(self._final))
        with contextlib.suppress(OSError):
            self._file.close()

    def _origin(self, texts: list[str]) -> str:
        """Return the hash of the texts that a batch is drawn for.

        The digest in the header is that of the input before it was read: it may have changed then.
        """
        return keyed_hash("\0".join([str(len(texts)), *texts]), self._key)

    def _append(self, data: bytes) -> Place:
        """Append data; if the disk is full, remove what was written of it."""
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
    """Record, before an output gets its name, that all is drawn, and its stamp."""
    flags = os.O_WRONLY | os.O_APPEND
    with refusing(path), os.fdopen(open_ours(side_path(final), flags), "ab") as file:
        file.write(seal_line(whole))
        file.flush()
        os.fsync(file.fileno())


def _changed(final: Path) -> OutputError:
    return OutputError(
        f"{side_path(final)} was changed by another program: run it again with `resume=True`, or "
        "start over with `force=True` and without `resume`"
    )
