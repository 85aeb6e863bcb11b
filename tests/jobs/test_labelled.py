"""Texts beside their labels, from each format that has columns."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from malaprop import DataError, ParameterError
from malaprop.jobs.labelled import read_labelled

PAIRS = [("So cold,\n so hot", "ann"), ("", "bob"), ("Mild", "")]


def read(path: Path, **options: str) -> list[tuple[str, str]]:
    return list(read_labelled(str(path), column="text", label="by", **options))


def test_empty_cells_stay_at_their_places(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('by,id,text\nann,1,"So cold,\n so hot"\nbob,2,\n,3,Mild\n')
    assert read(path) == PAIRS
    packed = tmp_path / "a.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read(packed) == PAIRS
    marked = tmp_path / "b.tsv"
    marked.write_bytes("by\ttext\nann\té\n".encode("utf-8-sig"))
    assert read(marked) == [("é", "ann")]
    latin = tmp_path / "c.csv"
    latin.write_bytes("by,text\nann,é\n".encode("latin-1"))
    assert read(latin, encoding="latin-1") == [("é", "ann")]


def test_values_of_json_and_parquet(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = [{"text": "So", "by": 3}, {"by": None}, {"text": None, "by": True}]
    path.write_text("\n\n".join(map(json.dumps, rows)) + "\n")
    assert read(path) == [("So", "3"), ("", ""), ("", "True")]
    table = tmp_path / "a.parquet"
    pq.write_table(pa.table({"by": [1, None], "text": ["So", None]}), table)
    assert read(table) == [("So", "1"), ("", "")]


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    [
        ("a.csv", "by,note\nann,cold\n", ParameterError, "'text'"),
        ("a.csv", "text,who\ncold,ann\n", ParameterError, "'by'"),
        ("a.csv", "", ParameterError, "'text'"),
        ("a.csv", "by,text\nann,cold,hot\n", DataError, "record 1"),
        ("a.csv", 'by,text\nann,"cold\n', DataError, "record 1"),
        ("a.csv", b"by,text\nann,\xff\n", DataError, "record 1"),
        ("a.jsonl", '{"text": "cold"}\n', ParameterError, "'by'"),
        ("a.jsonl", '{"text": "cold", "by": 1}\n[1]\n', DataError, "line 2"),
        ("a.jsonl", '{"text": "cold\n', DataError, "line 1"),
        ("a.jsonl", '{"text": ["cold"], "by": 1}\n', DataError, "no string"),
        ("a.jsonl", '{"text": "cold", "by": [1]}\n', DataError, "label"),
        ("a.parquet", "cold", DataError, "no Parquet"),
        ("a.txt", "cold\n", ParameterError, "no column for labels"),
    ],
)
def test_what_cannot_be_read_is_refused_without_quoting_it(
    tmp_path: Path, name: str, content: str | bytes, error: type[Exception], message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(error, match=message) as raised:
        read(path)
    assert "cold" not in str(raised.value)


def test_a_label_cannot_be_the_text(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text\ncold\n")
    with pytest.raises(ParameterError, match="text itself"):
        list(read_labelled(str(path), column="text", label="text"))
