"""JSON files: a list of objects, or one; everything but the texts stays, to the byte."""

import io
import json
from typing import Any

import pytest
from tests.files.copies import rewrite

from malaprop.files.formats import FORMATS, Layout, json_document
from malaprop.privacy.errors import DataError, MalapropError, ParameterError
from malaprop.report.file_counts import FileCounts

CANARY = "xylophonist"


def copied(data: bytes, *columns: str, **options: Any) -> tuple[bytes, FileCounts]:
    layout = Layout(format="json", columns=columns or ("note",), **options)
    target = io.BytesIO()
    counts = rewrite(io.BytesIO(data), target, layout, lambda texts: [t.upper() for t in texts])
    return target.getvalue(), counts


SOUND = [
    (' [ {"n": 1.10, "note" : "\\u0061"},\n{"note":null} ]\n', '"\\u0061"', '"A"', 2),
    ('{"id":123456789012345678901, "id":-0.0,"note":"a"}', '"a"', '"A"', 1),
    ('\ufeff[{"note":"ä"}]', "ä", "Ä", 1),
    ("[]", "", "", 0),
    (" [ ] \n", "", "", 0),
]


@pytest.mark.parametrize(("data", "old", "new", "records"), SOUND)
def test_all_but_the_texts_stays_to_the_byte(data: str, old: str, new: str, records: int) -> None:
    copy, counts = copied(data.encode())
    assert (copy.decode(), counts.records) == (data.replace(old, new), records)


def test_texts_inside_are_named_by_their_paths() -> None:
    data = b'{"mails":[{"msg":{"text":"a"}},{"msg":{"text":"b"}}],"total":2}'
    copy, counts = copied(data, "mails[].msg.text")
    assert copy == b'{"mails":[{"msg":{"text":"A"}},{"msg":{"text":"B"}}],"total":2}'
    assert (counts.records, counts.cells) == (1, 2)
    assert "total" in counts.other_columns


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("item", ['{"note":7}', '"note"', '{"note":"a\\u0000"}', "[]", "-1.5e3"])
def test_faulty_items_are_left_out_with_their_commas(place: int, item: str) -> None:
    items = ['{"note":"a"}', '{"note":"b"}']
    items.insert(place, item)
    data = f"[ {' , '.join(items)} ]".encode()
    copy, counts = copied(data, on_error="skip")
    assert json.loads(copy) == [{"note": "A"}, {"note": "B"}]
    assert [fault.record for fault in counts.faults] == [place + 1]
    copy, counts = copied(data, on_error="mask")
    expected: list[Any] = [{"note": "A"}, {"note": "B"}]
    expected.insert(place, {"note": "[masked]"})
    assert json.loads(copy) == expected
    with pytest.raises(DataError, match=f"record {place + 1} "):
        copied(data)


def test_if_all_items_are_left_out_an_empty_list_stays() -> None:
    copy, _ = copied(b'[7, {"note":"a\\u0000"} ]', on_error="skip")
    assert json.loads(copy) == []


_NOTE = '{"note":"xylophonist"}'
BROKEN = [
    *("7", '"xylophonist"', f"[{_NOTE},]", f"[{_NOTE}", f"[{_NOTE} {_NOTE}]", f"[{_NOTE}] x"),
    *(f"{_NOTE}}}", f"{_NOTE}\n{_NOTE}", '[{"note":"xylophonist]', "[" * 9999, '{"a":' * 9999),
]


@pytest.mark.parametrize("data", BROKEN)
@pytest.mark.parametrize("on_error", ["fail", "skip", "mask"])
def test_what_is_not_json_is_refused_whatever_on_error_says(data: str, on_error: str) -> None:
    with pytest.raises(MalapropError, match=r"is not JSON") as refused:
        copied(data.encode(), on_error=on_error)
    assert CANARY not in str(refused.value)


def test_the_only_object_cannot_be_left_out() -> None:
    with pytest.raises(DataError, match="all that the input holds"):
        copied(b'{"note":7}', on_error="skip")
    assert copied(b'{"note":7}', on_error="mask")[0] == b'{"note":"[masked]"}'


def test_a_key_that_no_object_has_is_refused() -> None:
    with pytest.raises(ParameterError, match="no record has the key 'nota'"):
        copied(b'[{"note":"a"}]', "nota")


def test_what_is_too_long_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b'[{"note":"xylophonist"}]'
    monkeypatch.setattr(json_document, "LARGEST", len(data))
    assert copied(data)[1].records == 1
    monkeypatch.setattr(json_document, "LARGEST", len(data) - 1)
    with pytest.raises(DataError, match=r"jq -c '\.\[\]'") as refused:
        copied(data)
    assert CANARY not in str(refused.value)


def test_texts_are_read_with_labels() -> None:
    data = b'[{"note":"a","y":1},{"note":"b","y":"two"}]'
    layout = Layout(format="json", columns=("note",), label="y")
    assert list(layout.open(io.BytesIO(data)).pairs()) == [("a", "1"), ("b", "two")]


def test_it_is_a_format() -> None:
    assert "json" in FORMATS


@pytest.mark.parametrize("data", [b"", b" \n"])
def test_an_empty_file_is_named_as_such(data: bytes) -> None:
    with pytest.raises(DataError, match="the input is empty"):
        copied(data)
