"""The best guess of an observer, against brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malaprop import TEM, Balanced, Laplace, Lexicon, ParameterError, seeded_rng
from malaprop.measure import bayes_success
from malaprop.measure.bayes import belief_over

LINE = Lexicon(["cold", "cool", "warm", "hot"], [[0.0], [1.0], [3.0], [3.5]])


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.floats(0.01, 1.0), min_size=4, max_size=4),
    st.floats(0.1, 6.0),
)
def test_one_draw_is_exact(prior: list[float], epsilon: float) -> None:
    channel = TEM(epsilon=epsilon).on(LINE)
    law = np.exp(channel.log_probabilities(np.arange(4)))
    joint = (np.array(prior) / sum(prior))[:, None] * law
    found = bayes_success(channel, prior=prior, rng=seeded_rng(1))
    assert found.exact
    assert found.value == pytest.approx(joint.max(axis=0).sum())
    assert found.prior_success == pytest.approx(max(prior) / sum(prior))
    assert found.per_word is not None
    assert found.per_word @ (np.array(prior) / sum(prior)) == pytest.approx(found.value)
    assert found.leakage >= -1e-12


def test_words_that_cannot_occur_are_not_guessed() -> None:
    found = bayes_success(TEM(epsilon=2.0).on(LINE), prior={"cold": 1.0})
    assert found.value == pytest.approx(1.0)
    assert found.leakage == pytest.approx(0.0)


def test_several_draws_are_simulated_truly() -> None:
    channel = TEM(epsilon=1.5).on(LINE)
    law = np.exp(channel.log_probabilities(np.arange(4)))
    truth = sum(
        max(law[w][list(outputs)].prod() for w in range(4)) / 4
        for outputs in itertools.product(range(4), repeat=3)
    )
    found = bayes_success(channel, occurrences=3, trials=20_000, rng=seeded_rng(2))
    assert not found.exact
    assert abs(found.value - truth) < 5 * np.sqrt(truth * (1 - truth) / 20_000)
    once = bayes_success(channel, occurrences=3, reused=True)
    assert once.exact
    assert once.value < truth


def test_a_balanced_law_is_guessed_as_often_as_it_keeps() -> None:
    chain = LINE.with_graph(edges=[("cold", "cool"), ("cool", "warm"), ("warm", "hot")])
    channel = Balanced(epsilon=1.0).on(chain)
    kept = np.exp(np.diag(channel.log_probabilities(np.arange(4)))).mean()
    assert bayes_success(channel).value == pytest.approx(kept)


def test_noise_on_vectors_is_bounded() -> None:
    """On a line the law of words is known: the bounds must enclose the true success."""
    channel = Laplace(epsilon=1.0).on(LINE)
    found = bayes_success(channel, rng=seeded_rng(3))
    drawn = [
        np.bincount(channel.substitute(np.full(200_000, w), seeded_rng(w)), minlength=4) / 200_000
        for w in range(4)
    ]
    truth = np.max(drawn, axis=0).sum() / 4
    assert found.interval[0] <= truth + 0.002
    assert truth <= found.interval[1]
    assert abs(found.value - truth) < 0.01
    assert found.per_word is not None
    best = np.argmax(drawn, axis=0)
    of_words = [sum(drawn[w][y] for y in range(4) if best[y] == w) for w in range(4)]
    assert found.per_word == pytest.approx(of_words, abs=0.03)


@pytest.mark.parametrize(
    "prior", ["often", [1.0, 2.0], [0.0, 0.0, 0.0, 0.0], [1.0, -1.0, 1.0, 1.0], {"ice": 1.0}]
)
def test_wrong_priors_are_refused(prior: object) -> None:
    with pytest.raises(ParameterError, match="prior"):
        bayes_success(TEM(epsilon=1.0).on(LINE), prior=prior)


@pytest.mark.parametrize("options", [{"occurrences": 0}, {"occurrences": 1.5}, {"trials": 0}])
def test_wrong_numbers_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ParameterError, match=next(iter(options))):
        bayes_success(TEM(epsilon=1.0).on(LINE), **options)  # type: ignore[arg-type]


def test_frequent_words_are_guessed_first() -> None:
    found = bayes_success(TEM(epsilon=0.01).on(LINE), prior="frequency")
    assert found.per_word is not None
    assert found.per_word.argmax() == 3  # "hot", on the web
    assert found.value >= found.prior_success * (1 - 1e-12)


def test_frequencies_are_those_of_the_web_for_english_words() -> None:
    words = ["the", "Time", "gazebo", "zzyzx"]
    channel = TEM(epsilon=1e-9).on(Lexicon(words, [[0.0], [1.0], [2.0], [3.0]]))
    found = bayes_success(channel, prior="frequency")
    assert "on the web" in found.prior
    assert found.prior_success > 0.9  # "the", by far
    chances = belief_over(channel.lexicon, "frequency").chances
    assert chances[0] > 10 * chances[1] > 100 * chances[2] > 100 * chances[3] > 0.0


def test_frequencies_of_other_words_follow_their_order() -> None:
    words = ["zzyzx", "qwrtp", "the"]
    channel = TEM(epsilon=1.0).on(Lexicon(words, [[0.0], [1.0], [2.0]]))
    found = bayes_success(channel, prior="frequency")
    assert "Zipf" in found.prior
    assert belief_over(channel.lexicon, "frequency").chances.argmax() == 0
    assert bayes_success(channel).prior == "all words equally likely"
    assert bayes_success(channel, prior={"the": 1.0}).prior == "given"
