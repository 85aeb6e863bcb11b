"""Lines of JSON in a task."""

import io
from collections.abc import Iterator
from contextlib import closing
from typing import BinaryIO

import pyarrow as pa

from malaprop.pipeline.files.arrow import slices
from malaprop.pipeline.files.copying import BATCH_CHARACTERS
from malaprop.pipeline.files.faults import Faults, FlawError
from malaprop.pipeline.files.jsonl import JsonlCopy
from malaprop.pipeline.files.layout import Layout
from malaprop.pipeline.spark.counting import Tally
from malaprop.pipeline.spark.tasks import Task


class LinesTask(Task):
    """Lines of JSON, copied by the code that copies files: all else stays byte for byte."""

    def private(self, batch: "pa.RecordBatch") -> Iterator["pa.RecordBatch"]:
        """Yield the private lines of a batch; blank ones stay."""
        kind = batch.schema.field(0).type
        column = batch.column(0).cast(pa.large_binary())
        for start, length in slices(len(column), [column], BATCH_CHARACTERS):
            lines = column.slice(start, length).to_pylist()
            copied = self._copied(b"".join(line + b"\n" for line in lines))
            array = pa.array(copied.split(b"\n")[:-1], pa.large_binary())
            yield pa.RecordBatch.from_arrays([array.cast(kind)], names=batch.schema.names)

    def _copied(self, lines: bytes) -> bytes:
        target = io.BytesIO()
        copy = _SomeLines(io.BytesIO(lines), target, self.plan.layout)
        with closing(copy.batches()) as batches:
            for batch in batches:
                copy.write(batch, self.drawn(batch.texts))
                self.tally.seen["rows"] += batch.records
        passing = copy.finish()
        self.tally.seen.update(missing=passing.missing, faulty=copy.faults.count)
        self.tally.add(Tally(found=copy.found, others=dict.fromkeys(passing.columns)))
        return target.getvalue()


class _SomeLines(JsonlCopy):
    """Some lines of many: a key that is in none of them may be in others."""

    def __init__(self, source: BinaryIO, target: BinaryIO, layout: Layout) -> None:
        super().__init__(source, target, layout)
        self.faults = _Faults(layout.on_error)

    @property
    def found(self) -> set[str]:
        """The keys asked for that are there."""
        return self._seen

    def check_keys(self) -> None:
        """Leave this to the driver, who hears of all lines."""


class _Faults(Faults):
    """Faults without numbers: a task does not know where in a file its lines are."""

    def meet(self, record: int, flaw: FlawError, name: str = "") -> None:
        """Note a fault, or raise."""
        super().meet(record, flaw, "a record")
