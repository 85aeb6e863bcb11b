"""How often one word is guessed right, against brute force."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from malaprop import (
    TEM,
    Balanced,
    Guarantee,
    Kind,
    Laplace,
    LawChannel,
    Lexicon,
    PermuteAndFlip,
    Privatizer,
    seeded_rng,
)
from malaprop.privacy import best_guess
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.best_guess import best_guess_of, nearby_chances
from malaprop.privacy.estimate import Estimate
from malaprop.privacy.law import Law
from malaprop.privacy.mechanism import Mechanism


def _chain(size: int) -> Lexicon:
    words = [f"w{i}" for i in range(size)]
    return Lexicon(words, seeded_rng(1).normal(size=(size, 2))).with_graph(
        edges=list(pairwise(words))
    )


def test_it_is_exact_on_a_small_lexicon() -> None:
    channel = TEM(epsilon=2.0).on(Lexicon(["a", "b", "c"], [[0.0], [1.0], [5.0]]))
    law = np.exp(channel.log_probabilities(np.arange(3)))
    best = sum(max(law[w][y] for w in range(3)) for y in range(3)) / 3
    assert best_guess_of(channel).share == pytest.approx(best)


def test_it_is_estimated_on_a_large_one(monkeypatch: pytest.MonkeyPatch) -> None:
    channel = Balanced(epsilon=1.0).on(_chain(60))
    exact = best_guess_of(channel)
    monkeypatch.setattr(best_guess, "_SMALL", 10)
    monkeypatch.setattr(best_guess, "_SAMPLES", 4000)
    estimate = best_guess_of(channel)
    assert estimate.share == pytest.approx(exact.share, abs=0.03)
    assert not estimate.at_least
    assert best_guess_of(channel) == estimate  # the same channel, the same figure


@pytest.mark.parametrize("mechanism", [TEM(epsilon=2.0), PermuteAndFlip(epsilon=2.0)])
def test_peaked_laws_are_estimated_by_the_words_that_stay(
    mechanism: Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel: Any = mechanism.on(_chain(60))
    exact = best_guess_of(channel)
    assert not exact.at_least
    monkeypatch.setattr(best_guess, "_SMALL", 10)
    estimate = best_guess_of(channel)
    assert not estimate.at_least
    assert estimate.share == pytest.approx(exact.share, abs=1e-9)  # all 60 outputs count
    monkeypatch.setattr(type(channel.law), "outputs_are_best_guesses", False)
    bound = best_guess_of(channel)
    assert bound.at_least
    assert bound.share == pytest.approx(exact.share, abs=1e-9)


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_best_guess_need_not_be_the_output(symmetric: bool) -> None:
    """Words come in pairs that swap: who sees one guesses the other."""

    class Swapping(Law):
        def log_weights(self, ids: Ids) -> Floats:
            rows = np.zeros((len(ids), len(self.space)))
            rows[np.arange(len(ids)), np.asarray(ids) ^ 1] = 3.0
            return rows

    Swapping.symmetric = symmetric
    space = Lexicon(["a", "b", "c", "d"], [[0.0], [1.0], [9.0], [10.0]])
    channel = LawChannel(Swapping(space), Guarantee(kind=Kind.METRIC, epsilon=9.0, metric="x"))
    largest = np.exp(3.0) / (np.exp(3.0) + 3.0)
    assert nearby_chances(channel, np.arange(4), seeded_rng(1)) == pytest.approx(
        np.full(4, largest)
    )


def test_noise_on_vectors_has_a_lower_bound_too() -> None:
    """On a line of equal steps, all but the ends stay with chance 1 − e^(−ε/2)."""
    size, epsilon = 40, 2.0
    line = Lexicon([f"w{i}" for i in range(size)], np.arange(size)[:, None])
    inner, end = 1.0 - np.exp(-epsilon / 2), 1.0 - np.exp(-epsilon / 2) / 2
    truth = ((size - 2) * inner + 2 * end) / size
    channel = Laplace(epsilon=epsilon).on(line)
    found = np.mean(
        [nearby_chances(channel, np.arange(size), seeded_rng(i)).mean() for i in range(60)]
    )
    error = np.sqrt(truth * (1 - truth) / (60 * size * 64))
    assert abs(found - truth) < 5 * error
    assert abs(found - 0.95 * truth) > 5 * error
    assert best_guess_of(channel).at_least
    assert best_guess_of(channel, 0.99).share == 0.99  # so many stay, and are guessed


def test_a_privatizer_knows_it() -> None:
    privatizer = Privatizer(_chain(20), Balanced(epsilon=1.0))
    assert privatizer.guessed == best_guess_of(privatizer.channel)


def test_a_best_guess_is_an_estimate() -> None:
    channel = TEM(epsilon=2.0).on(Lexicon(["a", "b"], [[0.0], [1.0]]))
    guess = best_guess_of(channel)
    assert isinstance(guess, Estimate)
    assert guess.is_exact
    least = best_guess_of(Laplace(epsilon=2.0).on(channel.lexicon))
    assert least.at_least
    assert least.low <= least.share <= least.high
    assert f"{least}" == str(least) == f"at least {least.share:.0%}"
