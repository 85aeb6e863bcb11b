"""Likelihoods of a channel whose law is not known, estimated from its draws."""

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import Channel
from malaprop.core.progress import Progress, report
from malaprop.measure.attacking.likelihoods import Candidates, Likelihoods

_WEIGHT = 2.0  # draws that the general share of staying words counts for, beside a word's own
_EVEN = 0.01  # of the general picture: any output is possible


class SampledLikelihoods(Likelihoods):
    """Estimates from draws: half of words as frequent as the prior says, half of all words evenly.

    A word stays with the share of its own draws that did, mixed with that of all words. Otherwise
    it becomes y with its own share of y, by absolute discounting: nearly all pairs of a word and an
    output that occur at all occur once, and would seem far too likely. What is discounted goes
    to the general picture, what all words became. A better estimate makes a better attack, so that
    scores with these are lower bounds.
    """

    def __init__(self, channel: Channel, prior: Floats, draws: int, rng: Generator) -> None:
        size, evenly = len(channel.lexicon), draws - draws // 2
        usual = rng.choice(size, draws // 2, p=prior)
        words = np.concatenate([rng.integers(0, size, evenly), usual])
        drawn = channel.substitute(words, rng)
        self._size, self._draws = size, draws
        stayed = words == drawn
        general = float(stayed[:evenly].mean())
        own, kept = np.bincount(words, minlength=size), np.bincount(words[stayed], minlength=size)
        self._stays = (kept + _WEIGHT * general) / (own + _WEIGHT)
        self._moves = np.maximum(own - kept, 1).astype(np.float64)
        self._count_pairs(words[~stayed], drawn[~stayed])

    def _count_pairs(self, words: Ids, drawn: Ids) -> None:
        size = self._size
        keys, counts = np.unique(words * size + drawn, return_counts=True)
        # How often what occurs once would occur, given how much occurs twice (Ney's estimate).
        once, twice = int((counts == 1).sum()), int((counts == 2).sum())
        discount = once / max(1, once + 2 * twice)
        self._keys, self._counts = keys, counts - discount
        self._left = np.where(
            np.bincount(words, minlength=size) > 0,
            discount * np.bincount(keys // size, minlength=size) / self._moves,
            1.0,
        )
        became = np.bincount(drawn, minlength=size)
        self._general = (1.0 - _EVEN) * became / max(1, len(drawn)) + _EVEN / size
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
        seen = np.zeros(len(keys))
        if len(self._keys):
            places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            seen = np.where(self._keys[places] == keys, self._counts[places], 0.0)
        stays = self._stays[words]
        moved = seen / self._moves[words] + self._left[words] * self._general[outputs]
        return np.asarray(np.log(np.where(words == outputs, stays, (1.0 - stays) * moved)))
