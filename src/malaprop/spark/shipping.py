"""Ship a lexicon to the executors: one archive, unpacked once on each machine.

The archive holds the compiled lexicon, which executors map into memory, and the tables that the
driver's lexicon carries, such as audited exponents. An embedded lexicon is opened by its name, and
only its tables are shipped. On arrival a lexicon must have the fingerprint that it has at the
driver; its tables are the driver's, whatever an executor's own folders hold.
"""

import zipfile
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from pyspark import SparkContext, SparkFiles, cloudpickle

from malaprop.lexicon import store
from malaprop.lexicon.lexicon import Lexicon
from malaprop.lexicon.tables import Tables, keep, kept_tables
from malaprop.privacy.errors import LexiconError
from malaprop.privacy.metrics import NAMED

_LEXICON: Final = "lexicon"
_METRIC: Final = "metric.pickle"
_TABLES: Final = "tables"


@dataclass(frozen=True, kw_only=True)
class Shipment:
    """Where an executor finds a lexicon, by its name in the package or in the archive."""

    name: str
    archive: str
    fingerprint: str

    def open(self) -> Lexicon:
        """Open the lexicon at an executor, with the driver's tables."""
        unpacked = Path(SparkFiles.get(self.archive))
        lexicon = Lexicon.open(self.name or unpacked / _LEXICON)
        if (unpacked / _METRIC).is_file():
            # The driver wrote it, whose code runs here anyhow.
            lexicon = lexicon.with_metric(cloudpickle.loads((unpacked / _METRIC).read_bytes()))
        if lexicon.fingerprint != self.fingerprint:
            raise LexiconError(
                "The lexicon of an executor is not the driver's: their fingerprints differ. "
                "Install the same version of malaprop on all machines."
            )
        return lexicon.with_tables(kept_tables(self.fingerprint, unpacked / _TABLES))


# The driver serves the archives as long as its process lives: executors may come later.
_served: dict[tuple[object, ...], tuple[str, "TemporaryDirectory[str]"]] = {}


def ship(lexicon: Lexicon, context: SparkContext) -> Shipment:
    """Send a lexicon and its tables to the executors, once for each application."""
    name = lexicon.name if _is_stored_in(lexicon, store.embedded().get(lexicon.name)) else ""
    tables = lexicon.tables
    balances = tables.balances.digest if tables.balances is not None else ""
    key = (str(context.applicationId), lexicon.fingerprint, name, tables.exponents, balances)
    if key not in _served:
        kept = TemporaryDirectory(prefix="malaprop-")
        folder = Path(kept.name)
        contents = _written(tables, folder) | ({} if name else _compiled(lexicon, folder))
        archive = folder / f"{folder.name}.zip"
        # Not compressed: vectors hardly shrink, and executors map them from the unpacked files.
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as zipped:
            for member, file in contents.items():
                zipped.write(file, member)
        context.addArchive(str(archive))
        _served[key] = archive.name, kept
    return Shipment(name=name, archive=_served[key][0], fingerprint=lexicon.fingerprint)


def _is_stored_in(lexicon: Lexicon, folder: Path | None) -> bool:
    return folder is not None and store.load(folder).fingerprint == lexicon.fingerprint


def _written(tables: Tables, folder: Path) -> dict[str, Path]:
    """Write tables into a folder; return their files, one of which is always there."""
    (folder / _TABLES).mkdir()
    (folder / _TABLES / "README").write_text("Tables of a lexicon of malaprop.\n", "utf-8")
    for table in tables.all:
        keep(table, folder / _TABLES)
    files = sorted((folder / _TABLES).rglob("*"))
    return {str(file.relative_to(folder)): file for file in files if file.is_file()}


def _compiled(lexicon: Lexicon, folder: Path) -> dict[str, Path]:
    """Return the files of a lexicon in its compiled form, those it was opened from or new ones."""
    compiled = store.imported().get(lexicon.name)
    if compiled is None or not _is_stored_in(lexicon, compiled):
        compiled = folder / _LEXICON
        named = str(lexicon.metric) if str(lexicon.metric) in NAMED else "euclidean"
        store.write(compiled, [(lexicon.words, lexicon.vectors)], metric=named)
    contents = {f"{_LEXICON}/{file.name}": file for file in sorted(compiled.iterdir())}
    if str(lexicon.metric) not in NAMED:
        contents[_METRIC] = folder / _METRIC
        contents[_METRIC].write_bytes(cloudpickle.dumps(lexicon.metric))  # type: ignore[no-untyped-call]
    return contents
