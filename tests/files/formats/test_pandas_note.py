"""What a Parquet copy carries beside its rows: names and types, and nothing that anybody wrote."""

import base64
import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.files.copies import rewrite

from malaprop.files.formats import Layout

CANARY = "zyxcanary"
NOTE = Layout(format="parquet", columns=("note",))
pd = pytest.importorskip("pandas")


def annotated(name: str, kind: Any, **notes: str) -> Any:
    return pa.field(name, kind, metadata={"comment": CANARY, "PARQUET:field_id": "77", **notes})


def copied(table: Any, *, dictionaries: bool = False) -> bytes:
    """The copy's bytes, with nothing packed, so that a scan sees all there is."""
    source, target = io.BytesIO(), io.BytesIO()
    pq.write_table(table, source, compression="NONE", use_dictionary=dictionaries)
    assert CANARY.encode() in _unpacked(source.getvalue()), "the test must see what it looks for"
    rewrite(source, target, NOTE, lambda texts: ["private" for _ in texts])
    return target.getvalue()


def _unpacked(data: bytes) -> bytes:
    """The bytes of a file, and those of the schema that Arrow keeps in it in base64."""
    metadata = pq.ParquetFile(io.BytesIO(data)).metadata.metadata or {}
    return data + base64.b64decode(metadata.get(b"ARROW:schema", b""))


def assert_no_canary(data: bytes) -> None:
    assert CANARY.encode() not in _unpacked(data)
    assert b"field_id" not in _unpacked(data)
    file = pq.ParquetFile(io.BytesIO(data))
    for field in file.schema_arrow:
        assert not field.metadata


def one(kind: Any, value: Any) -> Any:
    return pa.array([value], kind)


EXTENSION = {"ARROW:extension:name": f"{CANARY}.type", "ARROW:extension:metadata": CANARY}
TENSOR = pa.fixed_shape_tensor(pa.int32(), [2], dim_names=[CANARY])
OPAQUE = pa.opaque(pa.string(), CANARY, "vendor")
INNER = pa.struct([annotated("deep", pa.list_(annotated("item", pa.string())))])
ELSEWHERE: dict[str, tuple[Any, Any]] = {
    "another column": (annotated("other", pa.string()), "kept"),
    "a field of a struct": (pa.field("other", pa.struct([annotated("a", pa.int8())])), {"a": 1}),
    "the items of a list": (pa.field("other", pa.list_(annotated("item", pa.int8()))), [1]),
    "items of a large list": (
        pa.field("other", pa.large_list(annotated("item", pa.int8()))),
        [1],
    ),
    "the items of a short list": (
        pa.field("other", pa.list_(annotated("item", pa.int8()), 1)),
        [1],
    ),
    "keys and values of a map": (
        pa.field(
            "other",
            pa.map_(
                pa.field("key", pa.string(), nullable=False, metadata={"comment": CANARY}),
                annotated("value", INNER),
            ),
        ),
        [("k", {"deep": ["x"]})],
    ),
    "all levels": (annotated("other", INNER), {"deep": ["x"]}),
    "an extension that nobody knows": (annotated("other", pa.binary(), **EXTENSION), b"x"),
}


@pytest.mark.parametrize("place", ELSEWHERE)
def test_no_note_on_other_columns_stays(place: str) -> None:
    field, value = ELSEWHERE[place]
    schema = pa.schema([pa.field("note", pa.string()), field])
    table = pa.Table.from_arrays([one(pa.string(), "a"), one(field.type, value)], schema=schema)
    data = copied(table)
    assert_no_canary(data)
    output = pq.read_table(io.BytesIO(data))
    assert output.schema.types == schema.types  # all that notes do not say stays
    assert output["other"].to_pylist() == [value]


def test_no_note_on_the_private_column_stays() -> None:
    schema = pa.schema([annotated("note", pa.string(), **EXTENSION)])
    assert_no_canary(copied(pa.Table.from_arrays([one(pa.string(), "a")], schema=schema)))


