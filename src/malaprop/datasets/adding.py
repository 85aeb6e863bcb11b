"""Take files that the user has, recognised by their digests."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from malaprop.core.errors import DataError, ParameterError
from malaprop.datasets.archives import found_in, is_archive, taken_out
from malaprop.datasets.entries import DataFile, Dataset, catalogue
from malaprop.datasets.keeping import digest_of, keep


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
