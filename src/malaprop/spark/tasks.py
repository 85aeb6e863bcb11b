"""What runs in the Python processes of the executors.

A process opens the lexicon once and prepares the mechanism once, for all its tasks. It also takes a
key for its noise from the operating system once: tasks, and further attempts at them, draw one
after the other from that process's generator, which gives out no number twice.
"""

import io
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, BinaryIO, Final, cast

import pyarrow as pa

from malaprop._version import __version__
from malaprop.files.debits import Debits, OwnedTexts
from malaprop.files.formats.file_format import (
    BATCH_CHARACTERS,
    Faults,
    FileCopy,
    Layout,
    naming,
    without_refused,
)
from malaprop.files.formats.parquet import checked_rows, slices, text_slices
from malaprop.files.workers import internal_error
from malaprop.privacy.errors import DataError, MalapropError
from malaprop.privacy.guarantee import Guarantee
from malaprop.privacy.mechanism import Mechanism
from malaprop.privatizer import Privatizer
from malaprop.spark.shipping import Shipment
from malaprop.text.policy import Policy

# Counts that tasks collect and the driver adds up.
#
# Spark adds up what a task of a job's last stage has gathered once for each partition: when that
# partition's first attempt succeeds. Attempts that fail, or come second, do not count, nor is
# anything of what they drew in the output. All drawing is done in the last stage, on purpose:
# further up, a partition that is lost and computed again would count again.

_MOST_KEYS: Final = 1_000  # as in a single file: objects may be maps from data to data


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

    def __iadd__(self, other: "Tally") -> "Tally":
        self.treated.update(other.treated)
        self.seen.update(other.seen)
        self.present |= other.present
        for name in other.others:
            if len(self.others) < _MOST_KEYS:
                self.others[name] = None
        return self


@dataclass(frozen=True, kw_only=True)
class ExecutorRecipe:
    """What an executor makes a privatizer from; `promise` is the guarantee of the driver's."""

    shipment: Shipment
    mechanism: Mechanism
    policy: Policy
    promise: Guarantee
    version: str = __version__


def keeps(guarantee: Guarantee, promise: Guarantee) -> bool:
    """Whether an executor's guarantee is the driver's: one report must be true of both.

    Numbers that are computed from vectors may differ in their last digits, from one processor to
    another.
    """
    facts = ("kind", "epsilon", "metric", "lexicon", "per", "pairs", "texts", "public")
    return all(getattr(guarantee, name) == getattr(promise, name) for name in facts) and all(
        math.isclose(getattr(guarantee, name), getattr(promise, name), rel_tol=1e-9)
        for name in ("delta", "cap", "radius", "zcdp")
    )


# The key is the recipe alone: another table, or other columns of it, need no other privatizer.
@lru_cache(maxsize=1)
def _prepared(recipe: ExecutorRecipe) -> Privatizer:
    if recipe.version != __version__:
        raise MalapropError(
            f"An executor has malaprop {__version__}, the driver {recipe.version}: install the "
            "same version on all machines."
        )
    privatizer = Privatizer(recipe.shipment.open(), recipe.mechanism, **recipe.policy.options())
    if not keeps(privatizer.guarantee, recipe.promise):
        raise MalapropError(
            "The mechanism does not promise at an executor what it does at the driver: install "
            "the same versions of malaprop and of what it needs on all machines."
        )
    return privatizer


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return -1 if context is None else context.partitionId()


LINE: Final = "value"
"""The column of lines, as Spark names it;"""
FILE, WHOLE = "file", "whole"
"""of each line a number for its file, and whether all of that file is in one partition."""


