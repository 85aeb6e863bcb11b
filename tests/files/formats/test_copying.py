import base64
import io
import subprocess
import sys
import zlib
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.files.copies import Transform, rewrite

from malaprop.files.formats import Layout
from malaprop.privacy.errors import DataError, OutputError, ParameterError
from malaprop.report.file_counts import FileCounts

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
NOTE = Layout(format="parquet", columns=("note",))


def same(texts: list[str]) -> list[str]:
    return texts


def upper(texts: list[str]) -> list[str]:
    return [text.upper() for text in texts]


def written(table: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def run(data: bytes, layout: Layout = NOTE, transform: Transform = same) -> tuple[Any, FileCounts]:
    target = io.BytesIO()
    counts = rewrite(io.BytesIO(data), target, layout, transform)
    return pq.ParquetFile(io.BytesIO(target.getvalue())).read(), counts


def many_types() -> Any:
    zone = pa.timestamp("us", "Europe/Berlin")
    nested = pa.struct([("note", pa.string()), ("list", pa.list_(pa.decimal128(9, 2)))])
    moments = [datetime(2020, 1, 1, tzinfo=UTC), None, datetime(9999, 12, 31, tzinfo=UTC)]
    return pa.table(
        {
            "id": pa.array([1, None, 2**63 - 1], pa.int64()),
            "unsigned": pa.array([2**64 - 1, 0, 1], pa.uint64()),
            "note": pa.array(["one", None, ""]),
            "amount": pa.array([Decimal("1.10"), None, Decimal("99999999999999.99")]),
            "when": pa.array(moments, zone),
            "nanoseconds": pa.array([1, 2, None], pa.timestamp("ns")),
            "day": pa.array([date(1, 1, 1), None, date(9999, 12, 31)]),
            "span": pa.array([timedelta(microseconds=1), None, timedelta(1)]),
            "nested": pa.array([{"note": "kept", "list": [Decimal("0.10")]}, None, {}], nested),
            "map": pa.array([[("k", 1)], [], None], pa.map_(pa.string(), pa.int16())),
            "bytes": pa.array([b"\xff", b"", None]),
            "category": pa.array(["a", "b", "a"]).dictionary_encode(),
            "nan": pa.array([float("nan"), -0.0, None], pa.float32()),
            "nothing": pa.nulls(3),
        }
    ).replace_schema_metadata({"owner": "somebody"})


def test_all_types_pass_with_their_schema() -> None:
    data = written(many_types())
    original = pq.read_table(io.BytesIO(data))
    output, counts = run(data)
    assert output.schema.equals(original.schema)
    assert output.schema.metadata is None
    assert str(output) == str(original)  # NaN is not equal to itself, but its form is
    assert output.drop(["nan"]).equals(original.drop(["nan"]))
    others = tuple(name for name in original.schema.names if name != "note")
    assert counts == FileCounts(records=3, cells=2, other_columns=others)


def test_only_the_column_changes() -> None:
    data = written(many_types())
    output, _ = run(data, NOTE, upper)
    assert output["note"].to_pylist() == ["ONE", None, ""]
    assert output.drop(["note", "nan"]).equals(
        pq.read_table(io.BytesIO(data)).drop(["note", "nan"])
    )


@given(st.lists(st.tuples(st.none() | TEXTS, st.none() | st.integers(-(2**63), 2**63 - 1))))
def test_any_texts_and_nulls(rows: list[tuple[str | None, int | None]]) -> None:
    table = pa.table(
        {
            "note": pa.array([row[0] for row in rows], pa.string()),
            "n": pa.array([row[1] for row in rows], pa.int64()),
        }
    )
    output, counts = run(written(table), NOTE, lambda texts: [text + "!" for text in texts])
    expected = [None if row[0] is None else row[0] + "!" for row in rows]
    assert output["note"].to_pylist() == expected
    assert output["n"].equals(table["n"])
    assert counts.cells == sum(row[0] is not None for row in rows)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_all_kinds_of_strings(kind: Any) -> None:
    table = pa.table({"note": pa.array(["a", None, "b"], kind)})
    data = written(table)
    output, _ = run(data, NOTE, upper)
    assert output["note"].to_pylist() == ["A", None, "B"]
    assert output.schema.equals(pq.read_table(io.BytesIO(data)).schema)


def test_a_dictionary_is_built_anew() -> None:
    column = pa.DictionaryArray.from_arrays(
        pa.array([0, None, 0], pa.int8()), pa.array(["true", "unused secret"]), ordered=True
    )
    target = io.BytesIO()
    source = io.BytesIO(written(pa.table({"note": column}), compression="NONE"))
    rewrite(source, target, NOTE, lambda texts: ["private" for _ in texts])
    output = pq.read_table(target)["note"]
    assert output.type == pa.dictionary(pa.int32(), pa.string())
    assert output.to_pylist() == ["private", None, "private"]
    assert b"true" not in target.getvalue()
    assert b"secret" not in target.getvalue()


def test_a_dictionary_can_grow() -> None:
    kind = pa.dictionary(pa.int8(), pa.string())
    data = written(pa.table({"note": pa.array(["a"] * 1_000, kind)}))
    output, _ = run(data, NOTE, lambda texts: [f"word {i}" for i in range(len(texts))])
    assert output["note"].to_pylist() == [f"word {i}" for i in range(1_000)]


@pytest.mark.parametrize("codec", ["NONE", "SNAPPY", "GZIP", "BROTLI", "LZ4", "ZSTD"])
def test_compression_is_that_of_the_input(codec: str) -> None:
    target = io.BytesIO()
    data = written(pa.table({"note": ["a"]}), compression=codec)
    rewrite(io.BytesIO(data), target, NOTE, same)
    chunks = [pq.ParquetFile(io.BytesIO(file)) for file in (data, target.getvalue())]
    before, after = (chunk.metadata.row_group(0).column(0).compression for chunk in chunks)
    assert before == after


def test_dates_in_the_old_form_do_not_overflow() -> None:
    table = pa.table({"note": ["a"], "t": pa.array([datetime(9999, 12, 31)], pa.timestamp("us"))})  # noqa: DTZ001
    output, _ = run(written(table, use_deprecated_int96_timestamps=True))
    assert output["t"].to_pylist() == table["t"].to_pylist()


def test_empty_tables_and_empty_columns() -> None:
    table = pa.table({"note": pa.array([], pa.string()), "n": pa.array([], pa.int8())})
    output, counts = run(written(table))
    assert output.equals(table)
    assert counts == FileCounts(records=0, cells=0, other_columns=("n",))
    table = pa.table({"note": pa.nulls(2), "n": [1, 2]})
    output, counts = run(written(table), NOTE, upper)
    assert output.equals(table)
    assert counts == FileCounts(records=2, cells=0, other_columns=("n",))


def test_columns_of_one_name_are_all_protected() -> None:
    table = pa.table([["a"], ["b"], ["c"]], names=["note", "other", "note"])
    output, counts = run(written(table), NOTE, upper)
    assert [column.to_pylist() for column in output.columns] == [["A"], ["b"], ["C"]]
    assert counts.other_columns == ("other",)


class Pipe(io.BytesIO):
    def seekable(self) -> bool:
        return False

    def seek(self, *_: int) -> int:
        raise io.UnsupportedOperation

    def tell(self) -> int:
        raise io.UnsupportedOperation


def test_a_pipe_can_be_written_but_not_read() -> None:
    data = written(pa.table({"note": ["a"]}))
    target = Pipe()
    rewrite(io.BytesIO(data), target, NOTE, upper)
    assert not target.closed
    assert pq.read_table(io.BytesIO(target.getvalue()))["note"].to_pylist() == ["A"]
    with pytest.raises(DataError, match=r"from a pipe.*name a file"):
        rewrite(Pipe(data), io.BytesIO(), NOTE, upper)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pa.array([1]), "int64"),
        (pa.array([b"secret"]), "binary"),
        (pa.array([["secret"]]), "list"),
        (pa.array([{"secret": "secret"}]), "struct"),
    ],
)
def test_other_types_are_refused(column: Any, kind: str) -> None:
    with pytest.raises(DataError, match=rf"column 'note' has the type {kind}:"):
        run(written(pa.table({"note": column})))


