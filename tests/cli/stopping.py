"""Inputs of every format for runs that are stopped, and what is read of their outputs."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from tests.cli.conftest import drawn_in

CANARY = "zyxsecretcanary"
ROWS = 95  # ten batches of ten rows, but for five
HIDDEN = ".out.{}.malaprop"

# A run that draws some batches, and cannot end before it is stopped, however late that is.
HALTING = """
import itertools, time
from malaprop import Privatizer
calls, texts = itertools.count(), Privatizer.batch
def halting(privatizer, batch):
    if next(calls) > 3:
        time.sleep(600)
    return texts(privatizer, batch)
Privatizer.batch = halting
"""


def write_input(folder: Path, kind: str, rows: int = ROWS) -> tuple[str, ...]:
    """Write an input of a format; return its part of the command."""
    path = folder / f"in.{kind}"
    texts = [f"cold hot warm {CANARY} mild" for _ in range(rows)]
    if kind == "txt":
        path.write_text("".join(f"{text}\n" for text in texts))
    elif kind in ("csv", "tsv"):
        sign = "," if kind == "csv" else "\t"
        lines = [f"id{sign}text", *(f"{i}{sign}{text}" for i, text in enumerate(texts))]
        path.write_text("\n".join(lines) + "\n")
    elif kind == "jsonl":
        path.write_text(
            "".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in enumerate(texts))
        )
    else:
        pq.write_table(pa.table({"id": range(rows), "text": texts}), path)
    columns = () if kind == "txt" else ("-c", "text")
    return (f"in.{kind}", "-o", f"out.{kind}", *columns)


def texts_of(folder: Path, kind: str) -> list[str]:
    """Read the private texts; check that the records are all there, once, in order."""
    path = folder / f"out.{kind}"
    if kind == "txt":
        return path.read_text().splitlines()
    if kind == "parquet":
        records = pq.read_table(path).to_pylist()
    elif kind == "jsonl":
        records = [json.loads(line) for line in path.read_text().splitlines()]
    else:
        sign = "," if kind == "csv" else "\t"
        head, *lines = (line.split(sign) for line in path.read_text().splitlines())
        records = [dict(zip(head, line, strict=True)) for line in lines]
    assert [int(record["id"]) for record in records] == list(range(len(records)))
    return [record["text"] for record in records]


def kept_texts(hidden: Path) -> list[str]:
    """The texts that a journal holds, in order."""
    batches = drawn_in(hidden)
    return [text for number in sorted(batches) for text in batches[number]]