@dataclass(kw_only=True)
class Task:
    """Privatizes the batches of one partition, and counts.

    Rows of a table keep their other columns. Lines of files are copied by the reader and the writer
    of their format, so that the rest stays byte for byte. Spark's reader of text gives lines with
    the bytes that they have, also where these are no UTF-8; its readers of JSON and CSV would
    silently replace such bytes by another character.
    """

    recipe: ExecutorRecipe
    layout: Layout
    names: tuple[str, ...]
    """Of the columns."""
    absent: str
    """What stands where a file lacks a column that is asked for."""
    debits: Debits | None = None
    job: str = ""
    """A random name of the job, for the ledger that it debits."""
    tally: Tally = field(default_factory=Tally)

    def run(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Yield private batches. Errors do not contain a word of the data."""
        try:
            opened = _prepared.cache_info().misses
            self._privatizer = _prepared(self.recipe)
            self.tally.seen["prepared"] += _prepared.cache_info().misses - opened
            if self.layout.kind.spark == "table":
                yield from self._rows(batches)
            else:
                for source in self._sources(batches):
                    yield from self._lines(source)
        except (MalapropError, MemoryError) as error:
            raise error.with_traceback(None) from None
        except Exception as error:
            raise MalapropError(internal_error(error, "a task")) from None

    def _draw(self, batch: Any) -> tuple[list[str | None], dict[int, str]]:
        """Return private texts for a batch; None, and why, for those that a limit refused."""
        if not batch.texts:
            return [], {}
        if self.debits is None:
            drawn, counts = self._privatizer.batch(batch.texts)
            self.tally.treated.update(counts)
            return [*drawn], {}
        owners, self._batches = batch.owners(), self._batches + 1
        # A task that is tried again has the same names, and so debits nothing twice: nobody has
        # seen what an attempt before it has drawn.
        name = f"{self.job} {_partition()} {self._batches}"
        private, counts = self.debits.batch(self._privatizer, OwnedTexts(batch.texts, owners, name))
        self.tally.treated.update(counts)
        return private, self.debits.reasons(owners, private)

    _batches: int = 0

    def _rows(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Yield rows of a table with private texts in some columns."""
        names, layout, seen = self.names, self.layout, self.tally.seen
        asked = [place for place, name in enumerate(names) if name in layout.columns]
        label = None if layout.label is None else names.index(layout.label)
        faults = Faults(layout.on_error, part=True)
        for rows in batches:
            schema = pa.schema(list(zip(names, rows.schema.types, strict=True)))
            for part, columns in text_slices(rows, asked, BATCH_CHARACTERS):
                with naming():
                    batch = checked_rows(part, columns, faults, label=label)
                for place, texts in batch.cells.items():
                    if self.absent in texts:
                        raise DataError(
                            f"a file of the input has no column {names[place]!r}, and others "
                            "have: privatize files without it by themselves"
                        )
                seen["rows"] += part.num_rows
                seen["texts"] += len(batch.texts)
                private, refused = self._draw(batch)
                if refused:
                    batch, private = without_refused(batch, private, refused, faults)
                yield batch.rebuild(cast(list[str], private), schema)
        seen["faulty"] += faults.count
        self.tally.present |= set(layout.columns)

    def _sources(self, batches: Iterable["pa.RecordBatch"]) -> Iterator[BinaryIO]:
        """Yield the lines of a partition as files.

        A line of JSON is a record, so a task can have any of them, and reads many at a time. A
        record of separated values may have several lines, so a task has one whole file, or none.
        """
        if self.layout.kind.spark == "lines":
            for batch in batches:
                column = _bytes_of(batch)
                for start, length in slices(len(column), [column], BATCH_CHARACTERS):
                    yield io.BytesIO(_joined(column.slice(start, length)))
        else:
            whole = io.BufferedReader(_WholeFile(batches))
            if whole.peek(1):
                yield cast(BinaryIO, whole)

    def _lines(self, source: BinaryIO) -> Iterator["pa.RecordBatch"]:
        """Yield the lines of a source with private texts in them; blank ones stay."""
        with naming():
            reader = self.layout.open(source, part=True)
        target = io.BytesIO()
        with FileCopy(reader, target) as copy:
            for batch in copy.batches():
                copy.write(batch, *self._draw(batch))
                lines = target.getvalue().split(b"\n")[:-1]  # each has an end, see `_joined`
                target.seek(0)
                target.truncate()
                # A view, not a cast: where a record is masked, its other columns keep their bytes.
                column = pa.array(lines, pa.binary()).view(pa.string())
                yield pa.RecordBatch.from_arrays([column], [LINE])
            counts = copy.finish()
        seen = {"rows": counts.records, "texts": counts.cells}
        seen |= {"missing": counts.missing, "faulty": counts.faulty}
        others = dict.fromkeys(counts.other_columns)
        self.tally += Tally(seen=Counter(seen), present=reader.present, others=others)


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
            files = set(batch.column(FILE).to_pylist()) | ({self._file} - {None})
            if len(files) > 1 or not all(batch.column(WHOLE).to_pylist()):
                raise MalapropError("Spark has cut a file, or joined two: please report it")
            self._file = next(iter(files), None)
            self._left = memoryview(_joined(_bytes_of(batch)))
        size = min(len(buffer), len(self._left))
        buffer[:size] = self._left[:size]
        self._left = self._left[size:]
        return size


def _bytes_of(batch: "pa.RecordBatch") -> "pa.Array":
    return batch.column(LINE).cast(pa.large_binary())


def _joined(lines: "pa.Array") -> bytes:
    return b"".join(line + b"\n" for line in lines.to_pylist())
