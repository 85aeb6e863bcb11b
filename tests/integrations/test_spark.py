"""Private text on a real cluster: each row once, with noise of its own, whatever dies."""

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats
from tests.spark.frames import ANYTHING, HUNDRED, rows_of, texts_of

from malaprop import TEM, Balanced, DataError, Lexicon, OutputError, ParameterError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession
pytestmark = pytest.mark.xdist_group("spark")


def test_every_row_is_there_once(spark: "SparkSession", hundred: Lexicon, tmp_path: Path) -> None:
    from malaprop.integrations.spark import privatize

    texts = [None if i % 10 == 3 else " ".join(["waa"] * (i % 7)) for i in range(500)]
    words = sum(len(text.split()) for text in texts if text)
    path = str(tmp_path / "private")
    found = privatize(
        texts_of(spark, texts, 8), ["text"], lexicon=hundred, mechanism=ANYTHING, path=path
    )
    rows = rows_of(found.dataframe)
    assert [row["key"] for row in rows] == list(range(500))
    assert [row["other"] for row in rows] == [f"k{i}" for i in range(500)]
    for row, text in zip(rows, texts, strict=True):
        assert (row["text"] is None) == (text is None)
        assert len((row["text"] or "").split()) == len((text or "").split())
    assert {word for row in rows for word in (row["text"] or "").casefold().split()} <= set(HUNDRED)
    assert found.report.counts["protected"] == found.report.counts["in_lexicon"] == words
    (file,) = found.report.files
    assert (file.counts.records, file.counts.cells) == (500, 450)
    assert file.counts.other_columns == ("key", "other")
    # Eight tasks, two processes, each of which opens the lexicon once.
    assert 1 <= found.report.engine["lexicons_opened"] <= 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["private"]
    # What has been drawn stays: looking again does not draw again.
    assert rows_of(found.dataframe) == rows
    with pytest.raises(OutputError, match="exists already"):
        privatize(found.dataframe, ["text"], lexicon=hundred, mechanism=ANYTHING, path=path)


def test_what_is_declared_public_travels(
    spark: "SparkSession", hundred: Lexicon, tmp_path: Path
) -> None:
    from malaprop.integrations.spark import privatize

    found = privatize(
        texts_of(spark, ["<b x='zyx'>waa</b> zyxflu [NAME] waa"] * 40),
        ["text"],
        lexicon=hundred,
        mechanism=ANYTHING,
        path=str(tmp_path / "private"),
        keep=["zyxflu", "placeholders"],
        markup="html",
    )
    for row in rows_of(found.dataframe):
        assert row["text"].startswith("<b>W")
        assert "</b> zyxflu [NAME] w" in row["text"]
    assert found.report.counts["public_markup"] == found.report.counts["protected"] == 80
    assert found.report.counts["public_words"] == found.report.counts["public_placeholders"] == 40
    assert "“zyxflu”" in str(found.report.guarantee)


def test_names_are_redrawn_and_a_detector_works_in_the_tasks(
    spark: "SparkSession", hundred: Lexicon, tmp_path: Path
) -> None:
    pytest.importorskip("presidio_analyzer")
    from malaprop.integrations.presidio import PresidioDetector
    from malaprop.integrations.spark import privatize

    found = privatize(
        texts_of(spark, ["waa Thandazile Okafor waa zinhle@mthembu.org"] * 40),
        ["text"],
        lexicon=hundred,
        mechanism=ANYTHING,
        path=str(tmp_path / "private"),
        redraw="names",
        detector=PresidioDetector(),
    )
    texts = [row["text"] for row in rows_of(found.dataframe)]
    assert len(set(texts)) == 40
    assert not any("Okafor" in text or "Thanda" in text for text in texts)
    assert all(text.endswith("@example.org") for text in texts)
    assert (found.report.counts["names"], found.report.counts["entities"]) == (80, 40)


def test_texts_can_be_readable(spark: "SparkSession", tmp_path: Path) -> None:
    from malaprop.integrations.spark import privatize

    texts: list[str | None] = ["She takes aspirin twice; her blood pressure is higher."] * 200
    path, chosen = str(tmp_path / "private"), Balanced(epsilon=1.5)
    table, english = texts_of(spark, texts), Lexicon.open("english").with_graph()
    found = privatize(table, ["text"], lexicon=english, mechanism=chosen, path=path, readable=True)
    assert any("bigrams" in fact for fact in found.report.guarantee.public)
    private = " ".join(row["text"] for row in rows_of(found.dataframe))
    # As drawn, about every third "blood pressure" stays both words.
    assert private.count("blood pressure") > 100


