"""Candidates counted from draws: never too many on average, and most of them with many draws."""

from collections.abc import Callable
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
from malaprop.core.arrays import Floats
from malaprop.core.mechanism import Mechanism
from malaprop.core.space import MetricSpace
from malaprop.measure import calibrate
from malaprop.measure.sure_candidates import Inside, sure_candidates
from malaprop.measure.words import candidates
from malaprop.measure.words.candidates import law_batches

LINE = Lexicon([f"w{i}" for i in range(12)], 2.0 * seeded_rng(1).normal(size=(12, 1)))
PLANE = Lexicon([f"w{i}" for i in range(12)], seeded_rng(1).normal(size=(12, 2)))


@dataclass(frozen=True, kw_only=True)
class _OpaqueTEM(Mechanism):
    epsilon: float

    def on(self, lexicon: MetricSpace) -> Channel:
        return Opaque(TEM(epsilon=self.epsilon).on(lexicon))


def _by_definition(law: Floats) -> Floats:
    """Return K_w from ln Pr[y|w], word by word and output by output."""
    return np.array(
        [
            sum(
                np.exp(own) * sum(abs(other - own) <= np.log(2.0) + 1e-9 for other in law[:, y])
                for y, own in enumerate(row)
            )
            for row in law
        ]
    )


def _truth(channel: Any) -> Floats:
    if isinstance(channel, Opaque):
        hidden: Any = channel._inner
        return _by_definition(hidden.log_probabilities(np.arange(len(channel.lexicon))))
    places = channel.lexicon.vectors[:, 0].astype(np.float64)
    return _by_definition(np.log(nearest_on_a_line(places, channel.guarantee.epsilon)))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Laplace(epsilon=0.5).on(LINE),
        lambda: Laplace(epsilon=3.0).on(LINE),
        lambda: Opaque(TEM(epsilon=1.0).on(LINE)),
        lambda: Opaque(TEM(epsilon=4.0).on(LINE)),
    ],
)
@pytest.mark.parametrize("draws", [8, 200])
def test_no_word_has_too_many_on_average(make: Callable[[], Channel], draws: int) -> None:
    channel, rng = make(), seeded_rng(5)
    ids = np.arange(len(channel.lexicon))
    tries = np.stack([sure_candidates(channel, ids, rng, draws=draws, most=99) for _ in range(100)])
    errors = tries.std(axis=0, ddof=1) / 10.0
    assert (tries.mean(axis=0) <= _truth(channel) + 5.0 * errors + 1e-9).all()


@pytest.mark.parametrize(
    "channel",
    [Laplace(epsilon=1.0).on(LINE), Opaque(TEM(epsilon=1.0).on(LINE))],
    ids=["density", "labels"],
)
def test_many_draws_find_most_candidates(channel: Channel) -> None:
    counted = sure_candidates(channel, np.arange(12), seeded_rng(6), draws=20_000, most=99).mean()
    assert 0.85 * _truth(channel).mean() < counted <= _truth(channel).mean()


def test_a_word_without_noise_has_itself_alone() -> None:
    bare = Laplace(epsilon=50.0).on(LINE)
    few = sure_candidates(bare, np.arange(12), seeded_rng(7), draws=200, most=99)
    assert few.mean() < 1.3
    wide = Gaussian(epsilon=0.01, delta=0.1).on(LINE)
    assert sure_candidates(wide, np.arange(12), seeded_rng(7), draws=64, most=99).min() > 10.0


def test_points_cut_off_at_the_end_of_the_ball_leave_the_count_to_draws() -> None:
    disc = Lexicon(LINE.words, 0.2 * PLANE.vectors.clip(-2, 2), metric="poincare")
    channel = TangentLaplace(epsilon=0.1).on(disc)
    counted = sure_candidates(channel, np.arange(12), seeded_rng(8), draws=4_000, most=99)
    assert np.isfinite(counted).all()
    assert counted.mean() > 6.0


def test_what_counts_is_at_most_one_inside_and_nothing_outside() -> None:
    ratios = np.exp(np.linspace(-3.0, 3.0, 601))
    within = (ratios >= 0.5) & (ratios <= 2.0)
    for draws in (1, 10, 1000):
        for values in (
            Inside(2.0)(ratios, draws),
            Inside(2.0, shares=True)(ratios / (1.0 + ratios), draws),
        ):
            assert (values <= within + 1e-12).all()
            assert values.max() == 1.0
        means = np.linspace(0.1, 4.0, 101)  # f = 1 − values is convex
        assert (np.diff(Inside(2.0)(means, draws), 2) <= 1e-9).all()


@pytest.mark.parametrize(
    ("mechanism", "lexicon", "target"),
    [(Laplace, LINE, 3.0), (_OpaqueTEM(epsilon=1.0), LINE, 4.0)],
    ids=["line", "labels"],
)
def test_calibration_is_never_beyond_its_target(
    mechanism: Any, lexicon: Lexicon, target: float
) -> None:
    make = mechanism if isinstance(mechanism, type) else type(mechanism)
    for seed in range(3):
        calibration = calibrate(mechanism, lexicon, candidates=target, rng=seeded_rng(seed))
        truth = _truth(make(epsilon=calibration.epsilon).on(lexicon)).mean()
        assert target <= truth < 2.0 * target  # on the safe side, and not far from the target
        assert calibration.value <= truth
        assert not calibration.exact


def test_a_number_beyond_the_lexicon_is_out_of_reach() -> None:
    with pytest.raises(ParameterError, match=r"out of reach.*smallest that is searched"):
        calibrate(Laplace, LINE, candidates=13.0, rng=seeded_rng(1))


def test_batches_of_a_law_are_estimates_without_bias(monkeypatch: pytest.MonkeyPatch) -> None:
    many = Lexicon([f"w{i}" for i in range(80)], seeded_rng(2).normal(size=(80, 2)))
    channel, ids = TEM(epsilon=3.0).on(many), np.arange(0, 80, 4)
    exact = law_batches(channel, ids, seeded_rng(1))
    assert exact.shape == (1, 20)
    monkeypatch.setattr(candidates, "SMALL", 10)
    rng = seeded_rng(3)
    tries = np.concatenate([law_batches(channel, ids, rng) for _ in range(60)])
    assert tries.shape == (480, 20)
    errors = tries.std(axis=0, ddof=1) / 480**0.5
    assert (np.abs(tries.mean(axis=0) - exact[0]) < 5.5 * errors).all()
