import ast
import csv
import io
import subprocess
import sys
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest
from tests.files.copies import opened, rewrite

from malaprop.files import formats
from malaprop.files.formats import FORMATS
from malaprop.files.formats.file_format import (
    BATCH_CHARACTERS,
    BATCH_RECORDS,
    Layout,
    batch_characters,
    registry,
)
from malaprop.privacy.errors import DataError, MalapropError

LAYOUTS = {
    "txt": Layout(format="txt"),
    "csv": Layout(format="csv", columns=("note",)),
    "tsv": Layout(format="tsv", columns=("note",)),
    "jsonl": Layout(format="jsonl", columns=("note",)),
}
ROWS = {"txt": b"%s\n", "csv": b"7,%s\n", "tsv": b"7\t%s\n", "jsonl": b'{"id":7,"note":"%s"}\n'}
HEADERS = {"csv": b"id,note\n", "tsv": b"id\tnote\n"}


class Stream(io.RawIOBase):
    """A long file that is made up while it is read, and tells how far it was read."""

    def __init__(self, kind: str, width: int, size: int) -> None:
        self.row = ROWS[kind] % (b"x" * width)
        self.pending = HEADERS.get(kind, b"")
        self.left = size
        self.given = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        while self.left > 0 and len(self.pending) < size:
            self.pending += self.row
            self.left -= len(self.row)
        chunk, self.pending = self.pending[:size], self.pending[size:]
        self.given += len(chunk)
        return chunk


class Stopped(Exception):  # noqa: N818
    pass


@pytest.mark.parametrize("kind", LAYOUTS)
@pytest.mark.parametrize("width", [10, 5_000])
def test_the_first_batch_comes_before_the_rest_is_read(kind: str, width: int) -> None:
    stream = Stream(kind, width, size=200 * 2**20)

    def stop(texts: list[str]) -> list[str]:
        raise Stopped

    with pytest.raises(Stopped):
        rewrite(cast(BinaryIO, stream), io.BytesIO(), LAYOUTS[kind], stop)
    assert stream.given <= BATCH_CHARACTERS + len(stream.row) + 2**17


@pytest.mark.parametrize("kind", LAYOUTS)
def test_batches_are_bounded(kind: str) -> None:
    stream = Stream(kind, 1_000, size=5 * 2**20)
    sizes: list[int] = []
    places: list[int] = []

    def note(texts: list[str]) -> list[str]:
        sizes.append(sum(map(len, texts)))
        return texts

    target = io.BytesIO()
    counts = rewrite(cast(BinaryIO, stream), target, LAYOUTS[kind], note, places.append)
    assert len(sizes) >= 5
    assert max(sizes) <= BATCH_CHARACTERS + 1_000
    assert counts.records == counts.cells == sum(sizes) // 1_000
    assert len(target.getvalue()) == stream.given == places[-1]
    assert places == sorted(places)
    assert len(places) == len(sizes)


@pytest.mark.parametrize("kind", LAYOUTS)
def test_a_small_file_has_batches_for_all_workers(kind: str) -> None:
    data = HEADERS.get(kind, b"") + ROWS[kind] % b"some words" * 100_000
    target = io.BytesIO()
    batches = []
    with opened(io.BytesIO(data), target, LAYOUTS[kind], len(data)) as rewriting:
        for batch in rewriting.batches():
            batches.append(len(batch.texts))
            rewriting.write(batch, batch.texts)
        rewriting.finish()
    assert target.getvalue() == data
    assert sum(batches) == 100_000
    assert 14 <= len(batches) <= 18  # the quotes of JSON are not counted
    assert max(batches[:-1]) - min(batches[:-1]) <= 2


def test_the_size_of_a_batch_has_bounds() -> None:
    assert [batch_characters(size) for size in (0, 2**16, 2**20)] == [2**16] * 3
    assert batch_characters(2**22) == 2**18
    assert [batch_characters(size) for size in (2**24, 2**40, None)] == [BATCH_CHARACTERS] * 3


@pytest.mark.parametrize("kind", LAYOUTS)
@pytest.mark.parametrize("private", [[], ["a"], ["a"] * 3])
def test_a_transform_returns_as_many_texts(kind: str, private: list[str]) -> None:
    data = HEADERS.get(kind, b"") + ROWS[kind] % b"secret" * 2
    with pytest.raises(MalapropError, match=f"given 2 texts and returned {len(private)}"):
        rewrite(io.BytesIO(data), io.BytesIO(), LAYOUTS[kind], lambda texts: private)


def test_what_a_transform_raises_goes_on_as_it_is() -> None:
    def interrupt(texts: list[str]) -> list[str]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rewrite(io.BytesIO(b"a"), io.BytesIO(), LAYOUTS["txt"], interrupt)


def test_streams_are_left_open() -> None:
    source, target = io.BytesIO(b"a\n"), io.BytesIO()
    rewrite(source, target, LAYOUTS["txt"], lambda texts: texts)
    assert not source.closed
    assert not target.closed


def test_errors_keep_no_hold_of_the_data() -> None:
    """Not even through the chain of exceptions, which `from None` only hides."""
    reached: list[Any] = []
    with pytest.raises(DataError) as caught:
        rewrite(io.BytesIO(b"secret\xff"), io.BytesIO(), LAYOUTS["txt"], lambda texts: texts)
    pending: list[BaseException | None] = [caught.value]
    while pending:
        if (error := pending.pop()) is not None:
            reached.append(error)
            pending += [error.__cause__, error.__context__]
    assert reached == [caught.value]


def test_a_copy_that_is_given_up_puts_everything_back() -> None:
    """Also while its batches are still held, as by the trace of an error."""
    before = csv.field_size_limit()
    data = HEADERS["csv"] + (ROWS["csv"] % b"a") * (BATCH_RECORDS + 1)  # more than a batch
    with opened(io.BytesIO(data), io.BytesIO(), LAYOUTS["csv"]) as rewriting:
        held = rewriting.batches()
        assert set(next(held).texts) == {"a"}
        assert csv.field_size_limit() == before
    assert list(held) == []


def test_every_format_has_its_reader() -> None:
    assert set(registry) == set(FORMATS)
    assert all(name in vars(formats) for name in formats.__all__)


ALLOWED = (
    "malaprop.privacy.errors",
    "malaprop.files.compression",
    "malaprop.files.formats",
    "malaprop.files.mail",
    "malaprop.report.file_counts",
    "malaprop.text.markup",  # a page says that it is one
)


def test_nothing_heavy_and_nothing_else_of_malaprop_is_imported() -> None:
    folder = Path(formats.__file__).parent
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("malaprop"):
                assert str(node.module).startswith(ALLOWED), path.name
    code = "import sys, malaprop.files.privatize; sys.exit('pyarrow' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": _package_root()})


def _package_root() -> str:
    return str(Path(formats.__file__).parents[3])
