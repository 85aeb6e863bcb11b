"""`malaprop privatize --engine spark`: folders in, folders out."""

import csv
import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.conftest import COMMAND, Cli, assert_private, running, words_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("spark")
SPARK = ("--engine", "spark")
SIZES = ("spark.sql.files.maxPartitionBytes", "spark.sql.files.openCostInBytes")


@pytest.fixture(autouse=True)
def inputs(folder: Path) -> None:
    (folder / "in").mkdir()


def parts(folder: Path) -> list[bytes]:
    return [part.read_bytes() for part in sorted(folder.glob("part-*"))]


def test_values_of_csv_files_stay(spark: "SparkSession", cli: Cli, folder: Path) -> None:
    header = ["id", "text", "other"]
    rows = [
        ["007", "Cold, zyxcanary", " x "],
        ["1.50", "hot\ndoctor", 'say "hi", \\ NA'],
        ["NA", "", ""],
        ["é", "the patient", "a\r\nb"],
    ]
    for number, some in enumerate([rows[:2], rows[2:]]):
        with (folder / "in" / f"{number}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *some])
    ended = cli.privatize("in", "-o", "out", "-c", "text", *SPARK, "--report", "r.json")
    assert ended.code == 0, ended.err
    made = [
        row
        for part in parts(folder / "out")
        for row in list(csv.reader(io.StringIO(part.decode(), newline="")))[1:]
    ]
    assert [(row[0], row[2]) for row in sorted(made)] == [(r[0], r[2]) for r in sorted(rows)]
    for row, was in zip(sorted(made), sorted(rows), strict=True):
        assert_private(row[1])
        assert len(words_of(row[1])) == len(words_of(was[1]))
    report = json.loads((folder / "r.json").read_text())
    assert report["counts"]["protected"] == 6
    assert report["files"][0]["records"] == 4
    assert report["files"][0]["unprotected_columns"] == ["id", "other"]


FAULTY = {  # what is wrong: rows, of which the second cannot be processed
    "has 4 fields": b"2,zyxcanary,hot,more",
    "cannot be read as utf-8": b"2\xfc,zyxcanary",
    "cannot be read as utf-8 ": b"2,zyxcanary \xff",
    "holds a NUL character": b"2,zyx\0canary",
}


@pytest.mark.parametrize("on_error", ["fail", "skip", "mask"])
@pytest.mark.parametrize("reason", FAULTY)
def test_rows_that_cannot_be_processed(
    spark: "SparkSession", cli: Cli, folder: Path, on_error: str, reason: str
) -> None:
    """As in a file of UTF-8 that is copied without Spark, to the byte but for what is drawn."""
    source = folder / "in" / "a.csv"
    source.write_bytes(b"id,text\r\n1,cold\r\n" + FAULTY[reason] + b'\r\n"3",hot\r\n')
    asked = ("-c", "text", "--on-error", on_error)
    ended = cli.privatize("in", "-o", "out", *asked, *SPARK)
    assert "canary" not in ended.err
    if on_error == "fail":
        assert ended.code == 1
        assert f"a record {reason.strip()}" in ended.flat
        assert "--on-error skip" in ended.flat
        assert "--encoding" not in ended.err
        assert sorted(path.name for path in folder.iterdir()) == ["in"]
        return
    assert ended.code == 0, ended.err
    assert "warning: 1 record of " in ended.flat
    utf8 = ("--encoding", "utf-8")  # Spark guesses no encoding
    assert cli.privatize("in/a.csv", "-o", "alone.csv", *asked, *utf8).code == 0
    (made,) = parts(folder / "out")
    alone = (folder / "alone.csv").read_bytes()
    drawn = re.compile(rb"(?<=,)(\w+)(?=\r\n)")
    header = b"id,text\r\n"
    assert made.startswith(header)
    assert drawn.sub(b"*", made) == drawn.sub(b"*", alone)
    assert (b"[masked]" in made) == (on_error == "mask")


def test_a_quote_that_is_not_closed(spark: "SparkSession", cli: Cli, folder: Path) -> None:
    """What follows it belongs to no record that could be told: it might be a line of a text."""
    (folder / "in" / "a.csv").write_text('text\ncold\n"zyxcanary\nhot\n')
    (folder / "in" / "b.csv").write_text("text,more\nhot,1\n")
    ended = cli.privatize("in", "-o", "out", "-c", "text", "--on-error", "skip", *SPARK)
    assert ended.code == 1
    assert "record 2 is not well-formed" in ended.flat
    assert "canary" not in ended.err
    assert sorted(path.name for path in folder.iterdir()) == ["in"]


def test_a_column_that_one_file_lacks(spark: "SparkSession", cli: Cli, folder: Path) -> None:
    (folder / "in" / "a.csv").write_text("text\ncold\n")
    (folder / "in" / "b.csv").write_text("note\nzyxcanary\n")
    (folder / "in" / "c.csv").write_text("")
    ended = cli.privatize("in", "-o", "out", "-c", "text", *SPARK)
    assert ended.code == 2
    assert "no column is named 'text'" in ended.flat
    assert "canary" not in ended.err
    assert sorted(path.name for path in folder.iterdir()) == ["in"]


def test_large_files_are_not_cut(spark: "SparkSession", cli: Cli, folder: Path) -> None:
    """Though Spark would cut them, and join small ones: a record has several lines."""
    before = {name: str(spark.conf.get(name)) for name in SIZES}
    rows = ["id,text", *(f'{i},"cold\nhot"' for i in range(3000))]
    for name in "ab":
        (folder / "in" / f"{name}.csv").write_text("\n".join(rows) + "\n")
    try:
        spark.conf.set(SIZES[0], "5000")
        ended = cli.privatize("in", "-o", "out", "-c", "text", *SPARK)
        assert spark.conf.get(SIZES[0]) == "5000"  # as it was
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
    assert ended.code == 0, ended.err
    for part in parts(folder / "out"):
        made = list(csv.reader(io.StringIO(part.decode(), newline="")))
        assert [row[0] for row in made] == ["id", *map(str, range(3000))]
    assert len(parts(folder / "out")) == 2


def test_all_else_in_lines_of_json_stays_to_the_byte(
    spark: "SparkSession", cli: Cli, folder: Path
) -> None:
    before, after = '{"n": 1.10, "text": ', ' , "big":12345678901234567890, "n": null}'
    lines = [f"{before}{json.dumps(text)}{after}" for text in ("cold é", "hot\nhot", "a")]
    (folder / "in" / "a.jsonl").write_text("\n".join([*lines, "", '{"m": 2}']) + "\n")
    (folder / "in" / "b.jsonl").write_text('{"m": 3}\r\n')
    ended = cli.privatize("in", "-o", "out", "-c", "text", *SPARK, "--report", "r.json")
    assert ended.code == 0, ended.err
    made = sorted(line for part in parts(folder / "out") for line in part.decode().split("\n")[:-1])
    assert made[:3] == ["", '{"m": 2}', '{"m": 3}\r']
    for line in made[3:]:
        assert line.startswith(before)
        assert line.endswith(after)
        assert_private(json.loads(line)["text"])
    file = json.loads((folder / "r.json").read_text())["files"][0]
    assert (file["records"], file["texts"], file["records_without_the_column"]) == (5, 3, 2)
    assert sorted(file["unprotected_columns"]) == ["big", "m", "n"]
    # A key that is nowhere is a slip; what was written for it has the true text, and goes.
    ended = cli.privatize("in", "-o", "new", "-c", "txt", *SPARK)
    assert ended.code == 2
    assert "no record has the key 'txt'" in ended.err
    assert sorted(path.name for path in folder.iterdir()) == ["in", "out", "r.json"]


def test_packed_lines_and_texts_inside_objects(
    spark: "SparkSession", cli: Cli, folder: Path
) -> None:
    lines = '{"id": 1.10, "turns": [{"text": "cold zyxcanary", "n": 1}, {"text": null}]}\n'
    (folder / "in" / "a.jsonl.gz").write_bytes(gzip.compress(lines.encode() * 300))
    ended = cli.privatize("in", "-o", "out", "-c", "turns[].text", *SPARK, "--report", "r.json")
    assert ended.code == 0, ended.err
    (made,) = parts(folder / "out")
    for line in made.decode().splitlines():
        private = json.loads(line)["turns"][0]["text"]
        assert_private(private)
        assert line == lines[:-1].replace("cold zyxcanary", private)
    file = json.loads((folder / "r.json").read_text())["files"][0]
    assert (file["records"], file["texts"]) == (300, 300)
    assert sorted(file["unprotected_columns"]) == ["id", "turns[].n"]
    whole = gzip.compress(b"id,text\n" + b"1,zyxcanary\n" * 3_000)
    for data in (whole[:-9], whole + b"zyxcanary", b"id,text\n1,zyxcanary\n"):
        (folder / "in" / "a.csv.gz").write_bytes(data)
        ended = cli.privatize("in/a.csv.gz", "-o", "new", "-c", "text", *SPARK)
        assert ended.code == 1
        assert "canary" not in ended.err
        assert not (folder / "new").exists()


def test_parquet_keeps_its_other_columns(spark: "SparkSession", cli: Cli, folder: Path) -> None:
    table = pa.table(
        {
            "key": pa.array([1, 2, 3], pa.int16()),
            "text": ["cold", None, "hot hot"],
            "when": pa.array([0, 1, None], pa.timestamp("us", tz="UTC")),
            "list": [[1, 2], [], None],
            "raw": [b"\xff", b"", None],
        }
    )
    pq.write_table(table, folder / "in" / "a.parquet")
    ended = cli.privatize("in", "-o", "out", "-c", "text", *SPARK)
    assert ended.code == 0, ended.err
    made = pq.read_table(folder / "out").sort_by("key")
    # Spark's own form of a time, unless told otherwise, has no zone and is in UTC.
    made = made.set_column(2, "when", made["when"].cast(table["when"].type))
    for name in ("key", "when", "list", "raw"):
        assert made[name].to_pylist() == table[name].to_pylist(), name
    assert [len((text or "").split()) for text in made["text"].to_pylist()] == [1, 0, 2]
    ended = cli.privatize("in", "-o", "out", "-c", "text", *SPARK)
    assert ended.code == 1
    assert "exists already" in ended.err
    assert cli.privatize("in", "-o", "out", "-c", "text", *SPARK, "--force").code == 0


def test_options_that_do_not_fit(cli: Cli, folder: Path) -> None:
    (folder / "in" / "a.csv").write_text("text\ncold\n")

    def refused(*arguments: str) -> str:
        ended = cli.privatize("in", *arguments, "-c", "text")
        assert ended.code == 2
        return ended.err

    assert "--seed has no meaning" in refused("-o", "out", *SPARK, "--seed", "1")
    assert "--resume has no meaning" in refused("-o", "out", *SPARK, "--resume")
    assert "writes one folder" in refused(*SPARK)
    assert "this is txt" in refused("-o", "out", *SPARK, "--format", "txt")
    assert "is for --engine spark" in refused("-o", "out", "--master", "local")
    (folder / "in" / "b.jsonl").write_text("{}\n")
    assert "name it with --format" in refused("-o", "out", *SPARK)


def test_an_input_that_is_not_there(spark: "SparkSession", cli: Cli, folder: Path) -> None:
    ended = cli.privatize("gone.parquet", "-o", "out", "-c", "text", *SPARK)
    assert ended.code == 2
    assert "Spark does not find the input" in ended.err


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, spark: "SparkSession") -> None:
    """For processes of their own: nothing of this one's session, and Java that starts soon."""
    for name in ("PYSPARK_PYTHON", "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


@pytest.mark.usefixtures("alone")
def test_a_session_of_its_own(folder: Path, lexicon_file: Path) -> None:
    """In a process of its own there is no session yet, and the one it starts ends with it."""
    (folder / "in" / "a.jsonl").write_text('{"text": "cold zyxcanary"}\n')
    arguments = ["privatize", "in", "-o", "out", "-c", "text", "--epsilon", "1", *SPARK]
    arguments += ["--master", "local[1]", "--lexicon", str(lexicon_file)]
    ended = subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments], capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    assert "2 words in 1 record" in " ".join(ended.stderr.split())
    (made,) = parts(folder / "out")
    assert_private(json.loads(made)["text"])


