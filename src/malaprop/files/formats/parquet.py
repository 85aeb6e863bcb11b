"""Parquet, in record batches; Arrow is imported when it is used.

Values of other columns pass through Arrow with their types. Notes in the file are not copied: see
`private_schema`. Rows are read and written in groups of bounded size.
"""

import contextlib
import io
import json
import re
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from malaprop.files.formats.file_format import (
    BATCH_RECORDS,
    PLACEHOLDER,
    Faults,
    Owners,
    Pair,
    Reader,
    RecordError,
    Writer,
    check_text,
    label_text,
    no_such_column,
)
from malaprop.privacy.errors import DataError, MalapropError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_READ_BYTES: Final = 8 * 2**20
_UNREADABLE: Final = "the input cannot be read: it is not a Parquet file, or damaged, or encrypted"
UNWRITABLE: Final = "the input has a column of a type that cannot be written to Parquet"


@contextmanager
def failing_as(message: str) -> Iterator[None]:
    """Replace Arrow's error messages, which may quote values, by `message`.

    Our own errors, such as that of a target whose disk is full, pass unchanged.
    """
    import pyarrow as pa

    try:
        yield
    except MalapropError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError):
        raise DataError(message) from None


def open_table(source: BinaryIO) -> "pq.ParquetFile":
    """Open a Parquet file.

    Time stamps in the deprecated INT96 form are read to the microsecond: to the nanosecond, dates
    after 2262 would not fit.
    """
    import pyarrow.parquet as pq

    with failing_as(_UNREADABLE):
        file = pq.ParquetFile(
            source, buffer_size=2**20, pre_buffer=False, coerce_int96_timestamp_unit="us"
        )
        file.schema_arrow  # noqa: B018  which may fail, too
        return file


def record_batches(file: "pq.ParquetFile", rows: int) -> "Iterator[pa.RecordBatch]":
    batches = file.iter_batches(batch_size=rows)
    while True:
        with failing_as(_UNREADABLE):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


class TableWriter:
    """Writes a Parquet file until it is abandoned: Arrow's writer ends its file even on failure."""

    def __init__(self, target: BinaryIO, schema: "pa.Schema", compression: str = "SNAPPY") -> None:
        import pyarrow.parquet as pq

        self._sink = _Sink(target)
        with failing_as(UNWRITABLE):
            self.table = pq.ParquetWriter(self._sink, schema, compression=compression)

    def finish(self) -> None:
        with failing_as(UNWRITABLE):
            self.table.close()

    def abandon(self) -> None:
        """Give up without an index, so that what is written is not a Parquet file."""
        import pyarrow as pa

        self._sink.abandoned = True
        with contextlib.suppress(pa.ArrowException, OSError):
            self.table.close()


class _Sink(io.RawIOBase):
    def __init__(self, target: BinaryIO) -> None:
        self._target = target
        self.abandoned = False

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        return len(data) if self.abandoned else self._target.write(data)


# Columns of text in Arrow's types.


def text_columns(schema: "pa.Schema", names: Sequence[str]) -> list[int]:
    """Return the places of the named columns, all of which must hold text.

    A column of Arrow's type `null` has no values, so that there is nothing to return for it.
    """
    from pyarrow import types

    strings = (types.is_string, types.is_large_string, types.is_string_view)
    columns: list[int] = []
    for name in dict.fromkeys(names):
        places = schema.get_all_field_indices(name)
        if not places:
            raise no_such_column(name, "file", dict.fromkeys(schema.names))
        for place in places:
            kind = schema.field(place).type
            values = kind.value_type if types.is_dictionary(kind) else kind
            if types.is_null(kind):
                continue
            if not any(is_kind(values) for is_kind in strings):
                # Without the part in brackets: the fields of a struct have names, too.
                short = str(kind).partition("<")[0]
                inside = "; put the texts inside it into a column of their own"
                raise DataError(
                    f"column {name!r} has the type {short}: only text can be privatized"
                    f"{inside if kind.num_fields else ''}"
                )
            columns.append(place)
    return columns


def text_slices(
    rows: "pa.RecordBatch", asked: Sequence[int], most_bytes: int
) -> "Iterator[tuple[pa.RecordBatch, dict[int, pa.Array]]]":
    """Yield slices of rows with their columns of text, none of them too large in those."""
    texts = {index: _plain(rows.column(index)) for index in asked}
    for start, length in slices(rows.num_rows, list(texts.values()), most_bytes):
        columns = {index: column.slice(start, length) for index, column in texts.items()}
        yield rows.slice(start, length), columns


