"""Smoothing, against all assignments of words that can stand behind short texts."""

from itertools import product
from typing import get_args

import numpy as np
import pytest
from numpy.typing import NDArray

from malaprop import TEM, Balanced, Laplace, Lexicon, seeded_rng
from malaprop.lexicon.bigrams import BigramModel, shipped_model
from malaprop.measure import train_model
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.channel import Channel
from malaprop.smoother import SETTINGS, Setting, Smoother
from malaprop.text.policy import Readable
from malaprop.text.template import BEGINS, FOLLOWS, UNKNOWN

WORDS = ("the", "cat", "cow", "sat", "set", "mat", "on", "in")
TEXTS = ["the cat sat on the mat", "the cow sat in the mat", "cat on mat", "the cat set in"]
FLAT, GAIN, UNPAIRED = 0.3, 0.02, 0.1


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    vectors = np.random.default_rng(5).normal(size=(len(WORDS), 4))
    names = ("the", "cat"), ("cat", "cow"), ("cow", "sat"), ("sat", "set"), ("set", "mat")
    return Lexicon(WORDS, vectors).with_graph(edges=[*names, ("mat", "on"), ("on", "in")])


@pytest.fixture(scope="module")
def model(lexicon: Lexicon) -> BigramModel:
    return train_model(TEXTS, lexicon)


def exact(
    channel: Channel, model: BigramModel, drawn: Ids, before: NDArray[np.int64], tied: bool
) -> Ids:
    """Return the smoothed words, by summing over all texts that may stand behind the drawn words.

    With `tied`, equal drawn words stand for one word, and are evidence once.
    """
    size = len(WORDS)
    law = channel.log_probabilities(np.arange(size))  # type: ignore[attr-defined]
    floor = FLAT / size
    beliefs = np.zeros((len(drawn), size))
    for words in product(range(size), repeat=len(drawn)):
        weight = 1.0
        for place, (word, output) in enumerate(zip(words, drawn, strict=True)):
            if before[place] == FOLLOWS:
                moved = model.probabilities(np.array([words[place - 1]]), np.array([word]))[0]
            elif before[place] == BEGINS:
                moved = model.probabilities(np.array([model.start]), np.array([word]))[0]
            else:
                moved = model.prior[word]
            weight *= (1.0 - FLAT) * float(moved) + floor
            weight *= np.exp(law[word, output] / ((drawn == output).sum() if tied else 1))
        for place, word in enumerate(words):
            beliefs[place, word] += weight
    if tied:
        prior = (1.0 - FLAT) * model.prior + floor
        for output in np.unique(drawn):
            places = np.flatnonzero(drawn == output)
            together = beliefs[places].prod(axis=0) / prior ** (len(places) - 1)
            beliefs[places] = together
    beliefs /= beliefs.sum(axis=1, keepdims=True)
    vectors = channel.lexicon.vectors / np.linalg.norm(
        channel.lexicon.vectors, axis=1, keepdims=True
    )
    similar: Floats = beliefs @ (vectors @ vectors.T)
    best = similar.argmax(axis=1)
    rows = np.arange(len(drawn))
    needed = np.where(model.unigrams[drawn] > 0, GAIN, UNPAIRED)
    return np.where(similar[rows, best] - similar[rows, drawn] >= needed, best, drawn)


@pytest.mark.parametrize("texts", [4, 1])  # the first text alone lacks some words
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("mechanism", [Balanced(epsilon=0.8), TEM(epsilon=0.8)])
def test_it_is_the_least_bayes_risk_over_all_texts(
    mechanism: Balanced | TEM, tied: bool, texts: int, lexicon: Lexicon
) -> None:
    channel, model = mechanism.on(lexicon), train_model(TEXTS[:texts], lexicon)
    assert bool(model.paired.all()) == (texts == 4)
    smoother = Smoother(channel, model, Setting(FLAT, GAIN, UNPAIRED))
    rng = np.random.default_rng(3)
    changed = 0
    for _ in range(30):
        drawn = rng.integers(0, len(WORDS), 4)
        before = np.array([BEGINS, *rng.choice([FOLLOWS, FOLLOWS, BEGINS, UNKNOWN], 3)])
        found = smoother.smooth(drawn, before, np.zeros(4, dtype=np.int64) if tied else None)
        np.testing.assert_array_equal(found, exact(channel, model, drawn, before, tied))
        changed += int((found != drawn).sum())
        assert not tied or len({*zip(drawn, found, strict=True)}) == len({*drawn})
    assert changed > 10


