"""Compiled lexicons made to harm: they run nothing, crash nothing, and take little memory."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.lexicon.hostile import both, malaprop, npy, refused

from malaprop.lexicon import store
from malaprop.privacy.errors import LexiconError

HUGE = 1 << 31
DEEP = 200_000


def compiled(folder: Path) -> Path:
    path = folder / "compiled"
    store.write(path, [(["one", "two"], np.eye(2, dtype=np.float32))], metric="euclidean")
    return path


def about(folder: Path, **changes: Any) -> None:
    path = folder / store.ABOUT
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def nested(folder: Path) -> None:
    (folder / store.ABOUT).write_text("[" * DEEP)


def long_header(folder: Path) -> None:
    (folder / store.VECTORS).write_bytes(npy("{" + " " * 4_000_000, HUGE + 5))


def escapes(folder: Path) -> None:
    (folder / store.WORDS).write_bytes(b"one\n\x1b[2J\n")


def twice(folder: Path) -> None:
    (folder / store.WORDS).write_bytes(b"one\none\n")


def no_number(folder: Path) -> None:
    np.save(folder / store.VECTORS, np.array([[np.nan, 1], [1, 1]], np.float32))


def great_step(folder: Path) -> None:
    np.save(folder / store.VECTORS, np.ones((2, 2), np.int8))
    about(folder, step=2.0**200)


def unlike_steps(folder: Path) -> None:
    np.save(folder / store.VECTORS, np.ones((2, 2), np.int8))
    about(folder, step="0.5")


def a_graph_of_zeros(folder: Path) -> None:
    about(folder, metric="graph")
    note = json.dumps({"format": 1, "base": "", "size": 2, "made": {}})
    edges = np.zeros((100_000_000, 2), np.uint16)
    np.savez_compressed(
        folder / store.GRAPH,
        about=np.array(note),
        cutoff=np.array(10.0),
        edges=edges,
        weights=np.ones(1),
    )


def a_graph_of_another_size(folder: Path) -> None:
    about(folder, metric="graph")
    note = json.dumps({"format": 1, "base": "", "size": 400_000_000, "made": {}})
    np.savez(
        folder / store.GRAPH,
        about=np.array(note),
        cutoff=np.array(10.0),
        edges=np.array([[0, 1]]),
        weights=np.ones(1),
    )


FOLDERS = [
    nested,
    long_header,
    escapes,
    twice,
    no_number,
    great_step,
    unlike_steps,
    a_graph_of_zeros,
    a_graph_of_another_size,
]


def in_place(folder: Path) -> None:
    """Give a folder that was changed the fingerprint that it should have."""
    words = (folder / store.WORDS).read_text().split("\n")[:-1]
    vectors = np.load(folder / store.VECTORS)
    digest = hashlib.sha256(b"malaprop lexicon 1\0" + (9).to_bytes(8, "little") + b"euclidean")
    digest.update((2).to_bytes(8, "little") * 2)
    digest.update(hashlib.sha256("\n".join(words).encode()).digest() + vectors.tobytes())
    about(folder, fingerprint=digest.hexdigest())


def test_compiled_folders_of_strangers(tmp_path: Path) -> None:
    commands = []
    for harm in FOLDERS:
        folder = compiled(tmp_path / harm.__name__)
        in_place(folder)
        commands.append(both(folder)[0])
    assert [ended.code for ended in malaprop(tmp_path, *commands)] == [0] * len(FOLDERS)
    for harm in FOLDERS:
        folder = tmp_path / harm.__name__ / "compiled"
        harm(folder)
        if harm in (escapes, twice, no_number):
            in_place(folder)
    refused(tmp_path, *commands)


@pytest.mark.parametrize(
    "changes",
    [
        {"licence": "\x1b[2J"},
        {"sources": {"\x1b[2J": ""}},
        {"sources": [1]},
        {"licence": [1]},
        {"repairs": [1]},
        {"repairs": {"fault": {"count": 1, "first": ["\x1b"], "unit": "row"}}},
        {"count": 2.0},
        {"format": "\x1b[2J"},
        {"metric": "x" * 5_000},
    ],
)
def test_what_a_folder_says_of_itself(tmp_path: Path, changes: dict[str, Any]) -> None:
    folder = compiled(tmp_path)
    about(folder, **changes)
    with pytest.raises(LexiconError, match="not a complete compiled lexicon"):
        store.load(folder)


@pytest.mark.parametrize("name", [store.WORDS, store.VECTORS, store.ABOUT, store.GRAPH])
def test_devices_and_pipes_have_no_end(tmp_path: Path, name: str) -> None:
    folder = compiled(tmp_path)
    about(folder, metric="graph" if name == store.GRAPH else "euclidean")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to("/dev/zero")
    with pytest.raises(LexiconError):
        store.load(folder)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(LexiconError):
        store.load(folder)
