"""Compressed text: unpacked as it is read, packed as it is written.

The ending of a file's name says how it is packed: `.gz` (gzip) or `.zst` (Zstandard). A file that
is damaged or cut off is refused, whatever `on_error` says: what is missing could be anything.
"""

import gzip
import io
import zlib
from collections.abc import Callable
from typing import BinaryIO, Final, Literal

from malaprop.privacy.errors import DataError, MalapropError

Packing = Literal["gzip", "zstd"]

_NAMES: Final[dict[Packing, str]] = {"gzip": "gzip", "zstd": "Zstandard"}
_CHUNK: Final = 2**20
# Four times as fast as the usual level 6, and the file is 7 % larger.
_GZIP_LEVEL: Final = 4
_ZSTD_LEVEL: Final = 3
_GZIP_HEADER: Final = 16 + zlib.MAX_WBITS  # what zlib takes as "with gzip's header and checksum"


class CountedBytes(io.BufferedIOBase):
    """Counts the bytes that are read from a source; closing it leaves the source open."""

    name = "the input"  # asked for by the type of io.TextIOWrapper

    def __init__(self, source: BinaryIO) -> None:
        # A pipe's read() waits until all is there; read1() takes what has arrived.
        self._read: Callable[[int], bytes] = getattr(source, "read1", source.read)
        self.consumed = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        try:
            chunk = self._read(_CHUNK if size is None or size < 0 else size)
        except OSError as error:
            raise DataError(f"the input cannot be read: {error.strerror}") from None
        self.consumed += len(chunk)
        return chunk


class Unpacked:
    """Unpacks a source piece by piece; memory does not depend on its size."""

    def __init__(self, source: BinaryIO, kind: Packing) -> None:
        self._counted, self._kind = CountedBytes(source), kind
        self._inner = _reader(self._counted, kind)

    @property
    def consumed(self) -> int:
        """The number of packed bytes that are read so far."""
        return self._counted.consumed

    def read1(self, size: int = -1) -> bytes:
        try:
            chunk = self._inner(size if size > 0 else _CHUNK)
        except MalapropError:
            raise
        except (OSError, EOFError, ValueError, zlib.error):
            raise self._damaged() from None
        if not chunk and not self.consumed:
            raise self._damaged()
        return chunk

    read = read1

    def _damaged(self) -> DataError:
        return DataError(
            f"the input is damaged or cut off, or not packed with {_NAMES[self._kind]} as its name "
            "says: get the file again, or rename it"
        )


def _reader(source: CountedBytes, kind: Packing) -> Callable[[int], bytes]:
    if kind == "gzip":
        return gzip.GzipFile(fileobj=source, mode="rb").read1
    import pyarrow as pa

    stream = pa.CompressedInputStream(pa.PythonFile(source, mode="r"), kind)
    return lambda size: bytes(stream.read(size))


class Packed:
    """Packs text for a target; `finish` writes the end, and leaves the target open.

    Text is packed in pieces of one size, so that the packed bytes follow from the text alone. How
    much of it is written at a time follows from the true texts. Neither a name nor a time is noted.
    """

    def __init__(self, target: BinaryIO, kind: Packing) -> None:
        self._target = target
        self._pack, self._end = _packer(kind)
        self._pending = bytearray()

    def write(self, data: bytes) -> int:
        self._pending += data
        while len(self._pending) >= _CHUNK:
            self._target.write(self._pack(bytes(self._pending[:_CHUNK])))
            del self._pending[:_CHUNK]
        return len(data)

    def finish(self) -> None:
        self._target.write(self._pack(bytes(self._pending)) + self._end())
        self._pending.clear()


def _packer(kind: Packing) -> tuple[Callable[[bytes], bytes], Callable[[], bytes]]:
    """Return a function that packs a piece, and one that returns the end."""
    if kind == "gzip":
        deflate = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, _GZIP_HEADER)
        return deflate.compress, deflate.flush
    import pyarrow as pa

    codec = pa.Codec(kind, _ZSTD_LEVEL)
    # Each piece is a frame of its own, as programs with several threads make them.
    return lambda piece: bytes(codec.compress(piece, asbytes=True)), bytes
