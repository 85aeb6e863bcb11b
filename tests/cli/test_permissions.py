"""Permissions never widen: not from an input to its output, and not on the way."""

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Cli, running
from tests.cli.stopping import HALTING

from malaprop import Privatizer
from malaprop.files import privatize as running_module
from malaprop.files.formats import txt


@pytest.fixture(autouse=True)
def _umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def write(path: Path, mode: int, text: str = "cold hot\n") -> None:
    path.write_text(text)
    path.chmod(mode)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(
    ("umask", "mode", "expected"),
    [
        (0o022, 0o600, 0o600),
        (0o022, 0o640, 0o640),
        (0o022, 0o644, 0o644),
        (0o022, 0o666, 0o644),
        (0o000, 0o666, 0o666),
        (0o077, 0o644, 0o600),
        (0o022, 0o400, 0o400),
        (0o022, 0o755, 0o644),  # an output is no program
        (0o022, 0o4755, 0o644),
    ],
)
def test_an_output_takes_the_input_s_mode_at_most(
    cli: Cli, folder: Path, umask: int, mode: int, expected: int
) -> None:
    write(folder / "in.txt", mode)
    os.umask(umask)
    assert cli.privatize("in.txt", "-o", "out.txt", "--report", "r.json").code == 0
    assert mode_of(folder / "out.txt") == expected
    assert mode_of(folder / "r.json") == 0o600
    assert mode_of(folder / ".out.txt.malaprop") == 0o600


def test_of_several_inputs_the_narrowest_counts(cli: Cli, folder: Path) -> None:
    for name, mode in (("a.txt", 0o644), ("b.txt", 0o640), ("c.txt", 0o604)):
        write(folder / name, mode)
    assert cli.privatize("a.txt", "b.txt", "-o", "out").code == 0
    assert [mode_of(folder / "out" / name) for name in ("a.txt", "b.txt")] == [0o640, 0o640]
    assert cli.privatize("a.txt", "b.txt", "c.txt", "-o", "out3").code == 0
    assert {mode_of(folder / "out3" / f"{name}.txt") for name in "abc"} == {0o600}


def test_another_group_gets_no_more_than_everybody(cli: Cli, folder: Path) -> None:
    """The members of the input's group may read it; those of the output's group may not."""
    if os.geteuid():
        pytest.skip("needs the right to give a file to a group")
    write(folder / "in.txt", 0o640)
    os.chown(folder / "in.txt", -1, os.getegid() + 1)
    assert cli.privatize("in.txt", "-o", "out.txt").code == 0
    assert mode_of(folder / "out.txt") == 0o600
    write(folder / "wide.txt", 0o664)
    os.chown(folder / "wide.txt", -1, os.getegid() + 1)
    assert cli.privatize("wide.txt", "-o", "out2.txt").code == 0
    assert mode_of(folder / "out2.txt") == 0o644


def test_what_comes_through_a_pipe_takes_the_umask_s(cli: Cli, folder: Path) -> None:
    for umask, expected in ((0o027, 0o640), (0o022, 0o644), (0o077, 0o600)):
        os.umask(umask)
        ended = cli.privatize("-", "-o", f"{umask}.txt", "--report", f"{umask}.json", stdin=b"cold")
        assert ended.code == 0
        assert mode_of(folder / f"{umask}.txt") == expected
        assert mode_of(folder / f"{umask}.json") == 0o600


def test_a_file_on_standard_input_is_no_pipe(folder: Path, lexicon_file: Path) -> None:
    write(folder / "in.txt", 0o600)
    command = ("privatize", "-", "-o", "out.txt", "-e", "2", "-l", str(lexicon_file), "-q")
    with running(*command, before="import os; os.dup2(os.open('in.txt', 0), 0)") as process:
        process.communicate(timeout=600)
    assert process.returncode == 0
    assert mode_of(folder / "out.txt") == 0o600


@pytest.mark.parametrize(
    ("old", "mode", "expected"),
    [(0o600, 0o644, 0o600), (0o666, 0o644, 0o644), (0o666, 0o600, 0o600), (0o604, 0o640, 0o600)],
)
def test_a_replaced_output_is_no_wider_than_before(
    cli: Cli, folder: Path, old: int, mode: int, expected: int
) -> None:
    write(folder / "in.txt", mode)
    write(folder / "out.txt", old)
    write(folder / "r.json", 0o666)
    assert cli.privatize("in.txt", "-o", "out.txt", "--report", "r.json", "--force").code == 0
    assert mode_of(folder / "out.txt") == expected
    assert mode_of(folder / "r.json") == 0o600


def test_what_is_under_way_is_private(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_module, "SMALLEST_BATCH", 10)
    monkeypatch.setattr(txt, "BATCH_RECORDS", 10)
    write(folder / "in.txt", 0o644, "cold\n" * 95)
    modes: dict[str, int] = {}
    original = Privatizer.batch

    def private(privatizer: Privatizer, texts: list[str]) -> tuple[list[str], dict[str, int]]:
        modes.update({name: mode_of(folder / name) for name in os.listdir(folder)})
        return original(privatizer, texts)

    monkeypatch.setattr(Privatizer, "batch", private)
    os.umask(0)
    command = ("in.txt", "-o", "out.txt", "--report", "r.json", "--workers", "1")
    assert cli.privatize(*command).code == 0
    assert len(modes) == 4  # the input, the journal and two files under way
    assert {mode for name, mode in modes.items() if name != "in.txt"} == {0o600}


def test_what_a_killed_run_leaves_is_private(folder: Path, lexicon_file: Path) -> None:
    write(folder / "in.txt", 0o644, "cold\n" * 200_000)
    command = ("privatize", "in.txt", "-o", "out.txt", "-e", "2", "-l", str(lexicon_file), "-q")
    options = ("--report", "r.json", "--workers", "1")
    with running(*command, *options, before=HALTING) as process:
        while not (folder / ".out.txt.malaprop").exists() and process.poll() is None:
            try:
                process.wait(0.001)
            except subprocess.TimeoutExpired:
                continue
        process.kill()
        process.communicate(timeout=600)
    left = {name: mode_of(folder / name) for name in os.listdir(folder) if name != "in.txt"}
    assert process.returncode == -9
    assert len(left) == 3
    assert set(left.values()) == {0o600}
