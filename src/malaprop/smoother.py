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

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property, partial
from multiprocessing import get_context
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon.bigrams import BigramModel, open_model, shipped_model
from malaprop.lexicon.lexicon import Lexicon
from malaprop.privacy.arrays import Floats, Ids, shared_zeros
from malaprop.privacy.channel import Channel, LawChannel
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.likelihoods import Likelihoods, likelihoods_of
from malaprop.privacy.randomness import seeded_rng
from malaprop.text.policy import Readable
from malaprop.text.template import BEGINS, FOLLOWS, UNKNOWN


class Setting(NamedTuple):
    """The constants of smoothing."""

    flat: float
    """ρ: how often the model is taken to know nothing, so that any word is as likely as another."""
    gain: float
    """τ: the expected similarity that a word must gain, or the drawn one stays."""
    unpaired: float
    """τ for a drawn word that is in no pair of the model, which knows little of where it belongs.

    It counts if it is larger than `gain`.
    """
    candidates: int = 16
    """Words that are considered behind each output."""


SETTINGS: Final[Mapping[Readable, Setting]] = {
    "faithful": Setting(flat=0.15, gain=0.02, unpaired=0.4),
    "fluent": Setting(flat=0.02, gain=0.0, unpaired=0.0),
}
"""The settings that have a name, by which figures know what they were measured with.

They were chosen on 3,600 sentences of six kinds: docs/howto/smoothing.md has what was measured.
"""
FAITHFUL: Final = SETTINGS["faithful"]

_PIECE = 256  # words of a long chain at a time,
_MARGIN = 16  # and words before and behind them that are read, too: context fades within a few
_PIECES = ("start", "stop", "first", "after", "kind")
_CELLS = 3 << 19  # pairs of candidates at a time: they stay in a processor's cache
_OUTPUTS, _NEAR_OUTPUTS = 1024, 64  # outputs whose candidates are found together, among near words
_STRIDE = 7919  # apart begin processes with consecutive numbers
_PLACES = 8192  # places whose words are chosen together
_DRAWS = 200_000  # from which a law is estimated that is not known
_TINY = np.float32(1e-30)

Beliefs = NDArray[np.float32]
Lock = AbstractContextManager[object]


