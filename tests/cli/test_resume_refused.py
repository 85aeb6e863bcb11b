"""Runs that cannot be resumed, and outputs that are not taken for whole."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Breaking, Cli
from tests.cli.stopping import CANARY, HIDDEN, write_input
from tests.cli.test_resume import stop_before_the_record

from malaprop.mechanisms import balance, tem_exponents

pytestmark = pytest.mark.usefixtures("small_batches")


CHANGES = [
    (("--epsilon", "3"), "the mechanism or its parameters"),
    (
        ("-m", "tem"),
        "the lexicon, the mechanism or its parameters and the treatment of texts",
    ),
    (("--kind-epsilon", "2"), "the treatment of texts"),
    (("--kinds", "words"), "the treatment of texts"),
    (("--step", "date=3 days"), "the treatment of texts"),
    (("--dates", "dmy"), "the treatment of texts"),
    (("--decimals", "comma"), "the treatment of texts"),
    (("--epsilon", "2.1"), "the mechanism or its parameters"),
    (("--lexicon", "english"), "the lexicon"),
    (("--unknown", "mask"), "the treatment of texts"),
    (("--punctuation", "drop"), "the treatment of texts"),
    (("--repeat", "document"), "the treatment of texts"),
    (("-c", "id"), "the columns, the format or the encoding"),
    (("--encoding", "latin-1"), "the columns, the format or the encoding"),
    (("--seed", "7"), "the seed"),
]


@pytest.mark.parametrize(("change", "name"), CHANGES)
@pytest.mark.parametrize("state", ["stopped", "whole"])
def test_a_changed_parameter_is_refused(
    cli: Cli,
    folder: Path,
    lexicon_file: Path,
    breaking: Breaking,
    state: str,
    change: tuple[str, ...],
    name: str,
) -> None:
    command: tuple[str, ...] = ("privatize", *write_input(folder, "csv"), "--epsilon", "1")
    command += ("--lexicon", str(lexicon_file), "--workers", "1")
    breaking.after(2 if state == "stopped" else None, lambda: cli(*command))
    before = {path: path.read_bytes() for path in folder.iterdir()}
    ended = breaking.after(None, lambda: cli(*command, "--resume", *change))
    assert ended.code == 1
    assert f"as {name} changed" in ended.err
    assert "start over with --force" in ended.err
    assert breaking.calls == 0
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    # Another number of workers is no other parameter.
    assert cli(*command, "--workers", "2", "--resume").code == 0


@pytest.mark.parametrize("state", ["stopped", "whole"])
@pytest.mark.parametrize("mechanism", ["tem", "balanced"])
def test_a_law_that_was_improved_in_between_is_refused(
    cli: Cli,
    folder: Path,
    breaking: Breaking,
    monkeypatch: pytest.MonkeyPatch,
    mechanism: str,
    state: str,
) -> None:
    """The parameters are the same, but half the output would be drawn from another law.

    As by `malaprop lexicon audit` and `malaprop lexicon graph`, without which it is ε/2.
    """
    command = (*write_input(folder, "csv"), "--workers", "1", "-m", mechanism)
    with monkeypatch.context() as patch:
        patch.setattr(tem_exponents, "_SMALL", 0)
        patch.setattr(balance, "SMALL", 0)
        breaking.after(2 if state == "stopped" else None, lambda: cli.privatize(*command))
    ended = breaking.after(None, lambda: cli.privatize(*command, "--resume"))
    assert (ended.code, breaking.calls) == (1, 0)
    assert "out.csv cannot be resumed, as the law of the words (which an audit" in ended.err
    monkeypatch.setattr(tem_exponents, "_SMALL", 0)
    monkeypatch.setattr(balance, "SMALL", 0)
    assert cli.privatize(*command, "--resume").code == 0


@pytest.mark.parametrize("place", [3, -3])
@pytest.mark.parametrize("state", ["stopped", "whole"])
def test_a_changed_input_is_refused(
    cli: Cli, folder: Path, breaking: Breaking, state: str, place: int
) -> None:
    """Also where it is as long as before, and where nothing has been drawn yet."""
    command = (*write_input(folder, "txt"), "--workers", "1")
    breaking.after(2 if state == "stopped" else None, lambda: cli.privatize(*command))
    before = (folder / "in.txt").read_text()
    after = list(before)
    after[place] = "x"
    (folder / "in.txt").write_text("".join(after))
    ended = breaking.after(None, lambda: cli.privatize(*command, "--resume"))
    assert ended.code == 1
    assert "out.txt cannot be resumed, as the input changed" in ended.err
    assert CANARY not in ended.err
    assert breaking.calls == 0
    if state == "stopped":  # an input that was fetched again is the same
        (folder / "in.txt").write_text(before)
        assert cli.privatize(*command, "--resume").code == 0


def test_an_input_that_changes_before_the_record_is_seen(cli: Cli, folder: Path) -> None:
    """The journal of an output that is whole tells of the input, as a record does."""
    command = (*write_input(folder, "txt"), "--workers", "1")

    stop_before_the_record(cli, command)
    (folder / "in.txt").write_text("mild\n")
    for _ in range(2):
        ended = cli.privatize(*command, "--resume")
        assert ended.code == 1
        assert "out.txt cannot be resumed, as the input changed" in ended.err


HOLDING = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_a_run_that_is_still_at_work_is_not_called_stopped(
    cli: Cli, folder: Path, breaking: Breaking
) -> None:
    command = (*write_input(folder, "txt"), "--workers", "1")
    breaking.after(2, lambda: cli.privatize(*command))
    hold = [sys.executable, "-c", HOLDING, HIDDEN.format("txt")]
    with subprocess.Popen(hold, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"locked\n"
        refused = cli.privatize(*command)
        other.communicate()
    assert refused.code == 1
    assert "another run is at work on out.txt: wait for its end" in refused.err
    assert "was interrupted" in cli.privatize(*command).err


def test_an_output_of_unknown_origin_is_not_taken_for_whole(cli: Cli, folder: Path) -> None:
    command = write_input(folder, "txt")
    (folder / "out.txt").write_text("old")
    ended = cli.privatize(*command, "--resume")
    assert ended.code == 1
    assert "out.txt exists already and is of unknown origin" in ended.err
    assert cli.privatize(*command, "--resume", "--force").code == 0
    with (folder / "out.txt").open("a") as file:
        file.write("more")
    ended = cli.privatize(*command, "--resume")
    assert ended.code == 1
    assert "has changed since it was made" in ended.err
    (folder / "out.txt").unlink()
    assert cli.privatize(*command, "--resume").code == 0


def test_a_pipe_cannot_be_resumed(cli: Cli, folder: Path) -> None:
    write_input(folder, "txt")
    for command in (("-",), ("in.txt", "-o", "-"), ("-", "-o", "out.txt")):
        ended = cli.privatize(*command, "--resume", stdin=b"cold\n")
        assert ended.code == 2
        assert "only files can be resumed" in ended.err
