"""How many words a channel keeps as they are, and the ε that would keep fewer.

The shares are averages over the lexicon, never over a user's text: a figure taken from the text
would give away something of it. A share is not the chance that an observer guesses a word: context
and repetition raise that.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import Channel, LawChannel
from malaprop.core.errors import LexiconError, MalapropError
from malaprop.core.law import Law
from malaprop.core.mechanism import Mechanism
from malaprop.core.randomness import secure_rng
from malaprop.core.space import MetricSpace, blocks
from malaprop.pipeline.guessing import Guessed, guessed_share
from malaprop.pipeline.spreading import sample, spread

A_THIRD = 1.0 / 3.0
LITTLE_PROTECTION, NEXT_TO_NONE = 0.5, 0.8
"""Shares of words kept from which ε protects little, and next to nothing."""
LITTLE_LEFT = 0.01

_WORDS = 128  # at most, for each ε that is tried
_DRAWS = 4  # per word, where the law is not known in closed form
_SEARCH_CELLS = 1 << 21  # at most so many distances for each ε that is tried
_CLOSE = 0.1  # of the log odds of a share: 0.02 of a share of a third
_FAR = 8.0  # factor between two bounds from which their ratio is halved
_SECONDS = 3.0  # after that there is no suggestion


@dataclass(frozen=True)
class Keeping:
    """How many words a mechanism keeps, and what to do about it.

    `third` is about the ε with which the mechanism would keep a third of the words, and `guessed`
    the share that an observer without context guesses right. They are computed only if ε protects
    little, and `third` only if the law is known in closed form.
    """

    share: float
    third: float | None = None
    guessed: Guessed | None = None

    @property
    def warning(self) -> str:
        """What a user should know about this ε, in plain words; usually empty."""
        kept = f"{self.share:.0%} of words are expected to stay as they are"
        if self.guessed is not None:
            kept += (
                ", and an observer without context, to whom all words are equally likely, guesses "
                f"{self.guessed} of them right"
            )
        if self.share >= NEXT_TO_NONE:
            return f"THIS EPSILON PROTECTS NEXT TO NOTHING: {kept}. {self._remedy}"
        if self.share >= LITTLE_PROTECTION:
            return f"this epsilon protects little: {kept}. {self._remedy}"
        if self.share <= LITTLE_LEFT:
            return (
                f"this epsilon leaves next to nothing of the text: {self.share:.2%} of words are "
                "expected to stay. Take a larger one if the text is to be of use"
            )
        return ""

    @property
    def _remedy(self) -> str:
        smaller = "" if self.third is None else f": about {self.third:.3g} would keep a third"
        return (
            f"Take a smaller one{smaller}. Anyone who knows the context, or sees a word several "
            "times, guesses more words than are kept"
        )


def keeping_of(mechanism: Mechanism, channel: Channel) -> Keeping:
    """Compute the share of words that a mechanism keeps; `channel` is it on its lexicon."""
    share = unchanged_share(channel)
    if share < LITTLE_PROTECTION:
        return Keeping(share)
    third = None
    if isinstance(channel, LawChannel):
        third = epsilon_keeping(mechanism, channel, A_THIRD)
    return Keeping(share, third, guessed_share(channel, share))


def unchanged_share(channel: Channel, rng: Generator | None = None) -> float:
    """Return the expected share of words that stay unchanged: the mean of Pr[w | w].

    It is taken over up to 128 words, evenly spread over the lexicon. For each, it is exact if the
    law is known in closed form, and otherwise comes from 4 draws.
    """
    ids = sample(len(channel.lexicon))
    if isinstance(channel, LawChannel):
        return float(np.mean(_stay(channel, ids)))
    tries = np.repeat(ids, _DRAWS)
    return float(np.mean(channel.substitute(tries, rng or secure_rng()) == tries))


def epsilon_keeping(mechanism: Mechanism, channel: LawChannel[Law], share: float) -> float | None:
    """Estimate the ε with which a mechanism would keep a share of words, if it is below its own.

    `channel` is the mechanism on its lexicon. The share that it keeps grows with ε. Return None if
    there is no such ε, or none is found within three seconds.
    """
    lexicon = channel.lexicon
    ids = spread(len(lexicon), max(8, min(_WORDS, _SEARCH_CELLS // len(lexicon))))

    def excess(epsilon: float) -> float:
        other = channel if epsilon == mechanism.epsilon else _rebound(mechanism, epsilon, lexicon)
        return _log_odds(float(np.mean(_stay(other, ids)))) - _log_odds(share)

    try:
        return _root(excess, mechanism.epsilon)
    except MalapropError:  # at another ε the mechanism may ask for what is not there
        return None


def _rebound(mechanism: Mechanism, epsilon: float, lexicon: MetricSpace) -> LawChannel[Law]:
    channel = replace(mechanism, epsilon=epsilon).on(lexicon)
    if not isinstance(channel, LawChannel):
        raise LexiconError("The mechanism's law is not known at another ε.")
    return channel


def _root(rising: Callable[[float], float], start: float) -> float | None:
    """Find roughly where a rising function of a positive number is 0, below `start`."""
    high, above = start, rising(start)
    if above <= 0.0:
        return None
    low, below, factor = start, above, 2.0
    end = monotonic() + _SECONDS
    while monotonic() < end:
        if below > 0.0:  # no lower bound yet: take ever larger steps down
            tried, factor = low / factor, factor**1.5
        elif high > _FAR * low:
            tried = math.sqrt(low) * math.sqrt(high)
        else:  # false position, but well inside the bounds
            tried = low + (high - low) * min(0.9, max(0.1, below / (below - above)))
        value = rising(tried)
        if abs(value) <= _CLOSE:
            return tried
        if value > 0.0:
            high, above = tried, value
        if value < 0.0 or below > 0.0:
            low, below = tried, value
    return None


def _log_odds(share: float) -> float:
    share = min(max(share, 1e-12), 1.0 - 1e-12)
    return math.log(share) - math.log1p(-share)


def _stay(channel: LawChannel[Law], ids: Ids) -> Floats:
    """Return Pr[w | w] of each word."""
    parts = blocks(len(ids), row_cells=len(channel.lexicon))
    return np.concatenate([channel.law.staying(ids[block]) for block in parts])