@pytest.mark.parametrize(
    ("kind", "storage", "value"), [(TENSOR, pa.list_(pa.int32(), 2), [1, 2]), (OPAQUE, None, "x")]
)
def test_types_with_words_of_their_own_become_what_they_are_stored_as(
    kind: Any, storage: Any, value: Any
) -> None:
    storage = storage or pa.string()
    array = pa.ExtensionArray.from_storage(kind, one(storage, value))
    nested = pa.StructArray.from_arrays([array], fields=[annotated("a", kind)])
    data = copied(pa.table({"note": ["a"], "other": array, "nested": nested}))
    assert_no_canary(data)
    output = pq.read_table(io.BytesIO(data))
    assert output["other"].type == storage
    assert output["other"].to_pylist() == [value]
    assert output["nested"].to_pylist() == [{"a": value}]


def test_types_without_words_of_their_own_stay() -> None:
    identity = pa.ExtensionArray.from_storage(pa.uuid(), one(pa.binary(16), b"0123456789abcdef"))
    truth = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1], pa.int8()))
    table = pa.table({"note": [CANARY], "id": identity, "json": one(pa.json_(), "{}"), "b": truth})
    data = copied(table)
    assert_no_canary(data)
    assert pq.read_table(io.BytesIO(data)).drop(["note"]).equals(table.drop(["note"]))


def test_no_note_of_the_file_stays() -> None:
    notes = {
        "owner": CANARY,
        "org.apache.spark.sql.parquet.row.metadata": json.dumps({"fields": CANARY}),
        "geo": CANARY,
        "huggingface": CANARY,
        "pandas": CANARY,  # no JSON
    }
    table = pa.table({"note": ["a"]}).replace_schema_metadata(notes)
    data = copied(table)
    assert_no_canary(data)
    assert set(pq.ParquetFile(io.BytesIO(data)).metadata.metadata) == {b"ARROW:schema"}


def pandas_note(data: bytes) -> Any:
    return json.loads(pq.ParquetFile(io.BytesIO(data)).metadata.metadata[b"pandas"])


def test_of_pandas_note_nothing_stays_that_is_free_text() -> None:
    described = {
        "name": CANARY,
        "field_name": "note",
        "pandas_type": CANARY,
        "numpy_type": CANARY,
        "metadata": {"num_categories": 4711, "comment": CANARY},
        "comment": CANARY,
    }
    other = {**described, "field_name": "other"}
    note = {
        "index_columns": [
            {"kind": "range", "name": CANARY, "start": 0, "stop": 1, "step": 1, "more": CANARY},
            CANARY,
            "other",
        ],
        "column_indexes": [
            {"name": CANARY, "field_name": CANARY, "pandas_type": CANARY, "numpy_type": CANARY}
        ],
        "columns": [described, other, {**described, "field_name": CANARY}, CANARY],
        "attributes": {"about": CANARY},
        "creator": {"library": CANARY, "version": CANARY},
        "pandas_version": CANARY,
        "partition_columns": [CANARY],
        CANARY: CANARY,
    }
    table = pa.table({"note": ["a"], "other": [1]}).replace_schema_metadata(
        {"pandas": json.dumps(note)}
    )
    data = copied(table)
    assert_no_canary(data)
    assert b"4711" not in data
    assert pandas_note(data)["index_columns"] == ["other"]
    assert pd.read_parquet(io.BytesIO(data)).to_dict("tight")["index"] == [1]


@pytest.mark.parametrize(
    "note",
    [
        "[]",
        "null",
        '"zyxcanary"',
        '{"zyxcanary": 1}',
        '{"columns": 5, "index_columns": {"zyxcanary": 1}, "column_indexes": "zyxcanary"}',
        '{"columns": [[]], "index_columns": [[], 7, null], "column_indexes": [null, "zyxcanary"]}',
        '{"columns": [{"field_name": ["note"], "numpy_type": ["zyxcanary"]}], "index_columns": []}',
        '{"column_indexes": [{"pandas_type": {}, "numpy_type": ["zyxcanary"]}]}',
        "[" * 100_000 + "zyxcanary",
    ],
)
def test_a_note_of_pandas_that_is_none_does_no_harm(note: str) -> None:
    table = pa.table({"note": [CANARY]}).replace_schema_metadata({"pandas": note})
    data = copied(table)
    assert_no_canary(data)
    assert list(pd.read_parquet(io.BytesIO(data)).columns) == ["note"]


