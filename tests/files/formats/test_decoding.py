"""Lines that are read and checked a block at a time, as if they were one by one."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.files.copies import opened

from malaprop.files.formats import Layout, OnError, file_format, text_records, txt
from malaprop.privacy.errors import DataError
from malaprop.report.file_counts import FaultyRecord, FileCounts

TXT_UTF8 = "cannot be read as utf-8"
NUL = "holds a NUL character"
TOO_LONG = file_format.TOO_LONG

Batches = list[list[str]]


def copied(
    data: bytes, on_error: OnError, encoding: str = "utf-8", *, size: int = 8, records: int = 99
) -> tuple[bytes, Batches, FileCounts]:
    """Copy lines in capitals, in blocks of `size` characters and batches of so many lines."""
    target = io.BytesIO()
    batches: Batches = []
    layout = Layout(format="txt", on_error=on_error, encoding=encoding)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_format, "BATCH_CHARACTERS", size)
        patch.setattr(txt, "BATCH_RECORDS", records)
        with opened(io.BytesIO(data), target, layout) as rewriting:
            for batch in rewriting.batches():
                batches.append(batch.texts)
                rewriting.write(batch, [text.upper() for text in batch.texts])
            counts = rewriting.finish()
    return target.getvalue(), batches, counts


def expected(data: bytes, on_error: OnError) -> tuple[bytes, list[FaultyRecord]]:
    """The same, one line after the other."""
    made, found = b"", []
    for number, line in enumerate(data.splitlines(keepends=True), start=1):
        end = b"\r\n" if line.endswith(b"\r\n") else b"\n" if line.endswith(b"\n") else b""
        text = line[: len(line) - len(end)]
        reason = NUL if b"\0" in text else ""
        try:
            private = text.decode().upper().encode()
        except UnicodeDecodeError:
            reason = TXT_UTF8
        if not reason:
            made += private + end
            continue
        found.append(FaultyRecord(number, reason))
        made += b"" if on_error == "skip" else b"[masked]" + end
    return made, found


# No \r but before \n: bytes.splitlines takes a lone one for a line end.
PIECES = ["a", "bc", "\n", "\n", "\r\n", "\r\n", "\0", "\u00df", "\U0001d4b3"]


@given(
    st.lists(st.sampled_from([*map(str.encode, PIECES), b"\xff", b"\xe2\x82"])).map(b"".join),
    st.integers(1, 12),
    st.integers(1, 4),
)
def test_any_blocks_give_what_single_lines_would(data: bytes, size: int, records: int) -> None:
    seen = []
    for on_error in ("skip", "mask"):
        made, batches, counts = copied(data, on_error, size=size, records=records)
        assert (made, list(counts.faults)) == expected(data, on_error)
        assert max(map(len, batches), default=0) <= records
        seen.append(batches)
    # What a journal holds of one run must fit the other.
    assert seen[0] == seen[1]


@pytest.mark.parametrize("flaw", [b"b\0", b"\xff", b"\xe2\x82"])
@pytest.mark.parametrize("place", range(9))
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_flaw_anywhere_in_a_block(flaw: bytes, place: int, end: bytes) -> None:
    """Blocks have three lines: the first line of one, its middle, its last, and the file's."""
    lines = [b"a%d" % number for number in range(9)]
    lines[place] = flaw
    data = end.join(lines)
    size = 3 * (2 + len(end))
    made, batches, counts = copied(data, "mask", size=size)
    upper = [line.upper() for line in lines]
    upper[place] = b"[masked]"
    assert made == end.join(upper)
    assert len(batches) == 3
    assert [fault.record for fault in counts.faults] == [place + 1]
    with pytest.raises(DataError) as caught:
        copied(data, "fail", size=size)
    if flaw == b"b\0":
        assert str(caught.value).startswith(f"record {place + 1} {NUL}")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be", "utf-32-le", "utf-8-sig"])
@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("size", [1, 5, 6, 7, 100])
def test_blocks_of_any_encoding(encoding: str, marked: bool, size: int) -> None:
    codec = {"utf-16": "utf-16-le", "utf-8-sig": "utf-8"}.get(encoding, encoding)
    mark = "\ufeff" if marked else ""
    data = (mark + "h\u00e9\r\n\nb\0ad\r\n\U0001d4b3x\n\r\nlast\r").encode(codec)
    made, _, counts = copied(data, "mask", encoding, size=size)
    assert made == (mark + "H\u00c9\r\n\n[masked]\r\n\U0001d4b3X\n\r\nLAST\r").encode(codec)
    assert counts.faults == (FaultyRecord(3, NUL),)
    assert (counts.records, counts.cells) == (6, 5)


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
@pytest.mark.parametrize("size", [8, 20, 21, 100])
@pytest.mark.parametrize("length", [17, 18, 19, 20, 21, 40, 41])
def test_a_long_line_among_short_ones(
    monkeypatch: pytest.MonkeyPatch, length: int, size: int, end: str
) -> None:
    for module in (file_format, text_records):
        monkeypatch.setattr(module, "LONGEST_RECORD", 20)
    last = "z\n" if end else ""
    data = f"a\nb\n{'x' * length}{end}{last}"
    too_long = length + len(end) >= 20 + bool(end)
    made, _, counts = copied(data.encode(), "mask", size=size)
    line = "[masked]" if too_long else "X" * length
    assert made.decode() == f"A\nB\n{line}{end}{last.upper()}"
    assert counts.faults == ((FaultyRecord(3, TOO_LONG),) if too_long else ())
