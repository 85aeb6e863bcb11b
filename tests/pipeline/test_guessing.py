"""How often one word is guessed right, against brute force."""

from itertools import pairwise

import numpy as np
import pytest

from malaprop import TEM, Balanced, Laplace, Lexicon, Privatizer, seeded_rng
from malaprop.pipeline import guessing
from malaprop.pipeline.guessing import guessed_share


def _chain(size: int) -> Lexicon:
    words = [f"w{i}" for i in range(size)]
    return Lexicon(words, seeded_rng(1).normal(size=(size, 2))).with_graph(
        edges=list(pairwise(words))
    )


def test_it_is_exact_on_a_small_lexicon() -> None:
    channel = TEM(epsilon=2.0).on(Lexicon(["a", "b", "c"], [[0.0], [1.0], [5.0]]))
    law = np.exp(channel.log_probabilities(np.arange(3)))
    best = sum(max(law[w][y] for w in range(3)) for y in range(3)) / 3
    assert guessed_share(channel) == pytest.approx(best)


def test_it_is_estimated_on_a_large_one(monkeypatch: pytest.MonkeyPatch) -> None:
    channel = Balanced(epsilon=1.0).on(_chain(60))
    exact = guessed_share(channel)
    monkeypatch.setattr(guessing, "_SMALL", 10)
    monkeypatch.setattr(guessing, "_SAMPLES", 4000)
    estimate = guessed_share(channel)
    assert exact is not None
    assert estimate == pytest.approx(exact, abs=0.03)
    assert guessed_share(channel) == estimate  # the same channel, the same figure


def test_it_is_not_known_without_columns_of_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = Lexicon(["a", "b", "c"], [[0.0], [1.0], [5.0]])
    assert guessed_share(Laplace(epsilon=2.0).on(tiny)) is None
    monkeypatch.setattr(guessing, "_SMALL", 1)
    assert guessed_share(TEM(epsilon=2.0).on(tiny)) is None


def test_a_privatizer_knows_it() -> None:
    privatizer = Privatizer(_chain(20), Balanced(epsilon=1.0))
    assert privatizer.guessed == guessed_share(privatizer.channel)
