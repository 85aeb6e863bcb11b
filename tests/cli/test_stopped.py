"""Full disks and signals: what they leave is resumed, and nothing is drawn twice."""

import errno
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.cli.conftest import WORDS, Cli, running
from tests.cli.stopping import HALTING, HIDDEN, kept_texts, write_input

from malaprop.files.resume_file import read_resume_file

pytestmark = pytest.mark.usefixtures("small_batches")


def write_wide(path: Path, rows: int) -> None:
    """Write a table of a kilobyte a row, so that a thousand rows are a batch."""
    words = sorted(WORDS)
    lines = (f"{i},{words[i % len(words)]},{'x' * 1_000}\n" for i in range(rows))
    path.write_text("id,text,other\n" + "".join(lines))


def assert_wide(path: Path, rows: int, kept: list[str]) -> None:
    """Each row is there once, in order, and the first ones have the texts that were kept."""
    lines = [line.split(",") for line in path.read_text().splitlines()[1:]]
    assert [line[0] for line in lines] == [str(i) for i in range(rows)]
    assert [line[1] for line in lines[: len(kept)]] == kept


WIDE = ("privatize", "in.csv", "-c", "text", "-q", "--epsilon", "1")


def test_a_file_that_may_not_grow_goes_on_when_it_may(folder: Path, lexicon_file: Path) -> None:
    write_wide(folder / "in.csv", 9_000)
    command = (*WIDE, "-o", "out.csv", "--lexicon", str(lexicon_file), "--workers", "1")
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, 4_000_000))"
    with running(*command, before=limit) as process:
        _, err = process.communicate(timeout=600)
        assert process.returncode == 1
    assert b"out.csv grows larger than the disk" in err
    assert b"--resume" in err
    assert len(err.splitlines()) == 1
    assert sorted(os.listdir(folder)) == [".out.csv.malaprop", "in.csv"]
    kept = kept_texts(folder / ".out.csv.malaprop")
    assert len(kept) > 1_000
    with running(*command, "--resume") as process:
        _, err = process.communicate(timeout=600)
        assert (process.returncode, err) == (0, b"")
    assert_wide(folder / "out.csv", 9_000, kept)


def test_a_disk_that_is_full_goes_on_when_there_is_space(folder: Path, lexicon_file: Path) -> None:
    """On a file system of four megabytes, where this process may make one."""
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a file system")
    try:
        write_wide(folder / "in.csv", 9_000)
        command = (*WIDE, "-o", "disk/out.csv", "--lexicon", str(lexicon_file))
        with running(*command) as process:
            _, err = process.communicate(timeout=600)
            assert process.returncode == 1
        assert b"no space left on the disk while writing disk/out.csv; what was drawn" in err
        assert os.listdir(disk) == [".out.csv.malaprop"]
        subprocess.run(["mount", "-o", "remount,size=40m", str(disk)], check=True)
        with running(*command, "--resume") as process:
            _, err = process.communicate(timeout=600)
            assert (process.returncode, err) == (0, b"")
        assert_wide(disk / "out.csv", 9_000, [])
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_disk_that_is_full_when_all_is_written(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The output is whole, so this is a warning; the journal says what a record would say."""
    command = (*write_input(folder, "txt"), "--workers", "1")
    replace = os.replace

    def full(old: Path, new: Path) -> None:
        if str(old).endswith("-new"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(old, new)

    monkeypatch.setattr(os, "replace", full)
    ended = cli.privatize(*command)
    assert ended.code == 0
    assert "out.txt is whole, but its journal is still there: no space left" in ended.flat
    names = [HIDDEN.format("txt"), "in.txt", "out.txt"]
    assert sorted(os.listdir(folder)) == names
    monkeypatch.setattr(os, "replace", replace)
    ended = cli.privatize(*command, "--resume")
    assert (ended.code, "out.txt is complete already" in ended.flat) == (0, True)
    assert sorted(os.listdir(folder)) == names


def wait_for_a_batch(output: Path) -> None:
    """Wait until the journal beside an output holds a whole batch, and the run knows of it.

    A signal that comes while a batch is being written takes it back: the second one shows that the
    first is there to stay.
    """
    deadline = time.monotonic() + 600
    while not ((side := read_resume_file(output)) and len(side.batches) > 1):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_cleanly_and_says_how_to_go_on(
    folder: Path, lexicon_file: Path, number: signal.Signals
) -> None:
    write_wide(folder / "in.csv", 20_000)
    command = (*WIDE, "-o", "out.csv", "--lexicon", str(lexicon_file), "--workers", "2")
    hidden = folder / ".out.csv.malaprop"
    with running(*command, before=HALTING) as process:
        wait_for_a_batch(folder / "out.csv")
        process.send_signal(number)
        _, err = process.communicate(timeout=600)
        assert process.returncode == 128 + number
    assert len(err.splitlines()) == 1
    assert b"stopped: no output file was written; what was drawn is kept" in err
    assert sorted(os.listdir(folder)) == [hidden.name, "in.csv"]
    with running(*command, "--resume") as process:
        _, err = process.communicate(timeout=600)
        assert (process.returncode, err) == (0, b"")
    assert_wide(folder / "out.csv", 20_000, [])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_at_the_very_end_changes_nothing(
    folder: Path, lexicon_file: Path, number: signal.Signals
) -> None:
    """Nor does anybody wait for workers, which do not hear signals."""
    write_wide(folder / "in.csv", 20_000)
    command = (*WIDE, "-o", "out.csv", "--lexicon", str(lexicon_file), "--workers", "2")
    with running(*command) as process:
        deadline = time.monotonic() + 600
        while not (folder / "out.csv").exists():
            assert time.monotonic() < deadline
            time.sleep(0.0002)
        process.send_signal(number)
        process.send_signal(number)
        _, err = process.communicate(timeout=600)
    assert (process.returncode, err) == (0, b"")
    assert_wide(folder / "out.csv", 20_000, [])
