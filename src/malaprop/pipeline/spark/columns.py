"""Rows of a table in a task: private texts in some columns, all others as they are."""

from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from malaprop.core.errors import DataError
from malaprop.pipeline.files.arrow import array_of, plain, slices, texts_of
from malaprop.pipeline.files.copying import BATCH_CHARACTERS
from malaprop.pipeline.files.faults import PLACEHOLDER, FlawError
from malaprop.pipeline.spark.tasks import Task

CORRUPT: Final = "__malaprop_corrupt__"
"""The column that holds a row which Spark could not read as one of the table."""


class ColumnsTask(Task):
    """Rows of a table, some columns of which hold text."""

    def private(self, batch: "pa.RecordBatch") -> Iterator["pa.RecordBatch"]:
        """Yield the private rows of a batch."""
        asked = [i for i, name in enumerate(batch.schema.names) if name in self.plan.layout.columns]
        columns = [plain(batch.column(i)) for i in asked]
        for start, length in slices(batch.num_rows, columns, BATCH_CHARACTERS):
            yield self._rows(batch.slice(start, length), asked)

    def _rows(self, batch: "pa.RecordBatch", asked: list[int]) -> "pa.RecordBatch":
        self.tally.seen["rows"] += batch.num_rows
        unread = _unread(batch)
        faulty = dict.fromkeys(unread, FlawError("is no row of the table's columns"))
        columns = []
        for i in asked:
            texts, flaws = texts_of(plain(batch.column(i)))
            faulty = flaws | faulty
            columns.append(texts)
        self._meet(faulty)
        private = self._replaced(columns, faulty)
        arrays = [_without(batch.column(i), unread) for i in range(batch.num_columns)]
        for i, texts in zip(asked, private, strict=True):
            arrays[i] = array_of(texts, batch.schema.field(i).type)
        fields = [i for i, name in enumerate(batch.schema.names) if name != CORRUPT]
        made = pa.RecordBatch.from_arrays(
            [arrays[i] for i in fields], names=[batch.schema.names[i] for i in fields]
        )
        if faulty and self.plan.layout.on_error == "skip":
            return made.filter(pa.array([i not in faulty for i in range(batch.num_rows)]))
        return made

    def _replaced(
        self, columns: list[list[str | None]], faulty: dict[int, FlawError]
    ) -> list[list[str | None]]:
        """The columns with private texts; all texts of a faulty row are masked."""
        secret = [
            text
            for texts in columns
            for i, text in enumerate(texts)
            if text is not None and i not in faulty
        ]
        drawn = iter(self.drawn(secret))
        return [
            [
                PLACEHOLDER if i in faulty else None if text is None else next(drawn)
                for i, text in enumerate(texts)
            ]
            for texts in columns
        ]

    def _meet(self, faulty: dict[int, FlawError]) -> None:
        self.tally.seen["faulty"] += len(faulty)
        if faulty and self.plan.layout.on_error == "fail":
            reason = next(iter(faulty.values())).reason
            raise DataError(
                f"a record {reason}; to go on without such records, set on_error to skip or mask"
            )


def _unread(batch: "pa.RecordBatch") -> list[int]:
    """The rows that Spark could not read as such."""
    if CORRUPT not in batch.schema.names:
        return []
    marks = batch.column(batch.schema.names.index(CORRUPT)).is_valid().to_pylist()
    return [i for i, mark in enumerate(marks) if mark]


def _without(column: "pa.Array", rows: list[int]) -> "pa.Array":
    """A column with nothing in some rows: their values may stand in the wrong columns."""
    if not rows:
        return column
    gone = set(rows)
    kept = pa.array([None if i in gone else i for i in range(len(column))], pa.int64())
    return column.take(kept)
