"""Figure 2: both errors of classification, and the control at an equal Euclidean ε."""

import pytest
from tests.lab.studies.planted_sets import planted

from malaprop import Lexicon, seeded_rng
from malaprop.lab.studies.nadp import STUDY, channel_of, fig2
from malaprop.lab.studies.reproduction import Run
from malaprop.lab.studies.study import NOISE, SPLITS, Measurement


def scores(run: Run, **setting: object) -> list[Measurement]:
    own = {"task": "classification", "spread": NOISE, "noise": "one table", **setting}
    return [one for one in fig2(run, own, seeded_rng(1)) if one.measure == "score"]


@pytest.fixture
def full(tiny: Lexicon) -> Run:
    return Run(quick=True, lexicons={"english": tiny}, sets=planted(tiny.words))


def test_at_an_equal_euclidean_epsilon_the_guarantee_is_the_epsilon_shown(run: Run) -> None:
    (item,) = STUDY.chosen(["fig2"])
    grid = item.settings(quick=True)
    settings = [one for one in grid if one.get("control") == "equal Euclidean ε"]
    assert {one["mechanism"] for one in settings} == {"mahalanobis"}
    assert len({one["task"] for one in settings}) == 4
    shown = settings[0]["epsilon"]
    used = next(fig2(run, settings[0], seeded_rng(1)))
    assert used.measure == "epsilon_used"
    assert isinstance(used.value, float)
    channel = channel_of(run, settings[0], used.value)
    assert channel.guarantee.in_metric("euclidean").epsilon == pytest.approx(shown)
    assert used.value < shown  # at one nominal ε, the Euclidean guarantee is weaker


def test_a_score_of_classification_has_both_errors(full: Run) -> None:
    over_noise, over_splits = scores(full, mechanism="gaussian", published=True, epsilon=10.0)
    assert over_noise.value == pytest.approx(over_splits.value)
    assert over_splits.setting == {"spread": SPLITS}
    assert "spread" not in over_noise.setting
    assert over_noise.error is not None
    assert over_splits.error is not None


def test_without_noise_there_is_no_error_over_draws_of_it(full: Run) -> None:
    over_noise, over_splits = scores(full, mechanism="no noise", control="floor")
    assert over_noise.error is None
    assert over_splits.error is not None