def test_a_missing_column_is_named_and_so_are_the_others() -> None:
    with pytest.raises(ParameterError, match="'note' in the file, which has 2 columns: a, noted"):
        run(written(pa.table({"a": ["secret"], "noted": ["c"]})))


def test_a_route_into_a_column_says_that_there_is_none() -> None:
    table = pa.table({"msg": [{"text": "secret"}], "turns": [["secret"]]})
    for column in ("msg.text", "turns[]"):
        layout = Layout(format="parquet", columns=(column,))
        with pytest.raises(ParameterError, match="into a column of their own") as caught:
            run(written(table), layout)
        assert "secret" not in repr(caught.value)


def damaged() -> bytes:
    data = bytearray(written(pa.table({"note": ["secret"] * 9}), compression="NONE"))
    data[4:60] = bytes(56)
    return bytes(data)


@pytest.mark.parametrize("data", [b"", b"secret" * 9, b"PAR1secretPAR1", damaged()])
def test_what_is_no_parquet_is_refused(data: bytes) -> None:
    with pytest.raises(DataError, match="not a Parquet file") as caught:
        run(data)
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert "secret" not in repr(caught.value)


def test_texts_that_are_not_utf8_are_refused() -> None:
    column = pa.array([b"ok", b"secret\xff"]).view(pa.string())
    with pytest.raises(DataError, match=r"^record 2 has a text that is not UTF-8") as caught:
        run(written(pa.table({"note": column})))
    assert caught.value.__cause__ is caught.value.__context__ is None
    with pytest.raises(DataError, match="up to record 1 is not valid Unicode") as caught:
        run(written(pa.table({"note": ["a"]})), NOTE, lambda texts: ["secret\ud800"])
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert "secret" not in repr(caught.value)


