"""Fuzz each form of lexicon: a damaged file is read, or refused by an error of ours.

The files are read in processes of their own, under watch: see `lexicon_process`.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

AT_ONCE = 500
"""Cases of each form in one process."""


def fuzz(cases: int, seed: int) -> dict[str, int]:
    """Read as many damaged files of each form; return how many were accepted and refused."""
    figures: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for start in range(0, cases, AT_ONCE):
            stop = min(start + AT_ONCE, cases)
            figures.update(_in_a_process(Path(folder), seed, start, stop))
    return dict(figures)


def _in_a_process(folder: Path, seed: int, start: int, stop: int) -> dict[str, int]:
    root = Path(__file__).parents[2]
    environment = os.environ | {
        "MALAPROP_HOME": str(folder / "home"),
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(root), *sys.path]),
        "PYTHONWARNINGS": "error",
    }
    arguments = [str(folder), str(seed), str(start), str(stop)]
    command = [sys.executable, "-m", "tests.fuzz.lexicon_process", *arguments]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode:
        at = folder / "case"
        where = at.read_text().strip() if at.is_file() else "the start"
        raise AssertionError(
            f"seed {seed}, {where}: the process ended with {ended.returncode}\n{ended.stderr}"
        )
    figures: dict[str, int] = json.loads(ended.stdout)
    return figures