def test_the_categories_of_a_private_column_are_gone_with_their_number() -> None:
    kind = pd.CategoricalDtype(["a", CANARY, *map(str, range(40))], ordered=True)
    frame = pd.DataFrame({"note": pd.Series(["a", CANARY], dtype=kind), "n": [1, 2]})
    data = copied(pa.Table.from_pandas(frame))
    assert_no_canary(data)
    assert b"num_categories" not in data
    output = pd.read_parquet(io.BytesIO(data))
    assert list(output["note"].dtype.categories) == ["private"]
    assert not output["note"].dtype.ordered


def test_pandas_gets_its_types_and_its_index_back() -> None:
    frame = pd.DataFrame(
        {
            "note": pd.Series(["a", None], dtype="string"),
            "whole": pd.Series([1, None], dtype="Int64"),
            "small": pd.Series([1, None], dtype="UInt8"),
            "real": pd.Series([1.5, None], dtype="Float32"),
            "truth": pd.Series([True, None], dtype="boolean"),
            "arrow": pd.Series([1, 2], dtype="int32[pyarrow]"),
            "plain": [1, 2],
            "float": [1.5, float("nan")],
            "when": pd.to_datetime(["2020-01-01", None]),
            "zone": pd.to_datetime(["2020-01-01", None]).tz_localize("Europe/Berlin"),
            "span": pd.to_timedelta([1, 2], unit="s"),
            "kind": pd.Categorical(["x", "y"], categories=["y", "x", "z"], ordered=True),
            "object": ["u", "v"],
            "bytes": [b"u", None],
            "key": ["i", "j"],
        }
    ).set_index("key")
    frame.attrs["about"] = CANARY
    output = pd.read_parquet(io.BytesIO(copied(pa.Table.from_pandas(frame), dictionaries=True)))
    assert output["note"].tolist()[0] == "private"
    assert output["note"].isna().tolist() == [False, True]
    pd.testing.assert_frame_equal(output.drop(columns="note"), frame.drop(columns="note"))
    assert output["note"].dtype == frame["note"].dtype
    assert output.attrs == {}


@pytest.mark.parametrize(
    "index",
    [
        pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["x", None]),
        pd.Index([5, 7]),
        pd.RangeIndex(2),
    ],
)
def test_pandas_gets_an_index_of_its_own_columns_back(index: Any) -> None:
    frame = pd.DataFrame({"note": [CANARY, "b"], "n": [1, 2]}, index=index)
    data = copied(pa.Table.from_pandas(frame))
    assert_no_canary(data)
    pd.testing.assert_index_equal(pd.read_parquet(io.BytesIO(data)).index, index)


def test_pandas_gets_the_kind_of_its_columns_names_back() -> None:
    frame = pd.DataFrame({0: [CANARY], 7: ["b"]})
    layout = Layout(format="parquet", columns=("0",))
    source, target = io.BytesIO(), io.BytesIO()
    pq.write_table(pa.Table.from_pandas(frame), source)
    rewrite(source, target, layout, lambda texts: ["private"])
    assert pd.read_parquet(target).columns.tolist() == [0, 7]
    columns = pd.MultiIndex.from_tuples([("note", 1), ("b", 2)])
    frame = pd.DataFrame([[CANARY, "b"]], columns=columns)
    layout = Layout(format="parquet", columns=("('note', '1')",))
    source, target = io.BytesIO(), io.BytesIO()
    pq.write_table(pa.Table.from_pandas(frame), source)
    rewrite(source, target, layout, lambda texts: ["private"])
    assert pd.read_parquet(target).columns.equals(columns)
