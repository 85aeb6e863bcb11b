"""The one function that copies a file with private texts in the place of the true ones."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import BinaryIO, Final

from malaprop.core.errors import MalapropError
from malaprop.pipeline.files.copying import AnyCopy, matched
from malaprop.pipeline.files.delimited import DelimitedCopy
from malaprop.pipeline.files.jsonl import JsonlCopy
from malaprop.pipeline.files.layout import Format, Layout
from malaprop.pipeline.files.parquet import ParquetCopy
from malaprop.pipeline.files.txt import TxtCopy

COPIES: Final[dict[Format, type[AnyCopy]]] = {
    "txt": TxtCopy,
    "csv": DelimitedCopy,
    "tsv": DelimitedCopy,
    "jsonl": JsonlCopy,
    "parquet": ParquetCopy,
}

Transform = Callable[[list[str]], list[str]]


@dataclass(frozen=True, kw_only=True)
class FileCounts:
    """What was in a file.

    - `records`: lines of a txt file, objects, rows without the header;
    - `cells`: texts that went through the transform;
    - `missing`: records (of JSON lines) that lack a column that was asked for;
    - `other_columns`: the columns that were not asked for and pass unchanged; of JSON lines
      the first thousand keys.
    """

    records: int
    cells: int
    missing: int = 0
    other_columns: tuple[str, ...] = ()


def rewrite(
    source: BinaryIO,
    target: BinaryIO,
    layout: Layout,
    transform: Transform,
    progress: Callable[[int], None] | None = None,
) -> FileCounts:
    """Copy a file, with `transform` applied to the texts of the columns asked for.

    Everything else stays as it is: byte for byte in txt, csv, tsv and jsonl files, value for
    value in Parquet. The file is read and written in batches of about a million characters;
    `transform` gets the texts of a batch and must return as many. `progress` is told the number
    of bytes read so far, after each batch. Both streams are left open. When this raises, what
    was written to the target is worthless.

    >>> import io
    >>> target = io.BytesIO()
    >>> layout = Layout(format="csv", columns=("note",))
    >>> rewrite(io.BytesIO(b"id,note\\n007,abc\\n"), target, layout, lambda texts: ["x"])
    FileCounts(records=1, cells=1, missing=0, other_columns=('id',))
    >>> target.getvalue()
    b'id,note\\n007,x\\n'
    """
    try:
        return _rewrite(COPIES[layout.format](source, target, layout), transform, progress)
    except MalapropError as error:
        # `from None` hides what the libraries have raised but keeps a reference to it, and
        # through it to the data that they failed on.
        error.__context__ = None
        raise


def _rewrite(
    copy: AnyCopy, transform: Transform, progress: Callable[[int], None] | None
) -> FileCounts:
    records = cells = 0
    try:
        with closing(copy.batches()) as batches:
            for batch in batches:
                texts = batch.texts
                copy.write(batch, matched(texts, transform(texts) if texts else []))
                records += batch.records
                cells += len(texts)
                if progress:
                    progress(copy.consumed)
        passing = copy.finish()
    except BaseException:
        copy.abandon()
        raise
    return FileCounts(
        records=records, cells=cells, missing=passing.missing, other_columns=passing.columns
    )
