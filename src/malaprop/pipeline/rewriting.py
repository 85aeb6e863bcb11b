"""The one function that copies a file with private texts in the place of the true ones."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, BinaryIO, Final

from malaprop.core.errors import MalapropError
from malaprop.pipeline.formats.copying import AnyCopy, matched
from malaprop.pipeline.formats.delimited import DelimitedCopy
from malaprop.pipeline.formats.faults import Fault
from malaprop.pipeline.formats.jsonl import JsonlCopy
from malaprop.pipeline.formats.layout import Format, Layout
from malaprop.pipeline.formats.packing import Unpacked
from malaprop.pipeline.formats.parquet.copying import ParquetCopy
from malaprop.pipeline.formats.txt import TxtCopy

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
      the first thousand keys;
    - `faulty`: records that could not be processed, and `faults`, the first thousand of them.
    """

    records: int
    cells: int
    missing: int = 0
    other_columns: tuple[str, ...] = ()
    faulty: int = 0
    faults: tuple[Fault, ...] = field(default=(), repr=False)


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
    FileCounts(records=1, cells=1, missing=0, other_columns=('id',), faulty=0)
    >>> target.getvalue()
    b'id,note\\n007,x\\n'
    """
    with Rewriting(source, target, layout) as rewriting:
        for texts in rewriting.batches():
            rewriting.write(transform(texts) if texts else [])
            if progress:
                progress(rewriting.consumed)
        return rewriting.finish()


class Rewriting:
    """A copy of a file in the making, for those who read ahead of what they write.

        with Rewriting(source, target, layout) as rewriting:
            for texts in rewriting.batches():
                rewriting.write([... for text in texts])
            counts = rewriting.finish()

    With the `size` of the source, the batches of a small file are smaller, so that there are some
    for each worker. What is written must be in the order of what was read. When an error leaves
    the context, what was written to the target is worthless.
    """

    def __init__(
        self, source: BinaryIO, target: BinaryIO, layout: Layout, size: int | None = None
    ) -> None:
        self._source = source
        with _without_context():
            self._copy: AnyCopy = COPIES[layout.format](source, target, layout, size)
        self._reading = self._copy.batches()
        self._pending: deque[tuple[Any, int]] = deque()
        self._records = self._cells = 0
        self._ended = False

    def __enter__(self) -> "Rewriting":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._reading.close()  # a reader may have to put something back
        if not self._ended:
            self._copy.abandon()

    @property
    def consumed(self) -> int:
        """The number of bytes of the source that are read so far; of a packed one, packed."""
        source = self._source
        return source.consumed if isinstance(source, Unpacked) else self._copy.consumed

    def batches(self) -> Iterator[list[str]]:
        """Yield the texts of each batch."""
        with _without_context():
            for batch in self._reading:
                texts = batch.texts
                self._pending.append((batch, len(texts)))
                yield texts

    def write(self, private: list[str]) -> None:
        """Write the first batch that is not yet written, with these texts."""
        batch, expected = self._pending.popleft()
        with _without_context():
            self._copy.write(batch, matched(expected, private))
        self._records += batch.records
        self._cells += expected

    def finish(self) -> FileCounts:
        """Write what stands at the end of the file, once all batches are written."""
        with _without_context():
            passing = self._copy.finish()
        self._ended = True
        return FileCounts(
            records=self._records,
            cells=self._cells,
            missing=passing.missing,
            other_columns=passing.columns,
            faulty=self._copy.faults.count,
            faults=tuple(self._copy.faults.listed),
        )


@contextmanager
def _without_context() -> Iterator[None]:
    """Let errors go without what they came from.

    `from None` hides what the libraries have raised but keeps a reference to it, and through it
    to the data that they failed on.
    """
    try:
        yield
    except MalapropError as error:
        error.__context__ = None
        raise
