"""`malaprop privatize --engine spark`: folders in, folders out."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.conftest import COMMAND, Cli, assert_private, words_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("spark")
SPARK = ("--engine", "spark")


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
    assert "Protected 6 words" in ended.flat
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
    assert report["files"][0]["records"] == 4
    assert report["files"][0]["unprotected_columns"] == ["id", "other"]


@pytest.mark.parametrize("on_error", ["fail", "skip", "mask"])
def test_rows_that_do_not_fit(spark: "SparkSession", cli: Cli, folder: Path, on_error: str) -> None:
    (folder / "in" / "a.csv").write_text("id,text\n1,cold\n2,zyxcanary,hot,more\n3,hot\n")
    ended = cli.privatize("in", "-o", "out", "-c", "text", *SPARK, "--on-error", on_error)
    assert "zyxcanary" not in ended.err
    if on_error == "fail":
        assert ended.code == 1
        assert "is no row of the table's columns" in ended.flat
        assert sorted(path.name for path in folder.iterdir()) == ["in"]
        return
    assert ended.code == 0, ended.err
    (made,) = parts(folder / "out")
    lines = made.decode().splitlines()
    assert ended.flat.count("1 record") == 1
    assert [line.split(",")[0] for line in lines if "[masked]" not in line] == ["id", "1", "3"]
    assert [line for line in lines if "[masked]" in line] == [",[masked]"] * (on_error == "mask")


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


def test_a_session_of_its_own(spark: "SparkSession", folder: Path, lexicon_file: Path) -> None:
    """In a process of its own there is no session yet, and the one it starts ends with it."""
    (folder / "in" / "a.jsonl").write_text('{"text": "cold zyxcanary"}\n')
    arguments = ["privatize", "in", "-o", "out", "-c", "text", "--epsilon", "2", *SPARK]
    arguments += ["--master", "local[1]", "--lexicon", str(lexicon_file)]
    gone = ("PYSPARK_PYTHON", "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET")
    environment = {name: value for name, value in os.environ.items() if name not in gone}
    environment["JDK_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # to start soon
    ended = subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments], capture_output=True, env=environment, text=True
    )
    assert ended.returncode == 0, ended.stderr
    assert "Protected 2 words" in " ".join(ended.stderr.split())
    (made,) = parts(folder / "out")
    assert_private(json.loads(made)["text"])
