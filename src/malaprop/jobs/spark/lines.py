"""Lines of files in a task, copied by the code that copies files: the rest stays byte for byte.

Spark's reader of text gives lines with the bytes that they have, also where these are no UTF-8; its
readers of JSON and CSV would silently replace such bytes by another character.
"""

import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count
from typing import BinaryIO, Final

import pyarrow as pa

from malaprop.core.errors import MalapropError
from malaprop.jobs.spark.tasks import Task, TaskStream, UnnumberedFaults
from malaprop.pipeline.formats.copying import BATCH_CHARACTERS
from malaprop.pipeline.formats.delimited import DelimitedCopy
from malaprop.pipeline.formats.jsonl import JsonlCopy
from malaprop.pipeline.formats.layout import Layout
from malaprop.pipeline.formats.parquet.arrow import slices
from malaprop.pipeline.formats.textual import RecordCopy

LINE: Final = "value"
"""The column of lines, as Spark names it;"""
FILE, WHOLE = "file", "whole"
"""of each line a number for its file, and whether all of that file is in one partition."""


class JsonTask(Task):
    """Lines of JSON: each is a record, so a task can have any of them."""

    def streams(self, batches: Iterable["pa.RecordBatch"]) -> Iterator[TaskStream]:
        """Yield the lines of a partition, many at a time; blank ones stay."""
        number = count()
        for batch in batches:
            column = _bytes_of(batch)
            for start, length in slices(len(column), [column], BATCH_CHARACTERS):
                source = io.BytesIO(_joined(column.slice(start, length)))
                with TaskStream(_TaskJsonCopy(source, self.plan.layout), next(number)) as stream:
                    yield stream


class DelimitedTask(Task):
    """Separated values: a record may have several lines, so a task has one whole file."""

    def streams(self, batches: Iterable["pa.RecordBatch"]) -> Iterator[TaskStream]:
        """Yield the lines of a file; a partition without a file has none."""
        source = io.BufferedReader(_WholeFile(batches))
        if source.peek(1):
            with TaskStream(_TaskDelimitedCopy(source, self.plan.layout)) as stream:
                yield stream


class _WholeFile(io.RawIOBase):
    """Reads the lines of a partition as the bytes of one file."""

    def __init__(self, batches: Iterable["pa.RecordBatch"]) -> None:
        self._batches = iter(batches)
        self._left = memoryview(b"")
        self._file: int | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        while not self._left and (batch := next(self._batches, None)) is not None:
            self._check(batch)
            self._left = memoryview(_joined(_bytes_of(batch)))
        size = min(len(buffer), len(self._left))
        buffer[:size] = self._left[:size]
        self._left = self._left[size:]
        return size

    def _check(self, batch: "pa.RecordBatch") -> None:
        files = set(batch.column(FILE).to_pylist()) | ({self._file} - {None})
        if len(files) > 1 or not all(batch.column(WHOLE).to_pylist()):
            raise MalapropError("Spark has cut a file, or joined two: please report it")
        self._file = next(iter(files), None)


class _LineCopy(RecordCopy):
    """The copy of lines that come from Spark and go back to it."""

    target: io.BytesIO
    left_out = 0  # those that are skipped count as written

    def __init__(self, source: BinaryIO, layout: Layout) -> None:
        # Bytes that are not text are a flaw of their record: a task cannot say where in a file they
        # are.
        lenient = layout if layout.on_error != "fail" else replace(layout, on_error="mask")
        super().__init__(source, io.BytesIO(), lenient)
        self.faults = UnnumberedFaults(layout.on_error)

    def taken(self) -> "pa.RecordBatch":
        """Return the lines that were written, and forget them."""
        lines = self.target.getvalue().split(b"\n")[:-1]  # each has an end, see `_joined`
        self.target.seek(0)
        self.target.truncate()
        # A view, not a cast: where a record is masked, its other columns keep their bytes.
        column = pa.array(lines, pa.binary()).view(pa.string())
        return pa.RecordBatch.from_arrays([column], [LINE])


class _TaskJsonCopy(_LineCopy, JsonlCopy):
    """Some lines of many: a key that is in none of them may be in others."""

    @property
    def present(self) -> set[str]:
        """The keys asked for that are there."""
        return self._seen

    def check_keys(self) -> None:
        """Leave this to the driver, which sees the counts of all lines."""


class _TaskDelimitedCopy(_LineCopy, DelimitedCopy):
    """One file of many."""

    @property
    def present(self) -> set[str]:
        """The columns asked for: a file that lacks one is refused."""
        return set(self.layout.columns)


def _bytes_of(batch: "pa.RecordBatch") -> "pa.Array":
    return batch.column(LINE).cast(pa.large_binary())


def _joined(lines: "pa.Array") -> bytes:
    return b"".join(line + b"\n" for line in lines.to_pylist())
