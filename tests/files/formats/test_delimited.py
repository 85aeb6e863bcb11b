import csv
import io
import re
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.files.copies import Transform, rewrite

from malaprop.files.formats import Layout
from malaprop.privacy.errors import DataError, ParameterError
from malaprop.report.file_counts import FileCounts

NOTE = Layout(format="csv", columns=("note",))
TABS = Layout(format="tsv", columns=("note",))

FIELDS = st.text(
    st.sampled_from(list("ab0,;\t\"'\n\r \\\u2028é𝄞"))
    | st.characters(codec="utf-8", exclude_characters="\0")
)

# The standard library's writer quotes a line end only if it is of the file's own kind.
STYLES: list[tuple[str, Literal[0, 1]]] = [
    ("\r\n", csv.QUOTE_MINIMAL),
    ("\r\n", csv.QUOTE_ALL),
    ("\n", csv.QUOTE_ALL),
    ("\r", csv.QUOTE_ALL),
]


def same(texts: list[str]) -> list[str]:
    return texts


def brackets(texts: list[str]) -> list[str]:
    return [f'<"{text}\r,\n\t;>' for text in texts]


def run(data: str, layout: Layout = NOTE, transform: Transform = same) -> tuple[str, FileCounts]:
    target = io.BytesIO()
    counts = rewrite(io.BytesIO(data.encode()), target, layout, transform)
    return target.getvalue().decode(), counts


def parsed(text: str, delimiter: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))


@given(
    rows=st.lists(st.tuples(FIELDS, FIELDS, FIELDS), max_size=6),
    delimiter=st.sampled_from(",\t;|^]-"),
    style=st.sampled_from(STYLES),
)
def test_only_the_column_changes(
    rows: list[tuple[str, str, str]], delimiter: str, style: tuple[str, Literal[0, 1]]
) -> None:
    end, quoting = style
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerows([("id", "note", "z"), *rows])
    layout = Layout(format="csv", columns=("note",), delimiter=delimiter)

    output, counts = run(file.getvalue(), layout)
    assert parsed(output, delimiter) == [["id", "note", "z"], *map(list, rows)]
    output, _ = run(file.getvalue(), layout, brackets)
    expected = [[a, brackets([b])[0] if b else b, c] for a, b, c in rows]
    assert parsed(output, delimiter)[1:] == expected
    assert counts.records == len(rows)
    assert counts.cells == sum(bool(row[1]) for row in rows)


@given(
    st.text(
        st.sampled_from(list('ab,"\n\r')) | st.characters(codec="utf-8", exclude_characters="\0")
    )
)
def test_any_text_is_read_as_the_standard_library_reads_it(text: str) -> None:
    data = "note,b\n" + text
    try:
        expected = parsed(data, ",")
    except csv.Error:
        expected = []
    if not expected or any(len(row) not in (0, 2) for row in expected):
        with pytest.raises(DataError, match=r"^record \d+ (has|is) "):
            run(data)
        return
    seen: list[str] = []

    def note(texts: list[str]) -> list[str]:
        seen.extend(texts)
        return texts

    output, _ = run(data, NOTE, note)
    assert seen == [row[0] for row in expected[1:] if row and row[0]]
    assert parsed(output, ",") == expected


def test_other_fields_keep_their_very_characters() -> None:
    data = (
        'id,note,"amount",when\r\n'
        '007,"a ""b""",NA,2020-01-01\n'
        '"008",,12345678901234567890,""\r\n'
        "\r\n"
        '  1.10 ,"","x,\n ""y""",5" pipe'
    )
    output, counts = run(data, NOTE, lambda texts: ["X"])
    assert output == data.replace('"a ""b"""', "X")
    assert counts == FileCounts(records=3, cells=1, other_columns=("id", "amount", "when"))


def test_quotes_of_a_private_text_tell_nothing_of_the_true_one() -> None:
    plain, quoted = run("note\nab\n", NOTE, same)[0], run('note\n"ab"\n', NOTE, same)[0]
    assert plain == quoted == "note\nab\n"


def test_an_empty_private_text_is_no_blank_line() -> None:
    assert run("note\nab\n\ncd", NOTE, lambda texts: ["", "x"])[0] == 'note\n""\n\nx'


def test_all_columns_of_a_name_and_all_names_are_protected() -> None:
    layout = Layout(format="csv", columns=("b", "a", "b"))
    output, counts = run("a,b,c,a\n1,2,3,4\n", layout, lambda texts: [f"<{t}>" for t in texts])
    assert output == "a,b,c,a\n<1>,<2>,3,<4>\n"
    assert counts == FileCounts(records=1, cells=3, other_columns=("c",))


def test_a_mark_is_no_part_of_the_first_name() -> None:
    assert run("\ufeffnote\nab\n", NOTE, lambda texts: ["x"])[0] == "\ufeffnote\nx\n"


def test_blank_lines_may_come_first() -> None:
    assert run("\n\nnote\n\nab\n", NOTE, lambda texts: ["x"])[0] == "\n\nnote\n\nx\n"


def test_a_header_alone_is_a_file() -> None:
    assert run("id,note", NOTE) == (
        "id,note",
        FileCounts(records=0, cells=0, other_columns=("id",)),
    )


def test_huge_fields_pass_and_the_limit_is_put_back() -> None:
    before = csv.field_size_limit()
    huge = "a" * (1 << 18)
    assert len(huge) > before
    assert (
        run(f'note,b\n"{huge}\n",{huge}\n', NOTE, lambda texts: ["x"])[0] == f"note,b\nx,{huge}\n"
    )
    assert csv.field_size_limit() == before
    with pytest.raises(ZeroDivisionError):
        run("note\nab\n", NOTE, lambda texts: [str(1 // 0)])
    assert csv.field_size_limit() == before


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "empty"),
        ("\n\r\n", "empty"),
        (
            "note,secret\n1,secret\n\n1,2,secret\n",
            "record 2 has 3 fields, the header has 2 (at line 4)",
        ),
        ("note,b\n1,secret\nsecret\n", "record 2 has 1 field, the header has 2"),
        ('note,b\n1,2\n"secret,3\n4,5\n', "record 2 is not well-formed (at line 4)"),
        ('note,b\n"secret"x,2\n', "record 1 is not well-formed (at line 2)"),
        ('note,b\n"a\\"secret",2\n', "record 1 is not well-formed"),
        ('"note,secret', "the header is not well-formed (at line 1)"),
        ("secret,secret,text\n", "named 'note' in the header, which has 3 columns"),
        (
            "secret;note\n",
            "which has 1 column (not shown, as this may be text): name the delimiter with",
        ),
    ],
)
def test_errors_name_records_by_number(data: str, message: str) -> None:
    with pytest.raises((DataError, ParameterError), match=re.escape(message)) as caught:
        run(data)
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert "secret" not in repr(caught.value)


def test_a_broken_encoding_is_named() -> None:
    with pytest.raises(DataError, match=r"^byte 9 of .*`encoding`") as caught:
        rewrite(io.BytesIO(b"note\nsecr\xe9t\n"), io.BytesIO(), NOTE, same)
    assert caught.value.__context__ is None


def test_tabs_separate_tsv() -> None:
    assert run("id\tnote\n1,5\ta,b\n", TABS, lambda texts: ["x\ty"])[0] == 'id\tnote\n1,5\t"x\ty"\n'
