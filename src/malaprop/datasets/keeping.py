"""Where data sets are kept: below the user's folder, checked by digest, for the user alone."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from malaprop.core.errors import DataError, OutputError
from malaprop.datasets.entries import DataFile, Dataset
from malaprop.lexicon.catalogue import home
from malaprop.lexicon.formats.replacing import replacing

_AT_ONCE = 1 << 20
_OWNER_ONLY, _FOLDER = 0o600, 0o700


def datasets_folder() -> Path:
    """Return the folder of the data sets; it need not exist."""
    return home() / "datasets"


def path_of(dataset: Dataset, file: DataFile) -> Path:
    """Return where a file of a data set is, or would be."""
    return datasets_folder() / dataset.name / file.name


def is_kept(dataset: Dataset) -> bool:
    """Tell whether all files of a data set are there, by name and size."""
    return all(_has_size(path_of(dataset, file), file.size) for file in dataset.files)


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_AT_ONCE):
            digest.update(block)
    return digest.hexdigest()


def kept_files(dataset: Dataset) -> dict[str, Path]:
    """Return the checked files of a data set, by name; say how to get it if one is missing."""
    paths = {}
    for file in dataset.files:
        path = path_of(dataset, file)
        if not path.is_file():
            raise DataError(
                f"The data set {dataset.name} is not on this machine: run  {dataset.get_it}"
            )
        if digest_of(path) != file.sha256:
            raise DataError(
                f"{path} is not the file that was kept: somebody changed it. Remove it, and run  "
                f"{dataset.get_it}"
            )
        paths[file.name] = path
    return paths


def keep(dataset: Dataset, file: DataFile, source: BinaryIO, origin: str) -> Path:
    """Copy a file to its place, unless its digest is not the catalogue's."""
    path = path_of(dataset, file)
    private_folder(path.parent)
    digest, size = hashlib.sha256(), 0
    with replacing(path) as part, _owner_only(part) as target:
        while size <= file.size and (block := source.read(_AT_ONCE)):
            target.write(block)
            digest.update(block)
            size += len(block)
        if digest.hexdigest() != file.sha256:
            raise DataError(
                f"{file.name} from {origin} is not the file of the catalogue: its SHA-256 or its "
                f"size differs ({file.size:,} bytes are expected). It was not kept."
            )
    return path


def private_folder(folder: Path) -> None:
    """Make a folder for the user alone, and those above it that are missing."""
    missing = [above for above in (folder, *folder.parents) if not above.exists()]
    try:
        for above in reversed(missing):
            above.mkdir(mode=_FOLDER, exist_ok=True)
        folder.mkdir(exist_ok=True)  # raises if it is a file
    except OSError as error:
        raise OutputError(f"{folder} cannot be made: {error.strerror}") from None


@contextmanager
def _owner_only(path: Path) -> Iterator[BinaryIO]:
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
    with open(opened, "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def _has_size(path: Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size == size
