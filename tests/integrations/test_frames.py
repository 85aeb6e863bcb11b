"""Private text in tables: what stays, what goes, and what is refused before anything is drawn."""

import json
import pickle
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa
import pytest
from tests.spark.frames import ANYTHING, HUNDRED

import malaprop
import malaprop.integrations.frames
from malaprop import DataError, Lexicon, ParameterError, RunReport
from malaprop.integrations import tables

TEXTS = ["waa wbb", None, "wcc", "", "wdd waa"]
WORD = "waa"


def _same_shape(private: list[Any], texts: list[str | None] = TEXTS) -> None:
    """Each text has as many words as before, from the lexicon, and missing ones are missing."""
    for new, old in zip(private, texts, strict=True):
        assert pd.isna(new) == (old is None)
        if old is not None:
            assert len(new.split()) == len(old.split())
            assert set(new.casefold().split()) <= set(HUNDRED)


@pytest.fixture
def chosen(hundred: Lexicon) -> dict[str, Any]:
    return {"mechanism": ANYTHING, "lexicon": hundred}


PANDAS = [
    object,
    "string[python]",
    "string[pyarrow]",
    "category",
    pd.ArrowDtype(pa.string()),
    pd.ArrowDtype(pa.large_string()),
]


@pytest.mark.parametrize("kind", PANDAS, ids=str)
def test_pandas_keeps_index_types_and_missing_texts(kind: Any, chosen: dict[str, Any]) -> None:
    note = pd.Series(TEXTS, index=list("aabcd"), dtype=kind)
    frame = pd.DataFrame({"id": range(5), "note": note.array}, index=note.index)
    before = frame.copy()
    private = malaprop.privatize(frame, columns=["note"], **chosen)
    assert list(private.columns) == ["id", "note"]
    assert private.index.equals(frame.index)
    assert private["id"].equals(frame["id"])
    if kind == "category":
        assert isinstance(private["note"].dtype, pd.CategoricalDtype)
    else:
        assert private["note"].dtype == frame["note"].dtype
    _same_shape(private["note"].tolist())
    assert private["note"].tolist() != frame["note"].tolist()
    pd.testing.assert_frame_equal(frame, before)  # the input is as it was
    alone = frame["note"].malaprop.privatize(**chosen)
    assert (alone.name, alone.dtype.name) == ("note", private["note"].dtype.name)
    assert alone.index.equals(frame.index)
    _same_shape(alone.tolist())


POLARS = [pl.String, pl.Categorical, pl.Enum(["waa wbb", "wcc", "", "wdd waa", "wee"])]


@pytest.mark.parametrize("kind", POLARS, ids=str)
def test_polars(kind: Any, chosen: dict[str, Any]) -> None:
    frame = pl.DataFrame({"id": range(5), "note": pl.Series(TEXTS, dtype=kind)})
    private = malaprop.privatize(frame, columns=["note"], **chosen)
    assert private["id"].equals(frame["id"])
    assert private["note"].dtype == (pl.Categorical if kind == pl.Categorical else pl.String)
    _same_shape(private["note"].to_list())
    column: Any = frame["note"]
    _same_shape(column.malaprop.privatize(**chosen).to_list())
    lazy = malaprop.privatize(frame.lazy(), columns=["note"], **chosen)
    assert isinstance(lazy, pl.LazyFrame)
    # Drawn at once: looking twice shows the same release.
    assert lazy.collect().equals(lazy.collect())


def test_a_lazy_frame_that_fails_shows_no_text() -> None:
    broken = pl.LazyFrame({"note": ["1", "xylophonist"]}).select(pl.col("note").cast(pl.Int64))
    with pytest.raises(DataError, match="cannot be collected") as refused:
        malaprop.privatize(broken.cast(pl.String), columns=["note"], epsilon=1.0)
    assert refused.value.__cause__ is None
    assert "xylophonist" not in "".join(traceback.format_exception(refused.value))


