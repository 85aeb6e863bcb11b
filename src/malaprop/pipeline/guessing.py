"""How often an observer who sees one word, without context, guesses it right.

The observer takes every word of the lexicon for equally likely and knows the law. The figure is
about public words, never about a user's text.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats
from malaprop.core.channel import Channel, LawChannel
from malaprop.core.law import Law
from malaprop.core.randomness import seeded_rng
from malaprop.core.space import blocks
from malaprop.pipeline.nearby_guesses import nearby_chances
from malaprop.pipeline.spreading import sample

_SAMPLES: Final = 256  # outputs: the standard error of a share is then 3 % at most
_TOGETHER: Final = 4  # blocks of outputs whose columns are computed together
_WEIGHED: Final = 2  # columns that are weighed at once, in a processor's cache
_SMALL: Final = 1_000  # words up to which all outputs count, and the share is exact


@dataclass(frozen=True)
class Guessed:
    """The share of single words that an observer without context guesses right.

    >>> print(Guessed(0.342)), print(Guessed(0.342, at_least=True))
    about 34%
    at least 34%
    (None, None)
    """

    share: float
    at_least: bool = False
    """Whether the share is that of a guess that a better observer may exceed."""

    def __str__(self) -> str:
        return f"{'at least' if self.at_least else 'about'} {self.share:.0%}"


def guessed_share(channel: Channel, kept: float = 0.0) -> Guessed:
    """Return how often the best guess is right, exactly, as an estimate or as a lower bound.

    Up to 1,000 words of a law, it is exact. On more, it is an estimate from 256 outputs if the law
    has a cheap form for them, or from 128 words if the best guess is what comes out. Otherwise,
    and for noise on vectors, it is what an observer achieves who considers the nearest words only,
    at 128 outputs: see `malaprop.pipeline.nearby_guesses`. The outputs are always the same ones:
    they are public, so that a fixed seed does no harm.

    `kept` is the share of words that stay, if known: to guess what comes out is right as often.
    """
    size, rng = len(channel.lexicon), seeded_rng(0)
    if isinstance(channel, LawChannel):
        if size <= _SMALL:
            law = np.exp(channel.log_probabilities(np.arange(size)))
            return Guessed(min(1.0, float(law.max(axis=0).sum()) / size))
        largest = largest_posteriors(channel, np.full(size, 1.0 / size), _SAMPLES, rng)
        if largest is not None:
            return Guessed(float(largest.mean()))
        if guesses_outputs(channel):
            return Guessed(float(channel.law.staying(sample(size)).mean()))
    chances = nearby_chances(channel, sample(size), rng)
    return Guessed(max(kept, float(chances.mean())), at_least=True)


def guesses_outputs(channel: LawChannel[Law]) -> bool:
    """Whether the best guess is the output itself, all words being equally likely."""
    return channel.law.outputs_are_best_guesses


def largest_posteriors(
    channel: LawChannel[Law], chances: Floats, samples: int, rng: Generator
) -> Floats | None:
    """Return the probability of the best guess at some drawn outputs, given prior `chances`.

    Its mean is how often the best guess is right. None if the law has no cheap form for columns.
    """
    truth = rng.choice(len(chances), size=samples, p=chances)
    steps = blocks(samples, row_cells=len(chances))
    groups = [steps[:1], *(steps[i : i + _TOGETHER] for i in range(1, len(steps), _TOGETHER))]
    largest: list[Floats] = []
    for group in groups:
        outputs = np.concatenate([channel.substitute(truth[block], rng) for block in group])
        for columns in channel.law.likelihood_parts(outputs, _WEIGHED):
            joint = columns * chances
            largest.append(joint.max(axis=1) / joint.sum(axis=1))
        if not largest:
            return None
    return np.concatenate(largest)