class Smoother:
    """Smooths the words that a channel drew, by a public model of the same lexicon.

    Distribution: with p(v | u) = (1 − ρ)·model + ρ/n, the posterior of each place given all drawn
    words of its chain. The candidates of an output y are the words of largest p(w)·Pr[y | w], and
    y itself. Of these, the result is the one with the largest expected cosine to the true word,
    unless that is less than τ more than the drawn word's; τ is larger if the model has no pair with
    the drawn word.

    Guarantee: that of what was drawn. Why: it reads the drawn words and public tables alone.

    Parameters: a `Setting` has ρ, τ, τ of words without pairs, and how many candidates there are.

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
        self,
        channel: Channel,
        model: BigramModel,
        setting: Setting = FAITHFUL,
        *,
        likelihoods: Likelihoods | None = None,
    ) -> None:
        """Prepare for the outputs of a channel; their candidates are found when they occur.

        `likelihoods` are those of the channel, if they are at hand.
        """
        flat, gain, unpaired, candidates = setting
        size, count = len(model), min(candidates, len(model))
        model.check_words(channel.lexicon.words)
        self.model, self._channel = model, channel
        if likelihoods is not None:
            self._likelihoods = likelihoods
        self._gains = np.where(model.paired, gain, max(gain, unpaired)).astype(np.float32)
        self._beliefs = partial(beliefs, model, flat=flat)
        self._log_prior = np.log((1.0 - flat) * model.prior + flat / size)
        self._make_room(count, np.zeros, nullcontext())

    def _make_room(self, count: int, make: Callable[..., Any], lock: Lock) -> None:
        """Make room for what is found of each output."""
        # All zeros: memory is used for the outputs that occur, and not for others.
        size = len(self.model)
        self._lock = lock
        self._found: NDArray[np.bool_] = make(size, np.bool_)
        self._words: NDArray[np.int32] = make((size, count), np.int32)
        self._likely: Beliefs = make((size, count), np.float32)
        self._cosines: Beliefs = make((size, count, count), np.float32)
        self._own: NDArray[np.int32] = make(size, np.int32)

    def share(self) -> None:
        """Have processes that are forked from now on find candidates for each other."""
        self._make_room(self._words.shape[1], shared_zeros, get_context("fork").Lock())
        # Makes the tables that all of them read.
        self.smooth(np.zeros(2, dtype=np.int64), np.array([BEGINS, FOLLOWS]))

    def smooth(self, drawn: Ids, before: NDArray[Any], texts: Ids | None = None) -> Ids:
        """Return the smoothed words of places.

        `before` says what stands before each place: `FOLLOWS`, `BEGINS` or `UNKNOWN`. If equal
        words of a text share one draw, `texts` has the text of each place: an output of a text is
        then evidence once, and all its places get the same word.
        """
        if not len(drawn):
            return drawn
        self._find_all(drawn)
        words, likely = self._words[drawn], self._likely[drawn]
        if texts is None:
            return self._chosen(drawn, self._beliefs(words, likely, before))
        _, groups, sizes = np.unique(
            texts * len(self.model) + drawn, return_inverse=True, return_counts=True
        )
        counts = sizes[groups].astype(np.float32)[:, None]
        # Each of k places with the same output, which stands for the same word, carries a k-th of
        # the output's evidence. The contexts of all places then speak of one word.
        own = np.log(np.maximum(self._beliefs(words, likely ** (1.0 / counts), before), _TINY))
        sums = np.zeros((len(sizes), own.shape[1]))
        np.add.at(sums, groups, own)
        # Each place's belief contains the prior, which must count once.
        logs = sums[groups] - (counts - 1.0) * self._log_prior[words]
        return self._chosen(drawn, _scaled(np.exp(logs - logs.max(axis=1, keepdims=True))))

    def _find_all(self, outputs: Ids) -> None:
        """Find the candidates of those outputs for which nobody has found them."""
        with self._lock:  # what others have found is complete
            new = np.unique(outputs[~self._found[outputs]])
        # Processes that share begin at different places, so that they seldom find the same.
        new = np.roll(new, os.getpid() * _STRIDE)
        while len(new):
            some = new[: self._at_once]
            self._find(some)
            with self._lock:
                self._found[some] = True
                new = new[~self._found[new]]

    @cached_property
    def _at_once(self) -> int:
        """How many outputs to find candidates for together."""
        law = self._channel.law if isinstance(self._channel, LawChannel) else None
        near = law is not None and law.near_likelihoods(np.zeros(1, dtype=np.int64)) is not None
        return _NEAR_OUTPUTS if near else _OUTPUTS

    @cached_property
    def _likelihoods(self) -> Likelihoods:
        return likelihoods_of(self._channel, self.model.prior, _DRAWS, seeded_rng(0))

    def _find(self, outputs: Ids) -> None:
        """Find the candidates of some outputs."""
        words, logs = self._candidates(outputs)
        own = words == outputs[:, None]
        words[~own.any(axis=1), -1] = outputs[~own.any(axis=1)]
        vectors = self._channel.lexicon.vectors[words].astype(np.float32)
        products = vectors @ vectors.transpose(0, 2, 1)
        norms = np.sqrt(np.maximum(np.einsum("ijj->ij", products), _TINY))
        products /= norms[:, :, None] * norms[:, None, :]
        self._words[outputs] = words
        self._likely[outputs] = np.exp(logs - logs.max(axis=1, keepdims=True))
        self._cosines[outputs] = products
        self._own[outputs] = (words == outputs[:, None]).argmax(axis=1)

    def _candidates(self, outputs: Ids) -> tuple[Ids, Floats]:
        """Return the likeliest words behind each output, and ln Pr[output | word]."""
        law = self._channel.law if isinstance(self._channel, LawChannel) else None
        near = None if law is None else law.near_likelihoods(outputs)
        if near is not None:
            words, logs = self._best(outputs, *near)
            # What an output gets must not depend on the others that it is looked up with.
            few = np.flatnonzero(near[0] < self._words.shape[1])
            if len(few):
                words[few], logs[few] = self._of_all_words(outputs[few])
            return words, logs
        return self._of_all_words(outputs)

    def _of_all_words(self, outputs: Ids) -> tuple[Ids, Floats]:
        """Return the likeliest of all words behind each output, and ln Pr[output | word]."""
        found = self._likelihoods.candidates(outputs, self._log_prior, self._words.shape[1])
        rows = found.rows(outputs)
        return found.words[rows], found.logs[rows]

    def _best(self, outputs: Ids, sizes: Ids, words: Ids, logs: Floats) -> tuple[Ids, Floats]:
        """Return the best of the words that are named for each output, in rows of equal length."""
        rows = np.repeat(np.arange(len(outputs)), sizes)
        places = np.arange(len(words)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        count = self._words.shape[1]
        scores = np.full((len(outputs), max(count, int(sizes.max()))), -np.inf, dtype=np.float32)
        scores[rows, places] = self._log_prior[words] + logs
        # Numbers of 64 bits sort ten times as fast as scores by their places: how much a score is
        # below the best, which is not negative and so in the order of its bits, then the place.
        below = (scores.max(axis=1, keepdims=True) - scores).view(np.uint32)
        keys = below.astype(np.uint64) << np.uint64(32)
        keys |= np.arange(scores.shape[1], dtype=np.uint64)
        keys.sort(axis=1)
        best = (keys[:, :count] & np.uint64(0xFFFFFFFF)).astype(np.int64)
        at = np.minimum((np.cumsum(sizes) - sizes)[:, None] + best, len(words) - 1)
        return words[at], logs[at]

    def _chosen(self, drawn: Ids, beliefs: Beliefs) -> Ids:
        """Return the candidate of the largest expected similarity, or the drawn word."""
        chosen = drawn.copy()
        for start in range(0, len(drawn), _PLACES):
            some = slice(start, start + _PLACES)
            outputs = drawn[some]
            similar = (self._cosines[outputs] @ beliefs[some, :, None])[:, :, 0]
            rows, best = np.arange(len(outputs)), similar.argmax(axis=1)
            gains = similar[rows, best] - similar[rows, self._own[outputs]]
            chosen[some] = np.where(
                gains >= self._gains[outputs], self._words[outputs, best], outputs
            )
        return chosen


def smoother_for(
    channel: Channel, lexicon: Lexicon, setting: Readable, folder: str | None = None
) -> Smoother:
    """Return what makes texts readable: by the model in a folder, or the one that ships."""
    model = open_model(folder) if folder else shipped_model(lexicon)
    if model is None:
        raise ParameterError(
            "Readable text needs a bigram model of the lexicon, and only english comes with one: "
            "train one on public text with  malaprop lm train CORPUS -o MODEL --lexicon NAME  and "
            "name its folder as `model`."
        )
    return Smoother(channel, model, SETTINGS[setting])


def beliefs(
    model: BigramModel,
    candidates: NDArray[Any],
    likely: NDArray[Any],
    before: NDArray[Any],
    *,
    flat: float = 0.0,
) -> Beliefs:
    """Return the posterior of each candidate of each place, given all outputs of its chain.

    This is the forward-backward algorithm on many chains at once, for (1 − ρ)·model + ρ/n, `flat`
    being ρ. `candidates` and `likely`, Pr[output | candidate] up to a factor for each place, have a
    row for each place. Long chains are cut into pieces that overlap, which changes beliefs by
    nothing that matters.
    """
    found = np.empty(candidates.shape, dtype=np.float32)
    pieces = _pieces(before)
    sizes = pieces["stop"] - pieces["start"]
    order = np.argsort(-sizes, kind="stable")
    while len(order):
        count = max(1, _CELLS // (int(sizes[order[0]]) * candidates.shape[1] ** 2))
        some, order = pieces[order[:count]], order[count:]
        lengths = some["stop"] - some["start"]
        places = np.minimum(
            some["start"][:, None] + np.arange(lengths[0]), some["stop"][:, None] - 1
        )
        for step, posterior in _of_chains(
            model, candidates[places], likely[places], lengths, some["kind"], flat
        ):
            at = places[: len(posterior), step]
            own = (at >= some["first"][: len(at)]) & (at < some["after"][: len(at)])
            found[at[own]] = posterior[own]
    return found


def _of_chains(
    model: BigramModel,
    words: Ids,
    likely: NDArray[Any],
    lengths: Ids,
    kinds: NDArray[Any],
    flat: float,
) -> Iterator[tuple[int, Beliefs]]:
    """Yield the posteriors of each step, for chains in falling order of their lengths.

    A step goes through all chains that are so long, which are the first ones.
    """
    known, even = np.float32(1.0 - flat), np.float32(flat / len(model))
    going = [int(np.searchsorted(-lengths, -step)) for step in range(words.shape[1])]
    pairs = model.pair_shares(words[:, :-1, :, None], words[:, 1:, None, :])
    prior, back_off = (array.astype(np.float32)[words] for array in (model.prior, model.back_off))
    opening, begins = prior[:, 0].copy(), np.flatnonzero(kinds == BEGINS)
    opening[begins] = model.probabilities(np.array(model.start), words[begins, 0])
    forward = np.empty(words.shape, dtype=np.float32)
    backward = np.ones(words.shape, dtype=np.float32)
    forward[:, 0] = _scaled((known * opening + even) * likely[:, 0])
    for step in range(1, len(going)):
        on = slice(going[step])
        last = forward[on, step - 1]
        reached = np.matmul(last[:, None, :], pairs[on, step - 1])[:, 0]
        reached += _dot(last, back_off[on, step - 1]) * prior[on, step]
        reached *= known
        reached += even
        forward[on, step] = _scaled(reached * likely[on, step])
    for step in range(len(going) - 2, -1, -1):
        on = slice(going[step + 1])
        ahead = np.asarray(likely[on, step + 1] * backward[on, step + 1], dtype=np.float32)
        reached = np.matmul(pairs[on, step], ahead[:, :, None])[:, :, 0]
        reached += back_off[on, step] * _dot(ahead, prior[on, step + 1])
        reached *= known
        reached += even * ahead.sum(axis=1, keepdims=True)
        backward[on, step] = _scaled(reached)
    for step, count in enumerate(going):
        yield step, _scaled(forward[:count, step] * backward[:count, step])


def _pieces(before: NDArray[Any]) -> NDArray[Any]:
    """Return the pieces of chains: what is read, what is believed in, what stands before.

    >>> _pieces(np.array([BEGINS, FOLLOWS, UNKNOWN])).tolist()
    [(0, 2, 0, 2, 1), (2, 3, 2, 3, 2)]
    """
    chains = np.flatnonzero(before != FOLLOWS)
    ends = np.append(chains[1:], len(before))
    counts = -(-(ends - chains) // _PIECE)
    start, end, number = np.repeat(chains, counts), np.repeat(ends, counts), np.arange(counts.sum())
    first = start + _PIECE * (number - np.repeat(np.cumsum(counts) - counts, counts))
    after, read = np.minimum(first + _PIECE, end), np.maximum(first - _MARGIN, start)
    kind = np.where(read == start, before[start], UNKNOWN)
    pieces = np.empty(len(first), dtype=[(name, np.int64) for name in _PIECES])
    columns = (read, np.minimum(after + _MARGIN, end), first, after, kind)
    for name, column in zip(_PIECES, columns, strict=True):
        pieces[name] = column
    return pieces


def _dot(first: Beliefs, second: Beliefs) -> Beliefs:
    """Return the sums of products of rows, as a column."""
    return np.asarray(np.einsum("ij,ij->i", first, second)[:, None])


def _scaled(values: NDArray[Any]) -> Beliefs:
    """Return rows divided by their sums."""
    return np.asarray(values / np.maximum(values.sum(axis=-1, keepdims=True), _TINY), np.float32)
