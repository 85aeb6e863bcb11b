"""Every fault is refused by name and number; importing leaves the row out and counts it."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lexicon.formats.samples import (
    VECTORS,
    binary,
    repaired,
    strict,
    word2vec,
    zipped,
)

from malaprop.lexicon.formats import FileFault, open_vector_file, read, screened_blocks
from malaprop.privacy.errors import LexiconError

FAULTS: list[tuple[FileFault, bytes, int, str]] = [
    (FileFault.SPACES, b"a 1 2\nnew york 3 4\nb 5 6\nc 7 8\n", 2, "abc"),
    (FileFault.SPACES, b"new york 3 4\na 1 2\nb 5 6\nc 7 8\n", 1, "abc"),
    (FileFault.SPACES, b"4 2\nnew york 3 4\na 1 2\nb 5 6\nc 7 8\n", 2, "abc"),
    (FileFault.SPACES, b"a 1 2\n b 3 4\nc 5 6\n", 2, "ac"),
    (FileFault.DUPLICATE, b"a 1 2\nb 3 4\na 5 6\nc 7 8\n", 3, "abc"),
    (FileFault.BLANK, b"a 1 2\n\nb 3 4\nc 5 6\n", 2, "abc"),
    (FileFault.BLANK, b"\n3 2\na 1 2\nb 3 4\nc 5 6\n", 1, "abc"),
    (FileFault.BLANK, b"a 1 2\nb 3 4\nc 5 6\n \t\r\n", 4, "abc"),
    (FileFault.NOT_FINITE, b"a 1 2\nb nan 4\nc 5 6\n", 2, "ac"),
    (FileFault.NOT_FINITE, b"a 1 2\nb 3 4\nc 5 -inf\n", 3, "ab"),
    (FileFault.NOT_FINITE, b"a 1 2\nb 3 4\nc 1e39 6\n", 3, "ab"),
    (FileFault.NOT_FINITE, b"a 1 2\nb 3 4\nc 1e999 6\n", 3, "ab"),
    (FileFault.RAGGED, b"a 1 2\nb 3\nc 5 6\n", 2, "ac"),
    (FileFault.RAGGED, b"a 1 2\nb 3 4 5\nc 5 6\n", 2, "ac"),
    (FileFault.RAGGED, b"a 1 2\nb\nc 5 6\n", 2, "ac"),
    (FileFault.RAGGED, b"2 2 2\na 1\nb 1\nc 1\n", 1, "abc"),
    (FileFault.NUMBER, b"a 1 2\nb 3 x\nc 5 6\n", 2, "ac"),
    (FileFault.NUMBER, b"a 1 2\nb 3 1_0\nc 5 6\n", 2, "ac"),
    (FileFault.NUMBER, b"a 1 2\nb 3 0,5\nc 5 6\n", 2, "ac"),
    (FileFault.ENCODING, b"a 1 2\nb\xff 3 4\nc 5 6\n", 2, "ac"),
    (FileFault.ENCODING, b"a 1 2\nb\xed\xa0\x80 3 4\nc 5 6\n", 2, "ac"),
    (FileFault.EMPTY, b"a 1 2\n 3 4\nc 5 6\n", 2, "ac"),
    (FileFault.LONG, b"a 1 2\n" + b"b" * 4097 + b" 3 4\nc 5 6\n", 2, "ac"),
    (FileFault.CONTROL, b"a 1 2\nb\x01 3 4\nc 5 6\n", 2, "ac"),
    (FileFault.CONTROL, b"a 1 2\nb\0 3 4\nc 5 6\n", 2, "ac"),
    (FileFault.CONTROL, b"a 1 2\nx\ry 3 4\nc 5 6\n", 2, "ac"),
    (FileFault.CONTROL, b"a 1 2\nb\xc2\x85 3 4\nc 5 6\n", 2, "ac"),
    (FileFault.CONTROL, b"a 1 2\nb\xe2\x80\xa8 3 4\nc 5 6\n", 2, "ac"),
    (FileFault.ROWS, b"2 2\na 1 2\nb 3 4\nc 5 6\n", 1, "abc"),
    (FileFault.ROWS, b"4 2\na 1 2\nb 3 4\nc 5 6\n", 1, "abc"),
    (FileFault.DIMENSION, b"3 3\na 1 2\nb 3 4\nc 5 6\n", 1, "abc"),
    (FileFault.DIMENSION, b"3 1\na 1 2\nb 3 4\nc 5 6\n", 1, "abc"),
]


@pytest.mark.parametrize(("fault", "content", "line", "kept"), FAULTS)
def test_faults_of_text(
    tmp_path: Path, fault: FileFault, content: bytes, line: int, kept: str
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    message = strict(path)
    assert f"a.txt, line {line}: {fault}" in message
    assert "malaprop lexicon import" in message
    words, repairs = repaired(path)
    assert words == list(kept)
    assert {each: (repair.count, repair.first) for each, repair in repairs.by_fault.items()} == {
        fault: (1, (line,))
    }


def test_no_fault(tmp_path: Path) -> None:
    """A number for a word, a no-break space and one dimension are all right."""
    path = tmp_path / "a.txt"
    path.write_bytes(b"5 3\n6 4\n7 5\n")
    assert read(path)[0] == ("5", "6", "7")
    path.write_bytes(b"2 1\n6 4\n7 5\n")
    assert read(path)[0] == ("6", "7")  # a header: the next row has as many columns
    path.write_bytes("a\xa0b 1 2\n".encode())
    assert read(path)[0] == ("a\xa0b",)


def test_the_first_good_row_of_a_word_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a nan 2\na 3 4\na 5 6\nb 7 8\n")
    file = open_vector_file(path, strict=False)
    (block,) = screened_blocks(file)
    np.testing.assert_array_equal(block.vectors, [[3, 4], [7, 8]])
    assert file.repairs.dropped == 2


def test_zero_vectors_are_faults_where_direction_matters(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a 1 2\nb 0 -0\nc 5 6\n")
    assert read(path)[0] == ("a", "b", "c")
    words, repairs = repaired(path, "angular")
    assert words == ["a", "c"]
    assert repairs.by_fault[FileFault.ZERO].first == (2,)
    with pytest.raises(LexiconError, match="line 2: zero vector"):
        list(screened_blocks(open_vector_file(path), metric="angular"))


BINARY = binary(("a", "b", "c"), VECTORS[:3])


@pytest.mark.parametrize(
    ("content", "row", "faults", "kept"),
    [
        (BINARY[:-1], 3, {FileFault.TRUNCATED: (3,), FileFault.ROWS: (1,)}, "ab"),
        (BINARY.replace(b"3 3", b"2 3"), 1, {FileFault.ROWS: (1,)}, "abc"),
        (BINARY.replace(b"3 3", b"4 3"), 1, {FileFault.ROWS: (1,)}, "abc"),
        (BINARY.replace(b"b ", b"\xff "), 2, {FileFault.ENCODING: (2,)}, "ac"),
        (BINARY.replace(b"b ", b"a "), 2, {FileFault.DUPLICATE: (2,)}, "ac"),
        (BINARY.replace(b"b ", b" "), 2, {FileFault.EMPTY: (2,)}, "ac"),
        (BINARY[:-4] + b"\0\0\xc0\x7f", 3, {FileFault.NOT_FINITE: (3,)}, "ab"),
        (BINARY + b"x" * 100, 4, {FileFault.TRUNCATED: (4,)}, "abc"),
    ],
)
def test_faults_of_binary(
    tmp_path: Path, content: bytes, row: int, faults: dict[FileFault, tuple[int]], kept: str
) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(content)
    assert f"row {row}: " in strict(path)
    words, repairs = repaired(path)
    assert words == list(kept)
    assert {fault: repair.first for fault, repair in repairs.by_fault.items()} == faults


def test_binary_that_is_no_rows_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("malaprop.lexicon.formats.word_vectors._BINARY_CHUNK", 50)
    monkeypatch.setattr("malaprop.lexicon.formats.word_vectors.LONGEST_WORD", 20)
    path = tmp_path / "a.bin"
    path.write_bytes(BINARY + b"x" * 10_000)
    file = open_vector_file(path, strict=False)
    assert [word for block in file.blocks for word in block.words] == ["a", "b", "c"]
    assert file.repairs.by_fault[FileFault.TRUNCATED].first == (4,)


@pytest.mark.parametrize("content", [b"", b"\n \n\n", gzip.compress(b"", mtime=0)])
def test_empty_files_are_errors_everywhere(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    assert "is empty" in strict(path)
    with pytest.raises(LexiconError, match="is empty"):
        repaired(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"2 2\n", "no row"),
        (b"a nan nan\n", "no row"),
        (b"a 1 2\nb nan 2\nc 1 inf\n", "2 of 3 rows are faulty .most: NaN"),
        (b"Dear reader,\nthis is prose.\n", "in no format that can be read"),
        (bytes(range(256)), "in no format that can be read"),
    ],
)
def test_what_cannot_be_repaired(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    assert strict(path)
    with pytest.raises(LexiconError, match=message):
        repaired(path)


def test_half_of_the_rows_is_enough(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a 1 2\nb nan 2\n")
    assert repaired(path)[0] == ["a"]


def test_damaged_archives(tmp_path: Path) -> None:
    content = word2vec(tuple(map(str, range(9000))), np.ones((9000, 3), np.float32))
    packed = gzip.compress(content)
    path = tmp_path / "a.gz"
    flipped = bytearray(packed)
    flipped[-5] ^= 1  # in the checksum: all rows are read before it is seen
    for broken in (packed[:-12], packed[:-1], bytes(flipped), packed[:30]):
        path.write_bytes(broken)
        assert "damaged or cut off" in strict(path)
        with pytest.raises(LexiconError, match="damaged or cut off"):
            repaired(path)
    whole = zipped(tmp_path / "a.zip", **{"a.txt": content}).read_bytes()
    for broken in (whole[:-30], whole[:60] + b"\xff" * 20 + whole[80:]):
        path.write_bytes(broken)
        assert "damaged or cut off" in strict(path)


def test_archives_that_are_not_one_file(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", a=b"a 1\n", b=b"a 1\n")
    assert "holds 2 files" in strict(path)
    np.savez(tmp_path / "a.npz", a=VECTORS)
    assert "unpack it first" in strict(tmp_path / "a.npz")
    content = bytearray(zipped(path, a=b"a 1\n").read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    assert "encrypted" in strict(path)


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    assert "No such file" in strict(tmp_path / "a.txt")
    assert "cannot be read" in strict(tmp_path)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["good", "blank", "spaces", "ragged"]), min_size=1, max_size=120))
def test_faults_are_found_among_many_lines(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[str]
) -> None:
    """Chunks are halved until their faults are found: no line is lost, and none renumbered."""
    rows = {"good": "w{} 1 2\n", "blank": "\n", "spaces": "w{} x 1 2\n", "ragged": "w{} 1\n"}
    kinds = ["good"] * 10 + kinds  # the first lines settle the dimension
    path = tmp_path_factory.mktemp("many") / "a.txt"
    header = f"{len(kinds) - kinds.count('blank')} 2\n"
    path.write_text(header + "".join(rows[kind].format(i) for i, kind in enumerate(kinds, 2)))
    file = open_vector_file(path, strict=False)
    found = [row for b in file.blocks for row in zip(b.numbers, b.words, strict=True)]
    assert found == [(i, f"w{i}") for i, kind in enumerate(kinds, 2) if kind == "good"]
    for kind, fault in (
        ("blank", FileFault.BLANK),
        ("spaces", FileFault.SPACES),
        ("ragged", FileFault.RAGGED),
    ):
        assert file.repairs.count(fault) == kinds.count(kind)
    assert FileFault.ROWS not in file.repairs.by_fault
