"""A run that is killed, again and again, at moments drawn at random.

Ten times with all other tests; MALAPROP_KILLS says otherwise, as  make stress  does.
"""

import contextlib
import io
import json
import os
import random
import subprocess
import time
from itertools import islice
from pathlib import Path

from tests.cli.conftest import WORDS, running

from malaprop.pipeline.files import Layout, Rewriting

KILLS = int(os.environ.get("MALAPROP_KILLS", "10"))
ROWS = 12_000
LIMIT = 120.0


def test_a_run_that_is_killed_loses_and_repeats_nothing(folder: Path, lexicon_file: Path) -> None:
    words = sorted(WORDS)
    rows = (f"{i},{words[i % len(words)]},{'x' * 1_000}\n" for i in range(ROWS))
    (folder / "in.csv").write_text("id,text,other\n" + "".join(rows))
    command = ("privatize", "in.csv", "-c", "text", "-q", "-e", "2", "-l", str(lexicon_file))
    moments = random.SystemRandom()
    sizes = _batch_sizes(folder / "in.csv")
    longest = _seconds_of(*command, "-o", "first.csv")
    output = resumed = 0
    kept: dict[int, list[str]] = {}
    for kill in range(KILLS):
        path = folder / f"out{output}.csv"
        hidden = folder / f".{path.name}.malaprop"
        options = ("-o", path.name, "--resume", "--workers", str(1 + output % 3))
        with running(*command, *options) as process:
            if kill % 2:
                _wait(process, moments.uniform(0.0, longest))
            else:
                _wait_for_batches(process, hidden, moments.randint(1, len(sizes)))
            process.kill()
            _, err = process.communicate(timeout=LIMIT)  # which waits for its workers as well
            assert process.returncode in (0, -9), err
        now = _drawn(hidden)
        resumed += bool(kept)
        if path.exists():
            assert not now or len(now) == len(sizes)
            _assert_whole(path, sizes, now or kept)
            output, kept = output + 1, {}
        else:
            assert now.items() >= kept.items()  # what was drawn stays as it is
            kept = now
    for number in range(output + 1):
        with running(*command, "-o", f"out{number}.csv", "--resume") as process:
            _, err = process.communicate(timeout=LIMIT)
            assert process.returncode == 0, err
    _assert_whole(folder / f"out{output}.csv", sizes, kept)
    assert resumed  # or nothing was tested
    records = [name for name in os.listdir(folder) if name.startswith(".")]
    assert all((folder / name).stat().st_size < 2_000 for name in records)
    assert len(records) == output + 2  # one for each output, also the first; no remains


def _batch_sizes(path: Path) -> list[int]:
    """How many records there are in each batch."""
    layout = Layout(format="csv", columns=("text",))
    with (
        path.open("rb") as source,
        Rewriting(source, io.BytesIO(), layout, path.stat().st_size) as rewriting,
    ):
        sizes = [len(texts) for texts in rewriting.batches()]
    assert len(sizes) > 10
    return sizes


def _seconds_of(*command: str) -> float:
    """How long it takes on this machine, now."""
    started = time.monotonic()
    with running(*command) as process:
        process.communicate(timeout=LIMIT)
        assert process.returncode == 0
    return time.monotonic() - started


def _wait(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def _wait_for_batches(process: "subprocess.Popen[bytes]", hidden: Path, number: int) -> None:
    deadline = time.monotonic() + LIMIT
    while len(_drawn(hidden)) < number and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.001)


def _drawn(hidden: Path) -> dict[int, list[str]]:
    """The texts of all batches in a journal; of a last line that is cut short, nothing."""
    try:
        written = hidden.read_bytes()
    except FileNotFoundError:
        return {}
    batches = {}
    for line in written.splitlines(keepends=True)[1:]:
        tag, body = line.decode().split(" ", 2)[1:]
        if tag.isdecimal() and line.endswith(b"\n"):
            batches[int(tag)] = json.loads(body)[0]
    return batches


def _assert_whole(path: Path, sizes: list[int], kept: dict[int, list[str]]) -> None:
    """All records are there once, in order, and those that were drawn are as they were."""
    rows = [line.split(",") for line in path.read_text().splitlines()[1:]]
    assert [row[0] for row in rows] == [str(i) for i in range(ROWS)]
    assert {row[1].casefold() for row in rows} <= WORDS
    texts = iter(row[1] for row in rows)
    for number, size in enumerate(sizes):
        batch = list(islice(texts, size))
        assert kept.get(number, batch) == batch
    assert next(texts, None) is None
