"""Records that cannot be processed: stopped at, left out or masked, and never shown."""

import csv
import io
import re
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.files.copies import rewrite

from malaprop.files.formats import Layout, OnError, delimited, file_format
from malaprop.files.formats import parquet as parquet_module
from malaprop.files.formats import text_records as decoding_module
from malaprop.privacy.errors import DataError, ParameterError
from malaprop.report.file_counts import FaultyRecord, FileCounts

Case = tuple[str, bytes, bytes, bytes, list[FaultyRecord]]

TXT_UTF8 = "cannot be read as utf-8"
NUL = "holds a NUL character"
HALF = "holds half of a surrogate pair, which is not a character"
NO_OBJECT = "is not a JSON object"


def layout(format_: str, on_error: OnError, encoding: str = "utf-8") -> Layout:
    columns = () if format_ == "txt" else ("note",)
    kind: Any = format_
    return Layout(format=kind, columns=columns, on_error=on_error, encoding=encoding)


def upper(texts: list[str]) -> list[str]:
    return [text.upper() for text in texts]


def run(data: bytes, how: Layout) -> tuple[bytes, FileCounts]:
    target = io.BytesIO()
    counts = rewrite(io.BytesIO(data), target, how, upper)
    return target.getvalue(), counts


# Format, input, output of `skip`, output of `mask`, and the faults.
CASES: list[Case] = [
    (
        "txt",
        b"a\nsecret\xff\r\nb\0secret\nsecret\xe2\x82\nlast",
        b"A\nLAST",
        b"A\n[masked]\r\n[masked]\n[masked]\nLAST",
        [FaultyRecord(2, TXT_UTF8), FaultyRecord(3, NUL), FaultyRecord(4, TXT_UTF8)],
    ),
    ("txt", b"secret\xff", b"", b"[masked]", [FaultyRecord(1, TXT_UTF8)]),
    (
        "csv",
        b"id,note\n1,a\n2,secret\xff\n\xfe,secret\n3,b\0secret\n4,c\n",
        b"id,note\n1,A\n4,C\n",
        b"id,note\n1,A\n2,[masked]\n\xfe,[masked]\n3,[masked]\n4,C\n",
        [FaultyRecord(2, TXT_UTF8), FaultyRecord(3, TXT_UTF8), FaultyRecord(4, NUL)],
    ),
    (
        "csv",
        b"id,note\r\n1,a\r\n2,secret,3\r\nsecret\r\n\r\n5,b\r\n",
        b"id,note\r\n1,A\r\n\r\n5,B\r\n",
        b"id,note\r\n1,A\r\n,[masked]\r\n,[masked]\r\n\r\n5,B\r\n",
        [
            FaultyRecord(2, "has 3 fields, the header has 2 (at line 3)"),
            FaultyRecord(3, "has 1 field, the header has 2 (at line 4)"),
        ],
    ),
    (
        "tsv",
        b"note\tid\nsecret\xff\t1\na\t2\n",
        b"note\tid\nA\t2\n",
        b"note\tid\n[masked]\t1\nA\t2\n",
        [FaultyRecord(1, TXT_UTF8)],
    ),
    (
        "jsonl",
        (
            b'{"note":"a"}\n{"id":1,"note":"secret\xff"}\n\nsecret\r\n{"note":"\\ud800","id":2}\n'
            b'{"note":"\\u0000"}\n{"id":3,"note":["secret"]}\n{"note":null}\n{"note":"b"}'
        ),
        b'{"note":"A"}\n\n{"note":null}\n{"note":"B"}',
        (
            b'{"note":"A"}\n{"id":1,"note":"[masked]"}\n\n{"note": "[masked]"}\r\n'
            b'{"note":"[masked]","id":2}\n{"note":"[masked]"}\n{"id":3,"note":"[masked]"}\n'
            b'{"note":null}\n{"note":"B"}'
        ),
        [
            FaultyRecord(2, TXT_UTF8),
            FaultyRecord(3, NO_OBJECT),
            FaultyRecord(4, HALF),
            FaultyRecord(5, NUL),
            FaultyRecord(6, "has a value of 'note' that is a list, not a string"),
        ],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_skipped_masked_or_failed(case: Case) -> None:
    format_, data, skipped, masked, expected = case
    for on_error, output in (("skip", skipped), ("mask", masked)):
        made, counts = run(data, layout(format_, on_error))  # type: ignore[arg-type]
        assert made == output
        assert counts.faulty == len(expected)
        assert list(counts.faults) == expected
        assert "secret" not in repr(counts)
    with pytest.raises(DataError) as caught:
        run(data, layout(format_, "fail"))
    assert "secret" not in repr(caught.value)
    assert caught.value.__context__ is None
    assert '`on_error="skip"`' in str(caught.value)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_all_records_are_counted(case: Case) -> None:
    format_, data, skipped, _, expected = case
    counts = [run(data, layout(format_, on_error))[1] for on_error in ("skip", "mask")]
    assert counts[0] == counts[1]
    assert counts[0].records == run(skipped, layout(format_, "fail"))[1].records + len(expected)


def test_the_transform_never_sees_a_faulty_text() -> None:
    seen: list[str] = []

    def note(texts: list[str]) -> list[str]:
        seen.extend(texts)
        return texts

    for format_, data, *_ in CASES:
        rewrite(io.BytesIO(data), io.BytesIO(), layout(format_, "mask"), note)
    assert not any("secret" in text or "\0" in text for text in seen)


def shorten(patch: pytest.MonkeyPatch) -> None:
    """Let records of a hundred characters be too long: what is longer takes its time."""
    for module in (file_format, decoding_module, delimited):
        patch.setattr(module, "LONGEST_RECORD", 100)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    shorten(monkeypatch)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("length", [99, 100, 101, 250, 1_000, 100_000])
def test_a_line_that_is_too_long(length: int) -> None:
    long = b"x" * length
    too_long = length >= 100
    for format_, before, row, masked in (
        ("txt", b"", b"%s\n", b"[masked]\n"),
        ("csv", b"note\n", b"%s\n", b"[masked]\n"),
        ("jsonl", b"", b'{"note":"%s"}\n', b'{"note": "[masked]"}\n'),
    ):
        limit = length + len(row) - 3 >= 100
        assert limit or not too_long
        data = before + row % b"a" + row % long + row % b"b"
        made, counts = run(data, layout(format_, "mask"))
        assert made == before + row % b"A" + (masked if limit else row % long.upper()) + row % b"B"
        assert counts.faulty == limit
        assert counts.records == 3
        if limit:
            with pytest.raises(DataError, match=r"record 2.* longer than"):
                run(data, layout(format_, "fail"))


@pytest.mark.usefixtures("short")
def test_a_document_that_is_too_long() -> None:
    how = Layout(format="txt", document="file", on_error="mask")
    assert run(b"a\n" * 50, how)[0] == b"A\n" * 50
    assert run(b"a\n" * 51, how)[0] == b"[masked]"


MALFORMED = [
    b'2,"secret "secret" secret, and\nsecret, secret"\n3,b\n',
    b'2,"secret\n' + b"3,b\n" * 100,
    b'2,"secret\n' + b"3,b\n" * 100 + b'4,"b"\n',
    b'2,"' + b"secret\n" * 100 + b'"secret, secret\n',
    b'"secret"x,3\n',
]


@pytest.mark.parametrize("on_error", ["fail", "skip", "mask"])
@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("rows", MALFORMED)
def test_wrong_quotes_end_it_all(
    rows: bytes, long: bool, on_error: OnError, request: pytest.FixtureRequest
) -> None:
    """A line of a text could pass for a record whose first column is to be copied."""
    if long:
        request.getfixturevalue("short")
    with pytest.raises(DataError, match=r"^record 2 is not well-formed") as caught:
        run(b"id,note\n1,a\n" + rows, layout("csv", on_error))
    assert "secret" not in repr(caught.value)
    assert caught.value.__context__ is None


FIELDS = (
    st.text(st.sampled_from('ab",\n'), max_size=15) | st.just('"b,\n' * 30) | st.just("a" * 250)
)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@given(rows=st.lists(st.tuples(FIELDS, FIELDS), max_size=6))
def test_records_that_are_too_long_end_where_they_end(
    rows: list[tuple[str, str]], quoting: Literal[0, 1], end: str
) -> None:
    """Whatever lines and quotes are in them: all others are copied, and nothing else is."""
    texts = io.StringIO(newline="")
    writer = csv.writer(texts, quoting=quoting, lineterminator=end)
    expected = ["id,note" + end]
    for row in [("id", "note"), *rows]:
        writer.writerow(row)
    for row in rows:
        one = io.StringIO(newline="")
        csv.writer(one, quoting=quoting, lineterminator=end).writerow(row)
        expected += [one.getvalue()] if len(one.getvalue()) <= 100 else []
    with pytest.MonkeyPatch.context() as patch:
        shorten(patch)
        made, counts = run(texts.getvalue().encode(), layout("csv", "skip"))
    read = list(csv.reader(io.StringIO(made.decode(), newline="")))
    wanted = list(csv.reader(io.StringIO("".join(expected), newline="")))
    assert read == [wanted[0], *([first, note.upper()] for first, note in wanted[1:])]
    assert counts.faulty == len(rows) + 1 - len(wanted)


def test_a_line_of_a_hundred_megabytes_is_never_held() -> None:
    class Endless(io.RawIOBase):
        left = 100 * 2**20

        def readable(self) -> bool:
            return True

        def read(self, size: int = -1, /) -> bytes:
            size = min(size, self.left)
            self.left -= size
            return b"x" * size if size else b""

    source: Any = Endless()
    target = io.BytesIO()
    counts = rewrite(source, target, layout("txt", "mask"), upper)
    assert target.getvalue() == b"[masked]"
    assert counts.faulty == 1


def parquet(table: pa.Table) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


def test_rows_of_parquet() -> None:
    notes = pa.array([b"a", b"secret\xff", None, b"b\0secret", b"c"]).view(pa.string())
    other = ["b", "d", None, "e", "f\0"]
    table = pa.table({"id": [1, 2, 3, 4, 5], "note": notes, "more": other})
    expected = [
        FaultyRecord(2, "has a text that is not UTF-8, as Parquet's texts must be"),
        FaultyRecord(4, NUL),
    ]

    def both(on_error: OnError) -> tuple[list[dict[str, Any]], FileCounts]:
        how = Layout(format="parquet", columns=("note",), on_error=on_error)
        made, counts = run(parquet(table), how)
        return pq.read_table(io.BytesIO(made)).to_pylist(), counts

    skipped, counts = both("skip")
    assert [(row["id"], row["note"]) for row in skipped] == [(1, "A"), (3, None), (5, "C")]
    assert [row["more"] for row in skipped] == ["b", None, "f\0"]
    assert list(counts.faults) == expected
    masked, counts = both("mask")
    assert [row["note"] for row in masked] == ["A", "[masked]", None, "[masked]", "C"]
    assert [row["more"] for row in masked] == other
    assert list(counts.faults) == expected
    assert counts.records == 5
    with pytest.raises(DataError, match="record 2 has a text that is not UTF-8"):
        both("fail")


@pytest.mark.parametrize("texts", [["secret\0"], ["secret\0", "a", "b\0"], ["a", "b\0", "c"]])
def test_rows_of_parquet_that_are_all_of_a_batch(
    texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is left of it, and it makes no row group."""
    monkeypatch.setattr(parquet_module, "BATCH_RECORDS", 1)
    monkeypatch.setattr(parquet_module, "_GROUP_ROWS", 1)
    how = Layout(format="parquet", columns=("note",), on_error="skip")
    made, counts = run(parquet(pa.table({"id": range(len(texts)), "note": texts})), how)
    kept = [{"id": i, "note": text.upper()} for i, text in enumerate(texts) if "\0" not in text]
    file = pq.ParquetFile(io.BytesIO(made))
    assert file.read().to_pylist() == kept
    assert file.metadata.num_row_groups == len(kept)
    assert (counts.records, counts.faulty) == (len(kept), len(texts) - len(kept))


def test_two_columns_of_parquet_share_a_fault() -> None:
    table = pa.table({"a": ["x\0", "y"], "b": ["z", "z"]})
    how = Layout(format="parquet", columns=("a", "b"), on_error="mask")
    made, counts = run(parquet(table), how)
    assert pq.read_table(io.BytesIO(made)).to_pydict() == {
        "a": ["[masked]", "Y"],
        "b": ["[masked]", "Z"],
    }
    assert counts.faulty == 1


def test_a_header_is_no_record_that_could_be_left_out() -> None:
    for data in (b"id\xff,note\n1,a\n", b'"id,note\n1,a\n'):
        with pytest.raises(DataError, match=r"^the header"):
            run(data, layout("csv", "skip"))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_wide_encodings_cannot_go_on_after_broken_bytes(encoding: str) -> None:
    data = "a\n".encode(encoding) + b"\x00\xd8\x00\xff\n"
    with pytest.raises(DataError, match=rf"^byte \d+ of the input cannot be read as {encoding}"):
        run(data, layout("txt", "skip", encoding))


def test_the_list_of_faults_is_bounded() -> None:
    _, counts = run(b"\xff\n" * 3_000, layout("txt", "skip"))
    assert counts.faulty == 3_000
    assert len(counts.faults) == 1_000


def test_the_choice_is_checked() -> None:
    with pytest.raises(ParameterError, match=re.escape("on_error must be one of fail, skip, mask")):
        layout("txt", "ignore")  # type: ignore[arg-type]