def _plain(column: "pa.Array") -> "pa.Array":
    """Return a column of text without its dictionary, so that slices have their true size."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.cast(pa.large_string())


def slices(rows: int, columns: list["pa.Array"], most_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield start and length of slices of rows whose columns are not too large."""
    pending = [(0, rows)]
    while pending:
        start, length = pending.pop()
        size = sum(column.slice(start, length).nbytes for column in columns)
        if size <= most_bytes or length <= 1:
            yield start, length
        else:
            half = length // 2
            pending += [(start + half, length - half), (start, half)]


def _texts_of(column: "pa.Array") -> tuple[list[str | None], dict[int, RecordError]]:
    """Return the texts of a plain column, and what is wrong with some, by their places."""
    import pyarrow as pa

    flaws: dict[int, RecordError] = {}
    try:
        texts: list[str | None] = column.to_pylist()
    except UnicodeDecodeError:
        texts = column.cast(pa.large_binary()).to_pylist()
    for place, text in enumerate(texts):
        if text is None:
            continue
        try:
            texts[place] = text = text.decode() if isinstance(text, bytes) else text
            check_text(text)
        except UnicodeDecodeError:
            flaws[place] = RecordError("has a text that is not UTF-8, as Parquet's texts must be")
        except RecordError as flaw:
            flaws[place] = RecordError(flaw.reason)
    return texts, flaws


@dataclass(frozen=True)
class _RowBatch:
    """Consecutive rows; `cells[i]` are the values of column i of those to privatize."""

    rows: "pa.RecordBatch"
    cells: dict[int, list[str | None]]
    masked: frozenset[int] = frozenset()  # the rows whose texts are not to be seen
    label: int | None = None

    @cached_property
    def texts(self) -> list[str]:
        return [
            text
            for cells in self.cells.values()
            for row, text in enumerate(cells)
            if text is not None and row not in self.masked
        ]

    @property
    def records(self) -> int:
        return int(self.rows.num_rows)

    def owners(self) -> Owners:
        """Return the row of each text, and the number and the label of each row."""
        rows = [
            row
            for cells in self.cells.values()
            for row, text in enumerate(cells)
            if text is not None and row not in self.masked
        ]
        labels = [""] * self.records
        if self.label is not None:
            with failing_as(_UNREADABLE):
                labels = [_label(value) for value in self.rows.column(self.label).to_pylist()]
        return Owners(rows, range(1, self.records + 1), labels)

    def without(self, rows: Collection[int]) -> "_RowBatch":
        """Return the batch without some rows; for its writer alone."""
        import pyarrow as pa

        kept = [row for row in range(self.records) if row not in rows]
        return _RowBatch(
            self.rows.take(pa.array(kept, pa.int64())),
            {place: [cells[row] for row in kept] for place, cells in self.cells.items()},
            frozenset(after for after, row in enumerate(kept) if row in self.masked),
        )

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
            kind = schema.field(index).type
            if pa.types.is_dictionary(kind):  # it has only these texts
                arrays[index] = pa.array(values, kind.value_type).dictionary_encode()
            else:
                arrays[index] = pa.array(values, kind)
        return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _label(value: object) -> str:
    """Return a label as text; empty if it is none."""
    try:
        return label_text(value)
    except RecordError:
        return ""


def checked_rows(
    rows: "pa.RecordBatch",
    texts: dict[int, "pa.Array"],
    faults: Faults,
    *,
    rows_before: int = 0,
    label: int | None = None,
) -> _RowBatch:
    """Return rows without those that cannot be processed, or with them masked.

    `texts` are the columns to privatize, by their places; `rows_before` is how many rows of the
    file come before these; `label` is the place of the column of labels.
    """
    import pyarrow as pa

    cells: dict[int, list[str | None]] = {}
    flawed: dict[int, RecordError] = {}
    for index, column in texts.items():
        cells[index], flaws = _texts_of(column)
        flawed |= flaws
    for row in sorted(flawed):
        faults.meet(rows_before + row + 1, flawed[row])
    if not flawed or faults.on_error == "mask":
        return _RowBatch(rows, cells, frozenset(flawed), label)
    kept = [row for row in range(rows.num_rows) if row not in flawed]
    return _RowBatch(
        rows.take(pa.array(kept, pa.int64())),  # with its type, as there may be none left
        {i: [column[row] for row in kept] for i, column in cells.items()},
        label=label,
    )


