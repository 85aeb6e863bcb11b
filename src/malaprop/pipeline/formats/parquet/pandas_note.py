"""Pandas' note in a Parquet file, rebuilt.

Pandas records in a note which columns were the index, and its own type of each column. Nothing is
copied from the original's note: it only selects among words that this module has, or that follow
from the types of the copy. All else is lost: `DataFrame.attrs`, the names of a range index and of
the row of column names, the number of categories.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_LEVELS: Final = 32
_GENERATED: Final = "__index_level_{}__"

# What pandas calls the kind of a column, its usual type, and other types that it may be of.
_Words = tuple[str, str, tuple[str, ...]]
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
_NAME_KINDS: Final = frozenset(
    [
        *("unicode", "string", "bytes", "bool", "boolean", "int64", "integer", "floating"),
        *("decimal", "date", "datetime", "datetime64[ns]", "mixed", "mixed-integer", "empty"),
    ]
)
_NAME_TYPES: Final = frozenset(
    ("object", "str", "string", "int64", "float64", "bool", "datetime64[ns]")
)


def pandas_note(schema: "pa.Schema", original: bytes) -> bytes | None:
    """Return the note for a file of this schema, or None if the original is not from pandas."""
    try:
        note = json.loads(original)
    except (ValueError, RecursionError):
        return None
    if not isinstance(note, dict):
        return None
    said = {
        entry["field_name"]: entry.get("numpy_type")
        for entry in _entries(note, "columns")
        if isinstance(entry.get("field_name"), str)
    }
    names = set(schema.names)
    index = [name for name in _list(note, "index_columns") if isinstance(name, str)]
    rebuilt = {
        "index_columns": [name for name in dict.fromkeys(index) if name in names],
        "column_indexes": [_level(e) for e in _entries(note, "column_indexes")[:_MOST_LEVELS]],
        "columns": [_column(field, said.get(field.name)) for field in schema],
    }
    return json.dumps(rebuilt).encode()


def _list(note: Mapping[str, Any], key: str) -> list[Any]:
    value = note.get(key)
    return value if isinstance(value, list) else []


def _entries(note: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    return [entry for entry in _list(note, key) if isinstance(entry, dict)]


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
    """Describe a column; one whose name pandas generated has no name."""
    kind, usual, choices = _words(field.type)
    return {
        "name": None if _is_generated(field.name) else field.name,
        "field_name": field.name,
        "pandas_type": kind,
        "numpy_type": _chosen(said, choices, usual),
        "metadata": _details(field.type),
    }


def _chosen(said: object, choices: frozenset[str] | tuple[str, ...], usual: str) -> str:
    return said if isinstance(said, str) and said in choices else usual


def _is_generated(name: str) -> bool:
    number = name.removeprefix("__index_level_").removesuffix("__")
    return number.isdecimal() and name == _GENERATED.format(number)


def _words(kind: "pa.DataType") -> _Words:
    """Return pandas' terms for an Arrow type."""
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


def _details(kind: "pa.DataType") -> dict[str, Any] | None:
    """Return what pandas notes of a type besides its name."""
    import pyarrow as pa

    if pa.types.is_timestamp(kind) and kind.tz:
        return {"timezone": kind.tz}
    if pa.types.is_decimal(kind):
        return {"precision": kind.precision, "scale": kind.scale}
    return None
