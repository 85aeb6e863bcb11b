"""The law of one word, and of one value: what it may become, and what an observer can infer."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from malaprop.draws import value_channel
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.channel import Channel, LawChannel, PathChannel
from malaprop.privacy.errors import ParameterError
from malaprop.text.kinds import ValueForm
from malaprop.text.kinds.grammar import read_value, split_values
from malaprop.text.kinds.grids import StepSizes
from malaprop.text.policy import Policy

_DRAWS = 4000


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
    promise = channel.guarantee.in_metric(str(channel.lexicon.metric))
    covered = channel.covers(np.array([word]))[0]
    return _rivals(
        channel,
        word,
        channel.lexicon.distances([word])[0],
        count,
        channel.lexicon.words.__getitem__,
        lambda other, distance: promise.loss(distance) if covered[other] else math.inf,
    )


def _rivals(
    channel: Channel | PathChannel,
    own: int,
    distances: Floats,
    count: int,
    write: Callable[[int], str],
    loss: Callable[[int, float], float],
) -> list[Rival]:
    order = np.argsort(distances, kind="stable")
    near = [int(place) for place in order[: count + 1] if place != own][:count]
    odds: list[float | None] = [None] * len(near)
    if near and isinstance(channel, LawChannel | PathChannel):
        rows = channel.log_probabilities([own, *near])
        odds = [_exp(most) for most in np.abs(rows[1:] - rows[0]).max(axis=1).tolist()]
    rivals = []
    for place, most in zip(near, odds, strict=True):
        distance = float(distances[place])
        allowed = loss(place, distance)
        bound = None if math.isinf(allowed) else _exp(allowed)
        rivals.append(Rival(write(place), distance, bound, most))
    return rivals


def _exp(loss: float) -> float:
    return math.exp(loss) if loss < 700 else math.inf


@dataclass(frozen=True)
class ValueRange:
    """Two values between which, both included, at least a share of the draws lies."""

    share: float
    low: str
    high: str


@dataclass(frozen=True, kw_only=True)
class ValueLaw:
    """A value of a text: how it is written, and how it is drawn."""

    form: ValueForm
    law: WordLaw
    """The law of its place on the grid."""
    channel: PathChannel
    rounded: bool
    """Whether the grid lacks the value, which counts as the nearest one."""
    alone: bool
    """Whether there is nothing beside it that is drawn on its own, as "mg" in "500mg"."""

    def ranges(self, shares: Sequence[float]) -> tuple[ValueRange, ...]:
        """Return the values between which these shares of the draws lie, equal tails beyond."""
        sums = np.cumsum(self.law.probabilities)
        return tuple(
            ValueRange(
                share,
                self.form.write(int(np.searchsorted(sums, (1.0 - share) / 2.0))),
                self.form.write(int(np.searchsorted(sums, (1.0 + share) / 2.0))),
            )
            for share in shares
        )

    def rivals(self, count: int) -> list[Rival]:
        """Return the nearest other values, and the odds that one output gives against each."""
        own, distances, promise = self.law.word, self.law.distances, self.channel.guarantee
        write = self.form.write
        return _rivals(self.channel, own, distances, count, write, lambda _, d: promise.loss(d))


def value_law(text: str, policy: Policy) -> ValueLaw | None:
    """Return the law of the value that a token holds; None if it holds none.

    Raise a ParameterError if it holds several, or one that is drawn without a look at it.
    """
    epsilon, steps = policy.kind_epsilon, policy.steps
    if policy.kinds != "typed" or epsilon is None or not isinstance(steps, StepSizes):
        return None
    pieces = split_values(text)
    values = [(piece, value) for piece in pieces if (value := read_value(piece, policy.dates))]
    known = {piece for piece, _ in values}
    if not values or not all(piece in known or piece.isalpha() for piece in pieces):
        return None  # no value, or a phrase
    if len(values) > 1:
        raise ParameterError("Give one value to explain, not several.")
    [(piece, (form, secret))] = values
    if not isinstance(form, ValueForm):
        raise ParameterError(
            "An identifier or an address is drawn anew, without a look at it: there is nothing to "
            "explain. docs/kinds.md says which shapes stay."
        )
    channel = value_channel(form.grid, steps, epsilon)
    law = WordLaw(
        word=secret,
        probabilities=np.exp(channel.log_probabilities([secret])[0]),
        distances=channel.path.distances([secret])[0],
        draws=0,
    )
    return ValueLaw(
        form=form,
        law=law,
        channel=channel,
        rounded=form.write(secret) != piece,
        alone=len(pieces) == 1,
    )
