"""Ships the lexicon to the executors: one file, unpacked once on each machine.

The file is a small home of the user (see `malaprop.lexicon.catalogue`): the compiled lexicon,
and the tables that were kept for it, such as audited exponents. What the package itself
carries is not shipped but opened by its name. On its arrival a lexicon must have the fingerprint
that it had at the driver.
"""

import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from pyspark import SparkContext, SparkFiles, cloudpickle

from malaprop.core.errors import LexiconError
from malaprop.core.metrics.named import NAMED
from malaprop.lexicon import catalogue, store
from malaprop.lexicon.lexicon import Lexicon

_LEXICON: Final = "lexicon"
_METRIC: Final = "metric.pickle"

Contents = dict[str, Path]
"""Files to be shipped, by their names in the archive."""


@dataclass(frozen=True, kw_only=True)
class Shipment:
    """Where an executor finds a lexicon: by its name in the package, or in an archive."""

    name: str
    archive: str
    fingerprint: str

    @contextmanager
    def opened(self) -> Iterator[Lexicon]:
        """Open the lexicon, with its tables at hand as long as the context lasts."""
        with _at_home(SparkFiles.get(self.archive) if self.archive else "") as home:
            lexicon = Lexicon.open(self.name) if self.name else _unpacked(home)
            if lexicon.fingerprint != self.fingerprint:
                raise LexiconError(
                    "The lexicon of an executor is not the driver's: their fingerprints differ. "
                    "Install the same version of malaprop on all machines."
                )
            yield lexicon


def _unpacked(home: Path) -> Lexicon:
    lexicon = Lexicon.open(home / _LEXICON)
    metric = home / _METRIC
    if metric.is_file():  # written by the driver, whose code runs here anyhow
        return lexicon.with_metric(cloudpickle.loads(metric.read_bytes()))
    return lexicon


@contextmanager
def _at_home(folder: str) -> Iterator[Path]:
    """Use a folder instead of the user's own."""
    if not folder:
        yield Path()
        return
    before = os.environ.get("MALAPROP_HOME")
    os.environ["MALAPROP_HOME"] = folder
    try:
        yield Path(folder)
    finally:
        if before is None:
            del os.environ["MALAPROP_HOME"]
        else:
            os.environ["MALAPROP_HOME"] = before


# The driver serves the archives as long as its process lives: executors may come later.
_served: dict[tuple[str, ...], str] = {}
_folders: list["TemporaryDirectory[str]"] = []


def ship(lexicon: Lexicon, context: SparkContext) -> Shipment:
    """Send a lexicon and its tables to the executors; the same ones only once."""
    name = lexicon.name if _is(lexicon, catalogue.embedded().get(lexicon.name)) else ""
    tables = _tables(lexicon.fingerprint)
    stamps = [f"{at} {path.stat().st_mtime_ns}" for at, path in tables.items()]
    key = (str(context.applicationId), lexicon.fingerprint, name, *stamps)
    if key not in _served and (tables or not name):
        folder = TemporaryDirectory(prefix="malaprop-")
        contents = tables | ({} if name else _compiled(lexicon, Path(folder.name)))
        archive = _packed(contents, Path(folder.name))
        context.addArchive(str(archive))
        _folders.append(folder)
        _served[key] = archive.name
    return Shipment(name=name, archive=_served.get(key, ""), fingerprint=lexicon.fingerprint)


def _is(lexicon: Lexicon, folder: Path | None) -> bool:
    return folder is not None and store.load(folder).fingerprint == lexicon.fingerprint


def _tables(fingerprint: str) -> Contents:
    """Return the files that the user's folder has for a lexicon, by its fingerprint."""
    home = catalogue.home()
    kept = [path for path in sorted(home.glob("*/*")) if path.name.startswith(fingerprint)]
    files = [file for path in kept for file in (sorted(path.rglob("*")) or [path])]
    return {str(file.relative_to(home)): file for file in files if file.is_file()}


def _compiled(lexicon: Lexicon, folder: Path) -> Contents:
    """Return the files of a compiled lexicon; write them if there are none."""
    compiled = catalogue.imported().get(lexicon.name)
    if compiled is None or not _is(lexicon, compiled):
        compiled = folder / _LEXICON
        named = str(lexicon.metric) if str(lexicon.metric) in NAMED else "euclidean"
        store.write(compiled, [(lexicon.words, lexicon.vectors)], metric=named)
    contents = {f"{_LEXICON}/{file.name}": file for file in sorted(compiled.iterdir())}
    if str(lexicon.metric) not in NAMED:
        contents[_METRIC] = folder / _METRIC
        contents[_METRIC].write_bytes(cloudpickle.dumps(lexicon.metric))  # type: ignore[no-untyped-call]
    return contents


def _packed(contents: Contents, folder: Path) -> Path:
    # Not compressed: vectors hardly shrink, and are to be mapped from where they are unpacked.
    archive = folder / f"{folder.name}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as zipped:
        for name, file in contents.items():
            zipped.write(file, name)
    return archive
