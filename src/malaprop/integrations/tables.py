"""Private text in tables in memory: of pandas, polars or pyarrow.

Each library's own idioms are used, not a common layer over them: such a layer would lose the types
of pandas' columns of text, and refuse columns that share a name.
"""

import json
import sys
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar, Unpack, overload

from malaprop.files.formats.file_format import (
    BATCH_CHARACTERS,
    BATCH_RECORDS,
    RecordError,
    check_text,
    list_columns,
)
from malaprop.lexicon.lexicon import Lexicon
from malaprop.privacy.errors import DataError, MalapropError, ParameterError, type_name
from malaprop.privacy.mechanism import Mechanism
from malaprop.privacy.progress import Progress, report, stage
from malaprop.privacy.randomness import secure_rng, seeded_rng
from malaprop.privatizer import Privatizer
from malaprop.recipe import chosen_mechanism
from malaprop.report.file_counts import FileCounts
from malaprop.report.run_report import Clock, FileRecord, RunReport, run_report
from malaprop.text.missing import MaybeText, is_missing
from malaprop.text.policy import TextOptions, policy_with

NOTE = "malaprop"
"""The key under which a private table says what was done to it, where it can."""
_Table = TypeVar("_Table")
_Texts = list[MaybeText]


@overload
def privatize(
    table: _Table,
    columns: Sequence[Any] | None = ...,
    *,
    epsilon: float | None = ...,
    mechanism: Mechanism | str = ...,
    lexicon: Lexicon | str = ...,
    seed: int | None = ...,
    progress: Progress | None = ...,
    return_report: Literal[False] = ...,
    **options: Unpack[TextOptions],
) -> _Table: ...
@overload
def privatize(
    table: _Table,
    columns: Sequence[Any] | None = ...,
    *,
    epsilon: float | None = ...,
    mechanism: Mechanism | str = ...,
    lexicon: Lexicon | str = ...,
    seed: int | None = ...,
    progress: Progress | None = ...,
    return_report: Literal[True],
    **options: Unpack[TextOptions],
) -> tuple[_Table, RunReport]: ...
def privatize(
    table: Any,
    columns: Sequence[Any] | None = None,
    *,
    epsilon: float | None = None,
    mechanism: Mechanism | str = "balanced",
    lexicon: Lexicon | str = "english",
    seed: int | None = None,
    progress: Progress | None = None,
    return_report: bool = False,
    **options: Unpack[TextOptions],
) -> Any:
    """Return a table of the same kind with private texts in some columns; the rest is as it was.

    >>> import malaprop, pyarrow
    >>> notes = pyarrow.table({"id": [7, 8], "note": ["a cold", None]})
    >>> private = malaprop.privatize(notes, columns=["note"], epsilon=1.5)
    >>> len(private["note"][0].as_py().split()), private["note"][1].as_py()
    (2, None)

    `table` is a DataFrame or Series of pandas, a DataFrame, LazyFrame or Series of polars, or a
    Table, RecordBatch or ChunkedArray of pyarrow; `columns` are the names of its columns of text,
    which a single column does not need. Missing texts, index, order and types stay. Categories are
    those of the private texts, without order. A lazy frame is collected and drawn at once, since
    each further draw would be another release.

    With `return_report`, a pair is returned: the table and a `RunReport`, which is for the owner of
    the texts alone, as it counts their words. The table itself carries what may be published:
    `.attrs["malaprop"]` in pandas, JSON under that key of the schema's metadata in pyarrow; polars
    has no place for it. Attributes and metadata of the input are not copied, as they may hold
    anything. What the report warns of is a Python warning, too.

    `seed` repeats a demonstration: the output is *not private*. `progress` is called with the
    number of texts that are drawn, and of all: `malaprop.ProgressBar()` shows them. The other
    parameters are those of `privatize_files`.
    """
    made, policy = chosen_mechanism(mechanism, epsilon), policy_with(options, privatize)
    clock, rng = Clock(), secure_rng() if seed is None else seeded_rng(seed)
    opened = open_table(table)
    texts = opened.checked(columns)
    privatizer = Privatizer(lexicon, made, rng=rng, **policy.options())
    result, told = released(opened, texts, privatizer, clock, progress)
    warn(told)
    return (result, told) if return_report else result


