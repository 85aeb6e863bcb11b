import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.files.copies import Transform, rewrite

from malaprop.files.formats import Layout
from malaprop.privacy.errors import DataError
from malaprop.report.file_counts import FileCounts

LINES = Layout(format="txt")
UTF = ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "utf-32-le"]


def upper(texts: list[str]) -> list[str]:
    return [text.upper() for text in texts]


def same(texts: list[str]) -> list[str]:
    return texts


def run(data: bytes, layout: Layout, transform: Transform = same) -> tuple[bytes, FileCounts]:
    target = io.BytesIO()
    counts = rewrite(io.BytesIO(data), target, layout, transform)
    return target.getvalue(), counts


def texts_of(data: bytes, layout: Layout) -> list[str]:
    seen: list[str] = []

    def note(texts: list[str]) -> list[str]:
        seen.extend(texts)
        return texts

    run(data, layout, note)
    return seen


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\0")),
    st.sampled_from(UTF),
    st.booleans(),
)
def test_the_identity_changes_no_byte(text: str, encoding: str, by_line: bool) -> None:
    data = text.encode(encoding)
    layout = Layout(format="txt", encoding=encoding, document="line" if by_line else "file")
    assert run(data, layout)[0] == data


@given(st.lists(st.text(st.characters(exclude_characters="\0\n", codec="utf-8")), min_size=1))
def test_a_line_is_a_document(lines: list[str]) -> None:
    data = "\n".join(lines).encode()
    ended = lines if lines[-1] else lines[:-1]
    # A document that ends with \r gives it to the line end, except in the last line.
    expected = [line.removesuffix("\r") for line in ended[:-1]] + ended[-1:]
    if ended and not lines[-1]:
        expected[-1] = expected[-1].removesuffix("\r")
    first = [text.removeprefix("\ufeff") if not i else text for i, text in enumerate(expected)]
    assert texts_of(data, LINES) == first


def test_line_ends_stay_and_other_breaks_are_text() -> None:
    data = "one\r\ntwo\n\nthr\x0bee\x0c\x85\u2028\x1c\rfour\nlast".encode()
    output, counts = run(data, LINES, lambda texts: [f"<{text}>" for text in texts])
    assert output == "<one>\r\n<two>\n<>\n<thr\x0bee\x0c\x85\u2028\x1c\rfour>\n<last>".encode()
    assert counts == FileCounts(records=5, cells=5)


def test_a_file_can_be_one_document() -> None:
    layout = Layout(format="txt", document="file")
    assert texts_of(b"one\r\ntwo\n", layout) == ["one\r\ntwo\n"]
    assert run(b"one\r\ntwo\n", layout, upper)[0] == b"ONE\r\nTWO\n"


def test_an_empty_file_stays_empty() -> None:
    assert run(b"", LINES) == (b"", FileCounts(records=0, cells=0))


@pytest.mark.parametrize("encoding", UTF)
@pytest.mark.parametrize("marked", [True, False])
def test_a_byte_order_mark_stays_as_it_is(encoding: str, marked: bool) -> None:
    bare = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
    codec = bare.get(encoding, encoding)
    mark = "\ufeff".encode(codec) if marked else b""
    layout = Layout(format="txt", encoding=encoding)
    data = mark + "naïve\r\nß\n".encode(codec)
    assert texts_of(data, layout) == ["naïve", "ß"]
    assert run(data, layout, upper)[0] == mark + "NAÏVE\r\nSS\n".encode(codec)


def test_the_mark_tells_the_byte_order() -> None:
    data = b"\xfe\xff" + "word\n".encode("utf-16-be")
    expected = b"\xfe\xff" + "WORD\n".encode("utf-16-be")
    assert run(data, Layout(format="txt", encoding="utf-16"), upper)[0] == expected


@pytest.mark.parametrize(
    ("data", "encoding", "place"),
    [
        (b"secret\xff", "utf-8", 6),
        (b"\xef\xbb\xbfsecret\nsecret\xff", "utf-8", 16),
        (b"secret\xc3", "utf-8", 6),
        (b"secret\n" * 40_000 + b"\xe2\x82secret", "utf-8", 280_000),
        ("secret".encode("utf-16") + b"\x00", "utf-16", 14),
        (b"secret\x80\xff", "ascii", 6),
        (b"secret\x81\x00", "cp932", 6),
    ],
)
@pytest.mark.parametrize("by_line", [True, False])
def test_what_is_no_text_is_named_by_its_place(
    data: bytes, encoding: str, place: int, by_line: bool
) -> None:
    layout = Layout(format="txt", encoding=encoding, document="line" if by_line else "file")
    with pytest.raises(DataError, match=rf"^byte {place} of .*`encoding`") as caught:
        run(data, layout)
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert "secret" not in repr(caught.value)


def test_a_text_that_the_encoding_lacks_is_refused() -> None:
    layout = Layout(format="txt", encoding="latin-1")
    with pytest.raises(DataError, match=r"records 1 to 2 .*`encoding=\"utf-8\"`") as caught:
        run(b"a\nb\n", layout, lambda texts: ["a", "secret\u0416"])
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert "secret" not in repr(caught.value)


def test_a_source_that_fails_is_named_as_such() -> None:
    class Broken(io.BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:
            raise OSError(5, "Input/output error", "secret")

    with pytest.raises(DataError, match=r"cannot be read: Input/output error$"):
        rewrite(Broken(), io.BytesIO(), LINES, same)
