"""How many words an observer recovers from several draws of each.

The observer takes every word of the lexicon for equally likely, sees k independent draws of one
word, and names the word that makes them most likely. The share is estimated on public words, never
on a user's text, and does not count what context tells beyond the draws.
"""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import Channel, LawChannel
from malaprop.core.law import Law
from malaprop.pipeline.spreading import spread

_WORDS = 16  # sampled words, evenly spread over the lexicon: a share may be off by some 0.08
_RIVALS = 6  # the nearest words: others seldom make three draws or more likelier
_TRIALS = 64  # of each word
_TIED = 1e-9  # nats
_CELLS = 1 << 22  # of rows computed together: 32 MB


def recovered_shares(channel: Channel, draws: Sequence[int]) -> tuple[tuple[int, float], ...]:
    """Return each number of draws, 3 or more, with the share of words recovered from so many.

    Nothing if the law of the channel is not known in closed form. The same channel gives the same
    shares: they are about public words, so that a fixed seed does no harm.
    """
    if not draws or not isinstance(channel, LawChannel):
        return ()
    sample = spread(len(channel.lexicon), _WORDS)
    together = max(1, _CELLS // ((_RIVALS + 1) * len(channel.lexicon)))
    shares: list[list[float]] = []
    for start in range(0, len(sample), together):
        shares += _shares_of(channel, sample[start : start + together], draws)
    return tuple(zip(draws, np.mean(shares, axis=0).tolist(), strict=True))


def _shares_of(channel: LawChannel[Law], words: Ids, draws: Sequence[int]) -> list[list[float]]:
    """Return the shares of trials in which each word is recovered, for each number of draws."""
    candidates = _with_nearest(channel, words)
    laws = channel.log_probabilities(candidates.ravel()).reshape(*candidates.shape, -1)
    shares = []
    for word, law in zip(words.tolist(), laws, strict=True):
        rng = np.random.default_rng(word)
        shares.append([_share(law, _drawn_from(np.exp(law[0]), (_TRIALS, k), rng)) for k in draws])
    return shares


def _with_nearest(channel: LawChannel[Law], words: Ids) -> Ids:
    """Return each word and those nearest to it, a row each."""
    distances = channel.lexicon.distances(words)
    distances[np.arange(len(words)), words] = -1.0  # itself first, whatever is as near
    count = min(_RIVALS + 1, distances.shape[1])
    nearest = np.argpartition(distances, count - 1, axis=1)[:, :count]
    return np.stack([np.append(w, row[row != w]) for w, row in zip(words, nearest, strict=True)])


def _share(laws: Floats, drawn: Ids) -> float:
    """Return the share of trials in which the first of some laws explains all draws best.

    Each trial is a row of draws; of equally likely laws the observer picks one at random.
    """
    with np.errstate(invalid="ignore"):
        scores = laws[:, drawn].sum(axis=2)
    best = scores >= scores.max(axis=0) - _TIED
    return float(np.mean(best[0] / best.sum(axis=0)))


def _drawn_from(law: Floats, shape: tuple[int, int], rng: Generator) -> Ids:
    """Draw from a law for an estimate; the words of users are never drawn like this."""
    sums = np.cumsum(law)
    places = np.searchsorted(sums, rng.random(shape) * sums[-1])
    return np.asarray(np.minimum(places, len(law) - 1))
