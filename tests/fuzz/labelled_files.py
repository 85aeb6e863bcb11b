"""Fuzz texts with labels: a damaged file is read or refused, and nothing is told."""

import random
import tempfile
from collections import Counter
from pathlib import Path

from tests.fuzz.mutations import mutated
from tests.fuzz.record_files import CANARY, MAKERS

from malaprop.files.formats import registry
from malaprop.files.texts import read_labelled
from malaprop.privacy.errors import MalapropError

FORMATS = [name for name, kind in registry.items() if kind.has_columns]


def fuzz(cases: int, seed: int) -> dict[str, int]:
    """Read as many damaged files of each format; return how many were read and refused."""
    figures: Counter[str] = Counter()
    choices = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        for format_ in FORMATS:
            path = Path(folder) / f"notes.{format_}"
            for _ in range(cases):
                whole = MAKERS[format_](choices)
                path.write_bytes(whole)
                assert all(str(label).isdecimal() for _, label in _read(path))
                path.write_bytes(mutated(whole, choices))
                figures[f"{format_} {_check_damaged(path)}"] += 1
    return dict(figures)


def _read(path: Path) -> list[tuple[str, object]]:
    return list(read_labelled(str(path), column="note", label="id"))


def _check_damaged(path: Path) -> str:
    try:
        pairs = _read(path)
    except MalapropError as error:
        _check_told(error)
        return "refused"
    assert all(isinstance(text, str) for text, _ in pairs)
    return "read"


def _check_told(error: MalapropError) -> None:
    assert CANARY not in str(error), "a message tells the user's text"
    assert error.__context__ is None, "an error holds what a library raised"
