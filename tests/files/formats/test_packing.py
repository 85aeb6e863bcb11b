"""Text in gzip and Zstandard: read and written by the name's ending, whole or not at all."""

import contextlib
import gzip
import io
import random
import shutil
import subprocess
import tracemalloc
import zlib
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.files.copies import opened

from malaprop.files.compression import Packed, Packing, Unpacked
from malaprop.files.formats import Layout
from malaprop.files.formats.file_format import compression_of
from malaprop.privacy.errors import DataError, OutputError

TEXT = "".join(f"line {i} of many, {i * i}\n" for i in range(20_000)).encode()
KINDS: list[Packing] = ["gzip", "zstd"]


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


PACK: dict[Packing, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstd}
UNPACK: dict[Packing, Callable[[bytes], bytes]] = {
    "gzip": gzip.decompress,
    "zstd": lambda data: bytes(pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()),
}


def unpacked(data: bytes, kind: Packing) -> bytes:
    source = Unpacked(io.BytesIO(data), kind)
    return b"".join(iter(lambda: source.read1(2**16), b""))


def packed(data: bytes, kind: Packing, sizes: list[int] | None = None) -> bytes:
    target = io.BytesIO()
    pack = Packed(target, kind)
    for size in sizes or []:
        pack.write(data[:size])
        data = data[size:]
    pack.write(data)
    pack.finish()
    assert not target.closed
    return target.getvalue()


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.csv.gz", "gzip"), ("A.GZ", "gzip"), ("b.txt.zst", "zstd"), ("c.csv", None), ("gz", None)],
)
def test_the_ending_of_a_name_says_how_a_file_is_packed(name: str, kind: Packing | None) -> None:
    assert compression_of(name) == kind


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.binary(max_size=300_000))
def test_what_is_packed_is_unpacked(kind: Packing, data: bytes) -> None:
    assert unpacked(packed(data, kind), kind) == data
    assert UNPACK[kind](packed(data, kind)) == data


@pytest.mark.parametrize("kind", KINDS)
def test_several_parts_make_one_text(kind: Packing) -> None:
    """As `cat a.gz b.gz` gives, and programs that pack with several threads."""
    parts = b"".join(PACK[kind](TEXT[i : i + 50_000]) for i in range(0, len(TEXT), 50_000))
    assert unpacked(parts, kind) == TEXT


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tool", ["gzip", "zstd"])
def test_the_usual_programs_agree(kind: Packing, tool: str) -> None:
    if tool != kind or not shutil.which(tool):
        pytest.skip("another program, or none on this machine")
    made = subprocess.run([tool, "-c"], input=TEXT, capture_output=True, check=True).stdout
    assert unpacked(made, kind) == TEXT
    ours = packed(TEXT, kind)
    assert subprocess.run([tool, "-dc"], input=ours, capture_output=True).stdout == TEXT


@pytest.mark.parametrize("kind", KINDS)
def test_how_the_text_comes_in_does_not_show(kind: Packing) -> None:
    """Where batches end depends on the true texts, so the packed bytes must not depend on that."""
    rng = random.Random(1)
    sizes = [rng.randrange(100_000) for _ in range(20)]
    assert packed(TEXT, kind, sizes) == packed(TEXT, kind)


def test_a_gzip_header_says_nothing() -> None:
    """No name of a file and no time."""
    assert packed(TEXT, "gzip")[:9] == b"\x1f\x8b\x08" + bytes(5) + packed(b"", "gzip")[8:9]


