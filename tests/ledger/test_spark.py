"""Spark debits a ledger: in the tasks, before each draw, and once however often they are tried."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.spark.frames import ANYTHING

from malaprop import Lexicon, MalapropError, Privatizer
from malaprop.ledger import Ledger

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
pytestmark = pytest.mark.xdist_group("spark")
PRICE = Decimal("0.001")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(f"sqlite:///{tmp_path}/ledger.db", secret=bytes(range(32))) as made:
        yield made


def test_each_record_is_debited_once_though_tasks_are_tried_again(
    spark: "SparkSession", hundred: Lexicon, tmp_path: Path, ledger: Ledger
) -> None:
    from malaprop.integrations.spark import privatize

    frame = spark.range(200, numPartitions=4).selectExpr(
        "id", "concat('s', id % 5) AS who", "'waa wab' AS text"
    )

    def failing(batches: "Iterator[Any]") -> "Iterator[Any]":
        from pyspark import TaskContext

        yield from batches  # all of it is debited and drawn by then
        if TaskContext.get().attemptNumber() == 0:  # type: ignore[union-attr]
            raise RuntimeError("the first attempt dies at its end")

    tried_again = frame.mapInPandas(failing, frame.schema)
    private = privatize(
        tried_again,
        ["text"],
        lexicon=hundred,
        mechanism=ANYTHING,
        path=str(tmp_path / "private"),
        ledger=ledger,
        subject_column="who",
    )
    assert private.dataframe.count() == 200
    assert ledger.budget().spent == 200 * PRICE
    assert ledger.budget(subject="s3").spent == 40 * PRICE
    assert ledger.verify() == []


@pytest.mark.parametrize("on_error", ["skip", "mask"])
def test_records_over_the_limit_are_refused(
    spark: "SparkSession", hundred: Lexicon, tmp_path: Path, ledger: Ledger, on_error: Any
) -> None:
    from malaprop.integrations.spark import privatize

    ledger.set_limits(subject_epsilon=10 * PRICE)
    frame = spark.range(100, numPartitions=2).selectExpr(
        "id", "concat('s', id % 5) AS who", "'waa' AS text"
    )
    private = privatize(
        frame,
        ["text"],
        lexicon=hundred,
        mechanism=ANYTHING,
        path=str(tmp_path / "private"),
        ledger=ledger,
        subject_column="who",
        on_error=on_error,
    )
    rows = private.dataframe.collect()
    masked = [row for row in rows if row["text"] == "[masked]"]
    assert len(rows) - len(masked) == 50
    assert len(masked) == (50 if on_error == "mask" else 0)
    assert private.report.files[0].counts.faulty == 50
    assert ledger.budget(subject="s1").spent == 10 * PRICE
    assert ledger.verify() == []


def test_lines_of_json_stop_at_the_limit(
    spark: "SparkSession", hundred: Lexicon, tmp_path: Path, ledger: Ledger
) -> None:
    from malaprop.files.formats import Layout
    from malaprop.integrations.spark import privatize_files

    source = tmp_path / "notes"
    source.mkdir()
    line = '{"who": "Ann", "text": "waa"}\n'
    (source / "a.jsonl").write_text(line * 6)
    layout = Layout(format="jsonl", columns=("text",), label="who")
    own = Privatizer(hundred, ANYTHING)
    ledger.set_limits(subject_epsilon=10 * PRICE)
    privatize_files(spark, str(source), str(tmp_path / "one"), layout, own, ledger=ledger)
    assert ledger.budget(subject="Ann").spent == 6 * PRICE
    with pytest.raises(MalapropError, match="budget") as refused:
        privatize_files(spark, str(source), str(tmp_path / "two"), layout, own, ledger=ledger)
    assert "Ann" not in str(refused.value)
    assert not (tmp_path / "two").exists()
    assert ledger.budget(subject="Ann").spent == 6 * PRICE