def test_a_signal_cancels_the_job(
    spark: "SparkSession", cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not wait for the job; what cleans up has a way to Java that was not cut."""
    (folder / "in" / "a.jsonl").write_text('{"text": "cold"}\n')
    cleaned, waited = [], folder / "waited"

    def interrupt(jobs: Any) -> None:
        while not jobs.getActiveJobsIds():
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    def task(_: int) -> None:
        time.sleep(60)
        waited.touch()

    def endless(session: "SparkSession", *_: object, **__: object) -> None:
        context = session.sparkContext
        threading.Thread(target=interrupt, args=(context.statusTracker(),)).start()
        try:
            context.parallelize([0], 1).foreach(task)
        finally:
            cleaned.append(context.parallelize([0], 1).getNumPartitions())

    monkeypatch.setattr("malaprop.integrations.spark.privatize_files", endless)
    ended = cli.privatize("in", "-o", "out", "-c", "text", *SPARK)
    assert (ended.code, cleaned) == (130, [1])
    assert "Traceback" not in ended.err
    assert not waited.exists()
    assert not spark.sparkContext.statusTracker().getActiveJobsIds()


def family(parent: int) -> dict[int, str]:
    """The children of a process, and theirs, with their commands."""
    found: dict[int, str] = {}
    with suppress(OSError):  # it may end meanwhile
        for thread in Path(f"/proc/{parent}/task").iterdir():
            for child in (thread / "children").read_text().split():
                found[int(child)] = Path(f"/proc/{child}/cmdline").read_text()
                found |= family(int(child))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.usefixtures("alone")
def test_a_signal_while_spark_starts(folder: Path, lexicon_file: Path) -> None:
    """Java ends, too, though it was not there yet when the signal came."""
    (folder / "in" / "a.jsonl").write_text('{"text": "cold"}\n')
    arguments = ("privatize", "in", "-o", "out", "-c", "text", "--epsilon", "1", *SPARK, "-q")
    with running(*arguments, "--master", "local[1]", "--lexicon", lexicon_file) as process:
        while not any("SparkSubmit" in command for command in family(process.pid).values()):
            assert process.poll() is None
            time.sleep(0.05)
        java = family(process.pid)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=600)
    assert process.returncode == 128 + signal.SIGTERM
    assert (out, err) == (b"", b"malaprop: stopped: no output file was written\n")
    assert not [child for child in java if _lives(child)]


def _lives(process: int) -> bool:
    """Whether a process is there, and not only its entry in the table."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.usefixtures("alone")
def test_java_that_is_not_there(
    folder: Path, lexicon_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(folder / "nowhere"))
    (folder / "in" / "a.jsonl").write_text('{"text": "cold"}\n')
    arguments = ("privatize", "in", "-o", "out", "-c", "text", "--epsilon", "1", *SPARK, "-q")
    with running(*arguments, "--lexicon", lexicon_file) as process:
        _, err = process.communicate(timeout=600)
    assert process.returncode == 1
    assert b"let JAVA_HOME, if it is set, name the folder" in err
