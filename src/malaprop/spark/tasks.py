"""What runs in the Python processes of the executors.

A process opens the lexicon once and prepares the mechanism once, for all its tasks. It also takes a
key for its noise from the operating system once: tasks, and further attempts at them, draw one
after the other from that process's generator, which gives out no number twice.
"""

import io
import math
import os
import traceback
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count
from typing import Any, BinaryIO, Final, Protocol

import pyarrow as pa
from pyspark import Accumulator, AccumulatorParam, SparkContext

from malaprop._version import __version__
from malaprop.files.formats.delimited import DelimitedCopy
from malaprop.files.formats.file_format import (
    BATCH_CHARACTERS,
    Copy,
    CopySummary,
    Faults,
    Layout,
    RecordError,
)
from malaprop.files.formats.jsonl import JsonlCopy
from malaprop.files.formats.parquet import RowBatch, checked_rows, plain, slices
from malaprop.files.formats.text_records import RecordCopy
from malaprop.files.journal import Drawn
from malaprop.files.run import FileCopy
from malaprop.files.workers import WorkerPool, copy_streams
from malaprop.privacy.errors import DataError, MalapropError
from malaprop.privacy.guarantee import Guarantee
from malaprop.privacy.mechanism import Mechanism
from malaprop.privatizer import Privatizer
from malaprop.report.file_counts import FileCounts
from malaprop.spark.shipping import Shipment
from malaprop.text.policy import Policy

# Counts that tasks collect and the driver adds up.
#
# Spark adds up what a task of a job's last stage has gathered once for each partition: when that
# partition's first attempt succeeds. Attempts that fail, or come second, do not count, nor is
# anything of what they drew in the output. All drawing is done in the last stage, on purpose:
# further up, a partition that is lost and computed again would count again.


MOST_KEYS: Final = 1_000  # as in a single file: objects may be maps from data to data


@dataclass
class Tally:
    """What a task has seen and done."""

    treated: Counter[str] = field(default_factory=Counter)
    """How the tokens of the texts were treated."""
    seen: Counter[str] = field(default_factory=Counter)
    """`rows`, `texts`, `missing`, `faulty`, and `prepared`: how often a lexicon was opened."""
    present: set[str] = field(default_factory=set)
    """The columns asked for that some record has."""
    others: dict[str, None] = field(default_factory=dict)
    """The columns that pass unchanged, in the order in which they were seen."""

    def add(self, other: "Tally") -> "Tally":
        """Add another tally to this one."""
        self.treated.update(other.treated)
        self.seen.update(other.seen)
        self.present |= other.present
        for name in other.others:
            if len(self.others) < MOST_KEYS:
                self.others[name] = None
        return self


class _Adding(AccumulatorParam[Tally]):
    def zero(self, value: Tally) -> Tally:
        return Tally()

    def addInPlace(self, value1: Tally, value2: Tally) -> Tally:  # noqa: N802  Spark's name
        return value1.add(value2)


def tally_of(context: SparkContext) -> "Accumulator[Tally]":
    """Return an accumulator of tallies."""
    return context.accumulator(Tally(), _Adding())


@dataclass(frozen=True, kw_only=True)
class ExecutorRecipe:
    """What an executor makes a privatizer from; `promise` is the guarantee of the driver's."""

    shipment: Shipment
    mechanism: Mechanism
    policy: Policy
    promise: Guarantee
    version: str = __version__


@dataclass(frozen=True, kw_only=True)
class TaskPlan:
    """What a task needs to know.

    `names` are those of the columns, and `absent` stands where a file lacks one that is asked for.
    """

    kit: ExecutorRecipe
    layout: Layout
    names: tuple[str, ...]
    absent: str


def keeps(guarantee: Guarantee, promise: Guarantee) -> bool:
    """Whether an executor's guarantee is the driver's: one report must be true of both.

    Numbers that are computed from vectors may differ in their last digits, from one processor to
    another.
    """
    facts = ("kind", "epsilon", "metric", "lexicon", "per", "pairs", "texts", "public")
    numbers = ("delta", "cap", "radius", "zcdp")
    return all(getattr(guarantee, name) == getattr(promise, name) for name in facts) and all(
        math.isclose(getattr(guarantee, name), getattr(promise, name), rel_tol=1e-9)
        for name in numbers
    )


# The key is the kit alone: another table, or other columns of it, need no other privatizer.
@lru_cache(maxsize=1)
def _prepared(kit: ExecutorRecipe) -> Privatizer:
    if kit.version != __version__:
        raise MalapropError(
            f"An executor has malaprop {__version__}, the driver {kit.version}: install the same "
            "version on all machines."
        )
    privatizer = Privatizer(kit.shipment.open(), kit.mechanism, **kit.policy.options())
    if not keeps(privatizer.guarantee, kit.promise):
        raise MalapropError(
            "The mechanism does not promise at an executor what it does at the driver: install "
            "the same versions of malaprop and of what it needs on all machines."
        )
    return privatizer


