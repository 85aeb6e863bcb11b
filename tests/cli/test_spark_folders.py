"""`--engine spark`: nothing of the input is lost or left out, and nothing replaced but outputs."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.conftest import Cli, assert_private

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.usefixtures("spark")]
ASKED = ("-c", "text", "--engine", "spark")
INFERENCE = "spark.sql.sources.partitionColumnTypeInference.enabled"
MOST = "spark.sql.files.maxPartitionNum"


@pytest.fixture(autouse=True)
def inputs(folder: Path) -> None:
    (folder / "in").mkdir()


def parquet(path: Path, **columns: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table(columns), path)


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def refused(cli: Cli, folder: Path, source: str, target: str, *more: str) -> str:
    """What is said where the job is refused, and all files stay as they are."""
    before = everything(folder)
    ended = cli.privatize(source, "-o", target, *ASKED, *more)
    assert ended.code in (1, 2)
    assert "internal error" not in ended.err
    assert everything(folder) == before
    return ended.flat


@pytest.mark.parametrize("target", ["data", "data/in", "data/in/out", "link"])
def test_an_output_that_holds_the_input(cli: Cli, folder: Path, target: str) -> None:
    for name in ("data/_SUCCESS", "data/in/_SUCCESS", "data/in/out/_SUCCESS", "data/other"):
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).touch()
    (folder / "link").symlink_to(folder / "data")
    parquet(folder / "data" / "in" / "a.parquet", text=["cold"])
    said = refused(cli, folder, "data/in", target, "--force", "--format", "parquet")
    assert "choose another output" in said


def test_only_what_spark_has_made_is_replaced(cli: Cli, folder: Path) -> None:
    parquet(folder / "in" / "a.parquet", text=["cold"])
    (folder / "out").mkdir()
    (folder / "file").write_text("")
    (folder / "out" / "precious").write_text("")
    assert "no _SUCCESS in it" in refused(cli, folder, "in", "out", "--force")
    assert "is a file" in refused(cli, folder, "in", "file", "--force")
    (folder / "out" / "precious").unlink()
    for _ in range(2):  # an empty folder; and an output
        assert cli.privatize("in", "-o", "out", *ASKED, "--force").code == 0
        assert (folder / "out" / "_SUCCESS").exists()


def test_a_report_in_the_output(cli: Cli, folder: Path) -> None:
    """Replaced with the output, it could not be written: that is said before the work starts."""
    parquet(folder / "in" / "a.parquet", text=["cold"])
    (folder / "out").mkdir()
    (folder / "out" / "_SUCCESS").touch()
    said = refused(cli, folder, "in", "out", "--force", "--report", "out/r.json")
    assert "--report" in said
    assert "is an output" in said


def test_parquet_files_with_different_columns(cli: Cli, folder: Path) -> None:
    parquet(folder / "in" / "a.parquet", text=["cold"], k=[1])
    parquet(folder / "in" / "b.parquet", text=["hot"], z=["007"])
    ended = cli.privatize("in", "-o", "out", *ASKED)
    assert ended.code == 0, ended.err
    rows = pq.read_table(folder / "out").to_pylist()
    assert sorted((row["k"], row["z"]) for row in rows if row["k"]) == [(1, None)]
    assert sorted((row["k"], row["z"]) for row in rows if row["z"]) == [(None, "007")]
    assert "k, z" in ended.flat
    parquet(folder / "in" / "c.parquet", k=[3])  # would be null, without a word
    assert "has no column 'text'" in refused(cli, folder, "in", "new")
    parquet(folder / "in" / "c.parquet", text=["cold"], k=["3"])
    assert "other types than" in refused(cli, folder, "in", "new")
    (folder / "in" / "c.parquet").write_bytes(b"PAR1 zyxcanary PAR1")
    said = refused(cli, folder, "in", "new")
    assert "is corrupt" in said
    assert "canary" not in said


def test_folders_that_stand_for_a_column(spark: "SparkSession", cli: Cli, folder: Path) -> None:
    parquet(folder / "in" / "id=007" / "a.parquet", text=["cold", None])
    ended = cli.privatize("in", "-o", "out", *ASKED, "--format", "parquet")
    assert ended.code == 0, ended.err
    assert {row["id"] for row in pq.read_table(folder / "out").to_pylist()} == {"007"}
    assert spark.conf.get(INFERENCE) == "true"  # as it was
    (folder / "lines" / "lang=en").mkdir(parents=True)
    (folder / "lines" / "lang=en" / "a.jsonl").write_text('{"text": "cold"}\n')
    assert "one by one" in refused(cli, folder, "lines", "new", "--format", "jsonl")


@pytest.mark.parametrize("format_", ["parquet", "csv", "jsonl"])
def test_files_in_folders_of_the_input(cli: Cli, folder: Path, format_: str) -> None:
    """Spark would not read them, nor say so."""
    (folder / "in" / "more").mkdir()
    for name in ("a", "more/b"):
        path = folder / "in" / f"{name}.{format_}"
        if format_ == "parquet":
            parquet(path, text=["cold"])
        else:
            path.write_text("text\ncold\n" if format_ == "csv" else '{"text": "cold"}\n')
    said = refused(cli, folder, "in", "out", "--format", format_)
    assert "1 of the input's 2 files lie in folders" in said


def test_names_with_signs_that_mean_something(cli: Cli, folder: Path) -> None:
    columns = {"a.b": [1], "text": ["cold"], "x`y": [2], "more.text": ["hot"]}
    parquet(folder / "in [1]" / "a.parquet", **columns)
    ended = cli.privatize("in [1]", "-o", "out{2}", *ASKED, "-c", "more.text")
    assert ended.code == 0, ended.err
    made = pq.read_table(folder / "out{2}")
    assert made.column_names == list(columns)
    assert (made["a.b"].to_pylist(), made["x`y"].to_pylist()) == ([1], [2])
    assert_private(made["text"][0].as_py() + " " + made["more.text"][0].as_py())
    # A pattern is still one where nothing has that name.
    assert cli.privatize("in ?1]/*.parquet", "-o", "some", *ASKED).code == 0


def test_few_partitions(spark: "SparkSession", cli: Cli, folder: Path) -> None:
    for name in "ab":
        (folder / "in" / f"{name}.csv").write_text("text\ncold\n")
    spark.conf.set(MOST, "1")
    try:
        ended = cli.privatize("in", "-o", "out", *ASKED, "--report", "r.json")
        assert spark.conf.get(MOST) == "1"  # as it was
    finally:
        spark.conf.unset(MOST)
    assert ended.code == 0, ended.err
    assert json.loads((folder / "r.json").read_text())["files"][0]["records"] == 2


def test_an_output_that_cannot_be_written(cli: Cli, folder: Path) -> None:
    parquet(folder / "in" / "a.parquet", text=["cold"])
    said = refused(cli, folder, "in", "/proc/out")
    assert "check the path and the permissions" in said
    assert "UnknownHostException" in refused(cli, folder, "in", "hdfs://no-such-host.invalid/x")
