"""The frontier's cells run in a tiny setting; it is no study of a paper."""

from typing import Any

import pytest
from tests.studies.planted_sets import planted

from malaprop import Lexicon, seeded_rng, studies
from malaprop.datasets import LabelledTexts
from malaprop.measure.attacking.training import train_model
from malaprop.studies import Run
from malaprop.studies.frontier.measures import MEASURES, frontier
from malaprop.studies.frontier.mechanisms import EPSILONS, QUICK, grid


@pytest.fixture
def tiny_run(tiny: Lexicon) -> Run:
    sets: dict[str, Any] = dict(planted(tiny.words))
    texts = sets["mr"].texts
    authors = tuple(f"a{i % 8}" for i in range(80))
    sets["sotu"] = LabelledTexts(name="sotu", texts=texts, labels=authors)
    public = [" ".join(text.split()[::-1]) for text in texts]
    sets["bigrams"] = train_model(public, tiny)
    return Run(quick=True, lexicons={"english": tiny}, sets=sets)


@pytest.mark.parametrize("name", ["balanced", "tem", "laplace", "no noise", "random words"])
def test_a_mechanism_is_measured(name: str, tiny_run: Run) -> None:
    setting: dict[str, Any] = {"mechanism": name}
    if name in EPSILONS:
        setting["epsilon"] = 2.0
    figures = {one.measure: one.value for one in frontier(tiny_run, setting, seeded_rng(1))}
    assert set(figures) <= set(MEASURES)
    if name in EPSILONS:
        assert figures["success_context"] >= figures["kept"]  # type: ignore[operator]
        assert str(figures["guarantee"]).startswith("metric-dp")
        assert ("euclidean_epsilon" in figures) == (name != "balanced")
    else:
        assert figures["word_similarity"] is not None
        assert "kept" not in figures


def test_the_grid_has_all_mechanisms_in_both_kinds_of_run() -> None:
    for quick, epsilons in ((True, QUICK), (False, EPSILONS)):
        named = [setting["mechanism"] for setting in grid(Run(quick=quick))]
        assert set(named) == {*EPSILONS, "no noise", "random words"}
        assert len(named) == 2 + sum(map(len, epsilons.values()))


def test_it_is_run_by_its_own_command() -> None:
    assert "frontier" not in studies.names()
    assert studies.study_named("frontier").name == "frontier"