def damaged(kind: Packing) -> dict[str, bytes]:
    whole = PACK[kind](TEXT)
    return {
        "empty": b"",
        "plain text": b"secret text\n" * 100,
        "cut off in the middle": whole[: len(whole) // 2],
        "cut off in the header": whole[:5],
        "without its last byte": whole[:-1],
        "with something after its end": whole + b"secret" * 100,
        "the other kind": PACK["zstd" if kind == "gzip" else "gzip"](TEXT),
        "with another header": b"\x1f\x8b\x07" + whole[3:],
        "with holes": whole[:200] + bytes(200) + whole[400:],
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", damaged("gzip"))
def test_damaged_files_are_refused(kind: Packing, what: str) -> None:
    if (kind, what) == ("zstd", "with holes"):
        pytest.skip("a checksum, which would tell, is optional")
    with pytest.raises(DataError, match="damaged or cut off") as caught:
        unpacked(damaged(kind)[what], kind)
    assert caught.value.__cause__ is None
    assert "secret" not in repr(caught.value)


def test_a_wrong_checksum_is_refused() -> None:
    whole = bytearray(gzip.compress(TEXT))
    whole[-8] ^= 1
    with pytest.raises(DataError, match="damaged"):
        unpacked(bytes(whole), "gzip")


@given(st.data())
def test_no_damage_ends_in_another_error(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(KINDS))
    whole = bytearray(PACK[kind](TEXT[:5_000]))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(whole) - 1))
        whole[place] = data.draw(st.integers(0, 255))
    with contextlib.suppress(DataError):
        unpacked(bytes(whole), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_bomb_takes_no_memory(kind: Packing) -> None:
    """200 MB of zeros in 20 kB to 200 kB: they are unpacked as they are read."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    if kind == "gzip":
        parts = [packer.compress(bytes(2**20)) for _ in range(200)]
        bomb = b"".join([*parts, packer.flush()])
    else:
        bomb = zstd(bytes(200 * 2**20))
    layout = Layout(format="txt")
    tracemalloc.start()
    before = pa.total_allocated_bytes()
    with pytest.raises(DataError, match=r"^record 1 .*longer than"):
        list(layout.open(Unpacked(io.BytesIO(bomb), kind)).batches())  # type: ignore[arg-type]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * 2**20
    assert pa.total_allocated_bytes() - before < 50 * 2**20


@pytest.mark.parametrize("kind", KINDS)
def test_progress_counts_the_bytes_of_the_file(kind: Packing) -> None:
    data = PACK[kind](TEXT)
    layout = Layout(format="txt")
    source: Any = Unpacked(io.BytesIO(data), kind)
    target = io.BytesIO()
    with opened(source, target, layout) as rewriting:
        for batch in rewriting.batches():
            rewriting.write(batch, batch.texts)
            assert 0 < rewriting.reader.consumed <= len(data)
        rewriting.finish()
        assert rewriting.reader.consumed == len(data)
    assert target.getvalue() == TEXT


class Broken(io.BytesIO):
    def read(self, *_: Any) -> bytes:
        raise OSError(5, "Input/output error", "secret")

    read1 = read

    def write(self, *_: Any) -> int:
        raise OutputError("no space left on the disk while writing out.gz")


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_disk_says_is_told_as_it_is(kind: Packing) -> None:
    with pytest.raises(DataError, match=r"cannot be read: Input/output error$"):
        Unpacked(Broken(), kind).read1(9)
    packer = Packed(Broken(), kind)
    with pytest.raises(OutputError, match="no space left"):
        packer.write(random.Random(1).randbytes(2**22))


@pytest.mark.parametrize(
    "start",
    [gzip.compress(b"a"), zstd(b"a"), b"PK\x03\x04", b"\xfd7zXZ\x00"],
    ids=["gzip", "zstd", "zip", "xz"],  # gzip's bytes hold the time, and names must not change
)
@pytest.mark.parametrize("on_error", ["fail", "skip"])
def test_packed_bytes_are_never_taken_for_text(start: bytes, on_error: Any) -> None:
    layout = Layout(format="txt", encoding="latin-1", on_error=on_error)
    with pytest.raises(DataError, match="compressed") as caught:
        opened(io.BytesIO(start + b"secret"), io.BytesIO(), layout)
    assert "secret" not in repr(caught.value)
