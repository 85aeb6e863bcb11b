"""Every item of every study runs in a tiny setting, and writes lines of the contract."""

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.lab.studies.planted_sets import planted

from malaprop import Lexicon
from malaprop.lab import studies
from malaprop.lab.studies.reproduction import Cells, MissingDataError, Run, run_study
from malaprop.lab.studies.study import written
from malaprop.lab.studies.study_page import study_page
from malaprop.report.page import render

KEYS = {"study", "item", "setting", "measure", "ours", "error", "paper", "claims"}
OURS = ("nadp", "mahalanobis")
ITEMS = [(name, item.name) for name in OURS for item in studies.study_named(name).items]


@pytest.mark.parametrize(("study", "item"), ITEMS)
def test_an_item_runs_in_a_tiny_setting(study: str, item: str, tiny: Lexicon, cells: Cells) -> None:
    lexicons = dict.fromkeys(("english", "fasttext", "glove-42b"), tiny)
    run = Run(quick=True, lexicons=lexicons, sets=planted(tiny.words))
    lines = run_study(studies.study_named(study), run, items=[item], cells=cells)
    assert lines
    for row in written(lines).splitlines():
        line = json.loads(row)
        assert line.keys() >= KEYS
        assert all(each["holds"] is None for each in line["claims"])  # of a quick run
        assert isinstance(line["setting"], dict)
        if line["setting"].get("lexicon") == "fasttext":
            assert line["vectors"].startswith(f"{len(tiny)} words in ")
            assert line["vectors"].endswith(tiny.fingerprint)
    if item != "table1" or study != "nadp":  # its words are not in the tiny lexicon
        assert any(line.ours is not None for line in lines)
        assert not any(line.command for line in lines)
    assert item[-1] in render(study_page(lines, form="brief"))


@pytest.mark.parametrize("study", OURS)
def test_without_data_lines_are_null_with_a_command(
    study: str, tiny: Lexicon, cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MALAPROP_HOME", str(cells.folder / "nothing here"))
    run = Run(quick=True, lexicons={"english": tiny})
    item = {"nadp": "fig2", "mahalanobis": "table1"}[study]
    lines = run_study(studies.study_named(study), run, items=[item], cells=cells)
    assert {line.ours for line in lines} == {None}
    assert all((line.command or "").startswith("malaprop ") for line in lines)


@pytest.mark.parametrize("name", ["nadp", "mahalanobis", "tem", "privemb", "hyperbolic"])
@pytest.mark.parametrize("quick", [True, False])
def test_every_item_does_without_any_data(name: str, quick: bool, cells: Cells) -> None:
    def gone(run: Run, setting: Any, rng: Any) -> Any:
        raise MissingDataError("The data set planted", "malaprop data get planted")

    study = studies.study_named(name)
    bare = replace(study, items=tuple(replace(item, cell=gone) for item in study.items))
    lines = run_study(bare, Run(quick=quick), cells=cells)
    assert {line.item for line in lines} == {item.name for item in study.items}
    assert {(line.ours, line.command) for line in lines} == {(None, "malaprop data get planted")}
    assert {each.holds for line in lines for each in line.claims} == {None}
    assert "malaprop data get planted" in render(study_page(lines, form="brief"))


def test_the_quick_runs_have_most_of_the_papers_values(tiny: Lexicon, cells: Cells) -> None:
    run = Run(quick=True, lexicons={"english": tiny}, sets=planted(tiny.words))
    lines = run_study(studies.study_named("mahalanobis"), run, cells=cells)
    compared = [line for line in lines if line.paper is not None and line.ours is not None]
    assert len(compared) >= 40
