"""Rows of a table in a task: private texts in some columns, all others as they are."""

import io
from collections.abc import Generator, Iterable, Iterator

import pyarrow as pa

from malaprop.core.errors import DataError
from malaprop.jobs.spark.tasks import Task, TaskPlan, TaskStream, UnnumberedFaults
from malaprop.pipeline.formats.copying import BATCH_CHARACTERS, Copy, Passing
from malaprop.pipeline.formats.parquet.arrow import plain, slices
from malaprop.pipeline.formats.parquet.rows import RowBatch, checked_rows


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

    def finish(self) -> Passing:
        """Return nothing: the driver knows the other columns."""
        return Passing()

    def _check_there(self, batch: RowBatch) -> None:
        for place, texts in batch.cells.items():
            if self._plan.absent in texts:
                raise DataError(
                    f"a file of the input has no column {self._plan.names[place]!r}, and others "
                    "have: privatize files without it by themselves"
                )
