"""`--resume`, `--workers` and `--on-error`, as the user of the command line meets them."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.conftest import Cli, Ended, assert_private, drawn_in

from malaprop import Privatizer
from malaprop.jobs import run as running_module
from malaprop.jobs.output import Output
from malaprop.mechanisms.balanced import balance_tables
from malaprop.mechanisms.tem import exponent_tables
from malaprop.pipeline.outputs.sidefile import look

pytestmark = pytest.mark.usefixtures("small_batches")
CANARY = "zyxsecretcanary"
ROWS = 95  # ten batches of ten rows, but for five
HIDDEN = ".out.{}.malaprop"


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


class Breaking:
    """Lets the drawing stop at a batch, and counts the batches that are drawn."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stop_at: int | None = None
        self.calls = 0
        self.error: BaseException = KeyboardInterrupt()
        original = Privatizer.batch

        def private(privatizer: Privatizer, texts: list[str]) -> tuple[list[str], dict[str, int]]:
            if self.calls == self.stop_at:
                raise self.error
            self.calls += 1
            return original(privatizer, texts)

        monkeypatch.setattr(Privatizer, "batch", private)

    def after(self, calls: int | None, run: Callable[[], Ended]) -> Ended:
        self.stop_at, self.calls = calls, 0
        return run()


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> Breaking:
    return Breaking(monkeypatch)


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
    side = look(folder / f"out.{kind}")
    assert side is not None
    assert sorted(side.batches) == [0, 1, 2, 3]
    assert CANARY.encode() not in hidden.read_bytes()

    again = breaking.after(3, lambda: cli.privatize(*command, "--resume"))
    assert again.code == 130
    kept = kept_texts(hidden)
    assert len(kept) in (69, 70)  # a header is no record, but a row of its batch

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


def kept_texts(hidden: Path) -> list[str]:
    batches = drawn_in(hidden)
    return [text for number in sorted(batches) for text in batches[number]]


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


CHANGES = [
    (("--epsilon", "3"), "the mechanism or its parameters"),
    (("-m", "tem"), "the lexicon and the mechanism or its parameters"),
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
        patch.setattr(exponent_tables, "_SMALL", 0)
        patch.setattr(balance_tables, "SMALL", 0)
        breaking.after(2 if state == "stopped" else None, lambda: cli.privatize(*command))
    ended = breaking.after(None, lambda: cli.privatize(*command, "--resume"))
    assert (ended.code, breaking.calls) == (1, 0)
    assert "out.csv cannot be resumed, as the law of the words (which an audit" in ended.err
    monkeypatch.setattr(exponent_tables, "_SMALL", 0)
    monkeypatch.setattr(balance_tables, "SMALL", 0)
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


def test_an_input_that_changes_before_the_record_is_seen(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal of an output that is whole tells of the input, as a record does."""
    command = (*write_input(folder, "txt"), "--workers", "1")

    def stop(output: Output) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Output, "conclude", stop)
        assert cli.privatize(*command).code == 130
    (folder / "in.txt").write_text("mild\n")
    for _ in range(2):
        ended = cli.privatize(*command, "--resume")
        assert ended.code == 1
        assert "out.txt cannot be resumed, as the input changed" in ended.err


def test_remains_are_not_lost_by_a_plain_run(cli: Cli, folder: Path, breaking: Breaking) -> None:
    command = (*write_input(folder, "txt"), "--workers", "1")
    breaking.after(2, lambda: cli.privatize(*command))
    refused = breaking.after(None, lambda: cli.privatize(*command))
    assert refused.code == 1
    assert "resume it with --resume, or start over with --force" in refused.err
    anew = breaking.after(None, lambda: cli.privatize(*command, "--force"))
    assert (anew.code, breaking.calls) == (0, 10)


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


def test_a_forced_run_that_was_stopped_still_replaces(
    cli: Cli, folder: Path, breaking: Breaking
) -> None:
    command = (*write_input(folder, "txt"), "--workers", "1")
    (folder / "out.txt").write_text("old")
    breaking.after(2, lambda: cli.privatize(*command, "--force"))
    assert (folder / "out.txt").read_text() == "old"
    assert breaking.after(None, lambda: cli.privatize(*command, "--resume")).code == 0
    assert len(texts_of(folder, "txt")) == ROWS


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


@pytest.mark.parametrize("rows", [1, ROWS])
def test_an_end_between_the_name_and_the_record(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    command = write_input(folder, "txt", rows)
    monkeypatch.setattr(running_module, "SMALLEST_BATCH", 100)

    def stop(output: Output) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Output, "conclude", stop)
        assert cli.privatize(*command).code == 130
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
    assert "d.txt → out/d.txt: 30 records" in more.flat
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


def test_a_pipe_cannot_be_resumed(cli: Cli, folder: Path) -> None:
    write_input(folder, "txt")
    for command in (("-",), ("in.txt", "-o", "-"), ("-", "-o", "out.txt")):
        ended = cli.privatize(*command, "--resume", stdin=b"cold\n")
        assert ended.code == 2
        assert "only files can be resumed" in ended.err


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
    assert "masked: record 57 holds a NUL character" in done.flat
    file = json.loads((folder / "r.json").read_text())["files"][0]
    assert file["faulty_records"] == 1
    assert file["faults"] == [{"record": 57, "reason": "holds a NUL character"}]
    assert CANARY not in done.err + (folder / "r.json").read_text()


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
    assert "Protected 475 words" in ended.flat
    assert len(texts_of(folder, "csv")) == ROWS


def test_workers_that_are_several_repeat_no_noise(cli: Cli, folder: Path) -> None:
    """Each line of the output has thirty words that are all but uniform."""
    (folder / "in.txt").write_text(f"{'cold ' * 30}\n" * 200)
    ended = cli.privatize("in.txt", "-o", "out.txt", "--workers", "2", "-q", epsilon="0.01")
    assert ended.code == 0
    assert len(set((folder / "out.txt").read_text().splitlines())) == 200
