"""Files that are made to harm: they run nothing, crash nothing, and take little memory."""

from __future__ import annotations

import gzip
import os
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.lexicon.hostile import Ended, both, check_message, malaprop, npy, refused

from malaprop.core.errors import LexiconError
from malaprop.lexicon.poincare import relations


class Harm:
    """Makes a folder when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("harm",)


def keyed(folder: Path, **attributes: Any) -> Path:
    """What gensim saves, with some attributes replaced."""
    gensim = pytest.importorskip("gensim.models")
    vectors = gensim.KeyedVectors(2)
    vectors.add_vectors(["one", "two"], np.ones((2, 2), np.float32))
    for name in ("__numpys", "__scipys", "__ignoreds", "__recursive_saveloads"):
        vectors.__dict__[name] = []
    vectors.__dict__.update(attributes)
    path = folder / "a.kv"
    path.write_bytes(pickle.dumps(vectors, protocol=4))
    return path


def test_sidecars_are_never_unpickled(tmp_path: Path) -> None:
    """gensim unpickles the files that an object calls its sparse matrices."""
    path = keyed(tmp_path, __scipys=["matrix"])
    (tmp_path / "a.kv.matrix.npy").write_bytes(pickle.dumps(Harm()))
    assert [ended.code for ended in malaprop(tmp_path, *both(path))] == [0, 0]
    assert not (tmp_path / "harm").exists()


def test_a_sidecar_of_objects_is_refused(tmp_path: Path) -> None:
    path = keyed(tmp_path, __numpys=["vectors"], vectors=None)
    np.save(tmp_path / "a.kv.vectors.npy", np.array([[Harm()]]), allow_pickle=True)
    refused(tmp_path, *both(path))
    (tmp_path / "a.kv.vectors.npy").write_bytes(pickle.dumps(Harm()))
    refused(tmp_path, *both(path))


class Forged:
    """An array of pointers that numpy takes for numbers, by a data type that says it has none."""

    def __init__(self, kind: str, state: tuple[Any, ...]) -> None:
        self.kind, self.state = kind, state

    def __reduce__(self) -> tuple[Any, ...]:
        from numpy._core import multiarray

        class Kind:
            def __reduce__(_) -> tuple[Any, ...]:  # noqa: N805
                return np.dtype, (self.kind, False, True), self.state

        state = (1, (2, 1), Kind(), False, b"\x41" * 16)
        return multiarray._reconstruct, (np.ndarray, (0,), b"b"), state


FORGED = [
    Forged("O", (3, "|", None, None, None, 8, 8, 0)),
    Forged("O", (3, "|", None, None, None, 8, 8, 16)),
    Forged("V8", (3, "|", None, ("x",), {"x": (np.dtype("O"), 0)}, 8, 8, 0)),
]


@pytest.mark.parametrize("forged", FORGED, ids=["O", "O and a flag", "V"])
def test_forged_types_dereference_nothing(tmp_path: Path, forged: Forged) -> None:
    refused(tmp_path, *both(keyed(tmp_path, vectors=forged)))


def test_nothing_else_in_a_pickle_runs(tmp_path: Path) -> None:
    path = keyed(tmp_path, extra=Harm())
    assert [ended.code for ended in malaprop(tmp_path, *both(path))] == [0, 0]
    assert not (tmp_path / "harm").exists()
    path.write_bytes(pickle.dumps(Harm(), protocol=4))
    refused(tmp_path, *both(path))


def packed(content: bytes, count: int) -> bytes:
    """A gzip file of `content`, `count` times: a thousandth of its length."""
    return gzip.compress(content) * count  # of so many members


def pickled(*operations: bytes) -> bytes:
    return b"\x80\4" + b"".join(operations) + b"."


def one_word_often(length: int, count: int) -> bytes:
    """A list of words that refers to one word of numpy's again and again."""

    def text(value: str) -> bytes:
        return b"X" + struct.pack("<I", len(value)) + value.encode()

    kind = b"cnumpy\ndtype\n" + text(f"U{length}") + b"\x89\x88\x87R"
    kind += b"(K\3" + text("<") + b"NNNK\4K\4K\x08tb"
    word = b"cnumpy.core.multiarray\nscalar\n" + kind
    word += b"B" + struct.pack("<I", 4 * length) + b"a\0\0\0" * length + b"\x86R\x94"
    words = text("index_to_key") + b"](" + word + b"h\0" * count + b"e"
    return pickled(b"cgensim.models.keyedvectors\nKeyedVectors\n)\x81}(" + words + b"ub")


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
    "a long number": ("a.kv", pickled(b"\x8b" + struct.pack("<i", HUGE - 1))),
    "long bytes": ("a.kv", pickled(b"\x8e" + struct.pack("<Q", 1 << 62))),
    "a long byte array": ("a.kv", pickled(b"\x96" + struct.pack("<Q", 3 << 30))),
    "a long text": ("a.kv", pickled(b"\x8d" + struct.pack("<Q", 1 << 40))),
    "a far memo": ("a.kv", pickled(b"Nr" + struct.pack("<I", HUGE))),
    "a long frame": ("a.kv", pickled(b"\x95" + struct.pack("<Q", 1 << 62), b"N")),
    "one long word often": ("a.kv", one_word_often(250_000, 100_000)),
    "one word a million times": ("a.kv", one_word_often(4_000, 900_000)),
    "many lists": ("a.kv", pickled(b"]" * 6_000_000)),
    "nested tuples": ("a.kv", pickled(b")" + b"\x85" * 900_000)),
    "a long number in text": ("a.kv", pickled(b"L" + b"9" * 4_000_000 + b"L\n")),
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
        relations.read_pairs(path)
    monkeypatch.setattr(relations, "MAX_PAIRS", 5_000)
    chain = [(str(i), str(i + 1)) for i in range(100)]
    assert len(relations.Hierarchy.of(chain[:99]).above) == 4_950
    with pytest.raises(LexiconError, match="more than 5,000 pairs"):
        relations.Hierarchy.of(chain)
