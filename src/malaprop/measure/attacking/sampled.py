"""Likelihoods of a channel whose law is not known, estimated from its draws."""

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import Channel
from malaprop.core.progress import Progress, report
from malaprop.measure.attacking.likelihoods import Candidates, Likelihoods

_WEIGHT = 2.0  # draws that the general picture counts for, beside a word's own draws
_EVEN = 0.01  # of the general picture: any output is possible


class SampledLikelihoods(Likelihoods):
    """Estimates from draws of words that occur as often as the prior says.

    Pr[y | w] is the share of y among the draws of w, mixed with the general picture: a word stays
    with the same chance as others, and otherwise becomes what others became. A better estimate
    makes a better attack, so that scores with these are lower bounds.
    """

    def __init__(self, channel: Channel, prior: Floats, draws: int, rng: Generator) -> None:
        size = len(channel.lexicon)
        words = np.sort(rng.choice(size, draws, p=prior))
        drawn = channel.substitute(words, rng)
        self._size, self._draws = size, draws
        keys, counts = np.unique(words * size + drawn, return_counts=True)
        self._keys, self._counts = keys, counts.astype(np.float64)
        self._of_word = np.bincount(words, minlength=size).astype(np.float64)
        self._stays = float(np.mean(words == drawn))
        moved = np.bincount(drawn[words != drawn], minlength=size).astype(np.float64)
        self._general = (1.0 - _EVEN) * moved / max(1.0, moved.sum()) + _EVEN / size
        by_output = np.argsort(keys % size, kind="stable")
        self._sources = (keys // size)[by_output]
        self._first = np.searchsorted((keys % size)[by_output], np.arange(size + 1))

    @property
    def source(self) -> str:
        """How many draws the estimates come from."""
        return f"estimated from {self._draws:,} draws: a lower bound"

    @property
    def exact(self) -> bool:
        """False."""
        return False

    def candidates(
        self, outputs: Ids, log_prior: Floats, count: int, progress: Progress | None = None
    ) -> Candidates:
        """Return the likeliest words: the output itself, words that became it, usual words."""
        distinct, count = np.unique(outputs), min(count, self._size)
        usual = np.argsort(-log_prior, kind="stable")[:count]
        chosen = np.empty((len(distinct), count), dtype=np.int64)
        logs = np.empty((len(distinct), count))
        for row, output in enumerate(distinct.tolist()):
            seen = self._sources[self._first[output] : self._first[output + 1]]
            words = np.unique(np.concatenate([[output], seen, usual]))
            likely = self.of_pairs(words, np.full(len(words), output))
            best = np.argsort(-(likely + log_prior[words]), kind="stable")[:count]
            chosen[row], logs[row] = words[best], likely[best]
            if row % 256 == 0:
                report(progress, row, len(distinct))
        report(progress, len(distinct), len(distinct))
        return Candidates(outputs=distinct, words=chosen, logs=logs)

    def of_pairs(self, words: Ids, outputs: Ids, progress: Progress | None = None) -> Floats:
        """Return the estimated log-probability of each output for its word."""
        keys = words * self._size + outputs
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        seen = np.where(self._keys[places] == keys, self._counts[places], 0.0)
        general = (1.0 - self._stays) * self._general[outputs] + self._stays * (words == outputs)
        return np.asarray(np.log((seen + _WEIGHT * general) / (self._of_word[words] + _WEIGHT)))
