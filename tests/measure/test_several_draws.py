"""Guesses among promising words, against the best guess of all words."""

import numpy as np
import pytest

from malaprop import TEM, Lexicon, PermuteAndFlip, seeded_rng
from malaprop.measure import bayes
from malaprop.measure.bayes import estimated_success, success_by_occurrences
from malaprop.privacy.best_guess import best_guesses, likely_candidates

CLOUD = Lexicon([f"w{i}" for i in range(400)], seeded_rng(7).normal(size=(400, 5)))
CHANNELS = [TEM(epsilon=3.0).on(CLOUD), PermuteAndFlip(epsilon=4.0).on(CLOUD)]


@pytest.mark.parametrize("channel", CHANNELS)
def test_promising_words_hold_the_best_guess(channel) -> None:  # type: ignore[no-untyped-def]
    belief, rng = np.full(400, 1 / 400), seeded_rng(1)
    truth = rng.choice(400, size=300)
    drawn = channel.substitute(np.repeat(truth, 5), rng).reshape(300, 5)
    last = np.array([0, 2, 4])
    best = best_guesses(channel, belief, drawn, last, None)
    near, unbeaten = likely_candidates(channel, belief, drawn, last, truth)
    assert (unbeaten | (best != truth[:, None])).all()  # where the truth is beaten, it is not best
    assert ((best == truth[:, None]).mean(axis=0) > unbeaten.mean(axis=0) - 0.05).all()
    right, right_near = (best == truth[:, None]).mean(axis=0), (near == truth[:, None]).mean(axis=0)
    assert (best == near).mean() > 0.8
    assert (np.abs(right - right_near) < 0.05).all()


def test_a_large_lexicon_takes_the_promising_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bayes, "MOST", 100)
    points = success_by_occurrences(CHANNELS[0], (1, 3), trials=900, rng=seeded_rng(2))
    assert all(point.bound == "at least" for point in points.values())
    assert points[1].value < points[3].value


@pytest.mark.parametrize("channel", CHANNELS)
def test_the_output_is_the_best_guess_of_a_peaked_law(channel) -> None:  # type: ignore[no-untyped-def]
    law = np.exp(channel.log_probabilities(np.arange(400)))
    assert channel.law.outputs_are_best_guesses
    assert law.max(axis=0) == pytest.approx(law.diagonal())
    estimate = estimated_success(channel, rng=seeded_rng(1))
    assert estimate is not None
    assert estimate.low - 0.02 < law.diagonal().mean() < estimate.high + 0.02