class UnnumberedFaults(Faults):
    """Faults without numbers: a task does not know where in a file its records are."""

    def meet(self, record: int, flaw: RecordError, name: str = "") -> None:
        """Count a fault, or raise. Spark reads one encoding, so none is recommended."""
        super().meet(record, RecordError(flaw.reason), "a record")


class TaskCopy(Protocol):
    """A copy whose records come from Spark and go back to it."""

    left_out: int
    """How many records were left out and are not among those written."""

    @property
    def present(self) -> set[str]:
        """The columns asked for that are there."""

    def taken(self) -> "pa.RecordBatch":
        """Return the rows that were written last."""


class TaskStream(FileCopy):
    """The records of a task on their way through the loop."""

    def __init__(self, copy: Any, number: int = 0) -> None:
        super().__init__(copy)
        self.copy: TaskCopy = copy
        self.number = number


class Task(ABC):
    """Privatizes the batches of one partition, and counts."""

    def __init__(self, plan: TaskPlan) -> None:
        self.plan = plan
        self.tally = Tally()

    def run(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Yield private batches. Errors do not contain a word of the data."""
        try:
            opened = _prepared.cache_info().misses
            self._privatizer = _prepared(self.plan.kit)
            self.tally.seen["prepared"] += _prepared.cache_info().misses - opened
            yield from self._private(batches)
        except (MalapropError, MemoryError) as error:
            raise error.with_traceback(None) from None
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{os.path.basename(frame.filename)}:{frame.lineno}"
            kind = type(error).__name__
            raise MalapropError(
                f"internal error in a task: {kind} at {place}; please report it"
            ) from None

    @abstractmethod
    def streams(self, batches: Iterable["pa.RecordBatch"]) -> Iterator[TaskStream]:
        """Yield the records of a partition as streams, one after the other."""

    def _private(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Yield the private rows of a partition."""
        pool = WorkerPool(lambda _, texts: Drawn(*self._privatizer.batch(texts)), size=1)
        for step in copy_streams(self.streams(batches), pool):
            self.tally.treated.update(step.counts)
            if step.finished:
                self.tally.add(_tally_of(step.stream.counts, step.stream.copy))
            else:
                yield step.stream.copy.taken()


def _tally_of(counts: FileCounts, copy: TaskCopy) -> Tally:
    seen = {"rows": counts.records + copy.left_out, "texts": counts.cells}
    seen |= {"missing": counts.missing, "faulty": counts.faulty}
    return Tally(
        seen=Counter(seen), present=copy.present, others=dict.fromkeys(counts.other_columns)
    )


# Rows of a table in a task: private texts in some columns, all others as they are.


class ColumnsTask(Task):
    """Rows of a table, some columns of which hold text."""

    def streams(self, batches: Iterable["pa.RecordBatch"]) -> Iterator[TaskStream]:
        """Yield the rows of a partition as one stream."""
        with TaskStream(_ColumnsCopy(batches, self.plan)) as stream:
            yield stream


class _ColumnsCopy(Copy[RowBatch]):
    """The copy of a partition: rows come from Spark and go back to it, so there are no bytes."""

    consumed = 0

    def __init__(self, batches: Iterable["pa.RecordBatch"], plan: TaskPlan) -> None:
        super().__init__(io.BytesIO(), io.BytesIO(), plan.layout)
        self.faults = UnnumberedFaults(plan.layout.on_error)
        self._plan = plan
        self._batches = batches
        self.left_out = 0

    @property
    def present(self) -> set[str]:
        """The columns asked for: a table that lacks one is refused."""
        return set(self.layout.columns)

    def batches(self) -> Generator[RowBatch, None, None]:
        """Yield the rows, batch by batch."""
        asked = [i for i, name in enumerate(self._plan.names) if name in self.layout.columns]
        for rows in self._batches:
            texts = {i: plain(rows.column(i)) for i in asked}
            for start, length in slices(rows.num_rows, list(texts.values()), BATCH_CHARACTERS):
                columns = {i: column.slice(start, length) for i, column in texts.items()}
                batch = checked_rows(rows.slice(start, length), columns, self.faults)
                self._check_there(batch)
                self.left_out += length - batch.records
                yield batch

    def write(self, batch: RowBatch, private: list[str]) -> None:
        """Rebuild the rows with private texts."""
        fields = zip(self._plan.names, batch.rows.schema.types, strict=True)
        self._written = batch.rebuild(private, pa.schema([pa.field(*field) for field in fields]))

    def taken(self) -> "pa.RecordBatch":
        """Return the rows that were written last."""
        return self._written

    def finish(self) -> CopySummary:
        """Return nothing: the driver knows the other columns."""
        return CopySummary()

    def _check_there(self, batch: RowBatch) -> None:
        for place, texts in batch.cells.items():
            if self._plan.absent in texts:
                raise DataError(
                    f"a file of the input has no column {self._plan.names[place]!r}, and others "
                    "have: privatize files without it by themselves"
                )


# Lines of files in a task, copied by the code that copies files: the rest stays byte for byte.
#
# Spark's reader of text gives lines with the bytes that they have, also where these are no UTF-8;
# its readers of JSON and CSV would silently replace such bytes by another character.


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
