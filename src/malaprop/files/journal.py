"""What was drawn for an output, kept until the output is whole, so that it is never redrawn."""

import contextlib
import hashlib
import io
import json
import os
from pathlib import Path
from time import monotonic
from typing import BinaryIO, Final, NamedTuple, cast

from malaprop.files.resume_file import (
    Header,
    Place,
    ResumeFile,
    Stamp,
    identity,
    line,
    parse,
    seal_line,
    side_path,
)
from malaprop.privacy.errors import OutputError
from malaprop.private_files import (
    HASH_BYTES,
    PartialFile,
    create_locked,
    decrypted,
    encrypted,
    keyed_digest,
    keyed_hash,
    lock,
    open_ours,
    output_errors,
    remove,
    subkey,
    sync_folder,
)

# Keyed digests of files, computed while they are read and written.
#
# A plain digest of an input would confirm a guess of the whole text, so these have a key of the
# user's: see `keys`.


_BUFFER: Final = 2**20


def digest_key() -> bytes:
    """Return the key of all digests in this user's reports."""
    return subkey("report")


def file_digest(path: str | Path) -> str:
    """Return the keyed digest of a file, as this user's reports state it.

    It needs the key in the user's state folder: another user gets another digest.
    """
    with Path(path).open("rb") as file:
        return keyed_digest(file, digest_key())


class ReadDigest(io.RawIOBase):
    """Reads another stream from its start, and hashes what is read.

    >>> digest = ReadDigest(io.BytesIO(b"cold rain"), b"a key")
    >>> reader = digest.reader()
    >>> reader.read(4), digest.of_all() == keyed_digest(io.BytesIO(b"cold rain"), b"a key")
    (b'cold', True)
    """

    def __init__(self, source: BinaryIO, key: bytes) -> None:
        self._source = source
        self._hash = hashlib.blake2b(key=key, digest_size=HASH_BYTES)

    def reader(self) -> BinaryIO:
        """Return a stream to read instead of the other one."""
        return cast(BinaryIO, io.BufferedReader(self, _BUFFER))

    def readable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Return the descriptor of the other stream."""
        return self._source.fileno()

    def readinto(self, buffer: "memoryview[int]", /) -> int:  # type: ignore[override]
        """Read into a buffer."""
        read = getattr(self._source, "read1", self._source.read)
        data = read(len(buffer))
        buffer[: len(data)] = data
        self._hash.update(data)
        return len(data)

    def of_all(self) -> str:
        """Return the digest of the whole stream; reads what is left of it."""
        while data := self._source.read(_BUFFER):
            self._hash.update(data)
        return self._hash.hexdigest()


class WriteDigest(io.BufferedIOBase):
    """Writes to another stream, and hashes what is written; the other stream stays open."""

    def __init__(self, target: BinaryIO, key: bytes) -> None:
        self._target = target
        self._hash = hashlib.blake2b(key=key, digest_size=HASH_BYTES)

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: "bytes | memoryview[int]", /) -> int:  # type: ignore[override]
        """Write all of it."""
        self._hash.update(data)
        return self._target.write(data)

    def tell(self) -> int:
        """Return the position of the other stream."""
        return self._target.tell()

    def flush(self) -> None:
        """Flush the other stream."""
        if not self.closed:
            self._target.flush()

    def of_all(self) -> str:
        """Return the digest of everything that was written."""
        return self._hash.hexdigest()


class Digests:
    """Hashes a source and a target while one is copied to the other, if there is a key.

    A source that `seeks`, as the reader of Parquet does, is read once more instead, at the end.
    """

    def __init__(
        self, source: BinaryIO, target: BinaryIO, key: bytes | None, *, seeks: bool
    ) -> None:
        self.source, self.target = source, target
        self._original, self._key = source, key
        self._read: ReadDigest | None = None
        self._written: WriteDigest | None = None
        if key is None:
            return
        self._written = WriteDigest(target, key)
        self.target = cast(BinaryIO, self._written)
        if not seeks:
            self._read = ReadDigest(source, key)
            self.source = self._read.reader()

    def of_source(self) -> str | None:
        """Return the digest of the whole source."""
        if self._key is None:
            return None
        if self._read is not None:
            return self._read.of_all()
        self._original.seek(0)
        return keyed_digest(self._original, self._key)

    def of_target(self) -> str | None:
        """Return the digest of everything that was written."""
        return None if self._written is None else self._written.of_all()


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
        self, path: Path, final: Path, header: Header, key: bytes, side: ResumeFile | None = None
    ) -> None:
        self._path = path
        self._final = final
        self._key = key
        self._places: dict[int, Place] = dict(side.batches) if side else {}
        self._synced = monotonic()
        with output_errors(path):
            descriptor = self._reopened(side) if side else create_locked(side_path(final), path)
            self._file: BinaryIO = PartialFile(descriptor, path, "r+b")
            try:
                self._prepare(header, side)
            except BaseException:
                self._file.close()
                raise

    def _reopened(self, side: ResumeFile) -> int:
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

    def _prepare(self, header: Header, side: ResumeFile | None) -> None:
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
        with output_errors(self._path):
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
        with output_errors(self._path):
            os.fsync(self._file.fileno())
        self._synced = monotonic()


def seal(path: Path, final: Path, whole: Stamp) -> None:
    """Record, before an output gets its name, that all is drawn, and its stamp."""
    flags = os.O_WRONLY | os.O_APPEND
    with output_errors(path), os.fdopen(open_ours(side_path(final), flags), "ab") as file:
        file.write(seal_line(whole))
        file.flush()
        os.fsync(file.fileno())


def _changed(final: Path) -> OutputError:
    return OutputError(
        f"{side_path(final)} was changed by another program: run it again with `resume=True`, or "
        "start over with `force=True` and without `resume`"
    )
