"""The compiled form: what is written is loaded, whole or not at all, under a stable name."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from malaprop.lexicon import store
from malaprop.privacy.errors import LexiconError, OutputError, ParameterError

WORDS = ("cat", "naïve", "東京")
VECTORS = np.array([[0.5, -1.25], [3.0, 0.0], [-0.125, 2.0]], dtype=np.float32)
GOLDEN = "cf56a134c40d5ae054fc5dc2699b06d911840af6b949a157660613bd803e0974"


def folder_with(tmp_path: Path, **options: Any) -> Path:
    folder = tmp_path / "a"
    store.write(folder, [(WORDS[:1], VECTORS[:1]), (WORDS[1:], VECTORS[1:])], **options)
    return folder


def test_round_trip(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, metric="angular", sources={"a.txt": "12ab"}, licence="CC0-1.0")
    stored = store.load(folder)
    assert stored.words == WORDS
    assert str(stored.metric) == "angular"
    assert stored.fingerprint == store.fingerprint(WORDS, VECTORS, b"angular")
    np.testing.assert_array_equal(stored.vectors, VECTORS)
    assert stored.vectors.dtype == np.float32
    assert not stored.vectors.flags.writeable
    assert stored.meta["sources"] == {"a.txt": "12ab"}
    assert stored.meta["licence"] == "CC0-1.0"
    assert (folder / "words.txt").read_bytes() == "cat\nnaïve\n東京\n".encode()
    np.testing.assert_array_equal(np.load(folder / "vectors.npy"), VECTORS)
    assert store.is_compiled(folder)
    assert not store.is_compiled(tmp_path)


def test_bytes_are_reproducible(tmp_path: Path) -> None:
    store.write(tmp_path / "a", [(WORDS, VECTORS)], metric="euclidean")
    store.write(
        tmp_path / "b", [([w], VECTORS[[i]]) for i, w in enumerate(WORDS)], metric="euclidean"
    )
    for name in ("words.txt", "vectors.npy", "lexicon.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_8_bit_vectors_are_their_float32_values(tmp_path: Path) -> None:
    small = np.array([[-127, 0], [1, 127], [5, -3]], dtype=np.int8)
    stored = store.write(tmp_path / "a", [(WORDS, small)], metric="euclidean", step=1 / 32)
    np.testing.assert_array_equal(stored.vectors, small.astype(np.float32) / 32)
    assert stored.vectors.dtype == np.float32
    assert not stored.vectors.flags.writeable
    assert np.load(tmp_path / "a" / "vectors.npy").dtype == np.int8
    copy = store.write(tmp_path / "b", [(WORDS, stored.vectors)], metric="euclidean")
    assert copy.fingerprint == stored.fingerprint


@pytest.mark.parametrize("step", [0.0, -0.5, 0.1, 3.0, float("nan"), float("inf")])
def test_a_step_is_a_power_of_two(tmp_path: Path, step: float) -> None:
    with pytest.raises(ParameterError, match="power of two"):
        store.write(tmp_path / "a", [], metric="euclidean", step=step)


def test_golden_fingerprint() -> None:
    assert store.fingerprint(WORDS, VECTORS, b"euclidean") == GOLDEN


def test_fingerprint_is_the_documented_hash() -> None:
    expected = hashlib.sha256(
        b"malaprop lexicon 1\0"
        + (9).to_bytes(8, "little")
        + b"euclidean"
        + (3).to_bytes(8, "little")
        + (2).to_bytes(8, "little")
        + hashlib.sha256("cat\nnaïve\n東京".encode()).digest()
        + VECTORS.astype("<f4").tobytes()
    ).hexdigest()
    assert store.fingerprint(WORDS, VECTORS, b"euclidean") == expected


def test_fingerprint_is_sensitive() -> None:
    changed = VECTORS.copy()
    changed[2, 1] = np.nextafter(changed[2, 1], np.float32(9))
    prints = [
        store.fingerprint(words, vectors, token)
        for words, vectors, token in (
            (WORDS, VECTORS, b"euclidean"),
            (WORDS, VECTORS, b"angular"),
            (WORDS, VECTORS, b""),
            (WORDS, changed, b"euclidean"),
            (WORDS, VECTORS[::-1], b"euclidean"),
            (WORDS[::-1], VECTORS, b"euclidean"),
            (("ca", "tnaïve", "東京"), VECTORS, b"euclidean"),
            (WORDS, VECTORS.reshape(2, 3), b"euclidean"),
            (WORDS, VECTORS.reshape(6, 1), b"euclidean"),
        )
    ]
    assert len(set(prints)) == len(prints)


@given(rows=st.integers(1, 40), at_once=st.integers(1, 200), order=st.sampled_from("CF"))
def test_fingerprint_does_not_depend_on_blocks_or_memory_order(
    rows: int, at_once: int, order: Any
) -> None:
    words = [str(i) for i in range(rows)]
    vectors: NDArray[np.float32] = np.arange(rows * 3, dtype=np.float32).reshape(rows, 3)
    whole = store.fingerprint(words, vectors, b"m")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "_HASHED_AT_ONCE", at_once)
        assert store.fingerprint(words, np.asarray(vectors, order=order), b"m") == whole


def test_words_with_line_breaks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match="line break"):
        store.fingerprint(("a\nb", "c"), VECTORS[:2], b"euclidean")
    with pytest.raises(LexiconError, match="line break"):
        store.write(tmp_path / "a", [(["a\nb"], VECTORS[:1])], metric="euclidean")
    assert list(tmp_path.iterdir()) == []


def test_existing_folders_are_replaced_only_by_force(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, metric="euclidean")
    with pytest.raises(OutputError, match="exists already"):
        store.write(folder, [(["x"], VECTORS[:1])], metric="euclidean")
    assert store.load(folder).words == WORDS
    store.write(folder, [(["x"], VECTORS[:1])], metric="euclidean", force=True)
    assert store.load(folder).words == ("x",)
    assert list(tmp_path.iterdir()) == [folder]


@pytest.mark.parametrize("force", [False, True])
def test_a_failure_leaves_things_as_they_were(tmp_path: Path, force: bool) -> None:
    def broken() -> Iterator[store.WordBlock]:
        yield WORDS, VECTORS
        raise KeyboardInterrupt

    before = [folder_with(tmp_path, metric="euclidean")] if force else []
    with pytest.raises(KeyboardInterrupt):
        store.write(tmp_path / "a", broken(), metric="angular", force=force)
    assert list(tmp_path.iterdir()) == before
    assert all(str(store.load(folder).metric) == "euclidean" for folder in before)


def test_a_failed_rename_puts_the_old_folder_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_with(tmp_path, metric="euclidean")
    replace = os.replace

    def full(old: Path, new: Path) -> None:
        if old.name.endswith(".a"):
            raise OSError(28, "No space left on device")
        replace(old, new)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OutputError, match="No space left"):
        store.write(folder, [(["x"], VECTORS[:1])], metric="euclidean", force=True)
    assert store.load(folder).words == WORDS
    assert list(tmp_path.iterdir()) == [folder]


def test_folders_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot be written"):
        store.write(tmp_path / "file" / "a", [(WORDS, VECTORS)], metric="euclidean")


@pytest.mark.parametrize(
    "blocks",
    [
        [],
        [(WORDS, VECTORS[:2])],
        [(WORDS, VECTORS.astype(np.float64))],
        [(WORDS[:1], VECTORS[:1]), (WORDS[1:], VECTORS[1:, :1])],
    ],
)
def test_blocks_must_fit(tmp_path: Path, blocks: list[store.WordBlock]) -> None:
    with pytest.raises(LexiconError):
        store.write(tmp_path / "a", blocks, metric="euclidean")
    assert list(tmp_path.iterdir()) == []


def about(folder: Path, **changes: Any) -> None:
    path = folder / "lexicon.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def cut(path: Path, end: int) -> None:
    path.write_bytes(path.read_bytes()[:end])


DAMAGE = {
    "no words": lambda f: (f / "words.txt").unlink(),
    "no vectors": lambda f: (f / "vectors.npy").unlink(),
    "no json": lambda f: (f / "lexicon.json").unlink(),
    "cut vectors": lambda f: cut(f / "vectors.npy", -1),
    "empty vectors": lambda f: cut(f / "vectors.npy", 0),
    "cut words": lambda f: cut(f / "words.txt", -1),
    "broken words": lambda f: (f / "words.txt").write_bytes(b"a\nb\n\xff\n"),
    "cut json": lambda f: cut(f / "lexicon.json", -3),
    "json of something else": lambda f: (f / "lexicon.json").write_text("[]"),
    "wrong count": lambda f: about(f, count=2),
    "wrong dimension": lambda f: about(f, dimension=3),
    "a step for float32": lambda f: about(f, step=0.5),
    "count of another type": lambda f: about(f, count=None),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_damage(tmp_path: Path, damage: Any) -> None:
    folder = folder_with(tmp_path, metric="euclidean")
    damage(folder)
    with pytest.raises(LexiconError, match="not a complete compiled lexicon"):
        store.load(folder)


def test_a_changed_step_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    store.write(folder, [(WORDS, np.ones((3, 2), np.int8))], metric="euclidean", step=0.5)
    about(folder, step=0.3)
    with pytest.raises(LexiconError, match="not a complete compiled lexicon"):
        store.load(folder)


def test_a_later_format_is_named(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, metric="euclidean")
    about(folder, format=2)
    with pytest.raises(LexiconError, match="has format 2, this version reads 1"):
        store.load(folder)


def test_loading_does_not_read_the_vectors(tmp_path: Path) -> None:
    """A sparse file of 480 MB opens at once: neither hashed nor searched for NaN."""
    count, dimension = 400_000, 300
    folder = folder_with(tmp_path, metric="euclidean")
    (folder / "words.txt").write_text("".join(f"{i}\n" for i in range(count)))
    with (folder / "vectors.npy").open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (count, dimension)}
        np.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + 4 * count * dimension)
    about(folder, count=count, dimension=dimension)
    start = time.process_time()
    stored = store.load(folder)
    assert time.process_time() - start < 1
    assert stored.vectors.shape == (count, dimension)
