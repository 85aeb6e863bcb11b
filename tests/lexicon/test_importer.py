"""Importing repairs, says what it repaired, and never leaves half a lexicon."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from malaprop.lexicon import store
from malaprop.lexicon.formats import word_vectors
from malaprop.lexicon.store import import_lexicon
from malaprop.privacy.errors import LexiconError, OutputError, ParameterError

pytestmark = pytest.mark.usefixtures("home")

FAULTY = b"""9 2
the 1 2
new york 3 4
of 5 6
the 7 8

and nan 2
to 0 0
in 1.5 -2
a b 3 4
at 2 2
by 3 3
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_bytes(FAULTY)
    return path


def test_import(home: Path, source: Path) -> None:
    imported = import_lexicon(source, "mine")
    assert imported.vectors.shape == (6, 2)
    assert imported.meta["repairs"] == {
        "word with spaces": {"count": 2, "first": [3, 10], "unit": "line"},
        "duplicate word": {"count": 1, "first": [5], "unit": "line"},
        "blank line": {"count": 1, "first": [6], "unit": "line"},
        "NaN, infinite or too large value": {"count": 1, "first": [7], "unit": "line"},
        "header with a wrong number of rows": {"count": 1, "first": [1], "unit": "line"},
    }
    assert store.resolve("mine") == home / "lexicons" / "mine"
    stored = store.load(store.resolve("mine"))
    assert stored.words == ("the", "of", "to", "in", "at", "by")
    np.testing.assert_array_equal(
        stored.vectors, [[1, 2], [5, 6], [0, 0], [1.5, -2], [2, 2], [3, 3]]
    )
    assert stored.fingerprint == imported.fingerprint
    assert stored.fingerprint == store.fingerprint(stored.words, stored.vectors, b"euclidean")
    assert stored.meta["sources"] == {"vectors.txt": hashlib.sha256(FAULTY).hexdigest()}
    assert stored.meta["repairs"] == imported.meta["repairs"]


def test_angular_leaves_out_zero_vectors(source: Path) -> None:
    imported = import_lexicon(source, "mine", metric="angular")
    assert len(imported.words) == 5
    assert imported.meta["repairs"]["zero vector, which has no direction"]["first"] == [8]
    assert str(imported.metric) == "angular"


def test_first_five_lines_are_remembered(source: Path) -> None:
    source.write_bytes(b"".join(b"w%d 1 2\nw%d 3 4\n" % (i, i) for i in range(20)))
    assert import_lexicon(source, "mine").meta["repairs"] == {
        "duplicate word": {"count": 20, "first": [2, 4, 6, 8, 10], "unit": "line"}
    }


@pytest.mark.parametrize(("limit", "count"), [(1, 1), (2, 2), (3, 3), (6, 6), (100, 6)])
def test_limit_counts_good_rows(source: Path, limit: int, count: int) -> None:
    assert len(import_lexicon(source, "mine", limit=limit).words) == count


def test_limit_across_blocks(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_vectors, "CHUNK", 10)
    imported = import_lexicon(source, "mine", limit=3)
    assert imported.words == ("the", "of", "to")
    # It was not read through.
    assert "header with a wrong number of rows" not in imported.meta["repairs"]


def test_progress_reaches_its_total(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_vectors, "CHUNK", 10)
    seen: list[tuple[int, int | None]] = []
    import_lexicon(source, "mine", progress=lambda done, total: seen.append((done, total)))
    assert len(seen) > 2
    assert seen == sorted(seen)
    assert seen[-1] == (len(FAULTY), len(FAULTY))


def test_matrix_with_vocabulary(tmp_path: Path) -> None:
    np.save(tmp_path / "m.npy", np.eye(3))
    (tmp_path / "v.txt").write_text("a\nb\nc\n")
    stored = import_lexicon(tmp_path / "m.npy", "m", vocabulary=tmp_path / "v.txt")
    assert stored.words == ("a", "b", "c")
    assert set(stored.meta["sources"]) == {"m.npy", "v.txt"}


@pytest.mark.parametrize(
    "name", ["", "A", "a b", "../a", "a/b", ".a", "-a", "ä", "a\n", "a" * 65, "english"]
)
def test_names(home: Path, source: Path, name: str) -> None:
    with pytest.raises(ParameterError):
        import_lexicon(source, name)
    assert not home.exists()


def test_limit_is_positive(source: Path) -> None:
    with pytest.raises(ParameterError, match="Got 0 instead"):
        import_lexicon(source, "mine", limit=0)


def test_existing_names_need_force(source: Path) -> None:
    first = import_lexicon(source, "mine")
    source.write_bytes(b"x 1 2\n")
    with pytest.raises(OutputError, match="mine exists already"):
        import_lexicon(source, "mine")
    assert store.load(store.resolve("mine")).fingerprint == first.fingerprint
    assert len(import_lexicon(source, "mine", force=True).words) == 1


def test_failed_imports_leave_nothing(home: Path, source: Path) -> None:
    source.write_bytes(b"a 1 2\nb nan 3\nc 4 inf\n")
    with pytest.raises(LexiconError, match="2 of 3 rows"):
        import_lexicon(source, "mine")
    assert list((home / "lexicons").iterdir()) == []


def test_vectors_outside_the_ball_are_left_out(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "ball.txt"
    path.write_text("inside 0.5 0\nedge 1 0\nfar 3 4\nalso -0.9 0\nthird 0.1 0.2\n", "utf-8")
    imported = import_lexicon(path, "ball", metric="poincare")
    assert len(imported.words) == 3
    assert imported.meta["repairs"]["vector outside the Poincaré ball"]["count"] == 2
