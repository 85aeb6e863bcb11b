import io
from pathlib import Path
from typing import Any

import pytest

from malaprop.files.formats import FORMATS, Layout, format_of
from malaprop.privacy.errors import ParameterError


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.txt", "txt"),
        ("a.text", "txt"),
        ("server.LOG", "txt"),
        ("a.json", "json"),
        ("a.htm", "html"),
        ("README.md", "markdown"),
        ("a.json.gz", "json"),
        ("a.csv", "csv"),
        ("A.CSV", "csv"),
        ("a.tsv", "tsv"),
        ("a.tab", "tsv"),
        ("a.jsonl", "jsonl"),
        ("a.b.ndjson", "jsonl"),
        ("a.parquet", "parquet"),
        ("a.pq", "parquet"),
        ("a.csv.gz", "csv"),
        ("a.JSONL.ZST", "jsonl"),
    ],
)
def test_a_name_tells_the_format(name: str, expected: str) -> None:
    assert format_of(Path("folder") / name) == expected
    assert expected in FORMATS


@pytest.mark.parametrize(
    "name", ["-", "notes", "notes.xyz", "notes.gz", "a.xyz.zst", ".gz", ".csv"]
)
def test_other_names_ask_for_the_format(name: str) -> None:
    with pytest.raises(ParameterError, match="`format`"):
        format_of(name)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("a.txt.bz2", "bzcat"),
        ("a.gz", r"\(csv, tsv, .*txt\)"),
        ("a.docx.gz", "docx files are not read: convert"),
        ("a.DOCX", "pandoc FILE -t markdown"),
        ("a.doc", "soffice --headless --convert-to txt"),
        ("a.pdf", "pdftotext"),
        ("a.xlsx", "save each sheet as .csv"),
        ("a.msg", r"\.eml"),
        ("a.pst", r"\.mbox.*readpst"),
    ],
)
def test_names_that_people_have_get_a_remedy(name: str, remedy: str) -> None:
    with pytest.raises(ParameterError, match=remedy):
        format_of(name)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "xlsx"}, "`format`"),
        ({"format": "txt", "columns": ("a",)}, "`columns`"),
        ({"format": "csv"}, "`columns`"),
        ({"format": "parquet"}, "`columns`"),
        ({"format": "csv", "columns": "text"}, "tuple"),
        ({"format": "txt", "encoding": "utf-99"}, "`encoding`"),
        ({"format": "txt", "encoding": "base64"}, "`encoding`"),
        ({"format": "txt", "encoding": "undefined"}, "`encoding`"),
        ({"format": "txt", "encoding": "\0"}, "`encoding`"),
        ({"format": "txt", "document": "page"}, "document"),
        ({"format": "csv", "columns": ("a",), "document": "file"}, "only a txt file"),
        ({"format": "jsonl", "columns": ("a",), "delimiter": ";"}, "`delimiter`"),
        ({"format": "csv", "columns": ("a",), "delimiter": ""}, "one character"),
        ({"format": "csv", "columns": ("a",), "delimiter": "\\t"}, '`format="tsv"`'),
        ({"format": "csv", "columns": ("a",), "delimiter": '"'}, "one character"),
        ({"format": "csv", "columns": ("a",), "delimiter": "\n"}, "one character"),
    ],
)
def test_a_layout_is_valid_from_birth(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Layout(**options)


@pytest.mark.parametrize(("format_", "sign"), [("csv", ","), ("tsv", "\t"), ("tsv", "|")])
def test_separators(format_: str, sign: str) -> None:
    layout = Layout(format=format_, columns=("a",), delimiter=sign if sign == "|" else None)
    (batch,) = layout.open(io.BytesIO(f"a{sign}b\nx{sign}y\n".encode())).batches()
    assert batch.texts == ["x"]
