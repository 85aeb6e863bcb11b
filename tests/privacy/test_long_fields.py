"""Long fields are read, and the process's limit is never left raised."""

import csv
import threading
from collections.abc import Iterator

import pytest

from malaprop.files.formats.delimited import next_row

LONG = "a" * (1 << 18)


def test_long_fields_are_read_and_the_limit_stays() -> None:
    usual = csv.field_size_limit()
    reader = csv.reader([f"{LONG},b", "c"])
    assert len(LONG) > usual
    assert next_row(reader) == [LONG, "b"]
    assert csv.field_size_limit() == usual
    assert next_row(reader) == ["c"]
    assert next_row(reader) is None


def test_an_error_leaves_the_limit() -> None:
    usual = csv.field_size_limit()
    with pytest.raises(csv.Error):
        next_row(csv.reader(['"a"b'], strict=True))
    assert csv.field_size_limit() == usual


def test_readers_in_two_threads_do_not_take_the_limit_from_each_other() -> None:
    usual = csv.field_size_limit()
    waiting, go_on = threading.Event(), threading.Event()

    def lines() -> Iterator[str]:
        waiting.set()
        go_on.wait(10)
        yield LONG

    rows: list[list[str] | None] = []
    slow = threading.Thread(target=lambda: rows.append(next_row(csv.reader(lines()))))
    slow.start()
    waiting.wait(10)
    assert next_row(csv.reader(["b"])) == ["b"]
    go_on.set()
    slow.join(10)
    assert rows == [[LONG]]
    assert csv.field_size_limit() == usual
