"""A copy of a file in the making, with private texts in place of the true ones."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, BinaryIO, Self

from malaprop.core.errors import DataError, MalapropError, ParameterError
from malaprop.pipeline.formats.copying import AnyCopy, Passing
from malaprop.pipeline.formats.faults import FaultyRecord
from malaprop.pipeline.formats.layout import Layout
from malaprop.pipeline.formats.packing import Unpacked
from malaprop.pipeline.outputs.journal import Drawn, Journal
from malaprop.pipeline.streaming import copy_streams
from malaprop.pipeline.workers import WorkerPool

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
    faults: tuple[FaultyRecord, ...] = field(default=(), repr=False)


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
    `transform` gets the texts of a batch and must return as many. After each batch, `progress` is
    called with the number of bytes read so far. Both streams are left open. When this raises, what
    was written to the target is worthless.

    >>> import io
    >>> target = io.BytesIO()
    >>> layout = Layout(format="csv", columns=("note",))
    >>> rewrite(io.BytesIO(b"id,note\\n007,abc\\n"), target, layout, lambda texts: ["x"])
    FileCounts(records=1, cells=1, missing=0, other_columns=('id',), faulty=0)
    >>> target.getvalue()
    b'id,note\\n007,x\\n'
    """
    pool = WorkerPool(lambda _, texts: Drawn(transform(texts), {}), size=1)
    with Rewriting.open(source, target, layout) as rewriting:
        for step in copy_streams([rewriting], pool):
            if progress and not step.finished:
                progress(rewriting.consumed)
        return rewriting.counts


class Rewriting:
    """A copy of a file in the making; what reads may run ahead of what writes.

        with Rewriting.open(source, target, layout) as rewriting:
            for texts in rewriting.batches():
                rewriting.write([... for text in texts])
            counts = rewriting.finish()

    With the `size` of the source, the batches of a small file are smaller, so that there are some
    for each worker. Batches must be written in the order in which they were read. When an error
    leaves the context, what was written to the target is worthless.
    """

    number = 0
    journal: Journal | None = None
    name = ""
    """What errors call the source, if there are several."""

    def __init__(self, copy: AnyCopy) -> None:
        self._copy = copy
        self._reading = copy.batches()
        self._pending: deque[tuple[Any, int]] = deque()
        self._records = self._cells = self.batches_read = 0
        self._passing = Passing()
        self._ended = False

    @classmethod
    def open(
        cls, source: BinaryIO, target: BinaryIO, layout: Layout, size: int | None = None
    ) -> "Rewriting":
        """Begin a copy of a source whose layout says which format it has."""
        return cls(opened(source, target, layout, size))

    def __enter__(self) -> Self:
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
        source = self._copy.source
        return source.consumed if isinstance(source, Unpacked) else self._copy.consumed

    def batches(self) -> Iterator[list[str]]:
        """Yield the texts of each batch."""
        with naming(self.name), _without_context():
            for batch in self._reading:
                texts = batch.texts
                self._pending.append((batch, len(texts)))
                self.batches_read += 1
                yield texts

    def write(self, private: list[str]) -> None:
        """Write the first batch that is not yet written, with these texts."""
        batch, expected = self._pending.popleft()
        with _without_context():
            self._copy.write(batch, _matched(expected, private))
        self._records += batch.records
        self._cells += expected

    def finish(self) -> FileCounts:
        """Write the end of the file, once all batches are written."""
        with naming(self.name), _without_context():
            self._passing = self._copy.finish()
        self._ended = True
        return self.counts

    @property
    def counts(self) -> FileCounts:
        """What was in the file so far."""
        return FileCounts(
            records=self._records,
            cells=self._cells,
            missing=self._passing.missing,
            other_columns=self._passing.columns,
            faulty=self._copy.faults.count,
            faults=tuple(self._copy.faults.listed),
        )


def opened(source: BinaryIO, target: BinaryIO, layout: Layout, size: int | None) -> AnyCopy:
    """Begin a copy in the format of the layout; `size` is that of the source, if it is known."""
    with _without_context():
        return layout.kind(source, target, layout, size)


def _matched(texts: int, private: list[str]) -> list[str]:
    """Return `private` if it has as many texts as `texts` says.

    A missing one would leave a true text in its place, or shift all that follow.
    """
    if len(private) != texts:
        raise MalapropError(
            f"the transform was given {texts} texts and returned {len(private)}: it must "
            "return one for each"
        )
    return private


@contextmanager
def naming(source: str) -> Iterator[None]:
    """Have an error about a source name it, if it has a name."""
    try:
        yield
    except (DataError, ParameterError) as error:
        if source:
            error.args = (f"{source}: {error}",)
        raise


@contextmanager
def _without_context() -> Iterator[None]:
    """Drop the context of errors.

    `from None` hides what the libraries have raised but keeps a reference to it, and through it
    to the data that they failed on.
    """
    try:
        yield
    except MalapropError as error:
        error.__context__ = None
        raise
