"""What the paper ran, labelled as what it is."""

import math

import numpy as np
import pytest

from malaprop import Kind, Lexicon, seeded_rng
from malaprop.lab.studies.nadp import DELTA, STUDY, _same_clear, channel_of, fig3, fig4
from malaprop.lab.studies.reproduction import Run

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