def released(
    opened: "OpenTable",
    texts: Mapping[int, _Texts],
    privatizer: Privatizer,
    clock: Clock,
    progress: Progress | None = None,
) -> tuple[Any, RunReport]:
    """Draw the checked texts of a table; return the private table and the report."""
    counts: Counter[str] = Counter()
    private: dict[int, _Texts] = {}
    for number, (place, column) in enumerate(texts.items()):
        part = stage(progress, number, len(texts)) if len(texts) > 1 else progress
        private[place] = _drawn(privatizer, column, counts, part)
    record = FileRecord(
        input=opened.what,
        output=opened.what,
        format=opened.library,
        columns=tuple(dict.fromkeys(str(opened.names[place]) for place in texts)),
        on_error="fail",
        counts=FileCounts(
            records=opened.rows,
            cells=sum(not is_missing(text) for column in texts.values() for text in column),
            other_columns=opened.others([*texts]),
        ),
    )
    told = run_report(privatizer, [record], counts, clock.occasion())
    return opened.rebuilt(private, public_note(told)), told


def warn(told: RunReport) -> None:
    """Warn the caller of a caller of what a report warns of."""
    for warning in told.warnings:
        warnings.warn(f"{warning}.", stacklevel=3)


def public_note(told: RunReport) -> dict[str, Any]:
    """Return what may be published with a private table, as plain values for JSON."""
    (record,) = told.files
    return {
        "columns": list(record.columns),
        "guarantee": told.guarantee.to_dict(),
        "randomness": told.randomness,
        "warnings": list(told.cautions),
        "mechanism": dict(told.mechanism),
        "policy": dict(told.policy),
        "lexicon": {"name": told.lexicon.name, "fingerprint": told.lexicon.fingerprint},
        "malaprop": told.version,
    }


def _checked(texts: _Texts, name: object) -> _Texts:
    """Refuse a column that holds anything but texts that can be processed, and missing ones."""
    for row, text in enumerate(texts):
        if isinstance(text, str):
            try:
                check_text(text)
            except RecordError as flaw:
                raise DataError(
                    f"column {name!r}: row {row:,}, counted from 0, {flaw.reason}: mend that text, "
                    "or make it missing"
                ) from None
        elif not is_missing(text):
            raise DataError(
                f"column {name!r} has a value of type {type_name(text)} in row {row:,}, counted "
                "from 0: only text can be privatized"
            )
    return texts


def _drawn(
    privatizer: Privatizer, texts: _Texts, counts: Counter[str], progress: Progress | None
) -> _Texts:
    """Return private texts, drawn in batches of bounded size; count how tokens were treated."""
    private = list(texts)
    for places in _batches(texts):
        drawn, treated = privatizer.batch([str(texts[place]) for place in places])
        counts.update(treated)
        for place, text in zip(places, drawn, strict=True):
            private[place] = text
        report(progress, places[-1] + 1, len(texts))
    return private


def _batches(texts: _Texts) -> Iterator[list[int]]:
    places: list[int] = []
    characters = 0
    for place, text in enumerate(texts):
        if isinstance(text, str):
            places.append(place)
            characters += len(text)
        if characters >= BATCH_CHARACTERS or len(places) >= BATCH_RECORDS:
            yield places
            places, characters = [], 0
    if places:
        yield places


# What differs between the libraries. None is imported here: whoever has such a table has done so.


