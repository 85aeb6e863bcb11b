"""Row groups of a Parquet copy.

Rows come in batches, which end where the lengths of the true texts say so. Where row groups and
pages of the copy end can be seen by everybody, so it follows from the private rows alone.
"""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_GROUP_BYTES: Final = 32 * 2**20
_GROUP_ROWS: Final = 2**20
# The assumed size of values that are not measured. Where it is far too small, as for lists of
# long texts, a group ends with the batch that makes it this many times too large.
_SOME_BYTES: Final = 16
_TOO_MANY: Final = 8


class RowGroups:
    """Collects private rows and writes them in groups; `asked` are the private columns."""

    def __init__(self, writer: "pq.ParquetWriter", schema: "pa.Schema", asked: list[int]) -> None:
        self._writer = writer
        self._schema = schema
        self._asked = asked
        self._clear()

    def add(self, rows: "pa.RecordBatch") -> None:
        """Take rows, and write each group that they complete."""
        totals = _weights(rows).to_numpy(zero_copy_only=False).cumsum()
        start = 0
        while start < rows.num_rows:
            before = int(totals[start - 1]) if start else 0
            full = int(totals.searchsorted(before + _GROUP_BYTES - self._weight)) + 1
            end = min(full, rows.num_rows, start + _GROUP_ROWS - self._count)
            self._gather(rows.slice(start, end - start), int(totals[end - 1]) - before)
            start = end

    def _gather(self, rows: "pa.RecordBatch", weight: int) -> None:
        self._rows.append(rows)
        self._count += rows.num_rows
        self._weight += weight
        self._held += sum(map(_size, rows.columns))
        if (
            self._weight >= _GROUP_BYTES
            or self._count >= _GROUP_ROWS
            or self._held >= _TOO_MANY * _GROUP_BYTES
        ):
            self.write()

    def write(self) -> None:
        """Write the collected rows as one group, in one piece: pages end where pieces do."""
        import pyarrow as pa

        if self._count:
            table = pa.Table.from_batches(self._rows, self._schema).combine_chunks()
            for place in self._asked:
                table = _with_own_dictionary(table, place)
            self._writer.write_table(table, row_group_size=table.num_rows)
        self._clear()

    def _clear(self) -> None:
        self._rows: list[pa.RecordBatch] = []
        self._count = self._weight = self._held = 0


def _with_own_dictionary(table: "pa.Table", place: int) -> "pa.Table":
    """Return a table in which a column's dictionary has only the texts of its rows."""
    import pyarrow as pa

    field = table.schema.field(place)
    if not pa.types.is_dictionary(field.type):
        return table
    texts = table.column(place).cast(field.type.value_type)
    return table.set_column(place, field, texts.dictionary_encode())


def _weights(rows: "pa.RecordBatch") -> "pa.Array":
    """Estimate the bytes of each row, from its values alone."""
    import pyarrow as pa
    import pyarrow.compute as pc

    total = pa.repeat(pa.scalar(_SOME_BYTES * rows.num_columns, pa.int64()), rows.num_rows)
    for column in rows.columns:
        if _is_measured(column.type):
            lengths = pc.fill_null(pc.binary_length(column), 0)
            total = pc.add(total, lengths.cast(pa.int64()))
    return total


def _is_measured(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    flat = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary)
    return any(is_kind(kind) for is_kind in (*flat, pa.types.is_large_binary))


def _size(column: "pa.Array") -> int:
    """Return the bytes of a column, without its dictionary, which several pieces share."""
    import pyarrow as pa

    held = column.indices if pa.types.is_dictionary(column.type) else column
    return int(held.nbytes)
