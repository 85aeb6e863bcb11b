"""Figures of an earlier run are taken over, and no text is kept."""

import json
import os
import stat
from pathlib import Path

import pytest
from tests.measure.conftest import TEXTS, WORDS

from malaprop import TEM, Lexicon, seeded_rng
from malaprop.measure import Evaluation, EvaluationSettings, evaluate
from malaprop.measure.evaluation import Cell
from malaprop.measure.evaluation_run import CellCache, Digest, EvaluationSample
from malaprop.privacy.mechanism import Mechanism


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MALAPROP_STATE", str(tmp_path / "state"))
    return tmp_path / "state" / "evaluations"


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The ε of each cell that is measured; the third one is interrupted."""
    seen: list[float] = []
    cell = EvaluationSample.cell

    def counting(self: EvaluationSample, mechanism: Mechanism, progress: object = None) -> Cell:
        seen.append(mechanism.epsilon)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return cell(self, mechanism)

    monkeypatch.setattr(EvaluationSample, "cell", counting)
    return seen


def run(words: Lexicon, texts: list[str] = TEXTS, **options: object) -> Evaluation:
    arguments = {"epsilons": [1.0, 2.0, 3.0], "resume": True} | options
    return evaluate(
        texts,
        mechanisms=["tem"],
        lexicon=words,
        settings=EvaluationSettings(runs=2, sample=40),
        **arguments,  # type: ignore[arg-type]
    )


def test_an_interrupted_run_is_resumed(words: Lexicon, state: Path, counted: list[float]) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(words)
    files = list(state.glob("*/*"))
    assert len(files) == 3  # the bounds, and two cells
    for file in files:
        assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
        assert not any(word in file.read_text() for word in WORDS)
    found = run(words)
    assert counted == [1.0, 2.0, 3.0, 3.0]
    assert found.earlier == 2
    assert [cell.epsilon for cell in found.cells] == [1.0, 2.0, 3.0]
    again = run(words, epsilons=[3.0, 4.0])
    assert counted[4:] == [4.0]
    assert again.cells[0] == found.cells[2]
    assert again.bounds == found.bounds


def test_other_texts_and_fresh_runs_are_measured(
    words: Lexicon, state: Path, counted: list[float]
) -> None:
    first = run(words, epsilons=[1.0])
    run(words, TEXTS[:-1], epsilons=[1.0])
    assert counted == [1.0, 1.0]
    assert len(list(state.iterdir())) == 2
    counted.append(0.0)
    fresh = run(words, epsilons=[1.0], fresh=True)
    assert fresh.earlier == 0
    assert fresh.cells[0] != first.cells[0]


def test_a_damaged_file_counts_as_none(words: Lexicon, state: Path) -> None:
    run(words, epsilons=[1.0])
    for file, damaged in zip(state.glob("*/*"), ('{"mechanism": 1}', "[1]"), strict=True):
        file.write_text(damaged)
    assert run(words, epsilons=[1.0]).earlier == 0
    assert run(words, epsilons=[1.0]).earlier == 1


def test_attacks_without_several_draws_are_measured_again(words: Lexicon, state: Path) -> None:
    """As an earlier version kept them: with the interval of one draw."""
    run(words)
    for file in state.glob("*/*"):
        kept = json.loads(file.read_text())
        for figure in kept.get("attacks", {}).values():
            del figure["values"]
        file.write_text(json.dumps(kept))
    found = run(words)
    assert found.earlier == 0
    assert all(len(figure.values) == 2 for figure in found.cells[0].attacks.values())


def test_nothing_is_kept_unless_asked_for(words: Lexicon, state: Path) -> None:
    run(words, epsilons=[1.0], resume=False)
    assert not state.exists()


def test_two_runs_at_once_keep_the_cells_of_each_other(words: Lexicon, state: Path) -> None:
    settings = {"a": 1}
    digest = Digest(settings)
    assert Digest(settings).seed == digest.seed
    assert Digest({"a": 2}).seed != digest.seed
    one, other = CellCache(digest.name()), CellCache(digest.name())
    cells = run(words, epsilons=[1.0, 2.0], resume=False).cells
    one.keep(TEM(epsilon=1.0), cells[0])
    other.keep(TEM(epsilon=2.0), cells[1])
    assert len(list(state.glob("*/*"))) == 2
    kept = CellCache(digest.name())
    assert [kept.get(TEM(epsilon=value)) for value in (1.0, 2.0)] == list(cells)


def test_fresh_figures_replace_their_own_only(words: Lexicon, state: Path) -> None:
    first = run(words, epsilons=[1.0, 2.0])
    fresh = run(words, epsilons=[1.0], fresh=True)
    assert fresh.cells[0] != first.cells[0]
    last = run(words, epsilons=[1.0, 2.0])
    assert last.earlier == 2
    assert last.cells == (fresh.cells[0], first.cells[1])


def test_a_seed_has_figures_of_its_own(words: Lexicon, state: Path) -> None:
    first = run(words, epsilons=[1.0], rng=seeded_rng(1))
    assert run(words, epsilons=[1.0], rng=seeded_rng(2)).earlier == 0
    assert run(words, epsilons=[1.0]).earlier == 0
    again = run(words, epsilons=[1.0], rng=seeded_rng(1))
    assert again.earlier == 1
    assert again == first
