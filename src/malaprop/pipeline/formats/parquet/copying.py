"""Parquet, in record batches.

Values of other columns pass through Arrow with their types. Notes in the file are not copied, see
`schema`. Rows are read and written in groups of bounded size.
"""

import contextlib
import io
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from malaprop.core.errors import DataError
from malaprop.pipeline.formats.copying import BATCH_RECORDS, Copy, Passing
from malaprop.pipeline.formats.faults import PLACEHOLDER, FlawError
from malaprop.pipeline.formats.layout import Layout
from malaprop.pipeline.formats.parquet import arrow
from malaprop.pipeline.formats.parquet.groups import RowGroups
from malaprop.pipeline.formats.parquet.schema import fitted, private_schema

if TYPE_CHECKING:
    import pyarrow as pa

_READ_BYTES: Final = 8 * 2**20

_UNREADABLE: Final = "the input cannot be read: it is no Parquet file, or damaged, or encrypted"
_UNWRITABLE: Final = "the input has a column of a type that cannot be written to Parquet"


class _Sink(io.RawIOBase):
    """The target, until it is abandoned: Arrow's writer ends its file even when it fails."""

    def __init__(self, target: BinaryIO) -> None:
        self._target = target
        self.abandoned = False

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        return len(data) if self.abandoned else self._target.write(data)


@dataclass(frozen=True)
class ParquetBatch:
    """Successive rows; `cells[i]` are the values of column i, which is to be privatized."""

    rows: "pa.RecordBatch"
    cells: dict[int, list[str | None]]
    masked: frozenset[int] = frozenset()  # the rows whose texts are not to be seen

    @property
    def texts(self) -> list[str]:
        """The texts to privatize."""
        return [
            text
            for cells in self.cells.values()
            for row, text in enumerate(cells)
            if text is not None and row not in self.masked
        ]

    @property
    def records(self) -> int:
        """The number of rows."""
        return int(self.rows.num_rows)

    def rebuild(self, private: list[str], schema: "pa.Schema") -> "pa.RecordBatch":
        """Return the rows with `private` in the place of their texts; nulls stay nulls."""
        import pyarrow as pa

        texts = iter(private)
        arrays = [
            column if place in self.cells else fitted(column, field.type)
            for place, (column, field) in enumerate(zip(self.rows.columns, schema, strict=True))
        ]
        for index, cells in self.cells.items():
            values = [
                None if cell is None else PLACEHOLDER if row in self.masked else next(texts)
                for row, cell in enumerate(cells)
            ]
            arrays[index] = arrow.array_of(values, schema.field(index).type)
        return pa.RecordBatch.from_arrays(arrays, schema=schema)


class ParquetCopy(Copy[ParquetBatch]):
    """The copy of a Parquet file.

    It is compressed as the first row group of the original is. Time stamps in the deprecated
    INT96 form are read to the microsecond: to the nanosecond, dates after 2262 would not fit.
    """

    def __init__(
        self, source: BinaryIO, target: BinaryIO, layout: Layout, size: int | None = None
    ) -> None:
        super().__init__(source, target, layout, size)
        if not source.seekable():
            raise DataError(
                "Parquet cannot be read from a pipe, as its index stands at the end: name a file"
            )
        import pyarrow.parquet as pq

        self._size = source.seek(0, io.SEEK_END)
        source.seek(0)
        with arrow.failing_as(_UNREADABLE):
            self._file = pq.ParquetFile(
                source, buffer_size=2**20, pre_buffer=False, coerce_int96_timestamp_unit="us"
            )
            schema = self._file.schema_arrow
        self._asked = arrow.text_columns(schema, layout.columns)
        self._schema = private_schema(schema, self._asked)
        self._sink = _Sink(target)
        with arrow.failing_as(_UNREADABLE):
            compression = _compression(self._file)
        with arrow.failing_as(_UNWRITABLE):
            self._writer = pq.ParquetWriter(self._sink, self._schema, compression=compression)
        self._groups = RowGroups(self._writer, self._schema, self._asked)
        self._done = 0

    @property
    def consumed(self) -> int:
        """The share of the source's bytes that its rows so far make up."""
        rows = self._file.metadata.num_rows
        return self._size * self._done // rows if rows else self._size

    def batches(self) -> Generator[ParquetBatch, None, None]:
        """Yield the rows of the source, batch by batch."""
        for rows in self._read():
            texts = {index: arrow.plain(rows.column(index)) for index in self._asked}
            for start, length in arrow.slices(
                rows.num_rows, list(texts.values()), self.batch_characters
            ):
                yield self._batch(
                    rows.slice(start, length),
                    {i: text.slice(start, length) for i, text in texts.items()},
                )

    def _batch(self, rows: "pa.RecordBatch", texts: dict[int, "pa.Array"]) -> ParquetBatch:
        """Return a batch without the rows that cannot be processed, or with them masked."""
        import pyarrow as pa

        cells: dict[int, list[str | None]] = {}
        flawed: dict[int, FlawError] = {}
        for index, column in texts.items():
            cells[index], flaws = arrow.texts_of(column)
            flawed |= flaws
        for row in sorted(flawed):
            self.faults.meet(self._done + row + 1, flawed[row])
        self._done += rows.num_rows
        if not flawed or self.layout.on_error == "mask":
            return ParquetBatch(rows, cells, frozenset(flawed))
        kept = [row for row in range(rows.num_rows) if row not in flawed]
        return ParquetBatch(
            rows.take(pa.array(kept, pa.int64())),  # with its type, as there may be none left
            {i: [column[row] for row in kept] for i, column in cells.items()},
        )

    def write(self, batch: ParquetBatch, private: list[str]) -> None:
        """Put a batch into the row group that is being gathered."""
        with arrow.failing_as(f"a private text up to record {self._done} is not valid Unicode"):
            rows = batch.rebuild(private, self._schema)
        with arrow.failing_as(_UNWRITABLE):
            self._groups.add(rows)

    def finish(self) -> Passing:
        """Write the last row group and the index."""
        with arrow.failing_as(_UNWRITABLE):
            self._groups.write()
        self._writer.close()
        others = (name for name in self._schema.names if name not in self.layout.columns)
        return Passing(columns=tuple(dict.fromkeys(others)))

    def abandon(self) -> None:
        """Give up without an index, so that what is written is no Parquet file."""
        import pyarrow as pa

        self._sink.abandoned = True
        with contextlib.suppress(pa.ArrowException, OSError):
            self._writer.close()

    def _read(self) -> Iterator["pa.RecordBatch"]:
        batches = self._file.iter_batches(batch_size=_rows_at_once(self._file.metadata))
        while True:
            with arrow.failing_as(_UNREADABLE):
                rows = next(batches, None)
            if rows is None:
                return
            yield rows


def _compression(file: "pa.parquet.ParquetFile") -> str:
    """Return how the first row group is compressed."""
    if not file.metadata.num_row_groups:
        return "SNAPPY"
    # To ask for a column of a damaged index would abort the process. Reading it raises an error.
    next(file.iter_batches(batch_size=1, row_groups=[0]), None)
    codec = str(file.metadata.row_group(0).column(0).compression)
    return "NONE" if codec == "UNCOMPRESSED" else codec


def _rows_at_once(metadata: "pa.parquet.FileMetaData") -> int:
    """Return how many rows to read at once for them to take some megabytes."""
    size = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    return int(max(1, min(BATCH_RECORDS, _READ_BYTES * metadata.num_rows // max(size, 1))))
