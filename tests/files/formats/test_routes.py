"""Texts inside objects and lists of JSON lines, named by the route to them."""

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st
from tests.files.copies import Transform, rewrite

from malaprop.files.formats import Layout
from malaprop.files.formats.jsonl import stand_in
from malaprop.privacy.errors import DataError, ParameterError
from malaprop.report.file_counts import FileCounts

# Few keys, so that routes meet, and some that look like parts of a route.
KEYS = st.sampled_from(["a", "b", "a.b", "a[]", "", "é"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.text(st.characters(codec="utf-8", exclude_characters="\0")) | st.none() | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)


def same(texts: list[str]) -> list[str]:
    return texts


def cross(texts: list[str]) -> list[str]:
    return ["x" for _ in texts]


def run(data: str, *columns: str, transform: Transform = cross, **options: Any) -> Any:
    target = io.BytesIO()
    layout = Layout(format="jsonl", columns=columns, **options)
    counts = rewrite(io.BytesIO(data.encode()), target, layout, transform)
    return target.getvalue().decode(), counts


def nodes(value: Any, route: str) -> Iterator[tuple[str, Any]]:
    """All values inside a value, each with the route to it."""
    yield route, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from nodes(inner, f"{route}.{key}")
    if isinstance(value, list):
        for inner in value:
            yield from nodes(inner, f"{route}[]")


def all_nodes(record: dict[str, Any]) -> list[tuple[str, Any]]:
    return [node for key, value in record.items() for node in nodes(value, key)]


def crossed(value: Any, route: str, columns: set[str]) -> Any:
    """What is to become of a value: strings on the routes are replaced, and nothing else."""
    if isinstance(value, str):
        return "x" if route in columns else value
    if isinstance(value, dict):
        return {key: crossed(inner, f"{route}.{key}", columns) for key, inner in value.items()}
    if isinstance(value, list):
        return [crossed(inner, f"{route}[]", columns) for inner in value]
    return value


def is_unclear(record: dict[str, Any], columns: set[str]) -> bool:
    """Whether a value lies on a route that neither ends there, with a text, nor leads on."""
    return any(
        _is_unclear(route, value, columns, set(record)) for route, value in all_nodes(record)
    )


def _is_unclear(route: str, value: Any, columns: set[str], keys: set[str]) -> bool:
    left = {column: column[len(route) :] for column in columns if column.startswith(route)}
    left = {column: rest for column, rest in left.items() if not rest or rest[0] in ".["}
    left = {column: rest for column, rest in left.items() if rest[:1] != "[" or rest[:2] == "[]"}
    steps: dict[type, str] = {str: "", dict: ".", list: "["}
    fits = steps.get(type(value)) in {rest[:1] for rest in left.values()}
    meant = [rest for column, rest in left.items() if not rest or column not in keys]
    return bool(meant) and not (fits or value is None)


@given(OBJECTS, st.data())
def test_only_texts_on_the_routes_change(record: dict[str, Any], data: st.DataObject) -> None:
    routes = sorted({route for route, value in all_nodes(record) if isinstance(value, str)})
    assume(routes)
    columns = set(data.draw(st.lists(st.sampled_from(routes), min_size=1, max_size=3)))
    line = json.dumps(record, ensure_ascii=False, indent=data.draw(st.sampled_from([None, 1])))
    line = line.replace("\n", "\t")
    if is_unclear(record, columns):
        event("refused")
        with pytest.raises(DataError, match=r"^record 1"):
            run(line, *columns)
        output, _ = run(line + "\n", *columns, on_error="mask")
        assert not set(_texts(record, columns)) & set(_texts(json.loads(output), columns))
        return
    output, counts = run(line, *columns)
    expected = {key: crossed(value, key, columns) for key, value in record.items()}
    assert json.loads(output) == expected
    assert counts.cells == len(_texts(record, columns))
    assert run(line, *columns, transform=same)[0] == line


def _texts(record: dict[str, Any], columns: set[str]) -> list[str]:
    return [
        value
        for route, value in all_nodes(record)
        if route in columns and isinstance(value, str) and value != "[masked]"
    ]


def test_the_rest_keeps_its_very_characters() -> None:
    lines = [
        '{"id":1.10, "msg" : { "text":"a\\u0062", "n":1e400 ,"\\u0074ext" : "two"},"x":[1.0]}',
        '{"msg":null}',
        '{"msg":{"text":null,"more":{"text":"stays"}}}',
        '{"msg":{}}\r',
        '{"text":"stays"}',
    ]
    output, counts = run("\n".join(lines), "msg.text")
    lines[0] = lines[0].replace('"a\\u0062"', '"x"').replace('"two"', '"x"')
    assert output == "\n".join(lines)
    others = ("id", "msg.n", "x", "msg.more", "text")
    assert counts == FileCounts(records=5, cells=2, missing=3, other_columns=others)


def test_lists_of_objects_of_strings_and_of_lists() -> None:
    data = (
        '{"turns":[{"role":"u","text":"a"},{"role":"s"},null,{"text":null},{"text":"b"}],'
        '"tags":["c", null ,"d"],"deep":[["e"],[],["f","g"]]}\n'
        '{"turns":[],"tags":[],"deep":[[]]}\n'
    )
    output, counts = run(data, "turns[].text", "tags[]", "deep[][]")
    for letter in "abcdefg":
        data = data.replace(f'"{letter}"', '"x"')
    assert output == data
    assert counts == FileCounts(records=2, cells=7, other_columns=("turns[].role",))


def test_a_key_with_a_dot_is_meant_too() -> None:
    """Whatever a name can mean is protected."""
    data = '{"a.b":"one","a":"stays"}\n{"a":{"b":"two"}}\n{"a.b":"three","a":{"b":"four"}}\n'
    output, counts = run(data, "a.b")
    assert output == ('{"a.b":"x","a":"stays"}\n{"a":{"b":"x"}}\n{"a.b":"x","a":{"b":"x"}}\n')
    assert (counts.cells, counts.missing) == (4, 0)
    assert run('{"a.b":{"c.d":"one"}}', "a.b.c.d")[0] == '{"a.b":{"c.d":"x"}}'
    assert run('{"a[]":"one"}', "a[]")[0] == '{"a[]":"x"}'


def test_columns_may_be_for_values_of_several_types() -> None:
    """As in chats, where a content is a text, or a list of parts with texts."""
    data = '{"m":[{"content":"a"},{"content":[{"type":"t","text":"b"},{"type":"i"}]}]}'
    output, counts = run(data, "m[].content", "m[].content[].text")
    assert output == data.replace('"a"', '"x"').replace('"b"', '"x"')
    assert counts == FileCounts(records=1, cells=2, other_columns=("m[].content[].type",))


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ('{"a":["secret"]}', "a", r"'a' that is a list, not a string.*'a\[\]'"),
        ('{"a":{"b":["secret"]}}', "a.b", r"'a.b' that is a list.*'a.b\[\]'"),
        ('{"a":[{"b":"secret"}]}', "a.b", r"a list where 'a.b' needs an object.*'a\[\].b'"),
        ('{"a":"secret"}', "a.b", "a string where 'a.b' needs an object"),
        ('{"a":7}', "a.b", "a number where 'a.b' needs an object"),
        ('{"a":"secret"}', "a[]", r"a string where 'a\[\]' needs a list"),
        ('{"a":{"b":"secret"}}', "a[].b", r"an object where 'a\[\].b' needs a list"),
        ('{"a":[{"b":"c"},"secret"]}', "a[].b", r"a string where 'a\[\].b' needs an object"),
        ('{"a":[["secret"]]}', "a[]", r"'a\[\]' that is a list.*'a\[\]\[\]'"),
        ('{"a":{"b":"c"},"a":"secret"}', "a.b", "a string where 'a.b' needs an object"),
        ('{"a":{"b":true}}', "a.b", "'a.b' that is a boolean"),
    ],
)
def test_what_is_not_as_the_route_says_is_never_passed(
    line: str, column: str, message: str
) -> None:
    with pytest.raises(DataError, match=rf"^record 1 \(line 1\) has .*{message}") as caught:
        run(line, column)
    assert "secret" not in repr(caught.value)
    good = stand_in([column], "good")
    output, counts = run(f"{line}\n{good}", column, on_error="mask")
    assert (counts.faulty, counts.cells) == (1, 1)
    assert "secret" not in output
    json.loads(output.split("\n")[0])


