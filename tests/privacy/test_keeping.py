"""How many words a channel keeps, against sums written out by hand; and when a user is warned."""

import math
from dataclasses import replace

import numpy as np
import pytest

from malaprop import TEM, Balanced, Laplace, Lexicon, PermuteAndFlip, seeded_rng
from malaprop.lexicon.graph import with_graph_if_needed
from malaprop.privacy import best_guess as keeping_module
from malaprop.privacy.best_guess import (
    A_THIRD,
    BestGuess,
    KeptShare,
    epsilon_for_kept_share,
    kept_share,
    unchanged_share,
)
from malaprop.privacy.channel import LawChannel
from malaprop.privacy.estimate import even_sample
from malaprop.privacy.mechanism import Mechanism


def test_the_share_is_the_mean_of_staying(plane: Lexicon) -> None:
    channel = TEM(epsilon=1.5).on(plane)
    law = np.exp(channel.log_probabilities(range(len(plane))))
    assert unchanged_share(channel) == pytest.approx(np.mean(np.diag(law)), abs=1e-12)


@pytest.mark.parametrize(("epsilon", "share"), [(1e-9, 1 / 3), (200.0, 1.0)])
def test_the_share_at_both_ends(line: Lexicon, epsilon: float, share: float) -> None:
    channel = TEM(epsilon=epsilon, gamma=9.0).on(line)
    assert unchanged_share(channel) == pytest.approx(share, abs=1e-6)


def test_the_share_of_laplace_on_a_line(line: Lexicon) -> None:
    """On a line, Laplace noise has e^(-εx)/2 of its mass beyond x, which gives the share exactly.

    Zero keeps its half line up to 1/2, one the interval (1/2, 2), three the half line from 2.
    """
    epsilon = 1.3
    tails = [math.exp(-epsilon * x) / 2 for x in (0.5, 0.5, 1.0, 1.0)]
    exact = ((1 - tails[0]) + (1 - tails[1] - tails[2]) + (1 - tails[3])) / 3
    channel = Laplace(epsilon=epsilon).on(line)
    rng = seeded_rng(3)
    found = np.mean([unchanged_share(channel, rng) for _ in range(2_000)])  # 24,000 draws
    error = math.sqrt(exact * (1 - exact) / 24_000)
    assert abs(found - exact) < 4 * error
    # The test can tell a share that is off by 5 %.
    assert abs(found - 0.95 * exact) > 4 * error
    assert abs(found - 1.05 * exact) > 4 * error


def test_the_words_are_spread_over_the_lexicon() -> None:
    ids = even_sample(100_000, 512)
    assert len(ids) == 512
    assert (ids[0], ids[-1]) == (0, 99_999)
    assert set(np.diff(ids).tolist()) <= {195, 196}
    assert even_sample(3, 512).tolist() == [0, 1, 2]
    assert even_sample(1, 512).tolist() == [0]


LAWS: list[Mechanism] = [Balanced(epsilon=4.0), TEM(epsilon=4.0), PermuteAndFlip(epsilon=4.0)]


@pytest.mark.parametrize("mechanism", LAWS, ids=lambda mechanism: mechanism.name)
def test_the_epsilon_that_would_keep_a_third_does_so(
    mechanism: Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping_module, "_SECONDS", 60.0)
    lexicon = with_graph_if_needed(Lexicon.open("english"), mechanism)
    channel = mechanism.on(lexicon)
    keeping = kept_share(mechanism, channel)
    assert keeping.share > 0.9
    assert keeping.third is not None
    other = replace(mechanism, epsilon=float(f"{keeping.third:.3g}")).on(lexicon)
    assert unchanged_share(other) == pytest.approx(A_THIRD, abs=0.04)
    assert f"about {keeping.third:.3g} would keep a third" in keeping.warning


def test_it_is_not_looked_for_where_epsilon_protects_enough(plane: Lexicon) -> None:
    mechanism = TEM(epsilon=0.01)
    assert kept_share(mechanism, mechanism.on(plane)).third is None


def test_there_may_be_none(line: Lexicon) -> None:
    channel = TEM(epsilon=50.0, gamma=9.0).on(line)  # of three words a third stays at least
    assert isinstance(channel, LawChannel)
    assert epsilon_for_kept_share(TEM(epsilon=50.0, gamma=9.0), channel, 0.2) is None
    assert epsilon_for_kept_share(TEM(epsilon=50.0, gamma=9.0), channel, 1.0) is None


def test_it_gives_up_after_a_while(plane: Lexicon, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = TEM(epsilon=50.0)
    assert kept_share(mechanism, mechanism.on(plane)).third is not None
    monkeypatch.setattr(keeping_module, "_SECONDS", 0.0)
    keeping = kept_share(mechanism, mechanism.on(plane))
    assert keeping.third is None
    assert "Take a smaller one. Anyone who" in keeping.warning


def test_noise_has_no_law_to_solve_for(line: Lexicon) -> None:
    mechanism = Laplace(epsilon=1e3)
    keeping = kept_share(mechanism, mechanism.on(line))
    assert keeping == KeptShare(
        1.0, guessed=replace(BestGuess.exact(1.0), bound="at least", over="outputs")
    )
    assert "NEXT TO NOTHING" in keeping.warning
    assert "would keep" not in keeping.warning


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (1.0, "THIS EPSILON PROTECTS NEXT TO NOTHING: 100% of words"),
        (0.8, "THIS EPSILON PROTECTS NEXT TO NOTHING: 80% of words"),
        (0.79, "this epsilon protects little: 79% of words"),
        (0.5, "this epsilon protects little: 50% of words"),
        (0.01, "this epsilon leaves next to nothing of the text: 1.00% of words"),
    ],
)
def test_warnings_are_plain(share: float, words: str) -> None:
    warning = KeptShare(share, 1.5).warning
    assert warning.startswith(words)
    if share >= 0.5:
        assert "about 1.5 would keep a third. Anyone who knows the context" in warning


def test_a_warning_states_how_many_words_are_guessed(plane: Lexicon) -> None:
    warning = KeptShare(0.6, 1.5, BestGuess.exact(0.64)).warning
    assert "60% of words are expected to stay as they are, and an observer" in warning
    assert "guesses about 64% of them right. Take a smaller one" in warning
    mechanism = TEM(epsilon=40.0)
    keeping = kept_share(mechanism, mechanism.on(plane))
    assert keeping.guessed is not None
    assert keeping.share <= keeping.guessed.share <= 1.0


@pytest.mark.parametrize("share", [0.499, 0.33, 0.02])
def test_between_them_there_is_nothing_to_warn_of(share: float) -> None:
    assert KeptShare(share).warning == ""
