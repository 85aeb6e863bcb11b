"""`--resume`, `--workers` and `--on-error`, as the user of the command line meets them."""

import json
import os
from pathlib import Path

import pytest
from tests.cli.conftest import Breaking, Cli, assert_private
from tests.cli.stopping import CANARY, HIDDEN, ROWS, kept_texts, texts_of, write_input

from malaprop import Privatizer
from malaprop.files import privatize as running_module
from malaprop.files.resume_file import read_resume_file
from malaprop.files.run import Output

pytestmark = pytest.mark.usefixtures("small_batches")


@pytest.mark.parametrize("kind", ["txt", "csv", "tsv", "jsonl", "parquet"])
def test_a_run_that_was_stopped_goes_on(
    cli: Cli, folder: Path, breaking: Breaking, kind: str
) -> None:
    command = (*write_input(folder, kind), "--workers", "1", "--report", "r.json")
    stopped = breaking.after(4, lambda: cli.privatize(*command))
    assert stopped.code == 130
    assert "stopped: no output file was written; what was drawn is kept: resume" in stopped.err
    assert "--resume" in stopped.err
    assert len(stopped.err.splitlines()) == 1
    hidden = folder / HIDDEN.format(kind)
    assert sorted(os.listdir(folder)) == sorted([hidden.name, f"in.{kind}"])
    side = read_resume_file(folder / f"out.{kind}")
    assert side is not None
    assert sorted(side.batches) == [0, 1, 2, 3]
    assert CANARY.encode() not in hidden.read_bytes()

    again = breaking.after(3, lambda: cli.privatize(*command, "--resume"))
    assert again.code == 130
    kept = kept_texts(hidden)
    assert len(kept) in (69, 70)  # a header is not a record, but a row of its batch

    done = breaking.after(None, lambda: cli.privatize(*command, "--resume"))
    assert done.code == 0
    assert breaking.calls == 3
    texts = texts_of(folder, kind)
    assert len(texts) == ROWS
    assert texts[: len(kept)] == kept
    assert_private(" ".join(texts))
    report = json.loads((folder / "r.json").read_text())
    assert report["files"][0]["records"] == ROWS
    assert report["counts"]["protected"] == 5 * ROWS
    assert report["randomness"] == "secure"

    whole = breaking.after(None, lambda: cli.privatize(*command, "--resume"))
    assert (whole.code, breaking.calls) == (0, 0)
    assert whole.err == (
        f"out.{kind} is complete already: there is nothing to resume.\n"
        "warning: nothing was done, so no report was written to r.json.\n"
    )
    assert texts_of(folder, kind) == texts
    assert sorted(os.listdir(folder)) == sorted(
        [hidden.name, f"in.{kind}", f"out.{kind}", "r.json"]
    )
    assert hidden.stat().st_size < 1_500


def test_with_nothing_to_resume_it_starts_at_the_beginning(cli: Cli, folder: Path) -> None:
    command = write_input(folder, "txt")
    assert cli.privatize(*command, "--resume").code == 0
    assert len(texts_of(folder, "txt")) == ROWS


def test_a_plain_run_that_is_whole_is_known_too(cli: Cli, folder: Path) -> None:
    command = write_input(folder, "txt")
    assert cli.privatize(*command).code == 0
    made = (folder / "out.txt").read_bytes()
    ended = cli.privatize(*command, "--resume")
    assert (ended.code, "complete already" in ended.err) == (0, True)
    assert cli.privatize(*command, "--resume", "--quiet").err == ""
    assert (folder / "out.txt").read_bytes() == made


def stop_before_the_record(cli: Cli, command: tuple[str, ...]) -> None:
    """Stop a run when its output has its name, and its journal is not yet a record."""

    def stop(output: Output) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Output, "conclude", stop)
        assert cli.privatize(*command).code == 130


def test_remains_are_not_lost_by_a_plain_run(cli: Cli, folder: Path, breaking: Breaking) -> None:
    command = (*write_input(folder, "txt"), "--workers", "1")
    breaking.after(2, lambda: cli.privatize(*command))
    refused = breaking.after(None, lambda: cli.privatize(*command))
    assert refused.code == 1
    assert "resume it with --resume, or start over with --force" in refused.err
    anew = breaking.after(None, lambda: cli.privatize(*command, "--force"))
    assert (anew.code, breaking.calls) == (0, 10)


def test_a_forced_run_that_was_stopped_still_replaces(
    cli: Cli, folder: Path, breaking: Breaking
) -> None:
    command = (*write_input(folder, "txt"), "--workers", "1")
    (folder / "out.txt").write_text("old")
    breaking.after(2, lambda: cli.privatize(*command, "--force"))
    assert (folder / "out.txt").read_text() == "old"
    assert breaking.after(None, lambda: cli.privatize(*command, "--resume")).code == 0
    assert len(texts_of(folder, "txt")) == ROWS


