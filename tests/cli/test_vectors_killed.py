"""`malaprop release` and `malaprop embed`, killed again and again: nothing is lost or redrawn."""

import base64
import os
import random
import time
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from tests.cli.conftest import WORDS, Cli, drawn_in, running

from malaprop import seeded_rng

KILLS = max(3, int(os.environ.get("MALAPROP_KILLS", "10")) // 3)
LIMIT = 600.0
ROWS = 3_000
# Thirty blocks of 100 rows.
SMALL = "import malaprop.files.vector_formats as formats; formats.BLOCK_CELLS = {}"


def _kept(hidden: Path) -> dict[int, bytes]:
    """The rows of each block in a journal."""
    return {number: base64.b64decode(texts[0]) for number, texts in drawn_in(hidden).items()}


@pytest.mark.parametrize("command", ["release", "embed"])
def test_a_run_that_is_killed_loses_and_repeats_nothing(
    folder: Path, lexicon_file: Path, command: str
) -> None:
    columns = 4 if command == "release" else 2
    if command == "release":
        np.save(folder / "in.npy", seeded_rng(1).normal(size=(ROWS, columns)).astype(np.float32))
        arguments: tuple[str, ...] = ("release", "in.npy", "--scale", "1")
    else:
        words = sorted(WORDS)
        lines = (f"{words[i % len(words)]}\n" for i in range(ROWS))
        (folder / "in.txt").write_text("".join(lines))
        arguments = ("embed", "in.txt", "-l", str(lexicon_file))
    arguments += ("-o", "out.npy", "-q", "-m", "laplace", "-e", "1", "--resume")
    before = SMALL.format(100 * columns)
    output, hidden = folder / "out.npy", folder / ".out.npy.malaprop"
    moments, kept = random.SystemRandom(), dict[int, bytes]()
    for kill in count(1):
        assert kill < KILLS + 50  # a run may be over before it is killed, but not each of them
        with running(*arguments, before=before) as process:
            wanted = len(kept) + moments.randint(1, 5)
            while _lines(hidden) < wanted and process.poll() is None:
                time.sleep(0.002)
            process.kill()
            _, err = process.communicate(timeout=LIMIT)
            assert process.returncode in (0, -9), err
        if output.exists():
            if kept:
                break
            output.unlink()
            hidden.unlink()
            continue
        now = _kept(hidden)
        assert now.items() >= kept.items()  # what was drawn stays as it is
        kept = now
        if kept and kill >= KILLS:
            break
    with running(*arguments, before=before) as process:
        _, err = process.communicate(timeout=LIMIT)
        assert process.returncode == 0, err
    private = np.load(output)
    assert private.shape == (ROWS, columns)
    for number, rows in kept.items():
        np.testing.assert_array_equal(
            private[100 * number : 100 * (number + 1)],
            np.frombuffer(rows, np.float32).reshape(-1, columns),
        )
    # No batch's noise is used twice. Single rows of two columns may be equal by chance on the grid.
    assert len(np.unique(private, axis=0)) > ROWS - 10
    assert hidden.stat().st_size < 2_000
    assert [name for name in os.listdir(folder) if name.startswith(".")] == [hidden.name]


def test_a_whole_output_is_not_made_again(cli: Cli, folder: Path) -> None:
    np.save(folder / "in.npy", np.eye(3, dtype=np.float32))
    command = ("release", "in.npy", "-o", "out.npy", "-e", "1", "-m", "laplace", "--scale", "1")
    assert cli(*command, "--resume").code == 0
    again = cli(*command, "--resume", "--report", "r.json")
    assert again.code == 0
    assert again.err == (
        "out.npy is complete already: there is nothing to resume.\n"
        "warning: nothing was done, so no report was written to r.json.\n"
    )
    assert cli(*command).code == 1  # the output is there


def _lines(hidden: Path) -> int:
    try:
        return hidden.read_bytes().count(b"\n") - 1
    except FileNotFoundError:
        return 0
