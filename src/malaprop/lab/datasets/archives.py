"""Takes files out of wheels, zip and tar archives, as data: nothing is unpacked or run.

Member names decide nothing but which member is read: no path is made of them. An archive may lie
about its sizes, so that reading stops at the size that the catalogue states. An archive may also
have headers of any size, and any number of them. Tar files are therefore read with code of our
own: `tarfile` reads headers whole, keeps all of them, and follows sizes that lead back.
"""

import bz2
import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import IO, Any

from malaprop.lab.datasets.entries import DataFile
from malaprop.lexicon.formats.untrusted import BROKEN, DIRECTORY, DirectoryError, zip_archive
from malaprop.privacy.errors import DataError

_LARGEST = 1 << 31  # bytes that an archive may unpack to while members are looked for
_MOST_HEADERS = 400_000  # half of them may be extended ones
_LARGEST_HEADER = 1 << 16  # bytes of an extended header; real ones hold a path, or a few
_BLOCK = tarfile.BLOCKSIZE
_AT_ONCE = 1 << 20
_OF_NEXT = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE)
_EXTENDED = (*_OF_NEXT, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
_NAMES = ("utf-8", "surrogateescape")
_LONGEST_NUMBER = 18  # digits
# RuntimeError: a password is needed; ValueError: names and numbers that make no sense.
_BROKEN = (*BROKEN, tarfile.TarError, EOFError, RuntimeError, OSError, ValueError)
_Read = Callable[[int], bytes]
"""Reads at most so many bytes of a member; fewer only at its end."""


def is_archive(path: Path) -> bool:
    try:
        if zipfile.is_zipfile(path):
            return True
        with _unpacked(path) as stream:
            tarfile.TarInfo.frombuf(stream.read(_BLOCK), *_NAMES)
    except _BROKEN:
        return False
    return True


def found_in(path: Path, patterns: Iterable[str]) -> set[str]:
    """Return which patterns are those of a file in an archive."""
    sought, found = set(patterns), set[str]()
    with _damage_told(path):
        for name, _ in _files(path):
            new = {pattern for pattern in sought if _matches(name, pattern)}
            found |= new
            sought -= new
    return found


def taken_out(path: Path, file: DataFile) -> io.BytesIO:
    """Return what a data file is in an archive: a member, or a tar file of several."""
    with _damage_told(path):
        members = _members(path, file)
        if not members:
            raise DataError(f"{path.name} has no file {file.member}: it is another edition.")
        return io.BytesIO(bundled(members) if "*" in file.member else members[0][1])


def bundled(members: list[tuple[str, bytes]]) -> bytes:
    """Return files as one tar file, the same bytes for the same files on every machine.

    >>> bundled([("b", b"2"), ("a", b"1")]) == bundled([("a", b"1"), ("b", b"2")])
    True
    """
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in sorted(members):
            header = tarfile.TarInfo(name)
            header.size, header.mode = len(content), 0o600
            tar.addfile(header, io.BytesIO(content))
    return made.getvalue()


def unbundled(path: Path) -> list[tuple[str, bytes]]:
    """Return the names and contents of the files in an archive that was kept, by name."""
    return sorted((name, read(_LARGEST)) for name, read in _files(path))


@contextmanager
def _damage_told(path: Path) -> Iterator[None]:
    """Turn what the libraries raise on damaged archives into an error of ours."""
    try:
        yield
    except DataError:
        raise
    except DirectoryError:
        raise DataError(
            f"{path.name} has a directory of more than {DIRECTORY:,} bytes, more than an archive "
            "of data should."
        ) from None
    except _BROKEN:
        raise DataError(f"{path.name} is damaged, or no archive that can be read.") from None


def _matches(name: str, pattern: str) -> bool:
    """Tell whether a name in an archive is the pattern's; a star stands for no slash.

    >>> _matches("data/a.txt", "data/*.txt"), _matches("data/old/a.txt", "data/*.txt")
    (True, False)
    """
    return name.count("/") == pattern.count("/") and fnmatchcase(name, pattern)


def _members(path: Path, file: DataFile) -> list[tuple[str, bytes]]:
    """Return the members that a data file is made of, by their names below the common folder."""
    several = "*" in file.member
    common = file.member[: file.member.find("*")].rpartition("/")[0]
    members, size = [], 0
    for name, read in _files(path):
        if not _matches(name, file.member):
            continue
        size += max(_BLOCK, len(name)) if several else 0  # a bundle has a header for each
        content = read(max(file.size - size, 0) + 1)
        size += len(content)
        if size > file.size:
            raise DataError(f"{path.name} has more in {file.member} than the catalogue says.")
        members.append((name[len(common) :].lstrip("/"), content))
    return members


def _files(path: Path) -> Iterator[tuple[str, _Read]]:
    """Yield the names of the files in an archive, and what reads each until the next one."""
    if not zipfile.is_zipfile(path):
        with _unpacked(path) as stream:
            yield from _Tar(stream, path.name).files()
        return
    with path.open("rb") as file, zip_archive(file) as archive:
        for info in archive.infolist():
            if not info.is_dir():
                yield info.filename, partial(_read_zipped, archive, info)


def _read_zipped(archive: zipfile.ZipFile, info: zipfile.ZipInfo, size: int) -> bytes:
    """Read a file, or its first bytes. Only by deflate: others need memory that it states."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise NotImplementedError
    with archive.open(info) as stream:
        return stream.read(size)


@contextmanager
def _unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Open a tar file, through gzip or bzip2 if it is packed.

    Not through xz: it takes the memory that the file asks for, up to four gigabytes.
    """
    with ExitStack() as stack:
        file: Any = stack.enter_context(path.open("rb"))
        magic = file.peek(3)[:3]
        if magic[:2] == b"\x1f\x8b":
            file = stack.enter_context(gzip.GzipFile(fileobj=file))
        elif magic == b"BZh":
            file = stack.enter_context(bz2.BZ2File(file))
        yield file


class _Tar:
    """Reads a tar file once, from its start to its end, and keeps nothing of it."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream, self._name = stream, name
        self._done = 0
        self._left = 0  # bytes up to the next header
        self._size = 0  # bytes of the file that were not read

    def files(self) -> Iterator[tuple[str, _Read]]:
        """Yield the name of each file, and what reads it before the next one is asked for."""
        said: dict[str, str] = {}  # what extended headers say of the next member
        for _ in range(_MOST_HEADERS):
            while self._left:
                self._read(min(self._left, _AT_ONCE))
            block = self._stream.read(_BLOCK)
            self._done += len(block)
            if not block.strip(b"\0"):  # the end: a block of zeros, or nothing
                return
            header = tarfile.TarInfo.frombuf(block, *_NAMES)
            if header.type in _EXTENDED:
                said |= self._extended(header)
                continue
            if header.type == tarfile.GNUTYPE_SPARSE or "sparse" in said:
                raise DataError(f"{self._name} has sparse files: pack it again without them.")
            if header.isreg() or header.type not in tarfile.SUPPORTED_TYPES:
                self._enter(_number(said["size"]) if "size" in said else header.size)
            if header.isreg():
                yield said.get("path", header.name), self._read_file
            said = {}
        raise self._too_large()

    def _enter(self, size: int) -> None:
        """Start on what a header is followed by: so many bytes, in whole blocks."""
        if not 0 <= size <= _LARGEST - self._done:
            raise self._too_large()
        self._size, self._left = size, size + -size % _BLOCK

    def _read(self, size: int) -> bytes:
        content = self._stream.read(size)
        if len(content) < size:
            raise EOFError
        self._done += size
        self._left -= size
        return content

    def _read_file(self, size: int) -> bytes:
        content = self._read(min(size, self._size))
        self._size -= len(content)
        return content

    def _extended(self, header: tarfile.TarInfo) -> dict[str, str]:
        """Return what an extended header says of the next member, as far as it matters here."""
        if header.size > _LARGEST_HEADER:
            raise DataError(
                f"{self._name} has a header of more than {_LARGEST_HEADER:,} bytes, more than an "
                "archive of data should."
            )
        self._enter(header.size)
        content = self._read_file(header.size)
        if header.type == tarfile.GNUTYPE_LONGNAME:
            return {"path": content.partition(b"\0")[0].decode(*_NAMES)}
        return _records(content) if header.type in _OF_NEXT else {}

    def _too_large(self) -> DataError:
        return DataError(f"{self._name} unpacks to more than an archive of data should.")


def _records(content: bytes) -> dict[str, str]:
    """Return the path and the size in a pax header, and whether it is that of a sparse file.

    A record has its own length, a space, a key, an equals sign, a value and a line end.

    >>> _records(b"12 path=a/b\\n20 GNU.sparse.major=1\\n")
    Traceback (most recent call last):
    ...
    ValueError: a record that does not end where it says
    >>> _records(b"12 path=a/b\\n9 size=7\\n")
    {'path': 'a/b', 'size': '7'}
    """
    found, start = {}, 0
    content = content.rstrip(b"\0")
    while start < len(content):
        stated = content[start : start + _LONGEST_NUMBER].partition(b" ")[0]
        record = content[start : start + _number(stated.decode(*_NAMES))]
        key, equals, value = record[len(stated) + 1 : -1].partition(b"=")
        if not equals or not record.endswith(b"\n"):
            raise ValueError("a record that does not end where it says")
        if key in (b"path", b"size"):
            found[key.decode()] = value.decode(*_NAMES)
        elif key.startswith(b"GNU.sparse"):
            found["sparse"] = ""
        start += len(record)
    return found


def _number(stated: str) -> int:
    if not (stated.isascii() and stated.isdecimal() and len(stated) < _LONGEST_NUMBER):
        raise ValueError("not a number of bytes")
    return int(stated)
