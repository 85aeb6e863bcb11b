"""Compiles a file of words and vectors into a lexicon that opens instantly.

Unlike opening, importing repairs. It leaves out and counts faulty rows, keeps the first of
duplicate words, and trusts the rows where the header contradicts them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from malaprop.core.errors import LexiconError, OutputError, ParameterError
from malaprop.core.progress import Progress, report
from malaprop.lexicon import catalogue, store
from malaprop.lexicon.formats.opening import open_vector_file
from malaprop.lexicon.formats.repairs import Repair
from malaprop.lexicon.formats.screening import screened_blocks
from malaprop.lexicon.formats.vector_file import VectorFile

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True)
class ImportReport:
    """The result of an import: the folder, its size, and how often each fault was repaired."""

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
    """Compile a file under a name that `Lexicon.open` then accepts.

    `limit` keeps only the first rows (files are usually sorted by frequency). `vocabulary` is the
    file of words that belongs to a matrix. `progress` is called with the amount done and the total,
    in bytes or rows.
    """
    check_name(name)
    if limit is not None and limit < 1:
        raise ParameterError(f"The limit of an import must be at least 1 row. Got {limit} instead.")
    folder = catalogue.lexicons() / name
    if folder.exists() and not force:
        raise OutputError(
            f"A lexicon named {name} exists already: choose another name, or use `force=True`"
        )
    file = open_vector_file(source, vocabulary=vocabulary, strict=False)
    stored = store.write(
        folder,
        _word_blocks(file, metric, limit, progress),
        metric=metric,
        sources={path.name: _sha256(path) for path in file.files},
        repairs=file.repairs,
        force=force,
    )
    count, dimension = stored.vectors.shape
    repairs = {str(fault): repair for fault, repair in file.repairs.by_fault.items()}
    return ImportReport(folder, count, dimension, repairs, stored.fingerprint)


def check_name(name: str) -> None:
    """Refuse a name that an imported lexicon cannot have."""
    if not _NAME.fullmatch(name):
        raise ParameterError(
            "The name of a lexicon must consist of at most 64 of a-z, 0-9, '.', '_' and '-', and "
            f"begin with a letter or digit. Got {name!r} instead."
        )
    if name in catalogue.embedded():
        raise ParameterError(f"{name} is the name of an embedded lexicon: choose another name")


def _word_blocks(
    file: VectorFile, metric: str, limit: int | None, progress: Progress | None
) -> Iterator[store.WordBlock]:
    for block in screened_blocks(file, metric=metric, limit=limit):
        if block.words:
            yield block.words, block.vectors
        report(progress, block.done, file.total)


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise LexiconError(f"{path.name} cannot be read: {error.strerror}") from None
