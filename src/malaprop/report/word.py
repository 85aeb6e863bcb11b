"""The law of one word: what it may become, and what an observer can infer."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import Channel, LawChannel

_DRAWS = 4000
_SHOWN = 6  # words of a level


@dataclass(frozen=True)
class Level:
    """All words at one distance: their number, their probability, the likeliest of them."""

    distance: float
    count: int
    probability: float
    likeliest: Ids


@dataclass(frozen=True, kw_only=True)
class WordLaw:
    """The distribution of one word's replacement.

    `draws` is 0 where the probabilities are exact, else the number of draws behind them.
    """

    word: int
    probabilities: Floats
    distances: Floats
    draws: int

    @property
    def stays(self) -> float:
        """Pr[w | w]."""
        return float(self.probabilities[self.word])

    @property
    def plausible(self) -> float:
        """exp of the entropy: how many equally likely words would be as uncertain."""
        p = self.probabilities[self.probabilities > 0]
        return float(np.exp(-(p * np.log(p)).sum()))

    @property
    def expected_distance(self) -> float:
        """The mean distance between the word and its replacement."""
        return float(self.probabilities @ self.distances)

    def by_distance(self) -> list["Level"]:
        """Return the words by distance, level by level: for metrics that count steps."""
        levels = []
        for distance in np.unique(self.distances):
            ids = np.flatnonzero(self.distances == distance)
            p = self.probabilities[ids]
            best = ids[np.argsort(-p, kind="stable")[:_SHOWN]]
            levels.append(Level(float(distance), len(ids), float(p.sum()), best))
        return levels

    def most_likely(self, count: int) -> Ids:
        """Return the `count` most likely replacements; of equally likely ones, the nearest."""
        return np.lexsort((self.distances, -self.probabilities))[:count]


def word_law(channel: Channel, word: int, rng: Generator) -> WordLaw:
    """Return the law of a word: exact if known in closed form, else from 4,000 draws."""
    distances = channel.lexicon.distances([word])[0]
    if isinstance(channel, LawChannel):
        p = np.exp(channel.log_probabilities([word])[0])
        return WordLaw(word=word, probabilities=p, distances=distances, draws=0)
    drawn = channel.substitute(np.full(_DRAWS, word), rng)
    p = np.bincount(drawn, minlength=len(channel.lexicon)) / _DRAWS
    return WordLaw(word=word, probabilities=p, distances=distances, draws=_DRAWS)


@dataclass(frozen=True)
class Rival:
    """A near word, and how well an observer can tell it from the word."""

    word: str
    distance: float
    bound: float | None
    """The most that the guarantee allows, e^loss; None where it does not cover the pair."""
    odds: float | None
    """Pr[y | word] / Pr[y | rival], or its inverse, at the y that tells most; None if unknown."""


def rivals(channel: Channel, word: int, count: int) -> list[Rival]:
    """Return the nearest other words, and the odds that one output gives against each."""
    distances = channel.lexicon.distances([word])[0]
    order = np.argsort(distances, kind="stable")
    near = [int(i) for i in order[: count + 1] if i != word][:count]
    nearest = []
    for other in near:
        odds = None
        if isinstance(channel, LawChannel):
            own, its = channel.log_probabilities([word, other])
            odds = _exp(float(np.abs(own - its).max()))
        bound = _bound(channel, word, other, float(distances[other]))
        nearest.append(Rival(channel.lexicon.words[other], float(distances[other]), bound, odds))
    return nearest


def _bound(channel: Channel, word: int, other: int, distance: float) -> float | None:
    guarantee = channel.guarantee.in_metric(str(channel.lexicon.metric))
    if not channel.covers(np.array([word]))[0, other]:
        return None
    loss = guarantee.loss(distance)
    return None if math.isinf(loss) else _exp(loss)


def _exp(loss: float) -> float:
    return math.exp(loss) if loss < 700 else math.inf
