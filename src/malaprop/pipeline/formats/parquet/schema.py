"""The schema of a Parquet copy, rebuilt from names and types.

A schema can carry notes: on the file, on each column, on each field inside a column. A note may
hold anything, such as an example of the text or the number of distinct texts. So none is copied.
The one that pandas needs to restore its index and types is rebuilt: see `pandas_note`.
"""

from typing import TYPE_CHECKING, Final

from malaprop.core.errors import DataError
from malaprop.pipeline.formats.parquet.pandas_note import pandas_note

if TYPE_CHECKING:
    import pyarrow as pa

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
    note = pandas_note(bare, original) if original is not None else None
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
    return _bare_nested(kind)


def _bare_nested(kind: "pa.DataType") -> "pa.DataType":
    import pyarrow as pa

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
    raise DataError("the input has a column of a type that cannot be written to Parquet")
