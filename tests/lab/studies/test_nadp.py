"""The study of nadp-2023: channels, words in clear, and both errors of classification."""

import math

import numpy as np
import pytest
from tests.lab.studies.planted_sets import planted

from malaprop import Kind, Lexicon, seeded_rng
from malaprop.lab.studies import study_named
from malaprop.lab.studies.nadp import DELTA, _same_clear, channel_of, fig2, fig3, fig4
from malaprop.lab.studies.reproduction import Cells, Run, run_study
from malaprop.lab.studies.study import NOISE, SPLITS, Measurement

STUDY = study_named("nadp")


def test_words_without_a_neighbour_are_counted(cells: Cells) -> None:
    """Two pairs share all of their nearest words; at τ = 0.5 the word between them does not."""
    lexicon = Lexicon(["a", "b", "c", "d", "e"], [[0.0], [1.0], [50.0], [100.0], [101.0]])
    run = Run(quick=True, lexicons={"english": lexicon})
    lines = run_study(STUDY, run, items=["clear"], cells=cells)
    counts = {
        (line.setting["published"], line.setting["tau"]): (line.ours, line.claims)
        for line in lines
        if line.measure == "in_clear"
    }
    assert counts[False, 0.5] == (0, ())  # the sound one attaches them
    assert counts[True, 0.1][0] == 0  # all five words are among each other's ten nearest


def test_at_a_high_tau_words_are_in_clear(cells: Cells) -> None:
    cloud = Lexicon([f"w{i}" for i in range(200)], seeded_rng(1).normal(size=(200, 9)))
    run = Run(quick=True, lexicons={"english": cloud})
    lines = run_study(STUDY, run, items=["clear"], cells=cells)
    published = [line for line in lines if line.measure == "in_clear" and line.setting["published"]]
    counts = [int(str(line.ours)) for line in published]
    assert len(counts) == 4
    assert counts == sorted(counts)
    assert 0 < counts[-1] < 200
    assert [each.whose for line in published for each in line.claims] == ["reading"] * 4


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


NADP = {"mechanism": "nadp", "published": True, "tau": 0.5}
COMPARED = [
    setting
    for setting in STUDY.chosen(["fig3"])[0].settings(quick=True)
    if "epsilon" in setting and setting["epsilon"] == 1.0
]


def test_the_classical_gaussian_runs_at_any_epsilon_and_promises_nothing(
    run: Run, tiny: Lexicon
) -> None:
    channel = channel_of(run, {"mechanism": "gaussian", "published": True, "epsilon": 10.0})
    distances = tiny.distances(np.arange(len(tiny)))
    np.fill_diagonal(distances, np.inf)
    widest = distances.min(axis=1).max()
    expected = widest * math.sqrt(2.0 * math.log(1.25 / DELTA)) / 10.0
    assert channel.noise.sigma == pytest.approx(expected, rel=1e-6)
    assert channel.guarantee.kind is Kind.NONE
    assert "ε below 1" in channel.guarantee.reason


def test_sound_mechanisms_promise_something(run: Run) -> None:
    sound = [setting for setting in COMPARED if not setting["published"]]
    assert len(sound) == 4
    for setting in sound:
        assert channel_of(run, {**setting, "epsilon": 1.0}).guarantee.kind is not Kind.NONE


def test_every_mechanism_compared_releases_vectors(run: Run, tiny: Lexicon) -> None:
    for setting in COMPARED:
        channel = channel_of(run, {**setting, "epsilon": 2.0})
        noisy = channel.release_words([0, 1], seeded_rng(1))
        assert noisy.shape == (2, tiny.vectors.shape[1])


def test_without_noise_the_overlap_is_one(run: Run) -> None:
    figures = {one.measure: one.value for one in fig4(run, {"sigma": 0.0}, seeded_rng(1))}
    assert figures["overlap"] == 1.0
    assert figures["kept"] == 1.0


def test_a_coin_that_shows_half_of_the_words_has_no_skewness() -> None:
    """Skewness is no measure of privacy: half of these words are in clear."""
    cloud = Lexicon([f"w{i}" for i in range(3000)], seeded_rng(1).normal(size=(3000, 30)))
    run = Run(quick=True, lexicons={"english": cloud})
    figures = {one.measure: one.value for one in fig3(run, {"mechanism": "coin"}, seeded_rng(2))}
    assert abs(float(figures["skewness"] or 9)) < 0.3
    assert figures["kept"] == pytest.approx(0.5, abs=0.02)


def test_the_same_words_in_clear_have_their_own_vectors() -> None:
    cloud = Lexicon([f"w{i}" for i in range(200)], seeded_rng(1).normal(size=(200, 9)))
    run = Run(quick=True, lexicons={"english": cloud})
    channel = channel_of(run, {**NADP, "epsilon": 1.0})
    clear = channel.noise.sigmas == 0.0
    assert 0 < clear.sum() < len(cloud)
    vectors = _same_clear(channel).begin(seeded_rng(1)).vectors(np.arange(len(cloud)))
    assert ((vectors == cloud.vectors).all(axis=1) == clear).all()
