"""An input that changes while it is read: noticed before the output gets its name."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Cli, running

from malaprop import Privatizer
from malaprop.files import privatize as running_module
from malaprop.files.formats import txt

ROWS = 95


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(txt, "BATCH_RECORDS", 10)
    monkeypatch.setattr(running_module, "SMALLEST_BATCH", 10)


@pytest.fixture
def source(folder: Path) -> Path:
    path = folder / "in.txt"
    path.write_text("cold\n" * ROWS)
    os.utime(path, (1_000_000, 1_000_000))
    time.sleep(0.02)  # so that the next change has another time
    return path


def _same_size(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"warm")


def _same_size_and_time(path: Path) -> None:
    before = path.stat()
    _same_size(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _longer(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"warm\n")


def _shorter(path: Path) -> None:
    os.truncate(path, 5 * (ROWS - 1))


def _replaced(path: Path) -> None:
    new = path.with_name("new")
    new.write_bytes(path.read_bytes())
    os.replace(new, path)


def _gone(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))


CHANGES = [_same_size, _same_size_and_time, _longer, _shorter, _replaced, _gone]


def at_call(
    monkeypatch: pytest.MonkeyPatch, number: int, change: Callable[[Path], None], path: Path
) -> None:
    """Change the input when a batch is drawn."""
    original = Privatizer.batch
    calls = 0

    def private(privatizer: Privatizer, texts: list[str]) -> tuple[list[str], dict[str, int]]:
        nonlocal calls
        if calls == number:
            change(path)
        calls += 1
        return original(privatizer, texts)

    monkeypatch.setattr(Privatizer, "batch", private)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("number", [0, 9])
@pytest.mark.parametrize("small", [True, False])
def test_a_change_leaves_no_output(
    cli: Cli,
    folder: Path,
    source: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path], None],
    number: int,
    small: bool,
) -> None:
    if small:
        monkeypatch.setattr(running_module, "SMALLEST_BATCH", 2**16)
    command = ("in.txt", "-o", "out.txt", "--workers", "1")
    with monkeypatch.context() as patch:
        at_call(patch, number, change, source)
        ended = cli.privatize(*command, "--report", "r.json")
    assert ended.code == 1
    assert "in.txt changed while it was read: start over with --force" in ended.err
    assert "what was drawn is kept" not in ended.err
    left = set(os.listdir(folder)) - {"in.txt", "elsewhere"}
    assert left == (set() if small else {".out.txt.malaprop"})


def test_an_old_output_stays(
    cli: Cli, folder: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "out.txt").write_text("old")
    at_call(monkeypatch, 3, _same_size_and_time, source)
    command = ("in.txt", "-o", "out.txt", "--workers", "1", "--force")
    assert cli.privatize(*command).code == 1
    assert (folder / "out.txt").read_text() == "old"


def test_of_several_inputs_also_the_first_is_watched_to_the_end(
    cli: Cli, folder: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "second.txt").write_text("hot\n" * ROWS)
    at_call(monkeypatch, 19, _same_size, source)
    ended = cli.privatize("in.txt", "second.txt", "-o", "out", "--workers", "1")
    assert ended.code == 1
    assert "in.txt changed while it was read" in ended.err
    assert not (folder / "out" / "in.txt").exists()
    assert not (folder / "out" / "second.txt").exists()


def test_resuming_refuses_a_change_and_takes_what_is_the_same(
    cli: Cli, folder: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("in.txt", "-o", "out.txt", "--workers", "1")
    with monkeypatch.context() as patch:
        at_call(patch, 9, _same_size_and_time, source)
        assert cli.privatize(*command).code == 1
    ended = cli.privatize(*command, "--resume")
    assert ended.code == 1
    assert "out.txt cannot be resumed, as the input changed" in ended.err
    source.write_text("cold\n" * ROWS)
    assert cli.privatize(*command, "--resume").code == 0


def test_batches_drawn_from_a_changed_input_are_not_used_when_it_is_set_back(
    cli: Cli, folder: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal's digest is that of the input before, and it was changed when it was read."""
    from malaprop.files.run import Output

    command = ("in.txt", "-o", "out.txt", "--workers", "1")
    begin = Output.begin

    def changed(output: Output, *arguments: object, **options: object) -> None:
        begin(output, *arguments, **options)  # type: ignore[arg-type]
        _same_size_and_time(source)

    with monkeypatch.context() as patch:
        patch.setattr(Output, "begin", changed)
        patch.setattr(Output, "check_input", lambda *_: None)  # as if it were killed before
        patch.setattr(Output, "seal", _stop)
        assert cli.privatize(*command).code == 130
    source.write_text("cold\n" * ROWS)
    ended = cli.privatize(*command, "--resume")
    assert ended.code == 1
    assert "changed while an earlier run read it" in ended.err
    assert not (folder / "out.txt").exists()
    assert cli.privatize(*command, "--force").code == 0


def _stop(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_file_on_standard_input_is_watched_too(folder: Path, lexicon_file: Path) -> None:
    (folder / "in.txt").write_text("cold\n" * 10)
    command = ("privatize", "-", "-o", "out.txt", "-e", "2", "-l", str(lexicon_file), "-q")
    before = """
import os
from malaprop import Privatizer
os.dup2(os.open("in.txt", 0), 0)
original = Privatizer.batch
def private(privatizer, texts):
    with open("in.txt", "r+b") as file:
        file.write(b"warm!")
    return original(privatizer, texts)
Privatizer.batch = private
"""
    with running(*command, before=before) as process:
        _, err = process.communicate(timeout=600)
    assert process.returncode == 1
    assert b"standard input changed while it was read" in err
    assert os.listdir(folder) == ["in.txt"]