class _ParquetReader(Reader[_RowBatch], name="parquet"):
    suffixes = (".parquet", ".pq")
    packable = False  # it is compressed inside
    seeks = True  # its index stands at the end
    drops = True
    spark = "table"

    def open(self) -> None:
        if not self.source.seekable():
            raise DataError(
                "Parquet cannot be read from a pipe, as its index stands at the end: name a file"
            )
        self._size = self.source.seek(0, io.SEEK_END)
        self.source.seek(0)
        self._file = open_table(self.source)
        self._schema = self._file.schema_arrow
        self.columns = self._schema.names
        self.asked = text_columns(self._schema, self.layout.columns)
        if self.layout.label is not None and self.layout.label not in self._schema.names:
            raise no_such_column(self.layout.label, "file", dict.fromkeys(self._schema.names))
        self.compression = "SNAPPY"
        if self._file.metadata.num_row_groups:
            with failing_as(_UNREADABLE):
                # Asking for a column of a damaged index would abort the process; reading raises an
                # error.
                next(self._file.iter_batches(batch_size=1, row_groups=[0]), None)
                codec = str(self._file.metadata.row_group(0).column(0).compression)
            self.compression = "NONE" if codec == "UNCOMPRESSED" else codec
        self.done = 0
        """How many rows are read so far."""

    @property
    def consumed(self) -> int:
        """The bytes of the source that correspond to the rows read so far."""
        rows = self._file.metadata.num_rows
        return self._size * self.done // rows if rows else self._size

    def batches(self) -> Generator[_RowBatch, None, None]:
        metadata = self._file.metadata
        size = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
        at_once = _READ_BYTES * metadata.num_rows // max(size, 1)  # to take some megabytes
        name = self.layout.label
        label = None if name is None else self._schema.names.index(name)
        for rows in record_batches(self._file, int(max(1, min(BATCH_RECORDS, at_once)))):
            for part, texts in text_slices(rows, self.asked, self.batch_characters):
                batch = checked_rows(part, texts, self.faults, rows_before=self.done, label=label)
                self.done += part.num_rows
                yield batch

    def pairs(self) -> Iterator[Pair]:
        place = self._schema.names.index(self.layout.label)
        for batch in self.batches():
            with failing_as(_UNREADABLE):
                labels = batch.rows.column(place).to_pylist()
            texts: list[str | None] = [None] * batch.records
            before = self.done - batch.records
            for row, text in enumerate(next(iter(batch.cells.values()), texts)):
                try:
                    yield text or "", label_text(labels[row])
                except RecordError as flaw:
                    self.faults.meet(before + row + 1, flaw)

    def writer(self, target: BinaryIO) -> "_ParquetWriter":
        """Return what writes such a file, compressed as the first row group of this one is."""
        return _ParquetWriter(self, target, private_schema(self._schema, self.asked))


# Row groups of a Parquet copy.
#
# Rows come in batches, which end where the lengths of the true texts say so. Where row groups and
# pages of the copy end can be seen by everybody, so it follows from the private rows alone.

_GROUP_BYTES: Final = 32 * 2**20
_GROUP_ROWS: Final = 2**20
# The assumed size of values that are not measured. Where it is far too small, as for lists of
# long texts, a group ends with the batch that makes it this many times too large.
_SOME_BYTES: Final = 16
_TOO_MANY: Final = 8