ARROW = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.dictionary(pa.int8(), pa.string()),
]


@pytest.mark.parametrize("kind", ARROW, ids=str)
def test_pyarrow(kind: Any, chosen: dict[str, Any]) -> None:
    note = pa.chunked_array([pa.array(TEXTS[:2]), pa.array(TEXTS[2:])]).cast(kind)
    table = pa.table({"id": range(5), "note": note})
    private = malaprop.privatize(table, columns=["note"], **chosen)
    assert isinstance(private, pa.Table)
    assert private["id"] == table["id"]
    if pa.types.is_dictionary(kind):
        assert pa.types.is_dictionary(private["note"].type)
    else:
        assert private["note"].type == kind
    _same_shape(private["note"].to_pylist())
    column = malaprop.privatize(table["note"], **chosen)
    assert isinstance(column, pa.ChunkedArray)
    _same_shape(column.to_pylist())
    (batch,) = table.combine_chunks().to_batches()
    one = malaprop.privatize(batch, columns=["note"], **chosen)
    assert isinstance(one, pa.RecordBatch)
    _same_shape(one["note"].to_pylist())


def test_no_true_text_stays_in_what_comes_out(chosen: dict[str, Any], tmp_path: Path) -> None:
    """Categories, dictionaries, attributes and notes may hold texts that no row has."""
    canary = "zyxcanary"
    kind = pd.CategoricalDtype([canary, "waa", "wbb"], ordered=True)
    frame = pd.DataFrame({"note": pd.Series(["waa", None], dtype=kind), "rest": [1, 2]})
    frame.attrs = {"example": canary}
    frame["none"] = pd.Series([None, None], dtype=kind)
    private = malaprop.privatize(frame, columns=["note", "none"], **chosen)
    assert canary.encode() not in pickle.dumps(private)
    assert list(private["none"].cat.categories) == []
    assert not private["note"].cat.ordered
    private.to_parquet(tmp_path / "p.parquet")
    assert canary.encode() not in (tmp_path / "p.parquet").read_bytes()
    note = pa.array([canary, "waa"]).dictionary_encode().slice(1)
    schema = pa.schema(
        [pa.field("note", note.type, metadata={"example": canary})], metadata={"x": canary}
    )
    table = malaprop.privatize(pa.table([note], schema=schema), columns=["note"], **chosen)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    assert canary.encode() not in sink.getvalue().to_pybytes()
    enum = pl.DataFrame({"note": pl.Series(["waa"], dtype=pl.Enum([canary, "waa"]))})
    assert canary.encode() not in pickle.dumps(malaprop.privatize(enum, columns=["note"], **chosen))


def test_the_guarantee_travels_and_the_counts_do_not(chosen: dict[str, Any]) -> None:
    frame = pd.DataFrame({"id": [1, 2], "note": ["waa wbb", "wcc"]}, index=["p", "q"])
    private, report = malaprop.privatize(frame, columns=["note"], return_report=True, **chosen)
    assert isinstance(report, RunReport)
    assert report.counts["protected"] == 3
    (record,) = report.files
    assert (record.counts.records, record.counts.cells) == (2, 2)
    assert record.counts.other_columns == ("id", "(index)")
    assert "a pandas DataFrame" in str(report.page())
    note = private.attrs["malaprop"]
    assert note["guarantee"] == report.guarantee.to_dict()
    assert note["guarantee"]["epsilon"] == 0.001
    assert (note["columns"], note["randomness"]) == (["note"], "secure")
    assert "counts" not in json.dumps(note)
    table = malaprop.privatize(pa.table({"note": ["waa"]}), columns=["note"], **chosen)
    assert json.loads(table.schema.metadata[b"malaprop"])["guarantee"] == note["guarantee"]


