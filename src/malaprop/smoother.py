"""Smoothing: drawn words become the words that public English expects behind them.

A mechanism draws each word by itself, and language is not like that: after "blood", "pressure" is
likelier than "stress". Forward-backward smoothing weighs, at each place, the words that may stand
behind the drawn one: by the mechanism's own law, and by how often public text has them beside the
words that may stand behind their neighbours. The result is the word that is expected to be most
similar to the true one.

A `Smoother` sees drawn words, the mechanism's public law and a public model, so that what it makes
of a private text keeps the text's guarantee: it is post-processing. It shows what an observer could
infer anyway, and no more.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon.bigrams import BigramModel
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.channel import Channel, LawChannel
from malaprop.privacy.likelihoods import likelihoods_of
from malaprop.privacy.randomness import seeded_rng

FOLLOWS, BEGINS, UNKNOWN = 0, 1, 2
"""What stands before a word: another word, the start of a sentence, or anything else."""

CANDIDATES: Final = 16
"""Words that are considered behind each output."""
FLAT: Final = 0.25
"""ρ: how often the model is taken to know nothing, so that any word is as likely as another."""
GAIN: Final = 0.02
"""τ: the expected similarity that a word must gain, or the drawn one stays."""

_LONGEST = 64  # words of a chain; the context of a word fades within a few
_CELLS = 3 << 19  # pairs of candidates at a time: they stay in a processor's cache
_OUTPUTS = 1024  # outputs whose candidates are found together
_PLACES = 8192  # places whose words are chosen together
_DRAWS = 200_000  # from which a law is estimated that is not known
_TINY = np.float32(1e-30)

Beliefs = NDArray[np.float32]


class Smoother:
    """Smooths the words that a channel drew, by a public model of the same lexicon.

    Distribution: with p(v | u) = (1 − ρ)·model + ρ/n, the posterior of each place given all drawn
    words of its chain. The candidates of an output y are the words of largest p(w)·Pr[y | w], and
    y itself. Of these, the result is the one with the largest expected cosine to the true word,
    unless that is less than τ more than the drawn word's.

    Guarantee: that of what was drawn. Why: it reads the drawn words and public tables alone.

    Parameters: `flat` (ρ), `gain` (τ).

    >>> from malaprop import Balanced, Lexicon
    >>> from malaprop.lexicon.bigrams import shipped_model
    >>> lexicon = Lexicon.open("english").with_graph()
    >>> smoother = Smoother(Balanced(epsilon=1.5).on(lexicon), shipped_model(lexicon))
    >>> drawn = [lexicon.index[word] for word in ("hers", "urine", "shocks", "becomes", "higher")]
    >>> smoothed = smoother.smooth(np.array(drawn), np.array([BEGINS] + 4 * [FOLLOWS]))
    >>> " ".join(lexicon.words[word] for word in smoothed)
    'her blood pressure is higher'
    """

    def __init__(
        self, channel: Channel, model: BigramModel, *, flat: float = FLAT, gain: float = GAIN
    ) -> None:
        """Prepare for the outputs of a channel; their candidates are found when they occur."""
        size, count = len(model), min(CANDIDATES, len(model))
        model.check_words(channel.lexicon.words)
        self.model, self._channel, self._gain = model, channel, np.float32(gain)
        self._known, self._flat = np.float32(1.0 - flat), np.float32(flat / size)
        self._prior = model.prior.astype(np.float32)
        self._back_off = model.back_off.astype(np.float32)
        self._log_prior = np.log((1.0 - flat) * model.prior + flat / size)
        # All zeros: memory is used for the outputs that occur, and not for others.
        self._found = np.zeros(size, dtype=np.bool_)
        self._words = np.zeros((size, count), dtype=np.int32)
        self._likely = np.zeros((size, count), dtype=np.float32)
        self._cosines = np.zeros((size, count, count), dtype=np.float32)
        self._own = np.zeros(size, dtype=np.int64)

    def smooth(self, drawn: Ids, before: NDArray[Any], texts: Ids | None = None) -> Ids:
        """Return the smoothed words of places.

        `before` says what stands before each place: `FOLLOWS`, `BEGINS` or `UNKNOWN`. If equal
        words of a text share one draw, `texts` has the text of each place: an output of a text is
        then evidence once, and all its places get the same word.
        """
        if not len(drawn):
            return drawn
        new = np.unique(drawn)
        new = new[~self._found[new]]
        for start in range(0, len(new), _OUTPUTS):
            self._find(new[start : start + _OUTPUTS])
        if texts is None:
            return self._chosen(drawn, self._beliefs(drawn, before, None))
        _, groups, sizes = np.unique(
            texts * len(self.model) + drawn, return_inverse=True, return_counts=True
        )
        counts = sizes[groups].astype(np.float32)[:, None]
        own = np.log(np.maximum(self._beliefs(drawn, before, 1.0 / counts), _TINY))
        sums = np.zeros((len(sizes), own.shape[1]))
        np.add.at(sums, groups, own)
        # Each place's belief contains the prior, which must count once.
        logs = sums[groups] - (counts - 1.0) * self._log_prior[self._words[drawn]]
        return self._chosen(drawn, _scaled(np.exp(logs - logs.max(axis=1, keepdims=True))))

    def _find(self, outputs: Ids) -> None:
        """Find the candidates of outputs."""
        words, logs = self._candidates(outputs)
        own = words == outputs[:, None]
        words[~own.any(axis=1), -1] = outputs[~own.any(axis=1)]
        vectors = self._channel.lexicon.vectors[words].astype(np.float32)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=2, keepdims=True), _TINY)
        self._words[outputs] = words
        self._likely[outputs] = np.exp(logs - logs.max(axis=1, keepdims=True))
        self._cosines[outputs] = vectors @ vectors.transpose(0, 2, 1)
        self._own[outputs] = (words == outputs[:, None]).argmax(axis=1)
        self._found[outputs] = True

    def _candidates(self, outputs: Ids) -> tuple[Ids, Floats]:
        """Return the likeliest words behind each output, and ln Pr[output | word]."""
        count = self._words.shape[1]
        if isinstance(self._channel, LawChannel):
            near = self._channel.law.near_likelihoods(outputs, count)
            if near is not None:
                return self._best(outputs, *near)
        likelihoods = likelihoods_of(self._channel, self.model.prior, _DRAWS, seeded_rng(0))
        found = likelihoods.candidates(outputs, self._log_prior, count)
        rows = found.rows(outputs)
        return found.words[rows], found.logs[rows]

    def _best(self, outputs: Ids, sizes: Ids, words: Ids, logs: Floats) -> tuple[Ids, Floats]:
        """Return the best of the words that are named for each output, in rows of equal length."""
        rows = np.repeat(np.arange(len(outputs)), sizes)
        places = np.arange(len(words)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        scores = np.full((len(outputs), int(sizes.max())), -np.inf, dtype=np.float32)
        scores[rows, places] = self._log_prior[words] + logs
        count = self._words.shape[1]
        best = np.argpartition(-scores, count - 1, axis=1)[:, :count]
        best = np.take_along_axis(
            best, np.argsort(-np.take_along_axis(scores, best, axis=1), kind="stable", axis=1), 1
        )
        at = (np.cumsum(sizes) - sizes)[:, None] + best
        return words[at], logs[at]

    def _beliefs(self, drawn: Ids, before: NDArray[Any], evidence: Any) -> Beliefs:
        """Return the posterior of each candidate of each place."""
        beliefs = np.empty((len(drawn), self._words.shape[1]), dtype=np.float32)
        likely = self._likely[drawn]
        if evidence is not None:
            likely **= evidence
        starts, lengths, kinds = _chains(before)
        order = np.argsort(-lengths, kind="stable")
        while len(order):
            count = max(1, _CELLS // (int(lengths[order[0]]) * beliefs.shape[1] ** 2))
            some, order = order[:count], order[count:]
            for places, found in self._smoothed(
                drawn, likely, starts[some], lengths[some], kinds[some]
            ):
                beliefs[places] = found
        return beliefs

    def _smoothed(
        self, drawn: Ids, likely: Beliefs, starts: Ids, lengths: Ids, kinds: NDArray[Any]
    ) -> Iterator[tuple[Ids, Beliefs]]:
        """Yield places and their beliefs, for chains in falling order of their lengths.

        A step goes through all chains that are so long, which are the first ones.
        """
        steps, model = int(lengths[0]), self.model
        going = [int(np.searchsorted(-lengths, -step)) for step in range(steps)]
        places = starts[:, None] + np.minimum(np.arange(steps), lengths[:, None] - 1)
        words, likely = self._words[drawn[places]], likely[places]
        pairs = model.pair_shares(words[:, :-1, :, None], words[:, 1:, None, :])
        prior, back_off = self._prior[words], self._back_off[words]
        opening = prior[:, 0].copy()
        begins = np.flatnonzero(kinds == BEGINS)
        opening[begins] = model.probabilities(np.array(model.start), words[begins, 0])
        forward = np.empty(words.shape, dtype=np.float32)
        backward = np.ones(words.shape, dtype=np.float32)
        forward[:, 0] = _scaled((self._known * opening + self._flat) * likely[:, 0])
        for step in range(1, steps):
            on = slice(going[step])
            last = forward[on, step - 1]
            reached = np.matmul(last[:, None, :], pairs[on, step - 1])[:, 0]
            reached += _dot(last, back_off[on, step - 1]) * prior[on, step]
            reached *= self._known
            reached += self._flat
            forward[on, step] = _scaled(reached * likely[on, step])
        for step in range(steps - 2, -1, -1):
            on = slice(going[step + 1])
            ahead = likely[on, step + 1] * backward[on, step + 1]
            reached = np.matmul(pairs[on, step], ahead[:, :, None])[:, :, 0]
            reached += back_off[on, step] * _dot(ahead, prior[on, step + 1])
            reached *= self._known
            reached += self._flat * ahead.sum(axis=1, keepdims=True)
            backward[on, step] = _scaled(reached)
        for step, count in enumerate(going):
            on = slice(count)
            yield places[on, step], _scaled(forward[on, step] * backward[on, step])

    def _chosen(self, drawn: Ids, beliefs: Beliefs) -> Ids:
        """Return the candidate of the largest expected similarity, or the drawn word."""
        chosen = drawn.copy()
        for start in range(0, len(drawn), _PLACES):
            some = slice(start, start + _PLACES)
            outputs = drawn[some]
            similar = (self._cosines[outputs] @ beliefs[some, :, None])[:, :, 0]
            rows, best = np.arange(len(outputs)), similar.argmax(axis=1)
            gains = similar[rows, best] - similar[rows, self._own[outputs]]
            chosen[some] = np.where(gains >= self._gain, self._words[outputs, best], outputs)
        return chosen


def _chains(before: NDArray[Any]) -> tuple[Ids, Ids, NDArray[Any]]:
    """Return where chains start, how long they are, and what stands before them.

    >>> [part.tolist() for part in _chains(np.array([BEGINS, FOLLOWS, UNKNOWN]))]
    [[0, 2], [2, 1], [1, 2]]
    """
    starts = np.flatnonzero(before != FOLLOWS)
    lengths = np.diff(starts, append=len(before))
    if lengths.max(initial=0) <= _LONGEST:
        return starts, lengths, before[starts]
    cut = before.copy()
    behind = np.arange(len(before)) - np.repeat(starts, lengths)
    cut[(behind > 0) & (behind % _LONGEST == 0)] = UNKNOWN
    return _chains(cut)


def _dot(first: Beliefs, second: Beliefs) -> Beliefs:
    """Return the sums of products of rows, as a column."""
    return np.asarray(np.einsum("ij,ij->i", first, second)[:, None])


def _scaled(values: NDArray[Any]) -> Beliefs:
    """Return rows divided by their sums."""
    return np.asarray(values / np.maximum(values.sum(axis=-1, keepdims=True), _TINY), np.float32)
