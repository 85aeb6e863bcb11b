"""Opens files as streams of bytes, plain or compressed, and translates their errors."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from malaprop.core.errors import LexiconError
from malaprop.lexicon.formats.limits import BROKEN, DIRECTORY, DirectoryError, zip_archive


@dataclass(frozen=True)
class ByteStream:
    """The unpacked content of a file. Progress counts bytes of the file itself."""

    content: IO[bytes] | gzip.GzipFile
    file: IO[bytes]
    compressed: bool

    @property
    def done(self) -> int:
        """The number of bytes of the file that were read."""
        return self.file.tell()


@contextmanager
def open_stream(path: Path) -> Iterator[ByteStream]:
    """Open a file, through gzip or zip if its first bytes say so.

    A damaged compressed file is refused as a whole, also by the importer: its checksum fails only
    at the end, so nothing read before can be trusted.
    """
    try:
        with ExitStack() as stack:
            file = stack.enter_context(path.open("rb"))
            magic = file.read(4)
            file.seek(0)
            if magic[:2] == b"\x1f\x8b":
                yield ByteStream(stack.enter_context(gzip.GzipFile(fileobj=file)), file, True)
            elif magic == b"PK\x03\x04":
                yield ByteStream(stack.enter_context(_unzipped(file, path)), file, True)
            else:
                yield ByteStream(file, file, False)
    except (EOFError, gzip.BadGzipFile, *BROKEN):
        raise _damaged(path) from None
    except OSError as error:
        raise LexiconError(f"{path.name} cannot be read: {error.strerror}") from None


def _damaged(path: Path) -> LexiconError:
    return LexiconError(f"{path.name} is damaged or cut off: get the file again")


def _unzipped(file: IO[bytes], path: Path) -> IO[bytes]:
    """Open the only file in an archive. Closing the outer file closes the archive."""
    try:
        archive = zip_archive(file)
        return archive.open(_only_member(archive, path))
    except LexiconError:
        raise
    except DirectoryError:
        raise LexiconError(
            f"{path.name} has a directory of more than {DIRECTORY:,} bytes: unpack it and name the "
            "file that you want"
        ) from None
    except (ValueError, RuntimeError):  # names and numbers that no real archive has
        raise _damaged(path) from None


def _only_member(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    members = [
        info
        for info in archive.infolist()
        if not info.is_dir() and not info.filename.startswith("__MACOSX/")
    ]
    if len(members) != 1:
        raise LexiconError(
            f"{path.name} holds {len(members)} files: unpack it and name the one you want"
        )
    (member,) = members
    if member.flag_bits & 1:
        raise LexiconError(f"{path.name} is encrypted: unpack it first")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise LexiconError(
            f"{path.name} is compressed by a method other than deflate: unpack it first"
        )
    return member