class _ParquetWriter(TableWriter, Writer[_RowBatch, list[str]]):
    def __init__(self, reader: _ParquetReader, target: BinaryIO, schema: "pa.Schema") -> None:
        super().__init__(target, schema, reader.compression)
        self._reader, self._schema = reader, schema
        self._clear()

    def write(self, batch: _RowBatch, private: list[str]) -> None:
        with failing_as(f"a private text up to record {self._reader.done} is not valid Unicode"):
            rows = batch.rebuild(private, self._schema)
        with failing_as(UNWRITABLE):
            self._add(rows)

    def finish(self) -> None:
        with failing_as(UNWRITABLE):
            self._write_group()
        super().finish()

    def _add(self, rows: "pa.RecordBatch") -> None:
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
        for column in rows.columns:  # without dictionaries, which several pieces share
            self._held += getattr(column, "indices", column).nbytes
        if (
            self._weight >= _GROUP_BYTES
            or self._count >= _GROUP_ROWS
            or self._held >= _TOO_MANY * _GROUP_BYTES
        ):
            self._write_group()

    def _write_group(self) -> None:
        """Write the collected rows as one group, in one piece: pages end where pieces do."""
        import pyarrow as pa

        if self._count:
            table = pa.Table.from_batches(self._rows, self._schema).combine_chunks()
            for place in self._reader.asked:
                field = table.schema.field(place)
                if pa.types.is_dictionary(field.type):  # it has only the texts of these rows
                    texts = table.column(place).cast(field.type.value_type)
                    table = table.set_column(place, field, texts.dictionary_encode())
            self.table.write_table(table, row_group_size=table.num_rows)
        self._clear()

    def _clear(self) -> None:
        self._rows: list[pa.RecordBatch] = []
        self._count = self._weight = self._held = 0


def _weights(rows: "pa.RecordBatch") -> "pa.Array":
    """Estimate the bytes of each row, from its values alone."""
    import pyarrow as pa
    import pyarrow.compute as pc

    types = pa.types
    flat = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    total = pa.repeat(pa.scalar(_SOME_BYTES * rows.num_columns, pa.int64()), rows.num_rows)
    for column in rows.columns:
        if any(is_kind(column.type) for is_kind in flat):
            total = pc.add(total, pc.fill_null(pc.binary_length(column), 0).cast(pa.int64()))
    return total


# The schema of a Parquet copy, rebuilt from names and types.
#
# A schema can carry notes: on the file, on each column, on each field inside a column. A note may
# hold anything, such as an example of the text or the number of distinct texts. So none is copied.
# The one that pandas needs to restore its index and types is rebuilt: see `_pandas_note`.

_PANDAS: Final = b"pandas"
# Arrow's own types that have no words of their own. Others (a tensor's dimensions, an opaque
# type's vendor) do: of those the values stay, as what they are stored as.
_WORDLESS: Final = frozenset({"arrow.uuid", "arrow.bool8", "arrow.json"})


def private_schema(schema: "pa.Schema", asked: list[int]) -> "pa.Schema":
    """Return the schema of the copy: the names and types of the original, without its notes.

    Dictionaries asked for get indices wide enough for any number of private texts, and give up
    their order, which was one of the true texts.
    """
    import pyarrow as pa

    fields = [_bare_field(field) for field in schema]
    for place in asked:
        if pa.types.is_dictionary(fields[place].type):
            kind = pa.dictionary(pa.int32(), fields[place].type.value_type)
            fields[place] = fields[place].with_type(kind)
    bare = pa.schema(fields)
    original = (schema.metadata or {}).get(_PANDAS)
    note = _pandas_note(bare, original) if original is not None else None
    return bare.with_metadata({_PANDAS: note}) if note is not None else bare


def fitted(column: "pa.Array", kind: "pa.DataType") -> "pa.Array":
    """Cast a column that passes unchanged to its type in the copy."""
    return column if column.type == kind else column.cast(kind)


def _bare_field(field: "pa.Field") -> "pa.Field":
    import pyarrow as pa

    return pa.field(field.name, _bare(field.type), field.nullable)


