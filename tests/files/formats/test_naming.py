"""A wrong column names those that there are, unless they may be text."""

import io

import pytest
from tests.files.copies import rewrite

from malaprop.files.formats.file_format import Layout, list_columns
from malaprop.privacy.errors import ParameterError


def refused(format_: str, data: str) -> str:
    layout = Layout(format=format_, columns=("txt",))
    with pytest.raises(ParameterError) as caught:
        rewrite(io.BytesIO(data.encode()), io.BytesIO(), layout, lambda texts: texts)
    return str(caught.value)


def test_a_header_is_named() -> None:
    said = refused("csv", "id,text,näme\n1,2,3\n")
    assert said.endswith("3 columns: id, text, näme. Did you mean 'text'?")
    assert refused("csv", "a,b\n").endswith("2 columns: a, b")


@pytest.mark.parametrize(
    "line",
    [
        "secret words,b",
        "a,secret words",
        "17,secret",
        "secret,2024-01-01",
        "secret,",
        "secret,secret",
        "secret;text",
        "secret",
        "secret,-",
        "secret," + "s" * 41,
        "secret,\x1b[31m",
    ],
)
def test_a_line_that_may_be_text_is_not_shown(line: str) -> None:
    said = refused("csv", line + "\nx\n")
    assert "secret" not in said
    assert "column" in said
    assert "may be text" in said


def test_one_column_asks_for_the_delimiter() -> None:
    assert "`delimiter`" in refused("csv", "id;text\n")


def test_the_keys_of_all_records_are_named() -> None:
    data = '{"msg":{"text":"secret"}}\n{"turns":["secret"],"id":1}\n'
    assert refused("jsonl", data).endswith("together they have 3 keys: id, msg, turns")


def test_keys_that_may_be_data_are_not_shown() -> None:
    assert "secret" not in refused("jsonl", '{"secret words":1,"text":2}\n')
    many = "".join(f'{{"secret{i}":1}}\n' for i in range(1_500))
    said = refused("jsonl", many)
    assert "secret" not in said
    assert "many keys" in said


def test_long_lists_are_cut() -> None:
    said = list_columns([f"c{i}" for i in range(1_234)], "zzz")
    assert said.startswith("1,234 columns: c0, c1")
    assert said.endswith("c19 and 1,214 more")