def test_no_two_tasks_have_the_same_noise(
    spark: "SparkSession", hundred: Lexicon, tmp_path: Path
) -> None:
    from malaprop.integrations.spark import privatize

    spark.sparkContext.setCheckpointDir(str(tmp_path))
    frame = texts_of(spark, ["waa " * 40] * 64, 8)
    seen = [
        row["text"].casefold().split()
        for _ in range(2)  # the same processes again
        for row in privatize(
            frame, ["text"], lexicon=hundred, mechanism=ANYTHING
        ).dataframe.collect()
    ]
    # No noise runs behind another: no eight words in a row are shared.
    runs = [tuple(words[i : i + 8]) for words in seen for i in range(33)]
    assert len(seen) == 128
    assert len(set(runs)) == len(runs)


def test_equal_words_of_a_text_can_share_a_draw(
    spark: "SparkSession", hundred: Lexicon, tmp_path: Path
) -> None:
    from malaprop.integrations.spark import privatize

    texts: list[str | None] = ["wjj wjj wjj"] * 600 + ["wjj " * 9] * 8 + [None]
    found = privatize(
        texts_of(spark, texts, 8),
        ["text"],
        lexicon=hundred,
        mechanism=ANYTHING,
        path=str(tmp_path / "private"),
        repeat="document",
    )
    words = [row["text"].casefold().split() for row in rows_of(found.dataframe) if row["text"]]
    assert all(len(set(text)) == 1 for text in words)
    assert len({text[0] for text in words}) > 90
    facts, promise = found.report.repetition, found.report.guarantee
    # Tasks count texts by how often a word occurs: their largest number is that of all of them.
    assert (facts.most, facts.texts, promise.per) == (9, 8, "distinct word")


def test_the_law_is_that_of_the_local_engine(spark: "SparkSession", tmp_path: Path) -> None:
    from malaprop.integrations.spark import privatize

    words = ["zero", "one", "three", "seven"]
    small = Lexicon(words, [[0.0], [1.0], [3.0], [7.0]])
    mechanism = TEM(epsilon=0.8)
    texts: list[str | None] = [f"{words[i % 4]} " * 250 for i in range(400)]
    private = privatize(
        texts_of(spark, texts),
        ["text"],
        lexicon=small,
        mechanism=mechanism,
        path=str(tmp_path / "p"),
    )
    counts: dict[str, Counter[str]] = {word: Counter() for word in words}
    for row in private.dataframe.collect():
        counts[words[row["key"] % 4]].update(row["text"].casefold().split())
    observed = np.array([[counts[word][other] for other in words] for word in words])
    law = np.exp(mechanism.on(small).log_probabilities(np.arange(4)))
    assert observed.sum() == 100_000
    assert _chi_square(observed, law) > 1e-6
    # It would have noticed an exponent that is 5 % off.
    off = np.exp(TEM(epsilon=0.84).on(small).log_probabilities(np.arange(4)))
    assert _chi_square(observed, off) < 1e-6


def _chi_square(observed: Any, law: Any) -> float:
    expected = law * observed.sum(axis=1, keepdims=True)
    found = ((observed - expected) ** 2 / expected).sum()
    return float(stats.chi2.sf(found, observed.size - len(observed)))


