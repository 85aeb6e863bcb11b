"""Texts of two classes on a lexicon of six words, with a model of others like them."""

import pytest

from malaprop import Lexicon
from malaprop.measure import BigramModel, train_model

WORDS = ["good", "fine", "great", "bad", "poor", "awful"]
TEXTS = [f"{WORDS[i % 6]} {WORDS[(i % 6) // 3 * 3 + i // 6 % 3]}!" for i in range(180)]
LABELS = ["up" if i % 6 < 3 else "down" for i in range(180)]


@pytest.fixture(scope="session")
def words() -> Lexicon:
    """Two clouds of words: what is near is of the same class."""
    places = [[0.0, 1.0], [0.3, 1.0], [0.6, 1.3], [3.0, 0.0], [3.3, 0.0], [3.6, 0.3]]
    return Lexicon(WORDS, places)


@pytest.fixture(scope="session")
def bigrams(words: Lexicon) -> BigramModel:
    return train_model(["good great fine good", "bad awful poor bad", "fine bad"] * 3, words)
