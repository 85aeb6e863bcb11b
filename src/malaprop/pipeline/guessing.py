"""How often an observer who sees one word, without context, guesses it right.

The observer takes every word of the lexicon for equally likely and knows the law. The figure is
about public words, never about a user's text.
"""

from typing import Final

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats
from malaprop.core.channel import Channel, LawChannel
from malaprop.core.law import Law
from malaprop.core.randomness import seeded_rng
from malaprop.core.space import blocks

_SAMPLES: Final = 256  # outputs: the standard error of a share is then 3 % at most
_SMALL: Final = 1_000  # words up to which all outputs count, and the share is exact


def guessed_share(channel: Channel) -> float | None:
    """Return how often the best guess is right; None if the law has no cheap form.

    On more than 1,000 words it is an estimate from 256 outputs, always the same ones: they are
    public, so that a fixed seed does no harm.
    """
    if not isinstance(channel, LawChannel):
        return None
    size = len(channel.lexicon)
    if size <= _SMALL:
        law = np.exp(channel.log_probabilities(np.arange(size)))
        return min(1.0, float(law.max(axis=0).sum()) / size)
    chances = np.full(size, 1.0 / size)
    largest = largest_posteriors(channel, chances, _SAMPLES, seeded_rng(0))
    return None if largest is None else float(largest.mean())


def largest_posteriors(
    channel: LawChannel[Law], chances: Floats, samples: int, rng: Generator
) -> Floats | None:
    """Return the probability of the best guess at some drawn outputs, given prior `chances`.

    Its mean is how often the best guess is right. None if the law has no cheap form for columns.
    """
    truth = rng.choice(len(chances), size=samples, p=chances)
    largest = []
    with np.errstate(divide="ignore"):
        logs = np.log(chances)
    for block in blocks(samples, row_cells=len(chances)):
        columns = channel.law.log_likelihoods(channel.substitute(truth[block], rng))
        if columns is None:
            return None
        joint = columns + logs
        top = joint.max(axis=1, keepdims=True)
        largest.append(1.0 / np.exp(joint - top).sum(axis=1))
    return np.concatenate(largest)
