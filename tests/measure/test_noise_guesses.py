"""Bounds on the best guess at noise on vectors, against laws computed by other means."""

import itertools

import numpy as np
import pytest

from malaprop import CoordinateLaplace, Gaussian, Laplace, Lexicon, Mahalanobis, seeded_rng
from malaprop.measure import bayes, bayes_success
from malaprop.measure.bayes import guesses_by, success_by_occurrences, vector_bounds
from malaprop.privacy.channel import Channel

LINE = Lexicon(["cold", "cool", "warm", "hot"], [[0.0], [1.0], [3.0], [3.5]])
CLOUD = Lexicon([f"w{i}" for i in range(60)], seeded_rng(5).normal(size=(60, 4)))


def _law(channel: Channel) -> np.ndarray:
    draws = 200_000
    return np.array(
        [
            np.bincount(channel.substitute(np.full(draws, w), seeded_rng(w)), minlength=4) / draws
            for w in range(4)
        ]
    )


@pytest.mark.parametrize("draws", [1, 2, 3])
def test_the_bounds_enclose_the_best_guess_from_several_draws(draws: int) -> None:
    channel = Laplace(epsilon=1.0).on(LINE)
    law = _law(channel)
    truth = sum(
        law[:, list(outputs)].prod(axis=1).max() / 4
        for outputs in itertools.product(range(4), repeat=draws)
    )
    found = success_by_occurrences(
        channel, [draws], trials=256, most=256, seen=1000, rng=seeded_rng(3)
    )[draws]
    value, (low, high) = found.value, found.interval
    assert low <= truth <= high
    assert low <= value <= high < low + 0.3
    assert truth - 0.15 < value < truth + 0.15  # five standard errors


def test_several_occurrences_tell_more_and_a_reused_draw_does_not() -> None:
    channel = Laplace(epsilon=1.0).on(LINE)
    once = bayes_success(channel, rng=seeded_rng(1))
    often = bayes_success(channel, occurrences=8, rng=seeded_rng(1))
    reused = bayes_success(channel, occurrences=8, reused=True, rng=seeded_rng(1))
    assert often.interval[0] > once.interval[1]
    assert reused.value == once.value
    assert not often.exact


def test_a_prior_counts() -> None:
    belief = np.array([0.97, 0.01, 0.01, 0.01])
    channel = Laplace(epsilon=0.01).on(LINE)
    found = success_by_occurrences(
        channel, [1], prior=belief, trials=256, most=256, seen=1000, rng=seeded_rng(2)
    )[1]
    value, (low, high) = found.value, found.interval
    assert value > 0.8
    assert low < 0.97 < high


@pytest.mark.parametrize(
    "mechanism",
    [
        Laplace(epsilon=3.0),
        CoordinateLaplace(epsilon=1.5),
        Mahalanobis(epsilon=3.0, regularization=0.5),
        Gaussian(epsilon=1.0, sensitivity=1.0),
    ],
)
def test_an_observer_of_vectors_beats_one_of_words(mechanism: Laplace) -> None:
    """The learned guess of many draws is a good lower bound, which no upper bound may undercut."""
    channel = mechanism.on(CLOUD)
    learned = bayes_success(channel, rng=seeded_rng(1))
    (bound,) = vector_bounds(channel, np.full(60, 1 / 60), [1], seeded_rng(2), trials=1000)
    assert learned.interval[0] <= bound < learned.interval[1] + 0.15


@pytest.mark.parametrize(
    "mechanism", [Laplace(epsilon=3.0), Gaussian(epsilon=4.0, sensitivity=1.0)]
)
def test_distances_are_guessed_by_almost_as_well_as_by_the_whole_law(
    mechanism: Laplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel, rng, last = mechanism.on(CLOUD), seeded_rng(4), np.array([0, 2, 7])
    belief = np.full(60, 1 / 60)
    truth = rng.choice(60, size=600)
    drawn = channel.substitute(np.repeat(truth, 8), rng).reshape(600, 8)
    shares = []
    for small in (1_000, 0):
        monkeypatch.setattr(bayes, "_SMALL", small)
        scores = bayes.learned_scores(channel, belief, rng)
        shares.append((guesses_by(scores, belief, drawn, last) == truth[:, None]).mean(axis=0))
    whole, distances = shares
    assert (distances > whole - 0.2).all()
    assert distances[2] > distances[0] + 0.1  # repetition tells more
    shuffled = rng.permutation(drawn)
    chance = (guesses_by(scores, belief, shuffled, last) == truth[:, None]).mean()
    assert chance < 0.06  # outputs of other words tell nothing