def test_texts_together_are_smoothed_as_each_alone(english: Lexicon) -> None:
    model = shipped_model(english)
    assert model is not None
    channel = Balanced(epsilon=1.35).on(english.with_graph())
    rng, lengths = seeded_rng(1), [1, 40, 7, 200, 12, 3]
    drawn = channel.substitute(rng.integers(0, 3000, sum(lengths)), rng)
    before = np.full(len(drawn), FOLLOWS)
    firsts = np.cumsum(lengths) - lengths
    before[firsts] = BEGINS
    together = Smoother(channel, model).smooth(drawn, before)
    smoother = Smoother(channel, model)
    for first, length in zip(firsts, lengths, strict=True):
        own = slice(first, first + length)
        np.testing.assert_array_equal(smoother.smooth(drawn[own], before[own]), together[own])
    assert (together != drawn).mean() > 0.2


def test_what_an_output_gets_does_not_depend_on_the_others(english: Lexicon) -> None:
    model = shipped_model(english)
    assert model is not None
    channel = Balanced(epsilon=1.5).on(english.with_graph())
    words = ("twenty", "eleven", "leaves", "stone", "the", "pressure")  # few are near the first
    ids = np.array([english.index[word] for word in words])
    every = np.append(ids, np.arange(0, len(english), 25))
    together, alone = Smoother(channel, model), Smoother(channel, model)
    together.smooth(every, np.full(len(every), BEGINS))
    for output in ids:
        alone.smooth(np.array([output]), np.array([BEGINS]))
    np.testing.assert_array_equal(together._words[ids], alone._words[ids])
    np.testing.assert_allclose(together._likely[ids], alone._likely[ids], rtol=1e-6)


def test_a_long_text_is_read_in_pieces(lexicon: Lexicon, model: BigramModel) -> None:
    smoother = Smoother(Balanced(epsilon=0.8).on(lexicon), model)
    drawn = np.tile([0, 2, 4, 6], 5_000)
    before = np.full(len(drawn), FOLLOWS)
    before[0] = BEGINS
    smoothed = smoother.smooth(drawn, before)
    assert len(smoothed) == len(drawn)
    assert len(np.unique(smoothed[400:-400].reshape(-1, 4), axis=0)) <= 8


def test_a_law_that_is_not_known_is_estimated_in_the_same_way_each_time(
    lexicon: Lexicon, model: BigramModel
) -> None:
    drawn, before = np.arange(8), np.array([BEGINS, *[FOLLOWS] * 7])
    plain = lexicon.with_metric("euclidean")
    first, second = (
        Smoother(Laplace(epsilon=2.0).on(plain), model).smooth(drawn, before) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


def test_every_setting_that_a_policy_takes_has_constants(
    lexicon: Lexicon, model: BigramModel
) -> None:
    assert set(SETTINGS) == set(get_args(Readable))
    faithful, fluent = SETTINGS["faithful"], SETTINGS["fluent"]
    assert faithful.flat > fluent.flat
    assert faithful.unpaired > fluent.unpaired
    channel = Balanced(epsilon=0.8).on(lexicon)
    few = Smoother(channel, model, faithful._replace(candidates=3))
    few.smooth(np.arange(8), np.full(8, BEGINS))
    assert few._words.shape == (8, 3)


def test_nothing_is_nothing(lexicon: Lexicon, model: BigramModel) -> None:
    smoother = Smoother(Balanced(epsilon=0.8).on(lexicon), model)
    empty = np.zeros(0, dtype=np.int64)
    assert not len(smoother.smooth(empty, empty))
