"""Files that are made to harm: they run nothing, crash nothing, and take little memory."""

from __future__ import annotations

import gzip
import os
import pickle
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.lab.datasets.packing import bomb
from tests.lexicon.hostile import Ended, both, check_message, malaprop, npy, refused

from malaprop.files.vector_formats import open_vectors
from malaprop.lab import poincare
from malaprop.lexicon.formats import read
from malaprop.lexicon.formats.arrays import ArrayFileError, read_npz
from malaprop.lexicon.formats.untrusted import open_stream
from malaprop.privacy.errors import DataError, LexiconError


class Harm:
    """Makes a folder when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("harm",)


def test_a_pickle_is_not_run_and_the_refusal_says_how_to_convert_it(tmp_path: Path) -> None:
    path = tmp_path / "a.kv"
    line = f"KeyedVectors.load({str(path)!r}).save_word2vec_format({str(path) + '.vec'!r})"
    for protocol in (2, 3, 4, 5):
        path.write_bytes(pickle.dumps(Harm(), protocol=protocol))
        refused(tmp_path, *both(path))
        with pytest.raises(LexiconError, match="is a pickle") as caught:
            read(path)
        assert line in str(caught.value)
    assert not (tmp_path / "harm").exists()


def packed(content: bytes, count: int) -> bytes:
    """A gzip file of `content`, `count` times: a thousandth of its length."""
    return gzip.compress(content) * count  # of so many members


HUGE = 1 << 31
DEEP = 200_000
BOMBS: dict[str, tuple[str, bytes]] = {
    "a line without end": ("a.txt.gz", packed(b"one 1 " + b"1 " * 500_000, 1500)),
    "a word without end": (
        "a.txt.gz",
        packed(b"one 1\n" + b"x" * 1_000_000, 1) + packed(b"x" * 1_000_000, 1500),
    ),
    "a first line without end": ("a.bin.gz", packed(b"9" * 1_000_000, 1500)),
    "a blank without end": ("a.txt.gz", packed(b" " * 1_000_000, 1500) + packed(b"a 1\n", 1)),
    "a huge dimension": ("a.bin", b"2 999999999999999999\none \0\0\0\0two \0\0\0\0"),
    "a dimension of gigabytes": (
        "a.bin.gz",
        packed(b"2 900000000\none ", 1) + packed(bytes(1_000_000), 2000),
    ),
    "many short rows": ("a.bin.gz", packed(b"2 1\n", 1) + packed(b"a \0\0\0\0" * 100_000, 8)),
    "many blank lines": (
        "a.txt.gz",
        packed(b"one" + b" 1" * 300 + b"\n", 1) + packed(b"\n" * 1_000_000, 5),
    ),
    "many columns": ("a.txt", b"one" + b" 1" * 500_000 + b"\n"),
    "a long .npy header": ("a.npy", npy("{" + " " * 4_000_000, HUGE + 5)),
    "a nested .npy header": ("a.npy", npy("-" * 9_000 + "1")),
    "a huge .npy shape": (
        "a.npy",
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }"),
    ),
    "a huge .npy word": (
        "a.npy",
        npy("{'descr': '<U999999999', 'fortran_order': False, 'shape': (1, 1), }") + bytes(100),
    ),
    "a long .safetensors header": (
        "a.safetensors",
        struct.pack("<Q", 99_000_000) + b"{" + b" " * 98_999_998 + b"}",
    ),
    "a nested .safetensors header": (
        "a.safetensors",
        struct.pack("<Q", 6 * DEEP) + b'{"a":' * DEEP + b"}" * DEEP,
    ),
}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Ended]]:
    """How the two ways to read each of the files ended."""
    folder = tmp_path_factory.mktemp("bombs")
    commands = []
    for number, (name, content) in enumerate(BOMBS.values()):
        path = folder / str(number) / name
        path.parent.mkdir()
        path.write_bytes(content)
        (path.parent / "words.txt").write_bytes(b"one\ntwo\n")
        commands += both(path)
    results = malaprop(folder, *commands)
    return {name: results[2 * i : 2 * i + 2] for i, name in enumerate(BOMBS)}


@pytest.mark.parametrize("bomb", BOMBS)
def test_bombs(ended: dict[str, list[Ended]], bomb: str) -> None:
    assert [found.code for found in ended[bomb]] == [1, 1]
    for found in ended[bomb]:
        check_message(found)
        assert BOMBS[bomb][0] in found.err


def test_a_vocabulary_without_end(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.ones((2, 2), np.float32))
    for content in (b"x" * 1_000_000, b"\n" * 1_000_000):
        (tmp_path / "words.txt").write_bytes(packed(content, 1500))
        refused(tmp_path, *both(tmp_path / "a.npy"))


def test_relations_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "relations.tsv"
    path.write_bytes(b"a\tb\n" + b"x" * 2_000_000)
    with pytest.raises(LexiconError, match="a line of more than"):
        poincare.read_pairs(path)
    monkeypatch.setattr(poincare, "MAX_PAIRS", 5_000)
    chain = [(str(i), str(i + 1)) for i in range(100)]
    assert len(poincare.Hierarchy.of(chain[:99]).above) == 4_950
    with pytest.raises(LexiconError, match="more than 5,000 pairs"):
        poincare.Hierarchy.of(chain)


@pytest.mark.parametrize("kind", ["directory", "zip64 directory"])
@pytest.mark.parametrize("name", ["a.txt", "graph.npz", "a.npz"])
def test_a_zip_archive_with_a_long_directory(tmp_path: Path, kind: str, name: str) -> None:
    """`zipfile` makes an object of each entry."""
    path = bomb(tmp_path / name, kind)
    if name == "a.txt":
        path.write_bytes(b"PK\3\4" + path.read_bytes())
    tracemalloc.start()
    try:
        with pytest.raises((LexiconError, ArrayFileError, DataError)):
            _read_zip(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000


def _read_zip(path: Path) -> None:
    if path.name == "a.txt":
        with open_stream(path) as stream:
            stream.content.read(1)
    elif path.name == "graph.npz":
        read_npz(path, ["offsets"], 1000)
    else:
        open_vectors(path)