def _bare(kind: "pa.DataType") -> "pa.DataType":
    """Return a type without the notes on its fields."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return kind if kind.extension_name in _WORDLESS else _bare(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _bare(kind.value_type), kind.ordered)
    if not kind.num_fields:
        return kind
    if pa.types.is_struct(kind):
        return pa.struct([_bare_field(field) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(_bare_field(kind.key_field), _bare_field(kind.item_field), kind.keys_sorted)
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_bare_field(kind.value_field), kind.list_size)
    if pa.types.is_large_list(kind):
        return pa.large_list(_bare_field(kind.value_field))
    if pa.types.is_list(kind):
        return pa.list_(_bare_field(kind.value_field))
    raise DataError(UNWRITABLE)


# Pandas' note in a Parquet file, rebuilt.
#
# Pandas records in a note which columns were the index, and its own type of each column. Nothing is
# copied from the original's note: it only selects among words that this module has, or that follow
# from the types of the copy. All else is lost: `DataFrame.attrs`, the names of a range index and of
# the row of column names, the number of categories.

_MOST_LEVELS: Final = 32
_GENERATED: Final = re.compile(r"__index_level_\d+__")  # a column that has no name in pandas
_STRINGS: Final = ("string", "str", "string[python]", "string[pyarrow]")
# The types of numbers, and those in which numbers may be missing.
_NUMBERS: Final = {
    "bool": "boolean",
    **{f"int{bits}": f"Int{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"UInt{bits}" for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"Float{bits}" for bits in (16, 32, 64)},
}
_NAMES: Final = {
    "halffloat": "float16",
    "float": "float32",
    "double": "float64",
    "large_string": "string",
    "string_view": "string",
    "large_binary": "binary",
    "date32[day]": "date",
    "date64[ms]": "date",
}
_OBJECTS: Final = {"string": "unicode", "binary": "bytes", "date": "date", "null": "empty"}
# Of the names of columns: what pandas calls their kind, and of which type their row is.
_NAME_KINDS: Final = (
    *("unicode", "string", "bytes", "bool", "boolean", "int64", "integer", "floating"),
    *("decimal", "date", "datetime", "datetime64[ns]", "mixed", "mixed-integer", "empty"),
)
_NAME_TYPES: Final = ("object", "str", "string", "int64", "float64", "bool", "datetime64[ns]")


def _pandas_note(schema: "pa.Schema", original: bytes) -> bytes | None:
    """Return the note for a file of this schema, or None if the original is not from pandas."""
    try:
        note = json.loads(original)
    except (ValueError, RecursionError):
        return None
    if not isinstance(note, dict):
        return None
    said = {
        entry["field_name"]: entry.get("numpy_type")
        for entry in _entries(note, "columns", dict)
        if isinstance(entry.get("field_name"), str)
    }
    names = set(schema.names)
    index = dict.fromkeys(_entries(note, "index_columns", str))
    levels = _entries(note, "column_indexes", dict)[:_MOST_LEVELS]
    rebuilt = {
        "index_columns": [name for name in index if name in names],
        "column_indexes": [_level(level) for level in levels],
        "columns": [_column(field, said.get(field.name)) for field in schema],
    }
    return json.dumps(rebuilt).encode()


def _entries(note: Mapping[str, Any], key: str, kind: type) -> list[Any]:
    value = note.get(key)
    return [entry for entry in value if isinstance(entry, kind)] if isinstance(value, list) else []


def _level(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a row of column names."""
    kind = _chosen(entry.get("pandas_type"), _NAME_KINDS, "unicode")
    return {
        "name": None,
        "field_name": None,
        "pandas_type": kind,
        "numpy_type": _chosen(entry.get("numpy_type"), _NAME_TYPES, "object"),
        "metadata": {"encoding": "UTF-8"} if kind == "unicode" else None,
    }


def _column(field: "pa.Field", said: object) -> dict[str, Any]:
    """Describe a column, in pandas' terms for its type."""
    import pyarrow as pa

    kind, usual, choices = _words(field.type)
    details = None
    if pa.types.is_timestamp(field.type) and field.type.tz:
        details = {"timezone": field.type.tz}
    elif pa.types.is_decimal(field.type):
        details = {"precision": field.type.precision, "scale": field.type.scale}
    return {
        "name": None if _GENERATED.fullmatch(field.name) else field.name,
        "field_name": field.name,
        "pandas_type": kind,
        "numpy_type": _chosen(said, choices, usual),
        "metadata": details,
    }


def _chosen(said: object, choices: Collection[str], usual: str) -> str:
    return said if isinstance(said, str) and said in choices else usual


def _words(kind: "pa.DataType") -> tuple[str, str, tuple[str, ...]]:
    """Return what pandas calls a column's kind, its usual type, and others that it may be of."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):  # that it is a category follows from Arrow's own schema
        return _words(kind.value_type)[0], "object", ()
    arrow = f"{kind}[pyarrow]"
    if pa.types.is_timestamp(kind):
        return "datetimetz" if kind.tz else "datetime", f"datetime64[{kind.unit}]", (arrow,)
    if pa.types.is_duration(kind):
        return "timedelta", f"timedelta64[{kind.unit}]", (arrow,)
    name = _NAMES.get(str(kind), str(kind))
    if name in _NUMBERS:
        return name, name, (_NUMBERS[name], arrow)
    return _OBJECTS.get(name, "object"), "object", _STRINGS if name == "string" else ()
