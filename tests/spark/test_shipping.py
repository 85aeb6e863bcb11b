"""Lexicons that are shipped to a cluster."""

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.spark.frames import ANYTHING, HUNDRED, MANY, texts_of

from malaprop import TEM, Balanced, Lexicon
from malaprop.lexicon.store import write
from malaprop.lexicon.tables import ExponentTable, keep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("spark")


def test_other_columns_need_no_other_lexicon(
    spark: "SparkSession", hundred: Lexicon, tmp_path: Path
) -> None:
    from malaprop.integrations.spark import privatize

    frame = texts_of(spark, ["waa"], 1)
    opened = 0
    for i, columns in enumerate([["text"], ["other"], ["text", "other"], ["text"], ["other"]]):
        found = privatize(
            frame, columns, lexicon=hundred, mechanism=ANYTHING, path=str(tmp_path / f"{i}")
        )
        opened += found.report.engine["lexicons_opened"]
    assert opened <= 2  # processes


@pytest.mark.parametrize("mechanism", [TEM(epsilon=2.0), Balanced(epsilon=2.0)])
def test_a_lexicon_that_was_not_audited(
    spark: "SparkSession", tmp_path: Path, mechanism: Any
) -> None:
    """An executor has it under another name, which the hint at an audit quotes."""
    from malaprop.integrations.spark import privatize

    own = Lexicon(MANY, np.arange(len(MANY), dtype=np.float32)[:, None])
    if mechanism.needs == "graph":
        own = own.with_graph(edges=pairwise(MANY))
    own.save(tmp_path / "mine")
    found = privatize(
        texts_of(spark, ["waaa wabb"], 1),
        ["text"],
        lexicon=Lexicon.open(tmp_path / "mine"),
        mechanism=mechanism,
        path=str(tmp_path / "private"),
    )
    assert "malaprop lexicon" in found.report.hint
    assert found.report.counts["protected"] == 2


def test_a_lexicon_travels_with_its_metric_and_its_tables(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from malaprop.integrations.spark import privatize

    frame = texts_of(spark, ["waa wbb", "wcc"], 2)
    own = Lexicon(HUNDRED, np.eye(100), metric=lambda x, y: float(np.abs(x - y).sum()))
    private = privatize(
        frame, ["text"], lexicon=own, mechanism=ANYTHING, path=str(tmp_path / "own")
    )
    assert private.report.counts["protected"] == 3

    monkeypatch.setenv("MALAPROP_HOME", str(tmp_path / "home"))
    vectors = np.arange(2100, dtype=np.float32)[:, None]
    folder = tmp_path / "home" / "lexicons" / "many"
    stated = write(folder, [(MANY, vectors)], metric="euclidean").fingerprint
    table = ExponentTable(fingerprint=stated, diameter=2099.0, exponents=(1.8,), losses=(1.9,))
    kept = keep(table)
    many = Lexicon.open("many")
    kept.unlink()  # the lexicon carries its table, not the way to it
    private = privatize(
        frame, ["text"], lexicon=many, mechanism=TEM(epsilon=2.0), path=str(tmp_path / "many")
    )
    # An executor without the table would have refused to draw by another law.
    assert private.report.hint == ""
    assert private.report.lexicon.fingerprint == stated
