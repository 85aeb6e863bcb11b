"""`--engine spark`: who may read what it leaves, and inputs that change during the job."""

import os
import stat
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.conftest import Cli

from malaprop.spark import engine

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.usefixtures("spark")]
ASKED = ("-c", "text", "--engine", "spark", "-q")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def _inputs(folder: Path) -> None:
    (folder / "in").mkdir()
    for name in "ab":
        pq.write_table(pa.table({"text": ["cold", "hot"]}), folder / "in" / f"{name}.parquet")


def at_the_end(patch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Do something when all is written, and nothing has its name."""
    look, looks = engine._sight, count()  # at the inputs: before, and when all is written

    def looked(*arguments: Any) -> object:
        if next(looks):
            act()
        return look(*arguments)

    patch.setattr(engine, "_sight", looked)


def test_only_the_owner_reads_the_output_and_the_report(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: dict[str, int] = {}

    def look() -> None:
        modes.update({name: mode_of(folder / name) for name in os.listdir(folder) if name != "in"})

    at_the_end(monkeypatch, look)
    before = os.umask(0)
    try:
        ended = cli.privatize("in", "-o", "out", *ASKED, "--report", "r.json")
    finally:
        os.umask(before)
    assert ended.code == 0, ended.err
    assert mode_of(folder / "out") == 0o700
    assert mode_of(folder / "r.json") == 0o600
    assert sorted(modes.values()) == [0o600, 0o700]  # what was under way


def _appended(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"more")


def _rewritten(path: Path) -> None:
    os.utime(path)


@pytest.mark.parametrize("change", [_appended, _rewritten, Path.unlink])
def test_an_input_that_changes_leaves_no_output(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    os.utime(folder / "in" / "b.parquet", (1_000_000, 1_000_000))
    at_the_end(monkeypatch, lambda: change(folder / "in" / "b.parquet"))
    ended = cli.privatize("in", "-o", "out", *ASKED)
    assert ended.code == 1
    assert "changed while it was read" in ended.flat
    assert os.listdir(folder) == ["in"]


def test_a_file_that_is_added_is_a_change(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = folder / "in" / "c.parquet"
    at_the_end(monkeypatch, lambda: pq.write_table(pa.table({"text": ["mild"]}), new))
    ended = cli.privatize("in", "-o", "out", *ASKED)
    assert (ended.code, "changed while it was read" in ended.flat) == (1, True)
