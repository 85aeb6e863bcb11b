"""Rows of a table in a task: private texts in some columns, all others as they are."""

from collections.abc import Iterable, Iterator

import pyarrow as pa

from malaprop.core.errors import DataError
from malaprop.jobs.spark.tasks import Task
from malaprop.pipeline.formats.copying import BATCH_CHARACTERS
from malaprop.pipeline.formats.faults import PLACEHOLDER, FlawError
from malaprop.pipeline.formats.parquet.arrow import array_of, plain, slices, texts_of


class ColumnsTask(Task):
    """Rows of a table, some columns of which hold text."""

    def private(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Yield the private rows of a partition."""
        names = self.plan.names
        asked = [i for i, name in enumerate(names) if name in self.plan.layout.columns]
        for batch in batches:
            columns = [plain(batch.column(i)) for i in asked]
            for start, length in slices(batch.num_rows, columns, BATCH_CHARACTERS):
                yield self._rows(batch.slice(start, length), asked)

    def _rows(self, batch: "pa.RecordBatch", asked: list[int]) -> "pa.RecordBatch":
        self.tally.seen["rows"] += batch.num_rows
        faulty: dict[int, FlawError] = {}
        columns = []
        for i in asked:
            texts, flaws = texts_of(plain(batch.column(i)))
            self._check_there(i, texts)
            faulty = flaws | faulty
            columns.append(texts)
        self._meet(faulty)
        private = self._replaced(columns, faulty)
        arrays = batch.columns
        for i, texts in zip(asked, private, strict=True):
            arrays[i] = array_of(texts, batch.schema.field(i).type)
        made = pa.RecordBatch.from_arrays(arrays, names=list(self.plan.names))
        if faulty and self.plan.layout.on_error == "skip":
            return made.filter(pa.array([i not in faulty for i in range(batch.num_rows)]))
        return made

    def _replaced(
        self, columns: list[list[str | None]], faulty: dict[int, FlawError]
    ) -> list[list[str | None]]:
        """The columns with private texts; all texts of a faulty row are masked, and null stays."""
        secret = [
            text
            for texts in columns
            for i, text in enumerate(texts)
            if text is not None and i not in faulty
        ]
        drawn = iter(self.drawn(secret))
        return [
            [
                None if text is None else PLACEHOLDER if i in faulty else next(drawn)
                for i, text in enumerate(texts)
            ]
            for texts in columns
        ]

    def _check_there(self, place: int, texts: list[str | None]) -> None:
        if self.plan.absent in texts:
            raise DataError(
                f"a file of the input has no column {self.plan.names[place]!r}, and others have: "
                "privatize files without it by themselves"
            )

    def _meet(self, faulty: dict[int, FlawError]) -> None:
        self.tally.seen["faulty"] += len(faulty)
        if faulty and self.plan.layout.on_error == "fail":
            reason = next(iter(faulty.values())).reason
            raise DataError(
                f"a record {reason}; to go on without such records, let on_error (--on-error) be "
                "skip or mask"
            )
