"""A column of lists of numbers in a Parquet file; other columns pass as they are."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.core.errors import DataError
from malaprop.pipeline.formats.parquet.arrow import failing_as
from malaprop.pipeline.formats.parquet.copying import Sink
from malaprop.pipeline.formats.parquet.schema import fitted, private_schema
from malaprop.pipeline.vectors.base import (
    BLOCK_CELLS,
    FLOAT64,
    VectorBlock,
    VectorSource,
    VectorWriter,
    as_written,
    written_type,
)
from malaprop.pipeline.vectors.raw import chosen_part, reading

if TYPE_CHECKING:
    import pyarrow as pa

_UNREADABLE: Final = "the input cannot be read: it is not a Parquet file, or damaged, or encrypted"
_UNWRITABLE: Final = "the input has a column of a type that cannot be written to Parquet"


class ParquetSource(VectorSource, name="parquet"):
    """A Parquet file with a column of lists, all equally long."""

    suffixes = (".parquet", ".pq")
    rows: int

    def _open(self, part: str | None) -> None:
        import pyarrow.parquet as pq

        with reading(self.path):
            file = self._ends.enter_context(self.path.open("rb"))
        with failing_as(_UNREADABLE):
            self._file = pq.ParquetFile(file, pre_buffer=False, coerce_int96_timestamp_unit="us")
            self._schema = self._file.schema_arrow
            first = next(self._file.iter_batches(batch_size=1), None)
        self.part = chosen_part(self.path, _lists(self._schema), part)
        self._place = self._schema.get_field_index(self.part)
        if self._place < 0:
            raise DataError(f"{self.path.name} has several columns named {self.part!r}")
        kind = self._schema.field(self._place).type
        self.rows = self._file.metadata.num_rows
        vector = first.column(self._place)[0] if first is not None else None
        self.columns = len(vector) if vector is not None and vector.is_valid else 0
        if not self.columns:
            raise DataError(f"{self.path.name} has no vector in its first row")
        narrow = np.dtype(kind.value_type.to_pandas_dtype())
        self.values = written_type(narrow)
        self.beside = tuple(
            f"the column {name}" for name in self._schema.names if name != self.part
        )

    def blocks(self) -> Iterator[VectorBlock]:
        """Yield the vectors with the other columns of their rows, in blocks."""
        done = 0
        batches = self._file.iter_batches(batch_size=max(1, BLOCK_CELLS // self.columns))
        while True:
            with failing_as(_UNREADABLE):
                rows = next(batches, None)
            if rows is None:
                return
            yield VectorBlock(self._vectors(rows.column(self._place), done), rows)
            done += rows.num_rows

    def _vectors(self, column: "pa.Array", before: int) -> Floats:
        import pyarrow.compute as pc

        lengths = pc.list_value_length(column).fill_null(-1).to_numpy(zero_copy_only=False)
        wrong = np.flatnonzero(lengths != self.columns)
        if len(wrong):
            raise DataError(
                f"row {before + int(wrong[0]) + 1:,} of {self.path.name} has no vector of "
                f"{self.columns} numbers, as the first row has: remove it, or fill it in"
            )
        values = column.flatten()
        if values.null_count:
            place = int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))
            raise DataError(
                f"row {before + place // self.columns + 1:,} of {self.path.name} has a number "
                "missing in its vector: remove it, or fill it in"
            )
        with np.errstate(invalid="ignore"):
            numbers = values.to_numpy(zero_copy_only=False).astype(np.float64)
        return np.asarray(numbers.reshape(len(column), self.columns))

    def writer(self, target: BinaryIO, columns: int) -> VectorWriter:
        """Return what writes a file with the same columns, one of them private."""
        return ParquetWriter(target, self._schema, self._place, columns, self.values)


class ParquetWriter(VectorWriter):
    """Writes rows with private vectors in one column."""

    def __init__(
        self,
        target: BinaryIO,
        schema: "pa.Schema",
        place: int,
        columns: int,
        values: "np.dtype[Any]",
    ) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        number = pa.float64() if values == FLOAT64 else pa.float32()
        fixed = pa.types.is_fixed_size_list(schema.field(place).type)
        self._kind = pa.list_(number, columns) if fixed else pa.list_(number)
        self._place, self._columns, self._values = place, columns, values
        bare = private_schema(schema, [])
        self._schema = bare.set(place, pa.field(bare.field(place).name, self._kind))
        self._sink = Sink(target)
        with failing_as(_UNWRITABLE):
            self._writer = pq.ParquetWriter(self._sink, self._schema)

    def write(self, vectors: Floats, beside: Any = None) -> None:
        """Write rows with private vectors."""
        import pyarrow as pa

        flat = pa.array(as_written(vectors, self._values).ravel())
        if pa.types.is_fixed_size_list(self._kind):
            private = pa.FixedSizeListArray.from_arrays(flat, self._columns)
        else:
            ends = np.arange(len(vectors) + 1, dtype=np.int32) * np.int32(self._columns)
            private = pa.ListArray.from_arrays(pa.array(ends), flat)
        with failing_as(_UNWRITABLE):
            arrays = [
                fitted(column, field.type) if place != self._place else private.cast(self._kind)
                for place, (column, field) in enumerate(
                    zip(beside.columns, self._schema, strict=True)
                )
            ]
            self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self._schema))

    def finish(self) -> None:
        """Write the index."""
        with failing_as(_UNWRITABLE):
            self._writer.close()

    def abandon(self) -> None:
        """Give up without an index, so that what is written is not a Parquet file."""
        import pyarrow as pa

        self._sink.abandoned = True
        with contextlib.suppress(pa.ArrowException, OSError):
            self._writer.close()


def _lists(schema: "pa.Schema") -> dict[str, object]:
    """Return the columns that hold lists of numbers, by name."""
    import pyarrow as pa

    columns: dict[str, object] = {}
    for field in schema:
        kind = field.type
        nested = (
            pa.types.is_list(kind)
            or pa.types.is_large_list(kind)
            or pa.types.is_fixed_size_list(kind)
        )
        if nested and (
            pa.types.is_floating(kind.value_type) or pa.types.is_integer(kind.value_type)
        ):
            columns[field.name] = kind
    return columns
