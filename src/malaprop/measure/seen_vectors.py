"""What an observer achieves who sees noisy vectors: a bound on all who see the words they become.

Words are computed from the vectors, so that they tell no more. The best guess at vectors is the
word of the largest density, which is known. A trial counts as right unless some other word is found
with a larger density than the true word's, so that whatever is left out can only raise the bound.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import Channel, VectorChannel
from malaprop.core.space import blocks
from malaprop.measure.vector_likelihoods import VectorLikelihoods, vector_likelihoods

_RIVALS: Final = 64  # words to compare with where they are chosen by another norm


def unbeaten(
    channel: Channel, belief: Floats, occurrences: Sequence[int], trials: int, rng: Generator
) -> Ids | None:
    """Count the trials whose word no other word beats, for each number of vectors.

    None if the density of the noise is unknown. It is the one before rounding to a fine grid.
    """
    likelihoods = vector_likelihoods(channel)
    if likelihoods is None or not isinstance(channel, VectorChannel):
        return None
    with np.errstate(divide="ignore"):
        logs = np.log(belief)
    truth = rng.choice(len(belief), size=trials, p=belief)
    most, last = max(occurrences), np.array(occurrences) - 1
    count = np.zeros(len(last), dtype=np.int64)
    for block in blocks(trials, row_cells=len(belief) * most):
        each = np.repeat(truth[block], most)
        noisy = channel.release_words(each, rng)
        sure = likelihoods.untold(noisy, each).reshape(-1, most)
        noisy = noisy.reshape(-1, most, noisy.shape[1])
        wins = _wins(likelihoods, noisy, truth[block], last, logs)
        count += (wins | np.logical_or.accumulate(sure, axis=1)[:, last]).sum(axis=0)
    return count


def _wins(
    likelihoods: VectorLikelihoods, noisy: Floats, truth: Ids, last: Ids, logs: Floats
) -> NDArray[np.bool_]:
    """Whether no rival beats the true word after draw number `last`: (trials, len(last))."""
    wins = np.empty((len(truth), len(last)), dtype=np.bool_)
    scores = likelihoods.of_all(noisy.reshape(-1, noisy.shape[2])).reshape(*noisy.shape[:2], -1)
    few = min(_RIVALS if likelihoods.slow else 1, len(logs) - 1)
    for trial, word in enumerate(truth):
        totals = np.cumsum(scores[trial], axis=0)[last] + logs
        totals[:, word] = -np.inf
        rivals = np.argpartition(-totals, few - 1, axis=1)[:, :few] if few > 1 else _best(totals)
        words = np.union1d(rivals, word)
        exact = np.cumsum(likelihoods.of_some(noisy[trial], words), axis=0)[last] + logs[words]
        wins[trial] = exact[:, np.searchsorted(words, word)] >= exact.max(axis=1)
    return wins


def _best(totals: Floats) -> Ids:
    return np.asarray(totals.argmax(axis=1)[:, None])
