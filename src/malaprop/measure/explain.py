"""The law of one word, and of one value: what it may become, and what an observer can infer."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from malaprop.draws import value_channel
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.channel import Channel, LawChannel, PathChannel
from malaprop.privacy.errors import ParameterError
from malaprop.text.kinds import ValueForm
from malaprop.text.kinds.grids import StepSizes
from malaprop.text.treatment import BoundPolicy

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
        return float(self.probabilities @ self.distances)

    def most_likely(self, count: int) -> Ids:
        """Return the `count` most likely replacements; of equally likely ones, the nearest."""
        return np.lexsort((self.distances, -self.probabilities))[:count]


def word_law(channel: Channel | PathChannel, word: int, rng: Generator) -> WordLaw:
    """Return the law of a word or a place: exact if known in closed form, else from 4,000 draws."""
    space = channel.path if isinstance(channel, PathChannel) else channel.lexicon
    distances, draws = space.distances([word])[0], 0
    if isinstance(channel, LawChannel | PathChannel):
        p = np.exp(channel.log_probabilities([word])[0])
    else:
        draws, drawn = _DRAWS, channel.substitute(np.full(_DRAWS, word), rng)
        p = np.bincount(drawn, minlength=len(space)) / draws
    return WordLaw(word=word, probabilities=p, distances=distances, draws=draws)


@dataclass(frozen=True)
class Rival:
    """A near word, and how well an observer can tell it from the word."""

    word: str
    distance: float
    bound: float | None
    """The most that the guarantee allows, e^loss; None where it does not cover the pair."""
    odds: float | None
    """Pr[y | word] / Pr[y | rival], or its inverse, at the y that tells most; None if unknown."""


def rivals(
    channel: Channel | PathChannel, law: WordLaw, count: int, write: Callable[[int], str]
) -> tuple[Rival, ...]:
    """Return the nearest other words or values, and the odds that one output gives against each."""
    promise, covered = channel.guarantee, np.ones(len(law.distances), dtype=np.bool_)
    if isinstance(channel, Channel):
        promise = promise.in_metric(str(channel.lexicon.metric))
        covered = channel.covers(np.array([law.word]))[0]
    order = np.argsort(law.distances, kind="stable")
    near = [int(place) for place in order[: count + 1] if place != law.word][:count]
    odds: list[float | None] = [None] * len(near)
    if near and isinstance(channel, LawChannel | PathChannel):
        rows = channel.log_probabilities([law.word, *near])
        with np.errstate(invalid="ignore"):
            losses = np.abs(rows[1:] - rows[0])
        losses[np.isneginf(rows[1:]) & np.isneginf(rows[0])] = 0.0  # what neither becomes
        odds = [_exp(most) for most in losses.max(axis=1).tolist()]
    found = []
    for place, most in zip(near, odds, strict=True):
        distance = float(law.distances[place])
        allowed = promise.loss(distance) if covered[place] else math.inf
        bound = None if math.isinf(allowed) else _exp(allowed)
        found.append(Rival(write(place), distance, bound, most))
    return tuple(found)


def _exp(loss: float) -> float:
    return math.exp(loss) if loss < 700 else math.inf


@dataclass(frozen=True)
class ValueRange:
    """Two values between which, both included, at least a share of the draws lies."""

    share: float
    low: str
    high: str


def value_ranges(
    law: WordLaw, shares: Sequence[float], write: Callable[[int], str]
) -> tuple[ValueRange, ...]:
    """Return the values between which these shares of the draws lie, equal tails beyond."""
    sums = np.cumsum(law.probabilities)
    tails = [((1.0 - share) / 2.0, (1.0 + share) / 2.0) for share in shares]
    ends = [map(write, np.searchsorted(sums, both).tolist()) for both in tails]
    return tuple(ValueRange(share, *both) for share, both in zip(shares, ends, strict=True))


class Value(NamedTuple):
    """A value of a text: how it is written, and how it is drawn."""

    form: ValueForm
    place: int
    """Its place on the grid."""
    channel: PathChannel
    rounded: bool
    """Whether the grid lacks the value, which counts as the nearest one."""
    alone: bool
    """Whether there is nothing beside it that is drawn on its own, as "mg" in "500mg"."""


def value_in(text: str, bound: BoundPolicy) -> Value | None:
    """Return the value that a token holds; None if it holds none.

    Raise a ParameterError if it holds several, or one that is drawn without a look at it.
    """
    if bound.policy.redraw or bound.policy.shift_dates:
        raise ParameterError(
            "What a name or a date becomes by `redraw` or `shift_dates` depends on no word: leave "
            "them out to explain a word or a value."
        )
    epsilon, steps = bound.policy.kind_epsilon, bound.policy.steps
    if not bound.typed or epsilon is None or not isinstance(steps, StepSizes):
        return None
    pieces = bound.cut(text)
    values = [(piece, value) for piece in pieces if (value := bound.read_value(piece))]
    known = {piece for piece, _ in values}
    if not values or not all(piece in known or piece.isalpha() for piece in pieces):
        return None  # no value, or a phrase
    if len(values) > 1:
        raise ParameterError("Give one value to explain, not several.")
    [(piece, (form, secret))] = values
    if not isinstance(form, ValueForm):
        raise ParameterError(
            "An identifier or an address is drawn anew, without a look at it: there is nothing to "
            "explain. docs/reference/kinds.md says which shapes stay."
        )
    return Value(
        form=form,
        place=secret,
        channel=value_channel(form.grid, steps, epsilon),
        rounded=form.write(secret) != piece,
        alone=len(pieces) == 1,
    )
