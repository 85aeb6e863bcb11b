"""Bounds on the best guess where noise is added to vectors, so that the law of words is unknown.

From above: who sees the noisy vectors guesses at least as well as who sees the words that they
become. From below: what an attack achieves that learns from draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats
from malaprop.core.channel import Channel
from malaprop.measure.distance_rule import learned_rule
from malaprop.measure.intervals import clopper_pearson
from malaprop.measure.seen_vectors import unbeaten

_TRIALS: Final = 256
_SEEN: Final = 1_000  # trials of the observer of vectors


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What an attack achieves, and 95 % bounds on the best guess."""

    value: float
    interval: tuple[float, float]
    above: bool
    """Whether the upper end says anything: the density of the noise is known."""


def noise_bounds(
    channel: Channel,
    belief: Floats,
    occurrences: Sequence[int],
    rng: Generator,
    *,
    trials: int = _TRIALS,
    seen: int = _SEEN,
) -> list[Bounds]:
    """Return what a guess achieves for each number of draws, and bounds on the best guess.

    The attack has so many `trials`, and the observer of vectors, who bounds it, as many as `seen`.
    The upper bound is 1 if the density of the noise is unknown.
    """
    most, last = max(occurrences), np.array(occurrences) - 1
    truth = rng.choice(len(belief), size=trials, p=belief)
    drawn = channel.substitute(np.repeat(truth, most), rng).reshape(trials, most)
    if most == 1 and belief.min() == belief.max():
        guesses = drawn  # a rule would guess the output itself, but for few words
    else:
        guesses = learned_rule(channel, belief, rng).guesses(belief, drawn, last)
    hits = (guesses == truth[:, None]).sum(axis=0)
    lows = clopper_pearson(hits, trials)[:, 0]
    highs = vector_bounds(channel, belief, occurrences, rng, trials=seen)
    return [
        # By chance, the guess may have done better than the bound on all guesses.
        Bounds(value=value, interval=(low, max(value, high)), above=high < 1.0)
        for value, low, high in zip(
            (hits / trials).tolist(), lows.tolist(), highs.tolist(), strict=True
        )
    ]


def vector_bounds(
    channel: Channel,
    belief: Floats,
    occurrences: Sequence[int],
    rng: Generator,
    *,
    trials: int = _SEEN,
) -> Floats:
    """Return the upper ends of 95 % intervals for the best guess at so many noisy vectors."""
    wins = unbeaten(channel, belief, occurrences, trials, rng)
    if wins is None:
        return np.ones(len(occurrences))
    return np.asarray(clopper_pearson(wins, trials)[:, 1])
