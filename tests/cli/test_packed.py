"""`malaprop privatize` on compressed files, and what it says of those that it does not read."""

import gzip
import json
import os
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.conftest import Cli, assert_private

from malaprop import Privatizer
from malaprop.files.formats import text_records, txt
from malaprop.files.formats.file_format import SMALLEST_BATCH

CANARY = "zyxsecretcanary"
CONTENT = {
    "txt": "".join(f"cold hot {CANARY}\n" for _ in range(95)),
    "csv": "id,text\n" + "".join(f"{i},cold hot {CANARY}\n" for i in range(95)),
    "tsv": "id\ttext\n" + "".join(f"{i}\tcold hot {CANARY}\n" for i in range(95)),
    "jsonl": "".join(json.dumps({"id": i, "text": f"cold hot {CANARY}"}) + "\n" for i in range(95)),
}


def pack(text: str, ending: str) -> bytes:
    data = text.encode()
    if ending == "gz":
        return gzip.compress(data)
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


def unpack(path: Path) -> str:
    kind = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix)
    if kind is None:
        return path.read_text()
    return bytes(pa.CompressedInputStream(pa.OSFile(str(path)), kind).read()).decode()


def command(kind: str, source: str, target: str) -> tuple[str, ...]:
    return (source, "-o", target, *(() if kind == "txt" else ("-c", "text")))


@pytest.mark.parametrize("kind", CONTENT)
@pytest.mark.parametrize(("inner", "outer"), [("gz", "gz"), ("zst", "zst"), ("gz", "zst")])
def test_packed_in_and_packed_out(
    cli: Cli, folder: Path, kind: str, inner: str, outer: str
) -> None:
    (folder / f"in.{kind}.{inner}").write_bytes(pack(CONTENT[kind], inner))
    ended = cli.privatize(*command(kind, f"in.{kind}.{inner}", f"out.{kind}.{outer}"))
    assert ended.code == 0
    made = unpack(folder / f"out.{kind}.{outer}")
    assert len(made.splitlines()) == len(CONTENT[kind].splitlines())
    assert CANARY not in made
    assert "95 records" in ended.flat


def test_each_side_is_packed_as_its_name_says(cli: Cli, folder: Path) -> None:
    (folder / "in.csv.gz").write_bytes(pack(CONTENT["csv"], "gz"))
    assert cli.privatize("in.csv.gz", "-o", "plain.csv", "-c", "text").code == 0
    assert (folder / "plain.csv").read_text().startswith("id,text\n0,")
    assert cli.privatize("plain.csv", "-o", "again.csv.zst", "-c", "text").code == 0
    assert unpack(folder / "again.csv.zst").startswith("id,text\n0,")
    ended = cli.privatize("in.csv.gz", "-o", "-", "-c", "text")
    assert ended.text.startswith("id,text\n0,")
    piped = ("-", "--format", "csv", "-c", "text", "-o", "piped.csv.gz")
    assert cli.privatize(*piped, stdin=CONTENT["csv"].encode()).code == 0
    assert unpack(folder / "piped.csv.gz").startswith("id,text\n0,")


def test_a_name_without_a_format_inside_takes_one(cli: Cli, folder: Path) -> None:
    (folder / "in.gz").write_bytes(pack(CONTENT["csv"], "gz"))
    ended = cli.privatize("in.gz", "-o", "out.gz", "-c", "text")
    assert ended.code == 2
    assert "--format" in ended.flat
    named = cli.privatize("in.gz", "-o", "out.gz", "-c", "text", "--format", "csv")
    assert named.code == 0
    assert unpack(folder / "out.gz").startswith("id,text\n0,")


def test_a_folder_takes_packed_files(cli: Cli, folder: Path) -> None:
    for name in ("a.txt.gz", "b.txt.zst", "c.txt"):
        data = CONTENT["txt"].encode()
        ending = name.rpartition(".")[2]
        (folder / name).write_bytes(data if ending == "txt" else pack(CONTENT["txt"], ending))
    assert cli.privatize("a.txt.gz", "b.txt.zst", "c.txt", "-o", "out/").code == 0
    for name in ("a.txt.gz", "b.txt.zst", "c.txt"):
        assert_private(unpack(folder / "out" / name))