def test_pandas_index_survives_arrow(chosen: dict[str, Any]) -> None:
    frame = pd.DataFrame({"note": ["waa", None]}, index=pd.Index([7, 9], name="key"))
    back = malaprop.privatize(pa.Table.from_pandas(frame), columns=["note"], **chosen).to_pandas()
    assert back.index.equals(frame.index)
    assert back.index.name == "key"


def test_columns_that_share_a_name_are_all_private(chosen: dict[str, Any]) -> None:
    frame = pd.DataFrame([["waa wbb", 1, "waa wcc"]], columns=["note", "id", "note"])
    private, report = malaprop.privatize(frame, columns=["note"], return_report=True, **chosen)
    assert report.counts["protected"] == 4
    assert list(private.columns) == ["note", "id", "note"]


def test_batches_are_bounded_and_put_together(
    hundred: Lexicon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "BATCH_RECORDS", 7)
    texts = [None if i % 5 == 3 else f"{HUNDRED[i]} " * (i % 3) for i in range(100)]
    with pytest.warns(UserWarning, match="PROTECTS NEXT TO NOTHING"):
        private, report = malaprop.privatize(
            pa.table({"t": texts}),
            columns=["t"],
            mechanism=malaprop.TEM(epsilon=200.0),
            lexicon=hundred,
            return_report=True,
        )
    kept = [None if t is None else t.casefold() for t in private["t"].to_pylist()]
    assert kept == texts
    assert report.counts["protected"] == sum(len((text or "").split()) for text in texts)


def test_a_seed_repeats_it_and_says_so(chosen: dict[str, Any]) -> None:
    table = pa.table({"t": ["waa " * 20]})
    with pytest.warns(UserWarning, match="NOT PRIVATE"):
        one = malaprop.privatize(table, columns=["t"], seed=4, **chosen)
    with pytest.warns(UserWarning, match="NOT PRIVATE"):
        two = malaprop.privatize(table, columns=["t"], seed=4, **chosen)
    assert one["t"] == two["t"]
    assert json.loads(one.schema.metadata[b"malaprop"])["randomness"] == "seeded: not private"
    free = [malaprop.privatize(table, columns=["t"], **chosen)["t"] for _ in range(2)]
    assert free[0] != free[1]


FRAME = pd.DataFrame({"id": [1, 2], "note": ["waa", "wbb"], "mixed": ["waa", 5]})
WRONG: list[tuple[Any, dict[str, Any], str]] = [
    (FRAME, {"columns": ["nota"]}, "no column is named 'nota' in the table.*Did you mean 'note'"),
    (FRAME, {}, "must be a list of names"),
    (FRAME, {"columns": "note"}, "must be a list of names"),
    (FRAME, {"columns": []}, "must be a list of names"),
    (FRAME, {"columns": FRAME["note"]}, "must be a list of names.*Got Series"),
    (FRAME, {"columns": ["id"]}, "'id' has a value of type int in row 0"),
    (FRAME, {"columns": ["note", "mixed"]}, "'mixed' has a value of type int in row 1"),
    (pl.DataFrame({"id": [1], "b": ["a"]}), {"columns": ["b", "id"]}, "'id' has the type Int64"),
    (pl.DataFrame({"a": [["b"]]}).lazy(), {"columns": ["a"]}, "'a' has the type List"),
    (pa.table({"id": [1]}), {"columns": ["id"]}, "'id' has the type int64"),
    (pa.table({"id": [1]}), {"columns": ["no"]}, "no column is named 'no'"),
    (pd.Series(["waa"]), {"columns": ["note"]}, "is one column"),
    (["waa"], {}, "takes a table or a column of pandas, polars or pyarrow. Got list"),
    ({"note": ["waa"]}, {"columns": ["note"]}, "Got dict"),
    (pd.Series(["waa\0"]), {}, "row 0, counted from 0, holds a NUL"),
    (pd.Series(["waa\ud800"], dtype=object), {}, "half of a surrogate pair"),
    (FRAME, {"columns": ["note"], "epsilom": 1.0}, "epsilom"),
]


