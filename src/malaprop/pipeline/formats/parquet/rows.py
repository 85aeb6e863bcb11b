"""Rows of a table, some columns of which hold texts to privatize."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from malaprop.pipeline.formats.faults import PLACEHOLDER, Faults, FlawError
from malaprop.pipeline.formats.parquet import arrow
from malaprop.pipeline.formats.parquet.schema import fitted

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class RowBatch:
    """Consecutive rows; `cells[i]` are the values of column i of those to privatize."""

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
        """Return the rows with `private` in place of their texts; nulls stay nulls."""
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


def checked_rows(
    rows: "pa.RecordBatch", texts: dict[int, "pa.Array"], faults: Faults, *, rows_before: int = 0
) -> RowBatch:
    """Return rows without those that cannot be processed, or with them masked.

    `texts` are the columns to privatize, by their places; `rows_before` is how many rows of the
    file come before these.
    """
    import pyarrow as pa

    cells: dict[int, list[str | None]] = {}
    flawed: dict[int, FlawError] = {}
    for index, column in texts.items():
        cells[index], flaws = arrow.texts_of(column)
        flawed |= flaws
    for row in sorted(flawed):
        faults.meet(rows_before + row + 1, flawed[row])
    if not flawed or faults.on_error == "mask":
        return RowBatch(rows, cells, frozenset(flawed))
    kept = [row for row in range(rows.num_rows) if row not in flawed]
    return RowBatch(
        rows.take(pa.array(kept, pa.int64())),  # with its type, as there may be none left
        {i: [column[row] for row in kept] for i, column in cells.items()},
    )