class OpenTable(ABC):
    """A table of some library, or a single column of one."""

    library: str
    names: list[Any]
    """Of the columns, which may share one;"""
    rows: int
    what: str
    """what the table is, for a report."""
    alone: bool
    """Whether it is a column without a table."""

    @abstractmethod
    def __init__(self, table: Any) -> None: ...

    def places(self, columns: Any) -> list[int]:
        """Return the places of the named columns, in their order in the table."""
        if self.alone:
            if columns is not None:
                raise ParameterError(f"{self.what} is one column: leave out `columns`")
            return [0]
        # A column of texts would be taken for a list of names, and the error would show one.
        if not isinstance(columns, list | tuple) or not columns:
            raise ParameterError(
                "`columns` must be a list of names of columns that hold text, such as "
                f'["note"]. Got {type_name(columns)}.'
            )
        for name in columns:
            if name not in self.names:
                known = [str(each) for each in self.names]
                raise ParameterError(
                    f"no column is named {name!r} in the table, which has "
                    f"{list_columns(known, str(name))}"
                )
        return [place for place, name in enumerate(self.names) if name in columns]

    def others(self, places: Sequence[int]) -> tuple[str, ...]:
        """Return the names of what passes as it is."""
        rest = (str(name) for place, name in enumerate(self.names) if place not in places)
        return tuple(dict.fromkeys(rest))

    def checked(self, columns: Any) -> dict[int, _Texts]:
        """Return the texts of the named columns, by place; refuse what cannot be processed."""
        places = self.places(columns)
        return {place: _checked(self.texts(place), self.names[place]) for place in places}

    @abstractmethod
    def texts(self, place: int) -> _Texts:
        """Return the values of a column; refuse one that cannot hold text."""

    @abstractmethod
    def rebuilt(self, private: Mapping[int, _Texts], note: dict[str, Any]) -> Any:
        """Return the table with other texts in some columns, and with a note if it can have one."""

    def _refused(self, place: int, kind: object) -> DataError:
        short = str(kind).partition("<")[0].partition("(")[0]
        return DataError(
            f"column {self.names[place]!r} has the type {short}: only text can be privatized"
        )


def open_table(table: Any) -> OpenTable:
    """Return what reads and rebuilds a table, by the library that it is from."""
    for kind, names in _KINDS.items():
        library = sys.modules.get(kind.library)
        if library is not None and isinstance(table, tuple(getattr(library, n) for n in names)):
            return kind(table)
    spark = type(table).__module__.startswith("pyspark.")
    remedy = (
        "malaprop.integrations.spark.privatize draws on a cluster"
        if spark
        else "convert it to one of these"
    )
    raise ParameterError(
        "privatize takes a table or a column of pandas, polars or pyarrow. Got "
        f"{type_name(table)}: {remedy}."
    )


class _Pandas(OpenTable):
    library = "pandas"

    def __init__(self, table: Any) -> None:
        self.alone = table.ndim == 1
        self._table = table.to_frame() if self.alone else table
        self._name = table.name if self.alone else None
        self.names, self.rows = list(self._table.columns), len(table)
        self.what = f"a pandas {'Series' if self.alone else 'DataFrame'}"

    def others(self, places: Sequence[int]) -> tuple[str, ...]:
        index = self._table.index
        named = [str(name) for name in index.names if name is not None]
        counts = type(index).__name__ == "RangeIndex"
        return (*super().others(places), *(named or ([] if counts else ["(index)"])))

    def texts(self, place: int) -> _Texts:
        values: _Texts = self._table.iloc[:, place].tolist()
        return values

    def rebuilt(self, private: Mapping[int, _Texts], note: dict[str, Any]) -> Any:
        result = self._table.copy()
        for place, texts in private.items():
            column = self._table.iloc[:, place]
            result.isetitem(place, self._column(texts, column))
        if self.alone:
            result = result.iloc[:, 0]
            result.name = self._name
        result.attrs = {NOTE: note}
        return result

    @staticmethod
    def _column(texts: _Texts, old: Any) -> Any:
        import pandas as pd  # type: ignore[import-untyped]

        kind, empty = old.dtype, not old.notna().any()
        if isinstance(kind, pd.CategoricalDtype):  # it has only these texts, and none unused
            of = object if empty else kind.categories.dtype
            return pd.Series(texts, index=old.index, dtype=of).astype("category")
        if empty:
            return old
        arrow = getattr(kind, "pyarrow_dtype", None)
        if arrow is not None and hasattr(arrow, "value_type"):
            kind = pd.ArrowDtype(arrow.value_type)
        return pd.Series(texts, index=old.index, dtype=kind)


