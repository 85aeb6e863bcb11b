"""Columns of text in Arrow's types, for the Parquet copy; Arrow is imported when it is used."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from malaprop.core.errors import DataError, MalapropError, ParameterError
from malaprop.pipeline.formats.faults import FlawError, check_text
from malaprop.pipeline.formats.naming import INSIDE, is_inside, there_are

if TYPE_CHECKING:
    import pyarrow as pa


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
    except (pa.ArrowException, OSError, ValueError):
        raise DataError(message) from None


def text_columns(schema: "pa.Schema", names: Sequence[str]) -> list[int]:
    """Return the places of the named columns, all of which must hold text.

    A column of Arrow's type `null` has no values, so that there is nothing to return for it.
    """
    import pyarrow as pa

    columns: list[int] = []
    for name in dict.fromkeys(names):
        places = schema.get_all_field_indices(name)
        if not places:
            inside = INSIDE if is_inside(name, schema.names) else ""
            raise ParameterError(
                f"no column is named {name!r} in the file, which has "
                f"{there_are(dict.fromkeys(schema.names), name)}{inside}"
            )
        for place in places:
            _check_text(name, schema.field(place).type)
        columns += [place for place in places if not pa.types.is_null(schema.field(place).type)]
    return columns


def _check_text(name: str, kind: "pa.DataType") -> None:
    import pyarrow as pa

    values = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not (_is_string(values) or pa.types.is_null(kind)):
        # Without the part in brackets: the fields of a struct have names, too.
        short = str(kind).partition("<")[0]
        remedy = "; put the texts inside it into a column of their own" if kind.num_fields else ""
        raise DataError(
            f"column {name!r} has the type {short}: only text can be privatized{remedy}"
        )


def _is_string(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    views = getattr(pa.types, "is_string_view", lambda _: False)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or views(kind))


def plain(column: "pa.Array") -> "pa.Array":
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


def texts_of(column: "pa.Array") -> tuple[list[str | None], dict[int, FlawError]]:
    """Return the texts of a plain column, and what is wrong with some, by their places."""
    import pyarrow as pa

    flaws: dict[int, FlawError] = {}
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
            flaws[place] = FlawError("has a text that is not UTF-8, as Parquet's texts must be")
        except FlawError as flaw:
            flaws[place] = FlawError(flaw.reason)
    return texts, flaws


def array_of(values: list[str | None], kind: "pa.DataType") -> "pa.Array":
    """Return texts as an array of a type; its dictionary, if any, has only these texts."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return pa.array(values, kind.value_type).dictionary_encode()
    return pa.array(values, kind)
