"""Lines of files in a task, copied by the code that copies files: all else stays to the byte.

Spark's reader of text gives lines with the bytes that they have, also where these are no UTF-8; its
readers of JSON and CSV would put another character in the place of such bytes, without a word.
"""

import io
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import BinaryIO, Final

import pyarrow as pa

from malaprop.core.errors import MalapropError
from malaprop.jobs.spark.counting import Tally
from malaprop.jobs.spark.tasks import Task
from malaprop.pipeline.formats.copying import BATCH_CHARACTERS
from malaprop.pipeline.formats.delimited import DelimitedCopy
from malaprop.pipeline.formats.faults import Faults, FlawError
from malaprop.pipeline.formats.jsonl import JsonlCopy
from malaprop.pipeline.formats.parquet.arrow import slices

LINE: Final = "value"
"""The column of lines, as Spark names it;"""
FILE, WHOLE = "file", "whole"
"""of each line a number for its file, and whether all of that file is in one partition."""


class JsonTask(Task):
    """Lines of JSON: each is a record, so it does not matter which of them a task is given."""

    def private(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Yield the private lines of a partition; blank ones stay."""
        for batch in batches:
            column = _bytes_of(batch)
            for start, length in slices(len(column), [column], BATCH_CHARACTERS):
                lines = _joined(column.slice(start, length))
                yield from _copied(self, _SomeJson, io.BytesIO(lines))


class DelimitedTask(Task):
    """Separated values: a record may have several lines, so a task has a file, and all of it."""

    def private(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Yield the private lines of a file; a partition without a file has none."""
        source = io.BufferedReader(_WholeFile(batches))
        if source.peek(1):
            yield from _copied(self, _SomeDelimited, source)


class _WholeFile(io.RawIOBase):
    """The bytes of the file that the lines of a partition are."""

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


class _SomeJson(JsonlCopy):
    """Some lines of many: a key that is in none of them may be in others."""

    @property
    def found(self) -> set[str]:
        """The keys asked for that are there."""
        return self._seen

    def check_keys(self) -> None:
        """Leave this to the driver, who hears of all lines."""


class _SomeDelimited(DelimitedCopy):
    """One file of many."""

    @property
    def found(self) -> set[str]:
        """The columns asked for: a file that lacks one is refused."""
        return set(self.layout.columns)


class _Faults(Faults):
    """Faults without numbers: a task does not know where in a file its lines are."""

    def meet(self, record: int, flaw: FlawError, name: str = "") -> None:
        """Note a fault, or raise. No other encoding is to be had, so none is recommended."""
        super().meet(record, FlawError(flaw.reason), "a record")


def _copied(
    task: Task, kind: type[_SomeJson] | type[_SomeDelimited], source: BinaryIO
) -> Iterator["pa.RecordBatch"]:
    """Copy the records of a source, and count."""
    layout, target = task.plan.layout, io.BytesIO()
    # Bytes that are no text are a flaw of their record: a task cannot say where in a file they are.
    lenient = layout if layout.on_error != "fail" else replace(layout, on_error="mask")
    copy = kind(source, target, lenient)
    copy.faults = _Faults(layout.on_error)
    with closing(copy.batches()) as batches:
        for batch in batches:
            copy.write(batch, task.drawn(batch.texts))
            task.tally.seen["rows"] += batch.records
            yield _taken(target)
    passing = copy.finish()
    task.tally.seen.update(missing=passing.missing, faulty=copy.faults.count)
    task.tally.add(Tally(found=copy.found, others=dict.fromkeys(passing.columns)))


def _taken(target: io.BytesIO) -> "pa.RecordBatch":
    """The lines that were written to a target, which is empty then."""
    lines = target.getvalue().split(b"\n")[:-1]  # each has an end, see `_joined`
    target.seek(0)
    target.truncate()
    # A view, not a cast: where a record is masked, its other columns keep what bytes they have.
    return pa.RecordBatch.from_arrays([pa.array(lines, pa.binary()).view(pa.string())], [LINE])


def _bytes_of(batch: "pa.RecordBatch") -> "pa.Array":
    return batch.column(LINE).cast(pa.large_binary())


def _joined(lines: "pa.Array") -> bytes:
    return b"".join(line + b"\n" for line in lines.to_pylist())
