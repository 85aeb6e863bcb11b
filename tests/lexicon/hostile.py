"""Reads files of strangers by the command line, in a process with little memory."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

MEMORY = 1 << 29
"""What a process may take beyond what it has when it starts to read; the files are far smaller."""
CHILD = f"""
import contextlib, io, json, os, resource, sys
import numpy, pyarrow.csv, scipy.sparse.csgraph, malaprop.lexicon.formats
from malaprop.cli.main import run
with open("/proc/self/statm") as file:
    limit = int(file.read().split()[0]) * resource.getpagesize() + {MEMORY}
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for line in sys.stdin:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(json.loads(line))
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


class Ended(NamedTuple):
    code: int
    out: str
    err: str


def malaprop(folder: Path, *commands: list[str]) -> list[Ended]:
    """How commands ended, one after the other in one process; fewer if it crashed."""
    environment = os.environ | {
        "MALAPROP_HOME": str(folder / "home"),
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    (folder / "in.txt").write_text("one\n")
    child = subprocess.run(
        [sys.executable, "-c", CHILD],
        cwd=folder,
        env=environment,
        input="".join(json.dumps(command) + "\n" for command in commands),
        stdout=subprocess.PIPE,
        text=True,
        timeout=300,
        check=False,
    )
    return [Ended(*json.loads(line)) for line in child.stdout.splitlines()]


def both(path: Path) -> list[list[str]]:
    """The two ways to read a file of a stranger's: strictly, and with repairs."""
    output = str(path.parent / "out.txt")
    return [
        ["privatize", "in.txt", "-o", output, "--force", "-m", "tem", "-e", "9", "-l", str(path)],
        ["lexicon", "import", str(path), "--name", "x", "--force"],
    ]


def refused(folder: Path, *commands: list[str]) -> None:
    """Each command ends in one line that says what to do, and does nothing else."""
    results = malaprop(folder, *commands)
    assert len(results) == len(commands)
    for ended in results:
        assert ended.code == 1, ended
        check_message(ended)
    assert not (folder / "harm").exists()


def check_message(ended: Ended) -> None:
    assert ended.err.startswith("malaprop: ")
    assert ended.err.count("\n") == 1
    assert "internal error" not in ended.err
    assert "out of memory" not in ended.err


def npy(header: str, declared: int | None = None) -> bytes:
    size = len(header) if declared is None else declared
    return b"\x93NUMPY\2\0" + struct.pack("<I", size) + header.encode()
