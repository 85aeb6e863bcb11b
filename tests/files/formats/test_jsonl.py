import io
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.files.copies import Transform, rewrite

from malaprop.files.formats import Layout
from malaprop.privacy.errors import DataError, ParameterError
from malaprop.report.file_counts import FileCounts

NOTE = Layout(format="jsonl", columns=("note",))

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.builds(
    lambda members, note: {**members, "note": note},
    st.dictionaries(st.text(), VALUES, max_size=4),
    TEXTS | st.none(),
)


def same(texts: list[str]) -> list[str]:
    return texts


def cross(texts: list[str]) -> list[str]:
    return ["x" for _ in texts]


def run(data: str, layout: Layout = NOTE, transform: Transform = same) -> tuple[str, FileCounts]:
    target = io.BytesIO()
    counts = rewrite(io.BytesIO(data.encode(layout.encoding)), target, layout, transform)
    return target.getvalue().decode(layout.encoding), counts


@given(st.lists(OBJECTS, max_size=4), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_the_identity_changes_no_byte(objects: list[Any], end: str, ended: bool) -> None:
    data = end.join(json.dumps(value, ensure_ascii=False) for value in objects) + end * ended
    assert run(data)[0] == data


@given(st.lists(OBJECTS, min_size=1, max_size=4), st.sampled_from([None, 3]))
def test_only_the_column_changes(objects: list[Any], indent: int | None) -> None:
    lines = [json.dumps(value, indent=indent).replace("\n", "\t") for value in objects]
    output, counts = run("\n".join(lines), NOTE, cross)
    expected = [{**value, "note": None if value["note"] is None else "x"} for value in objects]
    assert repr([json.loads(line) for line in output.split("\n")]) == repr(expected)
    assert counts.records == len(objects)
    assert counts.cells == sum(value["note"] is not None for value in objects)


def test_the_rest_keeps_its_very_characters() -> None:
    lines = [
        '\t{ "id" :1.10,"big":12345678901234567890, "note":"a\\"b", "e":1e400,"n": NaN} ',
        '{"te\\u0078t":"\\/", "n\\u006fte"  :  "\\u0041\\ud83d\\ude00","x":[{"note":"stays"}]}\r',
        "",
        " \t\r",
        '{"note":"one","note":null,"a":-Infinity,"note":"two"}',
        '{"note":null,"digits":' + "9" * 5_000 + "}",
        '{"other":true}',
        "{ }",
    ]
    output, counts = run("\n".join(lines), NOTE, cross)
    lines[0] = lines[0].replace('"a\\"b"', '"x"')
    lines[1] = lines[1].replace('"\\u0041\\ud83d\\ude00"', '"x"')
    lines[4] = lines[4].replace('"one"', '"x"').replace('"two"', '"x"')
    assert output == "\n".join(lines)
    others = ("id", "big", "e", "n", "text", "x", "a", "digits", "other")
    assert counts == FileCounts(records=6, cells=4, missing=2, other_columns=others)


def test_the_form_of_a_private_text_follows_from_it_alone() -> None:
    escaped, plain = run('{"note":"caf\\u00e9\\/"}')[0], run('{"note":"café/"}')[0]
    assert escaped == plain == '{"note":"café/"}'


def test_encodings_that_lack_letters_get_escapes() -> None:
    layout = Layout(format="jsonl", columns=("note",), encoding="latin-1")
    output, _ = run('{"é":"é","note":"a"}', layout, lambda texts: ["Жé"])
    assert output == '{"é":"é","note":"\\u0416\\u00e9"}'


def test_half_a_surrogate_pair_stays_escaped() -> None:
    """In a private text; as a true one it is refused."""
    assert run('{"note":"a"}', NOTE, lambda _: ["\ud800é"])[0] == '{"note":"\\ud800é"}'


def test_a_mark_stands_before_the_first_object() -> None:
    assert run('\ufeff{"note":"a"}\n', NOTE, cross)[0] == '\ufeff{"note":"x"}\n'


def test_no_records_are_no_error() -> None:
    assert run("\n\n") == ("\n\n", FileCounts(records=0, cells=0))


def test_names_of_keys_are_bounded() -> None:
    data = "".join(f'{{"note":"a","key{i}":0}}\n' for i in range(1_500))
    assert len(run(data)[1].other_columns) == 1_000


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ('{"note":["secret"]}', "a list"),
        ('{"note":{"secret":1}}', "an object"),
        ('{"note":123456}', "a number"),
        ('{"note":1e5}', "a number"),
        ('{"note":NaN}', "a number"),
        ('{"note":false}', "a boolean"),
        ('{"note":"a","note":0}', "a number"),
    ],
)
def test_what_is_no_string_is_never_passed(line: str, kind: str) -> None:
    with pytest.raises(DataError, match=rf"^record 2 \(line 3\) .*'note' that is {kind}") as caught:
        run('{"note":"a"}\n\n' + line)
    assert "secret" not in repr(caught.value)
    assert "12345" not in repr(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        '["secret"]',
        '"secret"',
        "secret",
        '{"note":"secret"',
        '{"note":"secret}',
        '{"note":"secret",}',
        '{"note" "secret"}',
        '{note:"secret"}',
        '{1:"secret"}',
        '{"note":}',
        '{"note":"a"} {"note":"secret"}',
        '{"note":"a"}\x0b',
        '{"note":"\\x secret"}',
        "{",
        "{,}",
        "\ufeff{}",
        '{"note":"secret","deep":' + "[" * 100_000 + "}",
    ],
)
def test_what_is_no_object_is_named_by_its_number(line: str) -> None:
    message = re.escape("record 2 (line 2) is not a JSON object")
    with pytest.raises(DataError, match=f"^{message}; .*`on_error") as caught:
        run('{"note":"a"}\n' + line + "\n")
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_a_column_that_no_record_has_is_an_error() -> None:
    layout = Layout(format="jsonl", columns=("note", "nope"))
    with pytest.raises(ParameterError, match=r"the key 'nope'; .*2 keys: note, other") as caught:
        run('{"note":"a"}\n{"other":"secret"}\n', layout)
    assert "secret" not in repr(caught.value)


def test_a_broken_encoding_is_named() -> None:
    with pytest.raises(DataError, match=r"^byte 13 of .*`encoding`") as caught:
        rewrite(io.BytesIO(b'{"note":"secr\xe9t"}'), io.BytesIO(), NOTE, same)
    assert caught.value.__context__ is None
