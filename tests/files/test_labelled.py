"""Texts with their labels, from files of all formats that have columns."""

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from malaprop.files.texts import read_labelled
from malaprop.privacy.errors import DataError, ParameterError

PAIRS = [("cold, so\ncold", 1), ("", 0), ("hot “tea”", None)]


def write(folder: Path, kind: str) -> Path:
    path = folder / f"notes.{kind}"
    if kind in ("csv", "tsv", "csv.gz"):
        sign = "\t" if kind == "tsv" else ","
        rows = [f'{i}{sign}"{t}"{sign}{"" if y is None else y}' for i, (t, y) in enumerate(PAIRS)]
        data = "\n".join([sign.join(("id", "text", "y")), *rows, ""]).encode()
        path.write_bytes(gzip.compress(data) if kind == "csv.gz" else b"\xef\xbb\xbf" + data)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps({"text": t, "y": y}) + "\n\n" for t, y in PAIRS))
    else:
        texts, labels = zip(*PAIRS, strict=True)
        pq.write_table(pa.table({"text": texts, "y": labels}), path)
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "csv.gz", "jsonl", "parquet"])
def test_texts_stay_with_their_labels(tmp_path: Path, kind: str) -> None:
    pairs = list(read_labelled(str(write(tmp_path, kind)), column="text", label="y"))
    assert [text for text, _ in pairs] == [text for text, _ in PAIRS]
    assert [label for _, label in pairs] == ["1", "0", ""]


def test_other_encodings_are_read(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_bytes("text,y\nthé,ü\n".encode("latin-1"))
    pairs = read_labelled(str(path), column="text", label="y", encoding="latin-1")
    assert list(pairs) == [("thé", "ü")]


@pytest.mark.parametrize(
    ("name", "data", "error", "complaint"),
    [
        ("a.csv", b"text,z\nsecret,1\n", ParameterError, "no column is named 'y'"),
        ("a.csv", b"text,y\nsecret\n", DataError, "record 1 has 1 field, the header has 2"),
        ("a.csv", b'text,y\n"secret"x,1\n', DataError, "not well-formed"),
        ("a.csv", b"text,y\nsecret \xff,1\n", DataError, "cannot be read as utf-8"),
        ("a.csv", b"", DataError, "empty"),
        ("a.jsonl", b'{"text": "secret"}\n', ParameterError, "no record has the key 'y'"),
        ("a.jsonl", b"secret\n", DataError, r"record 1 \(line 1\) is not a JSON object"),
        (
            "a.jsonl",
            b'{"text": ["secret"], "y": 1}\n',
            DataError,
            "has a value of 'text' that is a list, not a string",
        ),
        ("a.jsonl", b'{"text": "", "y": ["secret"]}\n', DataError, "label that is neither"),
        ("a.jsonl", b"\xff\n", DataError, "cannot be read as utf-8"),
        ("a.parquet", b"secret", DataError, "not a Parquet file"),
        ("a.txt", b"secret", ParameterError, "has no column for labels"),
    ],
)
def test_what_cannot_be_read_is_not_shown(
    tmp_path: Path, name: str, data: bytes, error: type[Exception], complaint: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(error, match=complaint) as raised:
        list(read_labelled(str(tmp_path / name), column="text", label="y"))
    assert "secret" not in str(raised.value)
    assert raised.value.__context__ is None


def test_pipes_missing_files_and_wrong_encodings_are_refused(tmp_path: Path) -> None:
    path = str(write(tmp_path, "csv"))
    for source, label, encoding in (
        ("-", "y", "utf-8"),
        (str(tmp_path / "none.csv"), "y", "utf-8"),
        (path, "text", "utf-8"),
        (path, "y", "no-such"),
    ):
        with pytest.raises(ParameterError):
            list(read_labelled(source, column="text", label=label, encoding=encoding))


def test_text_that_is_not_utf_8_is_refused_and_not_shown(tmp_path: Path) -> None:
    offsets, data = pa.py_buffer(np.array([0, 7], np.int32)), pa.py_buffer(b"secret\xe9")
    text = pa.StringArray.from_buffers(1, offsets, data)
    pq.write_table(pa.table({"text": text, "y": pa.array(["a"])}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="record 1 has a text that is not UTF-8") as caught:
        list(read_labelled(str(tmp_path / "a.parquet"), column="text", label="y"))
    assert "secret" not in str(caught.value)


def test_a_reader_that_is_left_halfway_changes_no_limit(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,y\na,b\nc,d\n")
    usual = csv.field_size_limit()
    pairs = read_labelled(str(tmp_path / "a.csv"), column="text", label="y")
    assert next(iter(pairs)) == ("a", "b")
    assert csv.field_size_limit() == usual
