"""Batches, row groups and pages of a private Parquet file: bounded, and telling nothing."""

import io
from collections.abc import Iterator
from functools import partial
from itertools import count
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.files.copies import rewrite
from tests.files.formats.test_copying import NOTE, same, written

from malaprop.files.formats.file_format import BATCH_CHARACTERS, BATCH_RECORDS


def test_batches_are_bounded_and_row_groups_are_not_tiny() -> None:
    rows = 3 * BATCH_RECORDS
    texts = ["x" * 10] * rows + ["é" * 400_000] * 12
    table = pa.table({"note": texts, "n": range(len(texts))})
    sizes: list[tuple[int, int]] = []
    places: list[int] = []

    def note(batch: list[str]) -> list[str]:
        sizes.append((len(batch), sum(map(len, batch))))
        return batch

    target = io.BytesIO()
    data = written(table, compression="NONE", use_dictionary=False)
    rewrite(io.BytesIO(data), target, NOTE, note, places.append)
    assert all(count <= BATCH_RECORDS for count, _ in sizes)
    assert all(length <= BATCH_CHARACTERS for _, length in sizes)
    assert places == sorted(places)
    assert places[-1] == len(data)
    output = pq.ParquetFile(io.BytesIO(target.getvalue()))
    assert output.read().equals(table)
    assert output.num_row_groups == 1


def test_a_large_file_gets_several_row_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("malaprop.files.formats.parquet._GROUP_BYTES", 100_000)
    table = pa.table({"note": [f"{i:0200}" for i in range(20_000)]})
    target = io.BytesIO()
    rewrite(io.BytesIO(written(table)), target, NOTE, same)
    output = pq.ParquetFile(io.BytesIO(target.getvalue()))
    assert 40 <= output.num_row_groups <= 45
    assert output.read().equals(table)


def _numbered(numbers: Iterator[int], texts: list[str]) -> list[str]:
    return [f"{next(numbers):020}" for _ in texts]


@pytest.mark.parametrize("kind", [pa.string(), pa.dictionary(pa.int32(), pa.string())])
def test_the_file_follows_from_what_is_private(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where row groups and pages end must not tell how long the true texts were."""
    monkeypatch.setattr("malaprop.files.formats.parquet._GROUP_BYTES", 60_000)
    monkeypatch.setattr("malaprop.files.formats.file_format.BATCH_CHARACTERS", 20_000)
    rows = 5_003
    made = []
    for long in (range(0), range(100, 1_500), range(3_000, rows)):
        texts = ["a" * 500 if row in long else "b" for row in range(rows)]
        others = [[f"{row}"] * (row % 3) for row in range(rows)]
        table = pa.table({"note": pa.array(texts, kind), "n": range(rows), "other": others})
        numbers = count()
        target = io.BytesIO()
        data = written(table, row_group_size=1_700)
        rewrite(io.BytesIO(data), target, NOTE, partial(_numbered, numbers))
        made.append(target.getvalue())
        assert pq.ParquetFile(target).num_row_groups > 2
        assert pq.read_table(target)["other"].to_pylist() == others
    assert made[0] == made[1] == made[2]
