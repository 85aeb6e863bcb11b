"""Files as streams of bytes, plain or compressed, with the errors that they can give."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from malaprop.core.errors import LexiconError
from malaprop.lexicon.formats.npy import BROKEN


@dataclass(frozen=True)
class Stream:
    """The unpacked content of a file; progress is counted in bytes of the file itself."""

    content: IO[bytes] | gzip.GzipFile
    file: IO[bytes]
    compressed: bool

    @property
    def done(self) -> int:
        """How many bytes of the file were read."""
        return self.file.tell()


@contextmanager
def opened(path: Path) -> Iterator[Stream]:
    """Open a file, through gzip or zip if its first bytes say so.

    A compressed file that is damaged is refused whole, also by the importer: its checksum
    fails only at the end, so that nothing which was read before can be trusted.
    """
    try:
        with ExitStack() as stack:
            file = stack.enter_context(path.open("rb"))
            magic = file.read(4)
            file.seek(0)
            if magic[:2] == b"\x1f\x8b":
                yield Stream(stack.enter_context(gzip.GzipFile(fileobj=file)), file, True)
            elif magic == b"PK\x03\x04":
                yield Stream(stack.enter_context(_unzipped(file, path)), file, True)
            else:
                yield Stream(file, file, False)
    except (EOFError, gzip.BadGzipFile, *BROKEN):
        raise _damaged(path) from None
    except OSError as error:
        raise LexiconError(f"{path.name} cannot be read: {error.strerror}") from None


def _damaged(path: Path) -> LexiconError:
    return LexiconError(
        f"{path.name} is damaged or cut off, and its checksum fails: get the file again"
    )


def _unzipped(file: IO[bytes], path: Path) -> IO[bytes]:
    """Open the one file in an archive; the archive is closed with the file that it is in."""
    try:
        archive = zipfile.ZipFile(file)
        return archive.open(_only_member(archive, path))
    except LexiconError:
        raise
    except (ValueError, RuntimeError):  # of names and numbers that no archive has
        raise _damaged(path) from None


def _only_member(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    members = [
        info
        for info in archive.infolist()
        if not info.is_dir() and not info.filename.startswith("__MACOSX/")
    ]
    if len(members) != 1:
        raise LexiconError(
            f"{path.name} holds {len(members)} files, and a lexicon is one: "
            "unpack it and name the one you want"
        )
    (member,) = members
    if member.flag_bits & 1:
        raise LexiconError(f"{path.name} is encrypted: unpack it first")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise LexiconError(f"{path.name} is packed in a way that is not deflate: unpack it first")
    return member
