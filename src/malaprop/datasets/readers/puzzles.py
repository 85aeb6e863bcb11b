"""Groups of words with outliers."""

import zipfile
from collections.abc import Iterator
from pathlib import Path

from malaprop.datasets.archives import unbundled
from malaprop.datasets.entries import Dataset
from malaprop.datasets.readers.base import Files, reader
from malaprop.datasets.values import Puzzles

_LARGEST = 1 << 20


@reader("outliers")
def outliers(dataset: Dataset, files: Files) -> Puzzles:
    """Read a group of words, a blank line, and words that do not belong: a puzzle for each."""
    members: list[tuple[str, ...]] = []
    odd: list[str] = []
    for path in files.values():
        for content in _contents(path):
            group, _, others = content.decode("utf-8").replace("\r", "").strip().partition("\n\n")
            for word in others.split():
                members.append(tuple(group.split()))
                odd.append(word)
    return Puzzles(name=dataset.name, members=tuple(members), odd=tuple(odd))


def _contents(path: Path) -> Iterator[bytes]:
    if path.suffix == ".tar":
        yield from (content for _, content in unbundled(path))
        return
    with zipfile.ZipFile(path) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith(".txt"):
                with archive.open(name) as member:
                    yield member.read(_LARGEST)