def test_a_killed_executor_loses_and_doubles_nothing(
    spark: "SparkSession", hundred: Lexicon, tmp_path: Path
) -> None:
    from malaprop.integrations.spark import privatize

    marks = tmp_path / "killed"
    marks.mkdir()

    def sabotage(batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Kill the executor in the middle of a partition, once."""
        for batch in batches:
            for row in range(batch.num_rows):
                if batch.column(0)[row].as_py() == 333 and not any(marks.iterdir()):
                    daemon = os.getppid()
                    with open(f"/proc/{daemon}/stat") as file:
                        executor = int(file.read().rpartition(")")[2].split()[1])
                    (marks / str(executor)).touch()
                    os.kill(executor, signal.SIGKILL)
                yield batch.slice(row, 1)

    texts: list[str | None] = ["waa wbb wcc"] * 600
    frame = texts_of(spark, texts, 6)
    frame = frame.mapInArrow(sabotage, frame.schema)
    found = privatize(
        frame, ["text"], lexicon=hundred, mechanism=ANYTHING, path=str(tmp_path / "private")
    )
    assert len(list(marks.iterdir())) == 1
    assert [row["key"] for row in rows_of(found.dataframe)] == list(range(600))
    assert found.report.counts["protected"] == 1800
    assert found.report.files[0].counts.records == 600


@pytest.mark.parametrize("on_error", ["fail", "skip", "mask"])
def test_texts_that_cannot_be_processed(
    spark: "SparkSession", hundred: Lexicon, tmp_path: Path, on_error: Any
) -> None:
    from malaprop.integrations.spark import privatize

    def made() -> Any:
        frame = texts_of(spark, ["waa", "secret \0", "wbb"], 1)
        path = str(tmp_path / "private")
        return privatize(
            frame, ["text"], lexicon=hundred, mechanism=ANYTHING, path=path, on_error=on_error
        )

    if on_error == "fail":
        with pytest.raises(DataError, match="a record holds a NUL character") as raised:
            made()
        assert "secret" not in str(raised.value)
        assert raised.value.__context__ is None
        assert not list(tmp_path.iterdir())
        return
    found = made()
    rows = rows_of(found.dataframe)
    assert [row["key"] for row in rows] == ([0, 2] if on_error == "skip" else [0, 1, 2])
    assert found.report.files[0].counts.records == 3
    assert [row["text"] for row in rows if row["key"] == 1] == ["[masked]"] * (on_error == "mask")
    assert found.report.files[0].counts.faulty == 1


def test_null_stays_null_in_a_masked_row(
    spark: "SparkSession", hundred: Lexicon, tmp_path: Path
) -> None:
    from malaprop.integrations.spark import privatize

    frame = spark.createDataFrame([("waa \0", None)], "text string, more string")
    path = str(tmp_path / "private")
    found = privatize(
        frame, ["text", "more"], lexicon=hundred, mechanism=ANYTHING, path=path, on_error="mask"
    )
    assert [tuple(row) for row in found.dataframe.collect()] == [("[masked]", None)]


def test_no_note_on_a_column_reaches_the_output(
    spark: "SparkSession", hundred: Lexicon, tmp_path: Path
) -> None:
    """Notes may hold anything, and Spark writes those of a table into each of its files."""
    from pyspark.sql.types import ArrayType, MapType, StringType, StructField, StructType

    from malaprop.integrations.spark import privatize

    canary = {"comment": "zyxcanary"}
    inner = StructType([StructField("deep", StringType(), True, canary)])
    schema = StructType(
        [
            StructField("text", StringType(), True, canary),
            StructField("other", StringType(), True, canary),
            StructField("struct", inner, True, canary),
            StructField("list", ArrayType(inner), True, canary),
            StructField("map", MapType(StringType(), ArrayType(inner)), True, canary),
        ]
    )
    row = ("waa", "b", ("c",), [("d",)], {"k": [("e",)]})
    frame = spark.createDataFrame([row], schema)
    path = tmp_path / "private"
    found = privatize(frame, ["text"], lexicon=hundred, mechanism=ANYTHING, path=str(path))
    assert all(b"zyxcanary" not in file.read_bytes() for file in path.iterdir())
    assert found.dataframe.drop("text").collect() == frame.drop("text").collect()


def test_what_cannot_be_done_is_refused(
    spark: "SparkSession", hundred: Lexicon, tmp_path: Path
) -> None:
    from malaprop.integrations.spark import privatize

    def refused(frame: Any, columns: Any, path: str | None = str(tmp_path / "p")) -> str:
        with pytest.raises((ParameterError, DataError)) as raised:
            privatize(frame, columns, lexicon=hundred, mechanism=ANYTHING, path=path)
        return str(raised.value)

    frame = texts_of(spark, ["waa"])
    assert "no column is named 'txt'" in refused(frame, ["txt"])
    assert "only text" in refused(frame, ["key"])
    assert "list of names" in refused(frame, "text")
    assert "needs the columns" in refused(frame, [])
    assert "Got str" in refused("text", ["text"])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("package", ["pyspark", "pandas"])
def test_without_a_package_it_says_what_to_install(package: str) -> None:
    code = f"import sys; sys.modules['{package}'] = None; import malaprop.integrations.spark"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"needs the package {package}: run  pip install 'pyspark[sql]" in ended.stderr
