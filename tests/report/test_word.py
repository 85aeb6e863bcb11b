"""The law of one word, and what an observer can infer from it."""

import math

import numpy as np
import pytest

from malaprop import TEM, Channel, Laplace, Lexicon, seeded_rng
from malaprop.measure.explain import Rival, rivals, word_law


def _rivals(channel: Channel, word: int, count: int) -> tuple[Rival, ...]:
    law = word_law(channel, word, seeded_rng(1))
    return rivals(channel, law, count, channel.lexicon.words.__getitem__)


def test_the_law_is_exact_where_it_is_known(line: Lexicon) -> None:
    law = word_law(TEM(epsilon=2.0, gamma=2.0, exponent="half").on(line), 0, seeded_rng(1))
    weights = [1.0, math.exp(-1.0), math.exp(-2.0)]
    exact = [weight / sum(weights) for weight in weights]
    assert law.draws == 0
    assert law.probabilities.tolist() == pytest.approx(exact)
    assert law.stays == pytest.approx(exact[0])
    assert law.expected_distance == pytest.approx(exact[1] + 3 * exact[2])
    assert law.plausible == pytest.approx(math.exp(-sum(p * math.log(p) for p in exact)))
    assert law.most_likely(2).tolist() == [0, 1]


def test_the_law_is_estimated_where_it_is_not(line: Lexicon) -> None:
    law = word_law(Laplace(epsilon=2.0).on(line), 1, seeded_rng(1))
    assert law.draws == 4_000
    assert law.probabilities.sum() == pytest.approx(1.0)
    exact = 1 - math.exp(-1.0) / 2 - math.exp(-2.0) / 2
    assert law.stays == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 4_000))


def test_of_equally_likely_words_the_nearest_comes_first(line: Lexicon) -> None:
    law = word_law(TEM(epsilon=1.0, gamma=1e-9).on(line), 2, seeded_rng(1))
    assert law.probabilities.tolist() == pytest.approx([1 / 3] * 3)
    np.testing.assert_array_equal(
        sorted(law.distances[law.most_likely(3)]), sorted(law.distances.tolist())
    )


def test_the_odds_against_the_nearest_words(plane: Lexicon) -> None:
    channel = TEM(epsilon=2.0).on(plane)
    found = _rivals(channel, 7, 3)
    nearest = plane.neighbours("w7", 3)
    assert [(rival.word, rival.distance) for rival in found] == nearest
    law = np.exp(channel.log_probabilities(range(len(plane))))
    for rival in found:
        other = plane.index[rival.word]
        assert rival.odds == pytest.approx(
            max(np.max(law[7] / law[other]), np.max(law[other] / law[7]))
        )
        assert rival.odds is not None
        assert rival.bound is not None
        assert 1.0 < rival.odds <= rival.bound
        assert rival.bound == pytest.approx(math.exp(channel.guarantee.loss(rival.distance)))


def test_without_a_closed_form_there_is_the_bound_alone(line: Lexicon) -> None:
    assert [rival.odds for rival in _rivals(Laplace(epsilon=2.0).on(line), 0, 5)] == [None, None]


def test_a_bound_too_large_for_a_float_is_infinite(line: Lexicon) -> None:
    far = Lexicon(line.words, line.vectors * 1e5)
    channel = TEM(epsilon=1.0, gamma=math.inf).on(far)
    assert (_rivals(channel, 0, 1)[0].bound, _rivals(channel, 0, 1)[0].odds) == (math.inf, math.inf)
