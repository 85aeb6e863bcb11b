"""Candidates counted from draws: never too many on average, and most of them with many draws."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from tests.exact import nearest_on_a_line
from tests.measure.opaque import Opaque

from malaprop import (
    TEM,
    Channel,
    Gaussian,
    Laplace,
    Lexicon,
    ParameterError,
    TangentLaplace,
    seeded_rng,
)
from malaprop.measure import calibrate, word_statistics
from malaprop.measure.word_statistics import _inside, candidate_lower_bound, law_batches
from malaprop.privacy.arrays import Floats
from malaprop.privacy.mechanism import Mechanism
from malaprop.privacy.metrics import MetricSpace

LINE = Lexicon([f"w{i}" for i in range(12)], 2.0 * seeded_rng(1).normal(size=(12, 1)))
IDS = np.arange(12)


@dataclass(frozen=True, kw_only=True)
class _OpaqueTEM(Mechanism):
    epsilon: float

    def on(self, lexicon: MetricSpace) -> Channel:
        return Opaque(TEM(epsilon=self.epsilon).on(lexicon))


def _truth(epsilon: float) -> Floats:
    """Return K_w of Laplace noise on the line, word by word and output by output."""
    law = np.log(nearest_on_a_line(LINE.vectors[:, 0].astype(np.float64), epsilon))
    return np.array(
        [
            sum(
                np.exp(own) * sum(abs(other - own) <= np.log(2.0) + 1e-9 for other in law[:, y])
                for y, own in enumerate(row)
            )
            for row in law
        ]
    )


def _counted(channel: Channel, rng: Any, draws: int) -> Floats:
    return candidate_lower_bound(channel, IDS, rng, rivals=99, draws=draws)


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
@pytest.mark.parametrize("draws", [8, 200])
def test_no_word_has_too_many_on_average(epsilon: float, draws: int) -> None:
    channel, rng = Laplace(epsilon=epsilon).on(LINE), seeded_rng(5)
    tries = np.stack([_counted(channel, rng, draws) for _ in range(100)])
    errors = tries.std(axis=0, ddof=1) / 10.0
    assert (tries.mean(axis=0) <= _truth(epsilon) + 5.0 * errors + 1e-9).all()


def test_many_draws_find_most_candidates() -> None:
    counted = _counted(Laplace(epsilon=1.0).on(LINE), seeded_rng(6), 20_000).mean()
    assert 0.85 * _truth(1.0).mean() < counted <= _truth(1.0).mean()


def test_a_word_without_noise_has_itself_alone() -> None:
    assert _counted(Laplace(epsilon=50.0).on(LINE), seeded_rng(7), 200).mean() < 1.3
    wide = Gaussian(epsilon=0.01, delta=0.1).on(LINE)
    assert _counted(wide, seeded_rng(7), 64).min() > 10.0


def test_points_cut_off_at_the_end_of_the_ball_leave_a_word_with_itself() -> None:
    """What was cut off has no known density, so nothing is said about it."""
    disc = Lexicon(LINE.words, 0.2 * seeded_rng(1).normal(size=(12, 2)).clip(-2, 2), "poincare")
    far = TangentLaplace(epsilon=0.1).on(disc)
    assert (_counted(far, seeded_rng(8), 4_000) == 1.0).all()


def test_what_counts_is_at_most_one_inside_and_nothing_outside() -> None:
    ratios = np.exp(np.linspace(-3.0, 3.0, 601))
    within = (ratios >= 0.5) & (ratios <= 2.0)
    for draws in (1.0, 10.0, 1000.0):
        values = _inside(ratios, draws, 2.0)
        assert (values <= within + 1e-12).all()
        assert values.max() == 1.0
        means = np.linspace(0.1, 4.0, 101)  # f = 1 − values is convex
        assert (np.diff(_inside(means, draws, 2.0), 2) <= 1e-9).all()


@pytest.mark.parametrize("seed", range(3))
def test_calibration_is_never_beyond_its_target(seed: int) -> None:
    calibration = calibrate(Laplace, LINE, candidates=3.0, rng=seeded_rng(seed))
    truth = _truth(calibration.epsilon).mean()
    assert 3.0 <= truth < 6.0  # on the safe side, and not far from the target
    assert calibration.value <= truth
    assert not calibration.exact


def test_a_number_beyond_the_lexicon_is_out_of_reach() -> None:
    with pytest.raises(ParameterError, match=r"out of reach.*smallest that is searched"):
        calibrate(Laplace, LINE, candidates=13.0, rng=seeded_rng(1))


def test_a_channel_without_a_law_and_a_density_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"neither its law nor the density.*`kept`"):
        calibrate(_OpaqueTEM(epsilon=1.0), LINE, candidates=3.0, rng=seeded_rng(1))


def test_batches_of_a_law_are_estimates_without_bias(monkeypatch: pytest.MonkeyPatch) -> None:
    many = Lexicon([f"w{i}" for i in range(80)], seeded_rng(2).normal(size=(80, 2)))
    channel, ids = TEM(epsilon=3.0).on(many), np.arange(0, 80, 4)
    exact = law_batches(channel, ids, seeded_rng(1))
    assert exact.shape == (1, 20)
    monkeypatch.setattr(word_statistics, "_SMALL", 10)
    rng = seeded_rng(3)
    tries = np.concatenate([law_batches(channel, ids, rng) for _ in range(60)])
    assert tries.shape == (480, 20)
    errors = tries.std(axis=0, ddof=1) / 480**0.5
    assert (np.abs(tries.mean(axis=0) - exact[0]) < 5.5 * errors).all()
