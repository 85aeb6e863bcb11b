"""Keyed digests of files, computed while they are read and written.

A plain digest of an input would confirm a guess of the whole text, so these have a key of the
user's: see `keys`.
"""

import hashlib
import io
from pathlib import Path
from typing import BinaryIO, Final, cast

from malaprop.pipeline.outputs.cipher import HASH_BYTES, keyed_digest
from malaprop.pipeline.outputs.keys import subkey

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