def test_a_failure_leaves_no_readable_file() -> None:
    target = io.BytesIO()
    with pytest.raises(ZeroDivisionError):
        rewrite(
            io.BytesIO(written(pa.table({"note": ["a"]}))),
            target,
            NOTE,
            lambda texts: [str(1 // 0)],
        )
    assert not target.getvalue().endswith(b"PAR1" * 2)
    with pytest.raises(pa.ArrowInvalid):
        pq.ParquetFile(io.BytesIO(target.getvalue()))


def test_a_full_disk_is_told_as_it_is() -> None:
    class Full(io.RawIOBase):
        room = 100

        def writable(self) -> bool:
            return True

        def write(self, data: Any, /) -> int:
            self.room -= len(data)
            if self.room < 0:
                raise OutputError("no space left")
            return len(data)

    data = written(pa.table({"note": ["a" * 1_000]}), compression="NONE")
    with pytest.raises(OutputError, match="no space left"):
        rewrite(io.BytesIO(data), cast(BinaryIO, Full()), NOTE, same)


# An index in which one size does not fit another: found by fuzzing.
_ABORTING = (
    "eNqdVE1v00AQHa8T16Q9pKhrrSUfrKq1emiLE5SQonBYJ2mpmooQQSE54SYmrUjtNHEJ/QOcOCJ+BOLIGXGuOPeQM7"
    "8DsR9p0o9wYRXN7s68eW9mNnKN1jM4gQs4X8U6hvsAFlEBwHXde3OFjDxm5fYQA17CZJ0B01jDmpWHNZW5CTPu4iLD"
    "pFYQs7qC1N/AWL8o+KNSZVDOu/dmicU+nHej3lEUHg9ie+gP7KOgH9h5Ap/W7eXTsygO2sspP2zbh/3oXRDO38yYoW"
    "9fC8+kIPPXELeK/MyLrOHiVetrKxqLRL0gtF2cggxOrWUnHt69jVduqGsyQuQuZ5AuCnoQVpWTMLs5INqgdRSc+FgD"
    "vLCqEnTcXoWqxVDsikgiZJWPHTlEklHMRoMR1qpF7kmQRJdPAEn0XNANToIwHicYummZRQcsvGDmQEubnB0jQze+Ks"
    "Y3xWk6+u3HMtdZ78D5gPWDoGgQUzMdVjjAdSJRl6C6RMYFckbI+a781+TvKv5QZkkWZO+i36s+RQEjxbhQnMuE80ed"
    "Pfy7Cq7p6GBuiwdhYxolDd3RjZ9JMC2yQOv1Z68ey1chv9ADsShfz6lce5QOqdeh25R2aKkjfJ5H6T4/lCjdFY7pTm"
    "Wo1OCn1xOqUmXM7JU9Qd2a4ivcvBR3HtrZcv2dg3N+f1tjSY/KzBQ4blsgvc4kiU74vV575yCWFb/gUo0rPa8uvI2p"
    "3lT08GTLbYpyyvscXxF1dLjEU963IJ8k/Ut/V+g3JX9lPLonQOye3z89C+KNVq+34ff70dB+H/QHx1FoZ/Ob7mbGLL"
    "J/rvzBMvvA1NiX6C/Vl/Sh"
)


def test_a_damaged_index_does_not_end_the_process(tmp_path: Path) -> None:
    data = zlib.decompress(base64.b64decode(_ABORTING))
    (tmp_path / "in.parquet").write_bytes(data)
    code = (
        "import sys\n"
        "from malaprop.privacy.errors import DataError\n"
        "from malaprop.files.formats import Layout\n"
        "layout = Layout(format='parquet', columns=('note',))\n"
        "try:\n"
        "    list(layout.open(open(sys.argv[1], 'rb')).batches())\n"
        "except DataError:\n"
        "    print('refused')\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "in.parquet")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "refused\n")
