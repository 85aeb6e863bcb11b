"""The process that reads damaged lexicons: some cases of each form, in little memory and time.

python -m tests.fuzz.lexicon_process FOLDER SEED FROM TO
"""

import json
import os
import random
import resource
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tests.fuzz.lexicon_samples import VECTORS, WORDS, damaged, samples
from tests.fuzz.watching import watch

from malaprop import Lexicon
from malaprop.lexicon.extend import extend, read_words
from malaprop.lexicon.formats import Repairs
from malaprop.lexicon.store import import_lexicon
from malaprop.privacy.errors import MalapropError

MEMORY = 1 << 29
"""Bytes that it may take beyond what it has at its start."""
SECONDS = 5.0
"""What a file of some kilobytes may take at most."""
FAILED = 98
"""How it ends if a file is neither read nor refused."""


def _main(folder: Path, seed: int, start: int, stop: int) -> None:
    sound = folder / "sound"
    sound.mkdir(exist_ok=True)
    made = samples(sound)
    work = folder / "work"
    for form, sample in made.items():  # all that is imported is imported now
        _write(work, sample.files)
        assert _outcome(work / sample.opened) == "accepted", form
        with_faults = {name: b"\0" + data for name, data in sample.files.items()}
        _write(work, with_faults)
        _outcome(work / sample.opened)
    _limit()
    watch(folder)
    figures: Counter[str] = Counter()
    with (folder / "case").open("w") as case:
        for form, sample in made.items():
            for number in range(start, stop):
                os.pwrite(case.fileno(), f"{form}, case {number}".ljust(80).encode(), 0)
                choices = random.Random(f"{seed} {form} {number}")
                _write(work, damaged(sample, choices))
                figures[f"{form} {_timed(work / sample.opened)}"] += 1
    print(json.dumps(figures))


def _write(work: Path, files: dict[str, bytes]) -> None:
    work.mkdir(exist_ok=True)
    for path in work.iterdir():
        path.unlink()
    for name, data in files.items():
        (work / name).write_bytes(data)


def _timed(path: Path) -> str:
    start = time.process_time()
    try:
        outcome = _outcome(path)
    except BaseException as error:
        for frame, line in traceback.walk_tb(error.__traceback__):  # without opening the sources
            sys.stderr.write(f"{frame.f_code.co_filename}:{line} {frame.f_code.co_name}\n")
        sys.stderr.write(f"{type(error).__name__}: {str(error)[:200]}\n")
        sys.stderr.flush()
        os._exit(FAILED)
    if time.process_time() - start > SECONDS:
        sys.stderr.write(f"more than {SECONDS} s\n")
        sys.stderr.flush()
        os._exit(FAILED)
    return outcome


def _outcome(path: Path) -> str:
    """Open a lexicon strictly and import it with repairs; say whether any of it is accepted."""
    ways = [_open] if path.is_dir() else [_open, _import]
    if path.suffix == ".list":
        ways = [_extend]
    accepted = [_accepted(way, path) for way in ways]
    return "accepted" if any(accepted) else "refused"


def _accepted(way: Callable[[Path], Lexicon], path: Path) -> bool:
    try:
        _check(way(path))
    except MalapropError as error:
        message = str(error)
        assert message.isprintable()
        return False
    return True


def _open(path: Path) -> Lexicon:
    return Lexicon.open(path)


def _import(path: Path) -> Lexicon:
    import_lexicon(path, "x", force=True)
    return Lexicon.open("x")


def _extend(path: Path) -> Lexicon:
    repairs = Repairs(path.name, strict=False, unit="line")
    return extend(Lexicon(WORDS, VECTORS), read_words(path, repairs), repairs=repairs)


def _check(lexicon: Lexicon) -> None:
    """Whatever was accepted is a lexicon."""
    assert lexicon.fingerprint
    anew = Lexicon(lexicon.words, lexicon.vectors)
    assert len(anew) == len(lexicon)
    with np.errstate(all="ignore"):
        assert lexicon.distances([0]).shape == (1, len(lexicon))


def _limit() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    memory = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    seconds = int(used + 3600)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


if __name__ == "__main__":
    _main(Path(sys.argv[1]), *map(int, sys.argv[2:5]))