def test_a_packed_output_tells_neither_name_nor_time(cli: Cli, folder: Path) -> None:
    packed = folder / "in.txt.gz"
    with packed.open("wb") as raw, gzip.GzipFile(f"{CANARY}.txt", "wb", 6, raw) as file:
        file.write(CONTENT["txt"].encode())
    assert CANARY.encode() in (folder / "in.txt.gz").read_bytes()
    assert cli.privatize("in.txt.gz", "-o", "out.txt.gz").code == 0
    header = (folder / "out.txt.gz").read_bytes()[:10]
    assert header[3:8] == bytes(5)
    assert CANARY.encode() not in (folder / "out.txt.gz").read_bytes()


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_a_run_on_packed_files_goes_on(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    for module in (text_records, txt):
        monkeypatch.setattr(module, "BATCH_RECORDS", 10)
    original = Privatizer.batch
    drawn: list[list[str]] = []
    stop_at = 4

    def private(privatizer: Privatizer, texts: list[str]) -> tuple[list[str], dict[str, int]]:
        if len(drawn) == stop_at:
            raise KeyboardInterrupt
        made = original(privatizer, texts)
        drawn.append(made[0])
        return made

    monkeypatch.setattr(Privatizer, "batch", private)
    (folder / f"in.txt.{ending}").write_bytes(pack(CONTENT["txt"], ending))
    run = (*command("txt", f"in.txt.{ending}", f"out.txt.{ending}"), "--workers", "1")
    assert cli.privatize(*run).code == 130
    stop_at = 100
    assert cli.privatize(*run, "--resume").code == 0
    assert len(drawn) == 10  # each batch once
    made = unpack(folder / f"out.txt.{ending}")
    assert made.splitlines() == [text for texts in drawn for text in texts]
    whole = cli.privatize(*run, "--resume")
    assert "complete already" in whole.flat
    time.sleep(0.01)
    os.utime(folder / f"in.txt.{ending}")
    assert "the input changed" in cli.privatize(*run, "--resume").flat


def test_small_packed_files_may_hold_much(cli: Cli, folder: Path) -> None:
    """So they have a journal, whatever their size."""
    (folder / "in.txt.gz").write_bytes(gzip.compress(b"cold hot\n" * 100_000))
    assert (folder / "in.txt.gz").stat().st_size < SMALLEST_BATCH
    seen: list[bool] = []
    original = Privatizer.batch

    def private(privatizer: Privatizer, texts: list[str]) -> tuple[list[str], dict[str, int]]:
        seen.append((folder / ".out.txt.malaprop").exists())
        return original(privatizer, texts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Privatizer, "batch", private)
        assert cli.privatize("in.txt.gz", "-o", "out.txt", "--workers", "1").code == 0
    assert all(seen)


def assert_refused(cli: Cli, code: int, says: str, *arguments: str, stdin: bytes = b"") -> None:
    ended = cli.privatize(*arguments, stdin=stdin)
    assert ended.code == code
    assert says in ended.err
    assert len(ended.err.splitlines()) == 1
    assert CANARY not in ended.err
    assert "leave out --column" not in ended.err
    assert not any(path.name.startswith("out") for path in Path().iterdir())


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("in.csv.bz2", "bzcat FILE | malaprop privatize - --format csv"),
        ("in.txt.xz", "xzcat FILE | malaprop privatize - --format txt"),
        ("in.jsonl.zip", "unzip -p FILE | malaprop privatize - --format jsonl"),
        ("in.zip", "unzip -p FILE | malaprop privatize - --format FORMAT"),
        ("in.tar.gz", "unpack"),
        ("in.tgz", "unpack"),
        ("in.parquet.gz", "Parquet"),
        ("in.xlsx.gz", ".csv"),
    ],
)
def test_what_is_not_read_says_what_to_do(cli: Cli, folder: Path, source: str, says: str) -> None:
    (folder / source).write_bytes(CANARY.encode())
    assert_refused(cli, 2, says, source, "-o", "out.csv", "-c", "text")


def test_parquet_is_not_packed_twice(cli: Cli, folder: Path) -> None:
    pq.write_table(pa.table({"text": [CANARY]}), folder / "in.parquet")
    parquet = ("-c", "text", "--format", "parquet")
    assert_refused(cli, 2, "Parquet", "in.parquet", "-o", "out.parquet.gz", "-c", "text")
    assert_refused(cli, 2, "Parquet", "in.parquet", "-o", "out.zst", *parquet)
    (folder / "in.gz").write_bytes(b"x")
    assert_refused(cli, 2, "Parquet", "in.gz", "-o", "out.parquet", *parquet)


@pytest.mark.parametrize("target", ["out.txt.bz2", "out.zip", "out.txt.xz"])
def test_an_output_cannot_be_packed_otherwise(cli: Cli, folder: Path, target: str) -> None:
    (folder / "in.txt").write_text(CANARY)
    assert_refused(cli, 2, ".gz or .zst", "in.txt", "-o", target)


def test_the_format_inside_must_be_the_same(cli: Cli, folder: Path) -> None:
    (folder / "in.csv.gz").write_bytes(pack(CONTENT["csv"], "gz"))
    assert_refused(cli, 2, "says jsonl", "in.csv.gz", "-o", "out.jsonl.gz", "-c", "text")


@pytest.mark.parametrize("ending", ["gz", "zst"])
@pytest.mark.parametrize("on_error", ["fail", "skip", "mask"])
def test_damaged_files_end_in_one_line(cli: Cli, folder: Path, ending: str, on_error: str) -> None:
    whole = pack("".join(f"{CANARY} {i}\n" for i in range(5_000)), ending)
    for data in (whole[:-9], whole + CANARY.encode(), CONTENT["txt"].encode(), b""):
        (folder / f"in.txt.{ending}").write_bytes(data)
        arguments = (f"in.txt.{ending}", "-o", "out.txt", "--on-error", on_error)
        assert_refused(cli, 1, "damaged or cut off", *arguments)


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_packed_text_in_a_pipe_is_refused(cli: Cli, folder: Path, ending: str) -> None:
    data = pack(CONTENT["csv"], ending)
    piped = ("-", "-o", "out.csv", "--format", "csv", "-c", "text", "--encoding", "latin-1")
    assert_refused(cli, 1, "zcat", *piped, stdin=data)
    (folder / "in.csv").write_bytes(data)
    assert_refused(cli, 1, "ends in .gz or .zst", "in.csv", "-o", "out.csv", "-c", "text")


def test_a_table_in_a_pipe_asks_for_its_format(cli: Cli, folder: Path) -> None:
    piped = ("-", "-o", "out.csv", "-c", "text")
    assert_refused(cli, 2, "--format csv", *piped, stdin=CONTENT["csv"].encode())
    assert_refused(cli, 2, "--format csv", "-", "-c", "text", stdin=CONTENT["csv"].encode())
