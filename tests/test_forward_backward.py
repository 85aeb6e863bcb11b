"""Beliefs in candidates, against sums over all texts."""

from itertools import product

import numpy as np
import pytest

from malaprop import Lexicon
from malaprop import smoother as module
from malaprop.lexicon.bigrams import BigramModel
from malaprop.measure import train_model
from malaprop.privacy.arrays import Floats, Ids
from malaprop.smoother import beliefs
from malaprop.text.template import BEGINS, FOLLOWS

WORDS = ["a", "b", "c", "d", "e"]


@pytest.fixture(scope="module")
def model() -> BigramModel:
    rng = np.random.Generator(np.random.PCG64(2))
    texts = [" ".join(rng.choice(WORDS, 8, p=[0.4, 0.3, 0.15, 0.1, 0.05])) for _ in range(30)]
    lexicon = Lexicon(WORDS, [[float(i)] for i in range(5)])
    return train_model([*texts, "a b c d e a b c d e"], lexicon)


def places(count: int, seed: int = 1) -> tuple[Ids, Floats]:
    rng = np.random.Generator(np.random.PCG64(seed))
    candidates = np.array([rng.permutation(5)[:3] for _ in range(count)])
    return candidates, rng.random((count, 3))


def summed(model: BigramModel, candidates: Ids, likely: Floats) -> Floats:
    """Sum the probabilities of all texts, one by one."""
    found = np.zeros(candidates.shape)
    for chosen in product(range(3), repeat=len(candidates)):
        words = candidates[np.arange(len(candidates)), list(chosen)]
        befores = np.array([model.start, *words[:-1]])
        weight = model.probabilities(befores, words).prod()
        weight *= likely[np.arange(len(candidates)), list(chosen)].prod()
        found[np.arange(len(candidates)), list(chosen)] += weight
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def before(*lengths: int) -> Ids:
    """Return what stands before each place of texts."""
    return np.concatenate([[BEGINS, *[FOLLOWS] * (length - 1)] for length in lengths if length])


def test_beliefs_are_sums_over_all_texts(model: BigramModel) -> None:
    lengths = np.array([5, 0, 1, 3])
    candidates, likely = places(9)
    found = beliefs(model, candidates, likely, before(*lengths))
    first = 0
    for length in lengths.tolist():
        text = slice(first, first + length)
        if length:
            expected = summed(model, candidates[text], likely[text])
            np.testing.assert_allclose(found[text], expected, rtol=1e-5)
        first += length


def test_a_word_that_stands_alone_has_no_other_context(model: BigramModel) -> None:
    candidates, likely = places(1)
    found = beliefs(model, candidates, likely, before(1))
    expected = model.probabilities(np.full(3, model.start), candidates[0]) * likely[0]
    np.testing.assert_allclose(found[0], expected / expected.sum(), rtol=1e-6)


def test_pieces_of_long_texts_believe_as_the_whole_does(
    model: BigramModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    candidates, likely = places(700)
    texts = before(650, 50)
    monkeypatch.setattr(module, "_PIECE", 1000)
    whole = beliefs(model, candidates, likely, texts)
    monkeypatch.setattr(module, "_PIECE", 40)
    np.testing.assert_allclose(beliefs(model, candidates, likely, texts), whole, atol=1e-4)
    monkeypatch.setattr(module, "_CELLS", 100)  # a batch for each piece
    np.testing.assert_allclose(beliefs(model, candidates, likely, texts), whole, atol=1e-4)
