"""Files that debit a ledger: record by record, before the draw, and once."""

import csv
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from malaprop import TEM, DataError, Lexicon, ParameterError, privatize_files
from malaprop.ledger import Batch, BudgetError, Ledger

SECRET = bytes(range(32))
ROWS = [("a", "one one"), ("b", "zero"), ("a", "three"), ("b", "one"), ("a", "zero zero")]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(f"sqlite:///{tmp_path}/ledger.db", secret=SECRET) as made:
        yield made


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.csv"
    path.write_text("who,text,n\n" + "".join(f"{a},{b},007\n" for a, b in ROWS))
    return path


def run(source: Path, line: Lexicon, ledger: Ledger, **more: object) -> Path:
    target = source.with_name(f"private{source.suffix}")
    columns = {"columns": ["text"], "subject_column": "who"}
    if source.suffix == ".txt":
        columns = {}
    privatize_files(
        source,
        target,
        lexicon=line,
        mechanism=TEM(epsilon=1.0),
        ledger=ledger,
        **(columns | more),  # type: ignore[arg-type]
    )
    return target


def test_each_record_is_debited_for_its_subject(notes: Path, line: Lexicon, ledger: Ledger) -> None:
    target = run(notes, line, ledger)
    rows = list(csv.reader(target.read_text().splitlines()))
    assert [row[0] for row in rows[1:]] == [who for who, _ in ROWS]
    assert ledger.budget(subject="a").spent == 2 + 1 + 2
    assert ledger.budget(subject="b").spent == 2
    assert ledger.budget(key="local").spent == 7
    assert ledger.verify() == []


@pytest.mark.parametrize("on_error", ["skip", "mask"])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_records_over_the_limit_are_refused(
    tmp_path: Path, line: Lexicon, ledger: Ledger, kind: str, on_error: str
) -> None:
    ledger.set_limits(subject_epsilon=3)
    source = tmp_path / f"notes.{kind}"
    objects = [{"who": who, "text": text, "n": "007"} for who, text in [*ROWS, ("", "one")]]
    if kind == "csv":
        lines = [",".join(each.values()) for each in objects]
        source.write_text("\n".join(["who,text,n", *lines]) + "\n")
    elif kind == "jsonl":
        source.write_text("".join(f"{json.dumps(each)}\n" for each in objects))
    else:
        pq.write_table(pa.Table.from_pylist(objects), source)
    target = run(source, line, ledger, on_error=on_error)
    if kind == "csv":
        found = list(csv.DictReader(target.read_text().splitlines()))
    elif kind == "jsonl":
        found = [json.loads(each) for each in target.read_text().splitlines()]
    else:
        found = pq.read_table(target).to_pylist()
    masked = [each["who"] for each in found if each["text"] == "[masked]"]
    assert all(each["n"] == "007" for each in found)
    assert len(found) == (6 if on_error == "mask" else 4)
    assert masked == (["a", ""] if on_error == "mask" else [])
    assert ledger.budget(subject="a").spent == 3
    assert ledger.budget(subject="b").spent == 2
    assert ledger.verify() == []


def test_a_run_stops_at_a_record_over_the_limit(notes: Path, line: Lexicon, ledger: Ledger) -> None:
    ledger.set_limits(subject_epsilon=4)
    with pytest.raises(BudgetError, match="record 5 is over a limit") as refused:
        run(notes, line, ledger)
    assert refused.value.scope == "subject"
    assert ledger.budget().spent == 0
    assert not notes.with_name("private.csv").exists()
    ledger.set_limits(subject_epsilon=9)
    run(notes, line, ledger, resume=True)
    assert ledger.budget().spent == 7


def test_a_record_without_a_subject_is_refused(
    tmp_path: Path, line: Lexicon, ledger: Ledger
) -> None:
    source = tmp_path / "notes.csv"
    source.write_text("who,text\na,one\n ,one\n")
    with pytest.raises(DataError, match="record 2 names no subject"):
        run(source, line, ledger)
    assert ledger.budget().spent == 0


def test_texts_without_a_column_debit_the_key_or_one_subject(
    tmp_path: Path, line: Lexicon, ledger: Ledger
) -> None:
    source = tmp_path / "notes.txt"
    source.write_text("one\nzero zero\n\nthree\n")
    run(source, line, ledger)
    assert ledger.budget(key="local").spent == 4
    run(source, line, ledger, subject="Ann", force=True, ledger_key="files")
    assert ledger.budget(subject="Ann").spent == ledger.budget(key="files").spent == 4


def test_a_resumed_run_debits_nothing_twice(
    tmp_path: Path, line: Lexicon, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped between a debit and the draw, and between the draw and the output."""
    source = tmp_path / "notes.csv"
    rows = 4_000
    source.write_text("who,text\n" + "".join(f"s{n % 50},one {'x' * 60}\n" for n in range(rows)))
    original = Ledger.debit_batch
    calls = []

    def stopping(self: Ledger, batch: Batch, *, key: str = "local") -> list[BudgetError | None]:
        result = original(self, batch, key=key)
        calls.append(batch.id)
        if len(calls) in (1, 3):
            raise KeyboardInterrupt
        return result

    monkeypatch.setattr(Ledger, "debit_batch", stopping)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            run(source, line, ledger, resume=True, workers=1)
    run(source, line, ledger, resume=True, workers=1)
    assert len(calls) > len(set(calls)) > 2
    # Two different words a record, each drawn once.
    assert ledger.budget().spent == rows
    assert ledger.verify() == []


def test_workers_debit_for_themselves(tmp_path: Path, line: Lexicon, ledger: Ledger) -> None:
    source = tmp_path / "notes.csv"
    rows = 6_000
    source.write_text("who,text\n" + "".join(f"s{n % 7},one {'x' * 60}\n" for n in range(rows)))
    ledger.set_limits(subject_epsilon=500, total_epsilon=3_000)
    target = run(source, line, ledger, workers=2, on_error="skip")
    written = len(target.read_text().splitlines()) - 1
    assert ledger.budget().spent == written == 3_000
    assert ledger.verify() == []


def test_what_does_not_fit_is_refused_first(
    notes: Path, tmp_path: Path, line: Lexicon, ledger: Ledger
) -> None:
    for more, told in (
        ({"seed": 1}, "seed"),
        ({"unknown": "keep"}, "without a guarantee"),
        ({"subject": "a"}, "`subject_column`"),
        ({"subject_column": "whom"}, "whom"),
    ):
        with pytest.raises(ParameterError, match=told):
            run(notes, line, ledger, **more)
    with pytest.raises(ParameterError, match="`ledger`"):
        privatize_files(
            notes, tmp_path / "x.csv", epsilon=1.0, columns=["text"], subject_column="who"
        )
    document = tmp_path / "notes.json"
    document.write_text('[{"who": "a", "text": "one"}]')
    with pytest.raises(ParameterError, match='on_error="mask"'):
        run(document, line, ledger, on_error="skip")
    run(document, line, ledger, on_error="mask")
    assert ledger.budget().spent == Decimal(1)