@pytest.mark.parametrize("rows", [1, ROWS])
def test_an_end_between_the_name_and_the_record(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    command = write_input(folder, "txt", rows)
    monkeypatch.setattr(running_module, "SMALLEST_BATCH", 100)

    stop_before_the_record(cli, command)
    made = (folder / "out.txt").read_bytes()
    ended = cli.privatize(*command, "--resume")
    assert (ended.code, "complete already" in ended.err) == (0, True)
    assert (folder / "out.txt").read_bytes() == made
    assert (folder / ".out.txt.malaprop").stat().st_size < 1_500


def test_several_files_go_on_together(cli: Cli, folder: Path, breaking: Breaking) -> None:
    for name in "abc":
        (folder / f"{name}.txt").write_text("cold hot\n" * 30)
    command = ("a.txt", "b.txt", "c.txt", "-o", "out", "--workers", "1")
    stopped = breaking.after(5, lambda: cli.privatize(*command))
    assert stopped.code == 130
    assert sorted(os.listdir(folder / "out")) == [".a.txt.malaprop", ".b.txt.malaprop"]
    done = breaking.after(None, lambda: cli.privatize(*command, "--resume"))
    assert (done.code, breaking.calls) == (0, 4)
    (folder / "d.txt").write_text("cold hot\n" * 30)
    more = breaking.after(None, lambda: cli.privatize("d.txt", *command, "--resume"))
    assert (more.code, breaking.calls) == (0, 3)
    assert more.err.count("is complete already") == 3
    assert "d.txt → out/d.txt txt 30 30" in more.flat
    assert "a.txt →" not in more.flat


def test_small_files_are_shared_among_workers(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them is one batch, which alone would need no other process."""
    drawn_here = 0
    original = Privatizer.batch

    def private(privatizer: Privatizer, texts: list[str]) -> tuple[list[str], dict[str, int]]:
        nonlocal drawn_here
        drawn_here += 1
        return original(privatizer, texts)

    monkeypatch.setattr(Privatizer, "batch", private)
    names = [f"{number}.txt" for number in range(12)]
    for number, name in enumerate(names):
        (folder / name).write_text("cold\n" * (number % 5))
    assert cli.privatize(*names, "-o", "out", "--workers", "2", "-q").code == 0
    assert drawn_here == 0
    for number, name in enumerate(names):
        assert (folder / "out" / name).read_text().count("\n") == number % 5


def test_a_faulty_record_is_passed_with_on_error(
    cli: Cli, folder: Path, breaking: Breaking
) -> None:
    """What was drawn before it is kept: one goes on with another --on-error."""
    command = (*write_input(folder, "csv"), "--workers", "1", "--report", "r.json")
    lines = (folder / "in.csv").read_bytes().split(b"\n")
    lines[57] = b"56,\0" + CANARY.encode()
    (folder / "in.csv").write_bytes(b"\n".join(lines))
    failed = breaking.after(None, lambda: cli.privatize(*command))
    assert failed.code == 1
    assert "--on-error" in failed.err
    assert "--resume" in failed.err
    drawn = breaking.calls
    assert drawn == 5
    done = breaking.after(None, lambda: cli.privatize(*command, "--resume", "--on-error", "mask"))
    assert (done.code, breaking.calls) == (0, 10 - drawn)
    texts = texts_of(folder, "csv")
    assert len(texts) == ROWS
    assert [place for place, text in enumerate(texts) if text == "[masked]"] == [56]
    assert "warning: 1 record of in.csv could not be processed: texts masked." in done.err
    assert (
        "Faulty records of in.csv record what is wrong with it 57 holds a NUL character"
        in done.flat
    )
    file = json.loads((folder / "r.json").read_text())["files"][0]
    assert file["faulty_records"] == 1
    assert file["faults"] == [{"record": 57, "reason": "holds a NUL character"}]
    assert CANARY not in done.err + (folder / "r.json").read_text()


def test_with_another_on_error_the_second_try_goes_on(
    cli: Cli, folder: Path, breaking: Breaking
) -> None:
    """Neither --resume nor --force is needed, and nothing is drawn again."""
    command = (*write_input(folder, "csv"), "--workers", "1")
    lines = (folder / "in.csv").read_bytes().split(b"\n")
    lines[57] = b"56,\0" + CANARY.encode()
    (folder / "in.csv").write_bytes(b"\n".join(lines))
    assert breaking.after(None, lambda: cli.privatize(*command)).code == 1
    drawn = breaking.calls
    assert "resume it with --resume" in cli.privatize(*command).err
    changed = cli.privatize(*command, "--on-error", "skip", "--unknown", "mask")
    assert changed.code == 1
    assert "the treatment of texts changed" in changed.err
    done = breaking.after(None, lambda: cli.privatize(*command, "--on-error", "mask"))
    assert (done.code, breaking.calls) == (0, 10 - drawn)
    assert texts_of(folder, "csv").count("[masked]") == 1


def test_faulty_records_can_be_left_out_of_a_pipe(cli: Cli, folder: Path) -> None:
    ended = cli.privatize("-", "--on-error", "skip", "-q", stdin=b"cold\n\xff\nhot\0\nwarm\n")
    assert ended.code == 0
    assert ended.text.count("\n") == 2
    assert ended.err == "warning: 2 records of - could not be processed: left out.\n"


@pytest.mark.parametrize("repeat", ["fresh", "document"])
def test_workers_change_nothing_but_the_time(cli: Cli, folder: Path, repeat: str) -> None:
    command = write_input(folder, "csv")
    made = set()
    seeded = (*command, "--seed", "7", "--repeat", repeat, "--force")
    for workers in ("1", "2", "3"):
        ended = cli.privatize(*seeded, "--workers", workers)
        assert ended.code == 0
        assert "seeded: not private" in ended.err
        made.add((folder / "out.csv").read_bytes())
    assert len(made) == 1
    ended = cli.privatize(*command, "--workers", "3", "--force")
    assert ended.code == 0
    assert "475 words protected" in ended.flat
    assert len(texts_of(folder, "csv")) == ROWS


def test_workers_that_are_several_repeat_no_noise(cli: Cli, folder: Path) -> None:
    """Each line of the output has thirty words that are all but uniform."""
    (folder / "in.txt").write_text(f"{'cold ' * 30}\n" * 200)
    ended = cli.privatize("in.txt", "-o", "out.txt", "--workers", "2", "-q", epsilon="0.01")
    assert ended.code == 0
    assert len(set((folder / "out.txt").read_text().splitlines())) == 200
