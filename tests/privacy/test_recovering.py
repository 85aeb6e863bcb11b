"""How many words an observer recovers from several draws, against a sum over all outputs."""

from itertools import product
from math import sqrt

import numpy as np
import pytest

from malaprop import TEM, Balanced, Laplace, Lexicon
from malaprop.privacy.best_guess import best_guess_of_several
from malaprop.privacy.channel import LawChannel

FIVE = Lexicon(["a", "b", "c", "d", "e"], [[0.0], [1.0], [2.5], [3.0], [7.0]])


def exact(channel: LawChannel, k: int) -> float:  # type: ignore[type-arg]
    """The share of words that the best guess recovers, with a uniform prior."""
    law = np.exp(channel.log_probabilities(np.arange(5)))
    likeliest = [
        law[:, list(outputs)].prod(axis=1).max() for outputs in product(range(5), repeat=k)
    ]
    return float(np.sum(likeliest) / 5)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
def test_the_share_is_that_of_the_best_guess(epsilon: float) -> None:
    channel = TEM(epsilon=epsilon).on(FIVE)
    for k, share in best_guess_of_several(channel, (3, 5)):
        best = exact(channel, k)
        assert share == pytest.approx(best, abs=4 * sqrt(best * (1 - best) / (5 * 64)))


def test_more_draws_and_a_larger_epsilon_tell_more(plane: Lexicon) -> None:
    chain = plane.with_graph()
    shares = [
        [share for _, share in best_guess_of_several(Balanced(epsilon=e).on(chain), (3, 10, 40))]
        for e in (0.2, 1.0, 3.0)
    ]
    for row in (*shares, *zip(*shares, strict=True)):
        assert list(row) == sorted(row)
    assert shares[-1][-1] > 0.99


def test_without_a_law_or_without_draws_there_are_no_figures() -> None:
    assert best_guess_of_several(Laplace(epsilon=1.0).on(FIVE), (3,)) == ()
    assert best_guess_of_several(TEM(epsilon=1.0).on(FIVE), ()) == ()


def test_the_same_channel_gives_the_same_figures() -> None:
    channel = TEM(epsilon=1.0).on(FIVE)
    assert best_guess_of_several(channel, (3,)) == best_guess_of_several(channel, (3,))
