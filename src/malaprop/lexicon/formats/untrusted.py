"""Files of strangers: limits on what they may put into memory; streams; small JSON files.

Real files stay far below the limits; those beyond are refused. Before anything is allocated, the
sizes that a header declares are checked against the limits and against the length of the file.
"""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from malaprop.privacy.errors import LexiconError

LINE = 1 << 20  # bytes in a line of text, including its end
DIMENSIONS = 16_384  # numbers in a vector; the widest in use have 12,288
WORD = 4096  # characters in a word; GloVe's longest have 1,000. Rows with longer ones are faulty
WORDS = 1 << 24  # words in a lexicon
CHARACTERS = 1 << 28  # characters in all words of a lexicon together
FAULTY = 1_000_000  # faulty rows and blank lines more than good rows, after which reading stops
HEADER = 1 << 20  # bytes in the header of a `.safetensors` file
NOTE = 1 << 24  # bytes in a JSON file; the longest that Malaprop writes has less than 1 % of that
DIRECTORY = 1 << 23  # bytes in the directory of a zip archive: of some 80,000 files
TEXT = 4096  # characters in a text of such a file
# Controls (C0, C1), Unicode's line separators, and halves of surrogate pairs, which UTF-8 lacks.
# No-break spaces pass: some of GloVe's own words have them, and no format uses them as separators.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError)
"""Errors that zipfile raises for damaged or unsupported archives."""
_END = 1 << 17  # bytes at the end of a zip archive, more than `zipfile` looks at


def edges(words: int) -> int:
    """Return the most edges a word graph may have; built ones have fewer than 8 per word."""
    return (1 << 22) + 16 * words


def line(stream: IO[bytes] | gzip.GzipFile, name: str) -> bytes:
    """Read a line including its end; empty at the end of the file."""
    content = stream.readline(LINE + 1)
    if len(content) > LINE:
        raise LexiconError(
            f"{name} has a line of more than {LINE:,} bytes, too long for a row of a lexicon: "
            "it is damaged or not a text file"
        )
    return content


def whole(path: Path, limit: int) -> bytes:
    """Read a whole file. Raises OSError, or ValueError if it is too long."""
    if not path.is_file():  # a pipe or a device may never end
        raise FileNotFoundError(errno.ENOENT, "No such file", str(path))
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > limit:
            raise ValueError(f"more than {limit:,} bytes")
        return file.read(size)


class DirectoryError(zipfile.BadZipFile):
    """A zip archive has, or claims to have, a directory that is too long."""


class _WithoutLongReads:
    """A file of which at most so many bytes are read at a time, as long as there is a limit."""

    def __init__(self, file: IO[bytes]) -> None:
        self.limit: int | None = DIRECTORY
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1, /) -> bytes:
        if self.limit is None:
            return self._file.read(size)
        if size > self.limit:
            raise DirectoryError(f"a directory of more than {self.limit:,} bytes")
        return self._file.read(size if size >= 0 else _END)


def zip_archive(file: IO[bytes]) -> zipfile.ZipFile:
    """Open a zip archive, unless its directory is too long.

    `zipfile` reads the directory whole, and makes an object of each entry: several gigabytes in
    all for a file of 250 MB.
    """
    bounded = _WithoutLongReads(file)
    archive = zipfile.ZipFile(bounded)
    bounded.limit = None
    return archive


def check_dimension(dimension: int, name: str) -> None:
    """Refuse vectors with too many numbers."""
    if dimension > DIMENSIONS:
        raise LexiconError(
            f"{name} has, or claims to have, vectors of more than {DIMENSIONS:,} numbers, the most "
            "that a lexicon can have: reduce them first"
        )


def check_words(words: int, characters: int, name: str) -> None:
    """Refuse too many words, or too many characters in them."""
    if words > WORDS or characters > CHARACTERS:
        raise LexiconError(
            f"{name} has more than {WORDS:,} words, or more than {CHARACTERS:,} characters in "
            "them: keep only the first ones"
        )


def read_object(path: Path) -> dict[str, Any]:
    """Read the object in a JSON file. Raises OSError, or ValueError if there is none."""
    return parse_object(whole(path, NOTE).decode("utf-8"))


def parse_object(text: str) -> dict[str, Any]:
    """Parse a JSON object. Raises ValueError if the text is anything else."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004 (it is the file's fault)
    return value


def check_texts(*texts: Any) -> None:
    """Raise a ValueError unless all are short texts that can be shown: no escapes are in them."""
    for text in texts:
        if not isinstance(text, str) or len(text) > TEXT or CONTROL.search(text):
            raise ValueError("no text that can be shown")


def check_format(note: dict[str, Any], number: int) -> None:
    """Raise a ValueError unless the object declares the format with this number."""
    if note["format"] != number:
        raise ValueError("another format")


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
    except DirectoryError:
        raise LexiconError(
            f"{path.name} has a directory of more than {DIRECTORY:,} bytes: unpack it and name the "
            "file that you want"
        ) from None
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
    except (LexiconError, *BROKEN):
        raise
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
    if members[0].flag_bits & 1:
        raise LexiconError(f"{path.name} is encrypted: unpack it first")
    if members[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise LexiconError(
            f"{path.name} is compressed by a method other than deflate: unpack it first"
        )
    return members[0]
