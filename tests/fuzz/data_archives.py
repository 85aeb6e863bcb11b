"""Fuzz archives of data sets: files are taken out of a damaged one, or it is refused."""

import random
import tempfile
from collections import Counter
from pathlib import Path

from tests.fuzz.mutations import mutated
from tests.lab.datasets.packing import tgz, wheel

from malaprop import MalapropError
from malaprop.lab.datasets import DataFile
from malaprop.lab.datasets.archives import found_in, is_archive, taken_out

CONTENT = {"d/a.txt": b"one\n" * 50, "d/b.txt": b"two\n", "d/c/x.txt": b"three\n"}
LARGEST = 3000


def samples() -> dict[str, bytes]:
    """Return a sound archive of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        zipped = wheel(Path(folder), "small", "1.0", CONTENT)
        tarred = tgz(Path(folder) / "x.tgz", CONTENT)
        return {"x.whl": zipped.read_bytes(), "x.tgz": tarred.read_bytes()}


def fuzz(cases: int, seed: int) -> dict[str, int]:
    """Look into as many damaged archives of each kind; count what was accepted and refused."""
    figures: Counter[str] = Counter()
    for name, sound in samples().items():
        for case in range(cases):
            choices = random.Random(f"{seed} {name} {case}")
            accepted = _look(name, mutated(sound, choices), f"seed {seed}, {name} {case}")
            figures[f"{name} {'accepted' if accepted else 'refused'}"] += 1
    return dict(figures)


def _look(name: str, content: bytes, case: str) -> bool:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / name
        path.write_bytes(content)
        try:
            if is_archive(path):
                found_in(path, CONTENT)
            for member in ("d/a.txt", "d/*.txt"):
                file = DataFile(name="x", sha256="", size=LARGEST, member=member)
                with taken_out(path, file) as taken:
                    # A bundle has headers and blocks of 512 bytes, and ends in 10,240.
                    assert len(taken.read()) <= LARGEST + 20_480, case
        except MalapropError:
            return False
        except Exception as error:
            raise AssertionError(f"{case}: {type(error).__name__}") from error
        finally:
            assert {each.name for each in Path(place).iterdir()} == {name}, case
        return True