class _Polars(OpenTable):
    library = "polars"

    def __init__(self, table: Any) -> None:
        import polars as pl

        self.what = f"a polars {type(table).__name__}"
        self.alone, self._lazy = isinstance(table, pl.Series), isinstance(table, pl.LazyFrame)
        self._source = table.to_frame() if self.alone else table
        self._schema = self._source.collect_schema()
        self.names = self._schema.names()

    def places(self, columns: Any) -> list[int]:
        places = super().places(columns)
        for place in places:
            self._check(place)
        # Only now: to collect a lazy frame may be much work.
        self._table = self._collected() if self._lazy else self._source
        self.rows = self._table.height
        return places

    def _collected(self) -> Any:
        try:
            return self._source.collect(engine="streaming")
        except MalapropError:
            raise
        except Exception:  # of polars, which quotes values
            raise DataError(
                "the lazy frame cannot be collected: collect it first, to see what is wrong with it"
            ) from None

    def _check(self, place: int) -> None:
        import polars as pl

        kind = self._schema.dtypes()[place]
        if kind not in (pl.String, pl.Categorical, pl.Enum, pl.Null):
            raise self._refused(place, kind)

    def texts(self, place: int) -> _Texts:
        values: _Texts = self._table.to_series(place).to_list()
        return values

    def rebuilt(self, private: Mapping[int, _Texts], note: dict[str, Any]) -> Any:
        import polars as pl

        columns = []
        for place, texts in private.items():
            kind = self._schema.dtypes()[place]
            if kind != pl.Null:
                # The categories of an Enum are true texts, and a closed list.
                new = pl.Categorical() if kind == pl.Categorical else pl.String()
                columns.append(pl.Series(self.names[place], texts, dtype=new))
        if self.alone:
            return columns[0] if columns else self._table.to_series()
        result = self._table.with_columns(columns)
        return result.lazy() if self._lazy else result


class _PyArrow(OpenTable):
    library = "pyarrow"

    def __init__(self, table: Any) -> None:
        import pyarrow as pa

        self.what = f"a pyarrow {type(table).__name__}"
        self.alone = isinstance(table, pa.ChunkedArray | pa.Array)
        self._kind = type(table)
        self._table = pa.table({"": table}) if self.alone else table
        self.names, self.rows = self._table.schema.names, self._table.num_rows
        if isinstance(table, pa.RecordBatch):
            self._table = pa.Table.from_batches([table])

    def places(self, columns: Any) -> list[int]:
        from malaprop.files.formats.parquet import private_schema, text_columns

        places = super().places(columns)
        schema = self._table.schema
        text_columns(schema, [self.names[place] for place in places])
        self._private = private_schema(schema, [p for p in places if not _is_null(schema, p)])
        return places

    def texts(self, place: int) -> _Texts:
        import pyarrow as pa

        from malaprop.files.formats.parquet import failing_as

        column = self._table.column(place)
        if _is_null(self._table.schema, place):
            return [None] * self.rows
        with failing_as(f"column {self.names[place]!r} holds a text that is not UTF-8"):
            texts: _Texts = column.cast(pa.large_string()).to_pylist()
        return texts

    def rebuilt(self, private: Mapping[int, _Texts], note: dict[str, Any]) -> Any:
        import pyarrow as pa

        from malaprop.files.formats.parquet import fitted

        columns = []
        for place, field in enumerate(self._private):
            column = self._table.column(place)
            if place not in private or pa.types.is_null(field.type):
                columns.append(fitted(column, field.type))
            elif pa.types.is_dictionary(field.type):  # it has only these texts
                texts = pa.array(private[place], field.type.value_type)
                columns.append(texts.dictionary_encode())
            else:
                columns.append(pa.array(private[place], field.type))
        if self.alone:
            only = pa.table({"": columns[0]}).column(0)
            return only if self._kind is pa.ChunkedArray else only.combine_chunks()
        known = self._private.metadata or {}
        schema = self._private.with_metadata({**known, NOTE: json.dumps(note)})
        result = pa.Table.from_arrays(columns, schema=schema)
        if self._kind is not pa.RecordBatch:
            return result
        batches = result.combine_chunks().to_batches()
        return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=schema)


def _is_null(schema: Any, place: int) -> bool:
    return str(schema.field(place).type) == "null"


_KINDS: dict[type[OpenTable], tuple[str, ...]] = {
    _Pandas: ("DataFrame", "Series"),
    _Polars: ("DataFrame", "LazyFrame", "Series"),
    _PyArrow: ("Table", "RecordBatch", "ChunkedArray", "Array"),
}
