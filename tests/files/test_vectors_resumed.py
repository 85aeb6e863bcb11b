"""Runs over vectors that were stopped: what was drawn is kept, never drawn again, and not told."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.files.vector_files import ROWS, WRITE, read

from malaprop import Laplace, Lexicon, OutputError, embed_files, release_files, seeded_rng
from malaprop.files import vector_formats
from malaprop.files.resume_file import read_resume_file
from malaprop.privacy.mechanism import FreeVectors
from malaprop.report.vector_report import VectorReport

MECHANISM = Laplace(epsilon=1.0)


class Drawing:
    """Counts the blocks that are drawn, keeps them, and stops at one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stop_at: int | None = None
        self.blocks: list[Any] = []
        original = FreeVectors.release

        def release(free: FreeVectors, vectors: Any, rng: Any = None) -> Any:
            if len(self.blocks) == self.stop_at:
                raise KeyboardInterrupt
            self.blocks.append(original(free, vectors, rng))
            return self.blocks[-1]

        monkeypatch.setattr(FreeVectors, "release", release)

    def after(self, blocks: int | None, run: Callable[[], VectorReport]) -> VectorReport | None:
        self.stop_at, self.blocks = blocks, []
        if blocks is None:
            return run()
        with pytest.raises(KeyboardInterrupt) as caught:
            run()
        assert any("what was drawn is kept" in note for note in caught.value.__notes__)
        return None


@pytest.fixture
def drawing(monkeypatch: pytest.MonkeyPatch) -> Drawing:
    monkeypatch.setattr(vector_formats, "BLOCK_CELLS", 100)  # 25 rows of 4: ten blocks
    return Drawing(monkeypatch)


@pytest.mark.parametrize("name", WRITE)
def test_a_release_goes_on_where_it_was_stopped(
    tmp_path: Path, drawing: Drawing, name: str
) -> None:
    source, target, report = tmp_path / name, tmp_path / f"private-{name}", tmp_path / "r.json"
    WRITE[name](source)

    def run() -> VectorReport:
        return release_files(
            source, target, mechanism=MECHANISM, scale=1.0, report=report, resume=True
        )

    drawing.after(3, run)
    first = [*drawing.blocks]
    hidden = tmp_path / f".{target.name}.malaprop"
    assert sorted(os.listdir(tmp_path)) == sorted([hidden.name, name])
    assert (hidden.stat().st_mode & 0o077) == 0
    assert ROWS[:25].tobytes() not in hidden.read_bytes()
    drawing.after(2, run)
    first += drawing.blocks
    done = drawing.after(None, run)
    assert done is not None
    assert (done.rows, done.already) == (250, False)
    assert len(first) + len(drawing.blocks) == 10
    drawn = np.concatenate([*first, *drawing.blocks]).astype(np.float32)
    np.testing.assert_allclose(read(target), drawn, rtol=1e-6)
    assert hidden.stat().st_size < 2_000  # a record: no draws are left

    before = target.read_bytes()
    again = drawing.after(None, run)
    assert again is not None
    assert again.already
    assert not drawing.blocks
    assert target.read_bytes() == before


def test_texts_go_on_where_they_were_stopped(
    tmp_path: Path, drawing: Drawing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_formats, "BLOCK_CELLS", 8)
    tiny = Lexicon(["cold", "hot"], [[0.0, 1.0], [4.0, 1.0]])
    (tmp_path / "x.txt").write_text("cold\nhot hot\n" * 20)

    def run() -> VectorReport:
        return embed_files(
            tmp_path / "x.txt", tmp_path / "y.npy", mechanism=MECHANISM, lexicon=tiny, resume=True
        )

    drawing.after(4, run)
    first = [*drawing.blocks]
    done = drawing.after(None, run)
    assert done is not None
    assert done.texts is not None
    assert (done.rows, done.texts.words) == (40, 60)
    drawn = np.concatenate([*first, *drawing.blocks]).astype(np.float32)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), drawn)


def test_a_seed_repeats_a_run_that_was_resumed(tmp_path: Path, drawing: Drawing) -> None:
    np.save(tmp_path / "x.npy", ROWS)

    def run(name: str) -> Callable[[], VectorReport]:
        return lambda: release_files(
            tmp_path / "x.npy", tmp_path / name, mechanism=MECHANISM, seed=4, resume=True
        )

    drawing.after(None, run("whole.npy"))
    drawing.after(4, run("resumed.npy"))
    drawing.after(None, run("resumed.npy"))
    whole, resumed = (np.load(tmp_path / f"{name}.npy") for name in ("whole", "resumed"))
    np.testing.assert_array_equal(whole, resumed)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mechanism": Laplace(epsilon=2.0)}, "the mechanism or its parameters changed"),
        ({"public": seeded_rng(2).normal(size=(9, 4))}, "the public vectors changed"),
        ({"seed": 3}, "the seed changed"),
        ({"rows": ROWS + 1}, "the input changed"),
        ({"resume": False}, "was interrupted: resume it with"),
    ],
)
def test_another_run_is_not_resumed(
    tmp_path: Path, drawing: Drawing, change: dict[str, Any], message: str
) -> None:
    source, target = tmp_path / "x.npy", tmp_path / "y.npy"
    np.save(source, ROWS)
    options: dict[str, Any] = {"mechanism": MECHANISM, "resume": True}
    drawing.after(3, lambda: release_files(source, target, **options))
    if "rows" in change:
        np.save(source, change.pop("rows"))
    drawing.stop_at = None
    with pytest.raises(OutputError, match=message):
        release_files(source, target, **options | change)
    assert not target.exists()
    over = release_files(source, target, mechanism=MECHANISM, force=True)
    assert over.rows == 250


def test_a_damaged_journal_is_not_used(tmp_path: Path, drawing: Drawing) -> None:
    source, target = tmp_path / "x.npy", tmp_path / "y.npy"
    np.save(source, ROWS)

    def run() -> VectorReport:
        return release_files(source, target, mechanism=MECHANISM, resume=True)

    drawing.after(4, run)
    hidden = tmp_path / ".y.npy.malaprop"
    hidden.write_bytes(hidden.read_bytes()[:-100])  # the last block is cut short
    side = read_resume_file(target)
    assert side is not None
    assert sorted(side.batches) == [0, 1, 2]
    drawing.after(None, run)
    assert len(drawing.blocks) == 7
