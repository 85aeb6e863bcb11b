"""The frontier's cells run in a tiny setting; it is no study of a paper."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.lab.studies.planted_sets import planted

from malaprop import Lexicon, seeded_rng
from malaprop.lab import studies
from malaprop.lab.datasets import LabelledTexts
from malaprop.lab.studies.figures import FLOORS, MAJORITY
from malaprop.lab.studies.frontier import STUDY, frontier
from malaprop.lab.studies.frontier.frontier_page import TEXTS
from malaprop.lab.studies.reproduction import Run
from malaprop.measure.adversaries.public_model import train_model
from malaprop.mechanisms import registry

(ITEM,) = STUDY.items
FLOOR_NAMES = (*FLOORS, MAJORITY)


def epsilons(quick: bool) -> dict[str, list[float]]:
    """Return the ε of each mechanism in the grid."""
    found: dict[str, list[float]] = {}
    for setting in ITEM.settings(quick=quick):
        if "epsilon" in setting:
            found.setdefault(setting["mechanism"], []).append(setting["epsilon"])
    return found


@pytest.fixture
def tiny_run(tiny: Lexicon) -> Run:
    sets: dict[str, Any] = dict(planted(tiny.words))
    texts = sets["mr"].texts
    authors = tuple(f"a{i % 8}" for i in range(80))
    sets["sotu"] = LabelledTexts(name="sotu", texts=texts, labels=authors)
    public = [" ".join(text.split()[::-1]) for text in texts]
    sets["bigrams"] = train_model(public, tiny)
    return Run(quick=True, lexicons={"english": tiny}, sets=sets)


@pytest.mark.parametrize("name", ["balanced", "tem", "laplace", *FLOOR_NAMES])
def test_a_mechanism_is_measured(name: str, tiny_run: Run) -> None:
    setting: dict[str, Any] = {"mechanism": name}
    if name not in FLOOR_NAMES:
        setting["epsilon"] = 2.0
    figures = {one.measure: one.value for one in frontier(tiny_run, setting, seeded_rng(1))}
    assert set(figures) <= set(ITEM.measures)
    if name not in FLOOR_NAMES:
        assert figures["success_context"] >= figures["kept"]  # type: ignore[operator]
        assert str(figures["guarantee"]).startswith("metric-dp")
        assert ("euclidean_epsilon" in figures) == (name != "balanced")
        assert figures["kept_of_lexicon_max"] >= figures["kept_of_lexicon_p95"]  # type: ignore[operator]
    else:
        assert figures["accuracy"] is not None
        assert ("attribution_adaptive" in figures) == (name != "majority")
        assert figures["kept"] == {"no noise": 1.0, "majority": 0.0}.get(name, 1.0 / 60.0)
    assert figures["share_in_clear"] == float(name == "no noise")


def test_errors_are_over_noise_draws_and_over_splits(tiny_run: Run) -> None:
    setting = {"mechanism": "laplace", "epsilon": 2.0, "spread": "noise draws"}
    figures = [one for one in frontier(tiny_run, setting, seeded_rng(1)) if one.error is not None]
    spreads = {(one.measure, one.setting.get("spread", "noise draws")) for one in figures}
    for measure in ("accuracy", "attribution", "attribution_adaptive_no_marks"):
        assert {(measure, "noise draws"), (measure, "splits")} <= spreads
    for measure in ("success_alone", "success_context", "similarity", "sts", "word_similarity"):
        assert (measure, "noise draws") in spreads
        assert (measure, "splits") not in spreads


def test_every_mechanism_is_measured_or_left_out_with_a_reason() -> None:
    measured, left_out = epsilons(quick=False).keys(), TEXTS["left_out"]
    assert measured | left_out.keys() == set(registry)
    assert not measured & left_out.keys()
    assert all(left_out.values())


def test_the_grid_has_all_mechanisms_and_floors_in_both_kinds_of_run() -> None:
    assert epsilons(quick=True).keys() == epsilons(quick=False).keys()
    for quick in (True, False):
        settings = ITEM.settings(quick=quick)
        assert {one["mechanism"] for one in settings if "control" in one} == set(FLOOR_NAMES)


def test_it_is_run_by_its_own_command() -> None:
    assert "frontier" not in studies.names()
    assert studies.study_named("frontier").name == "frontier"


@pytest.mark.parametrize("name", ["laplace", *FLOOR_NAMES])
@pytest.mark.parametrize("gone", ["mr", "men", "stsb", "sotu"])
def test_without_one_data_set_the_other_figures_are_there(
    name: str, gone: str, tiny_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MALAPROP_HOME", str(tmp_path))
    sets = {key: value for key, value in tiny_run.sets.items() if key != gone}
    setting: dict[str, Any] = {"mechanism": name}
    if name == "laplace":
        setting["epsilon"] = 2.0
    whole = {one.measure for one in frontier(tiny_run, setting, seeded_rng(1))}
    figures = list(frontier(replace(tiny_run, sets=sets), setting, seeded_rng(1)))
    assert {one.measure for one in figures} == whole
    lacking = {one.measure for one in figures if one.value is None}
    assert {one.missing for one in figures if one.value is None} <= {gone}
    assert lacking == {
        "mr": {"kept", "success_alone", "success_context", "similarity", "accuracy"},
        "men": {"word_similarity"},
        "stsb": {"sts"},
        "sotu": {measure for measure in whole if measure.startswith("attribution")},
    }[gone] & (whole if name == "laplace" else whole - {"kept"})


def test_the_error_of_kept_words_is_over_words() -> None:
    setting = {"mechanism": "laplace", "spread": "noise draws"}
    assert ITEM.spread_of(setting, "kept_of_lexicon") == "words"
    assert ITEM.spread_of(setting, "accuracy") == "noise draws"