def test_what_stands_in_for_a_broken_line_has_the_shape_of_the_others() -> None:
    columns = ("id", "msg.text", "msg.title", "turns[].text", "tags[]", "deep[][].a")
    output, _ = run("broken\r\n" + _whole(), *columns, on_error="mask")
    assert output.split("\n")[0] == (
        '{"id": "[masked]", "msg": {"text": "[masked]", "title": "[masked]"}, '
        '"turns": [{"text": "[masked]"}], "tags": ["[masked]"], "deep": [[{"a": "[masked]"}]]}\r'
    )


def _whole() -> str:
    record = {
        "id": "a",
        "msg": {"text": "b", "title": "c"},
        "turns": [{"text": "d"}],
        "tags": ["e"],
        "deep": [[{"a": "f"}]],
    }
    return json.dumps(record)


@pytest.mark.parametrize("column", ["msg.txt", "msg.text.more", "turns[].txt", "turns.text", "m"])
def test_a_route_that_leads_nowhere_is_an_error(column: str) -> None:
    data = '{"msg":{"text":null,"n":1},"turns":[]}\n'
    with pytest.raises(ParameterError, match="no record has the key"):
        run(data, column) if column != "turns.text" else run(data.replace("[]", "{}"), column)


def test_a_route_of_any_length_is_followed_without_recursion_errors() -> None:
    depth = 100
    line = '{"a":' * depth + '"secret"' + "}" * depth
    assert "secret" not in run(line, ".".join("a" * depth))[0]
    with pytest.raises(DataError, match="is not a JSON object"):
        run('{"a":' * 100_000 + '"secret"' + "}" * 100_000, ".".join("a" * 100_000))