@pytest.mark.parametrize(("table", "wrong", "message"), WRONG, ids=range(len(WRONG)))
def test_wrong_input_is_refused_before_any_work(
    table: Any,
    wrong: dict[str, Any],
    message: str,
    chosen: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(malaprop.Privatizer, "batch", None)
    with pytest.raises((ParameterError, DataError), match=message) as caught:
        malaprop.privatize(table, **chosen, **wrong)
    assert WORD not in str(caught.value)
    assert caught.value.__cause__ is None


def test_an_expression_draws_once(chosen: dict[str, Any]) -> None:
    reports: list[RunReport] = []
    private = pl.col("note").malaprop.privatize(report=reports.append, **chosen)  # type: ignore[attr-defined]
    query = pl.LazyFrame({"id": range(5), "note": TEXTS}).with_columns(private)
    _same_shape(query.collect()["note"].to_list())
    assert reports[0].counts["protected"] == 5
    with pytest.raises(Exception, match="would be another release") as caught:
        query.collect()
    assert WORD not in str(caught.value)
    # The same expression twice in one query would be two releases, too.
    again = pl.col("note").malaprop.privatize(**chosen)  # type: ignore[attr-defined]
    with pytest.raises(Exception, match="would be another release"):
        pl.DataFrame({"note": TEXTS}).with_columns(again, again.alias("second"))
    with pytest.raises(Exception, match=r"(?i)pickle|serial"):
        pickle.dumps(again)
    assert len(reports) == 1


def test_an_expression_can_stream(chosen: dict[str, Any], tmp_path: Path) -> None:
    texts = [None if i % 5 == 3 else f"{HUNDRED[i % 100]} waa" for i in range(40_000)]
    source, target = tmp_path / "notes.parquet", tmp_path / "private.parquet"
    pl.DataFrame({"id": range(40_000), "note": texts}).write_parquet(source, row_group_size=5_000)
    reports: list[RunReport] = []
    private = pl.col("note").malaprop.privatize(streaming=True, report=reports.append, **chosen)  # type: ignore[attr-defined]
    pl.scan_parquet(source).with_columns(private).sink_parquet(target)
    written = pl.read_parquet(target)
    assert written["id"].to_list() == list(range(40_000))
    _same_shape(written["note"].to_list(), texts)
    assert len(reports) > 1
    assert sum(report.counts["protected"] for report in reports) == 64_000
    # Two equal batches do not have equal noise.
    first = written["note"].to_list()
    assert first[:200] != first[5_000:5_200]


@pytest.mark.parametrize("wrong", [{"epsilon": 1.0}, {"repeat": "never"}, {"epsilom": 1.0}])
def test_a_wrong_expression_is_refused_when_it_is_made(
    wrong: dict[str, Any], chosen: dict[str, Any]
) -> None:
    with pytest.raises(ParameterError):
        pl.col("note").malaprop.privatize(**chosen, **wrong)  # type: ignore[attr-defined]


def test_an_expression_refuses_other_columns(chosen: dict[str, Any]) -> None:
    private = pl.col("id").malaprop.privatize(**chosen)  # type: ignore[attr-defined]
    with pytest.raises(Exception, match="'id' has the type Int64: only text"):
        pl.LazyFrame({"id": [1]}).select(private).collect()


def test_without_a_library_the_error_says_what_to_install() -> None:
    code = (
        "import importlib.util as u; found = u.find_spec;"
        "u.find_spec = lambda n, p=None: None if n in ('pandas', 'polars') else found(n, p);"
        "import malaprop.integrations.frames"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtraError" in run.stderr
    assert "pip install pandas polars" in run.stderr


def test_a_table_of_one_library_does_not_import_another() -> None:
    code = (
        "import sys, polars as pl, malaprop;"
        "malaprop.privatize(pl.DataFrame({'t': ['cold']}), columns=['t'], epsilon=1.5);"
        "print('pandas' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
