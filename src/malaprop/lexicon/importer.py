"""Compiling a file that people have into a lexicon that opens at once.

Unlike opening, importing repairs: rows with a fault are left out and counted, of duplicate words
the first stays, and the rows themselves count where a header is wrong.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from malaprop.core.errors import LexiconError, OutputError, ParameterError
from malaprop.lexicon import catalogue, store
from malaprop.lexicon.formats import Repair, Table, open_table, screened

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class ImportReport:
    """What an import made: the folder, its size, and how often which fault was repaired."""

    folder: Path
    count: int
    dimension: int
    repairs: Mapping[str, Repair]
    fingerprint: str


def import_lexicon(
    source: Path,
    name: str,
    *,
    metric: str = "euclidean",
    vocabulary: Path | None = None,
    limit: int | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Compile a file under a name that `Lexicon.open` then knows.

    `limit` keeps the first rows only (files are usually sorted by frequency); `vocabulary` belongs
    to a matrix; `progress` is called with what is done and the total, in one unit.
    """
    check_name(name)
    if limit is not None and limit < 1:
        raise ParameterError(f"The limit of an import must be at least 1 row. Got {limit} instead.")
    folder = catalogue.lexicons() / name
    if folder.exists() and not force:
        raise OutputError(
            f"A lexicon named {name} exists already: choose another name, or use `force=True`"
        )
    table = open_table(source, vocabulary=vocabulary, strict=False)
    stored = store.write(
        folder,
        _rows(table, metric, limit, progress),
        metric=metric,
        sources={path.name: _sha256(path) for path in table.files},
        repairs=table.repairs,
        force=force,
    )
    count, dimension = stored.vectors.shape
    repairs = {str(kind): repair for kind, repair in table.repairs.found.items()}
    return ImportReport(folder, count, dimension, repairs, stored.fingerprint)


def check_name(name: str) -> None:
    """Refuse a name that no imported lexicon can have."""
    if not _NAME.fullmatch(name):
        raise ParameterError(
            "The name of a lexicon must consist of at most 64 of a-z, 0-9, '.', '_' and '-', and "
            f"begin with a letter or digit. Got {name!r} instead."
        )
    if name in catalogue.embedded():
        raise ParameterError(f"{name} is the name of an embedded lexicon: choose another one")


def _rows(
    table: Table, metric: str, limit: int | None, progress: Progress | None
) -> Iterator[store.WordBlock]:
    for block in screened(table, metric=metric, limit=limit):
        if block.words:
            yield block.words, block.vectors
        if progress is not None:
            progress(block.done, table.total)


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise LexiconError(f"{path.name} cannot be read: {error.strerror}") from None
