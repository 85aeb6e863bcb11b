"""Parquet, in record batches.

Values of other columns pass through Arrow with their types. Notes in the file are not copied, see
`schema`. Rows are read and written in groups of bounded size.
"""

import contextlib
import io
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from malaprop.core.errors import DataError
from malaprop.pipeline.formats.copying import BATCH_RECORDS, Copy, Passing
from malaprop.pipeline.formats.layout import Layout
from malaprop.pipeline.formats.parquet import arrow
from malaprop.pipeline.formats.parquet.groups import RowGroups
from malaprop.pipeline.formats.parquet.rows import RowBatch, checked_rows
from malaprop.pipeline.formats.parquet.schema import private_schema

if TYPE_CHECKING:
    import pyarrow as pa

_READ_BYTES: Final = 8 * 2**20

_UNREADABLE: Final = "the input cannot be read: it is not a Parquet file, or damaged, or encrypted"
_UNWRITABLE: Final = "the input has a column of a type that cannot be written to Parquet"


class Sink(io.RawIOBase):
    """Writes to the target until it is abandoned: Arrow's writer ends its file even on failure."""

    def __init__(self, target: BinaryIO) -> None:
        self._target = target
        self.abandoned = False

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any, /) -> int:
        """Write data, or pretend to."""
        return len(data) if self.abandoned else self._target.write(data)


class ParquetCopy(Copy[RowBatch], name="parquet"):
    """The copy of a Parquet file.

    It is compressed as the first row group of the original is. Time stamps in the deprecated
    INT96 form are read to the microsecond: to the nanosecond, dates after 2262 would not fit.
    """

    suffixes = (".parquet", ".pq")
    packable = False  # it is compressed inside
    seeks = True  # its index stands at the end

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
        self._sink = Sink(target)
        with arrow.failing_as(_UNREADABLE):
            compression = _compression(self._file)
        with arrow.failing_as(_UNWRITABLE):
            self._writer = pq.ParquetWriter(self._sink, self._schema, compression=compression)
        self._groups = RowGroups(self._writer, self._schema, self._asked)
        self._done = 0

    @property
    def consumed(self) -> int:
        """The bytes of the source that correspond to the rows read so far."""
        rows = self._file.metadata.num_rows
        return self._size * self._done // rows if rows else self._size

    def batches(self) -> Generator[RowBatch, None, None]:
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

    def _batch(self, rows: "pa.RecordBatch", texts: dict[int, "pa.Array"]) -> RowBatch:
        """Return a batch without the rows that cannot be processed, or with them masked."""
        batch = checked_rows(rows, texts, self.faults, rows_before=self._done)
        self._done += rows.num_rows
        return batch

    def write(self, batch: RowBatch, private: list[str]) -> None:
        """Add a batch to the current row group."""
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
        """Give up without an index, so that what is written is not a Parquet file."""
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
    # Asking for a column of a damaged index would abort the process; reading raises an error.
    next(file.iter_batches(batch_size=1, row_groups=[0]), None)
    codec = str(file.metadata.row_group(0).column(0).compression)
    return "NONE" if codec == "UNCOMPRESSED" else codec


def _rows_at_once(metadata: "pa.parquet.FileMetaData") -> int:
    """Return how many rows to read at once for them to take some megabytes."""
    size = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    return int(max(1, min(BATCH_RECORDS, _READ_BYTES * metadata.num_rows // max(size, 1))))
