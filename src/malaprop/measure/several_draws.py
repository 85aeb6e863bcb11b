"""The best guess at a word from several of its draws, by the law of a channel.

All words are weighed where that is quick, from columns of the law or from all of its rows. On a
large lexicon, only the most promising words of each trial are weighed. That is an attack, too, so
its success is a lower bound. An upper one is how often no promising word beats the true word.
"""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import LawChannel
from malaprop.core.progress import Progress, report
from malaprop.core.space import blocks
from malaprop.measure.law_columns import columns_of
from malaprop.pipeline.spreading import spread

_TOTALS: Final = 512  # rows from which the sum of weights of every word is estimated
_TOGETHER: Final = 256  # outputs whose columns are held at a time: 64 MB on a large lexicon
_PROMISING: Final = 4  # words weighed for each trial and number of draws


def has_columns(channel: LawChannel[Any]) -> bool:
    """Whether columns of the law are cheaper than all of its rows."""
    return columns_of(channel.law).cheap


def best_guesses(
    channel: LawChannel[Any], belief: Floats, drawn: Ids, last: Ids, progress: Progress | None
) -> Ids:
    """Return the best guess of each trial after its draw number `last`: (trials, len(last)).

    `drawn` has a row of outputs for each trial, and `belief` is the prior.
    """
    guess = _by_columns if has_columns(channel) else _by_rows
    return guess(channel, belief, drawn, last, progress)


def _by_columns(
    channel: LawChannel[Any], belief: Floats, drawn: Ids, last: Ids, progress: Progress | None
) -> Ids:
    guesses = np.empty((len(drawn), len(last)), dtype=np.int64)
    logs, columns = _logs(belief), columns_of(channel.law)
    # A graph is searched for many outputs at once.
    for block in blocks(len(drawn), row_cells=drawn.shape[1], budget=_TOGETHER):
        outputs, places = np.unique(drawn[block], return_inverse=True)
        seen = np.concatenate(list(columns.parts(outputs)))
        for trial, rows in enumerate(places.reshape(-1, drawn.shape[1]), block.start):
            guesses[trial] = _best(seen, rows, last, logs)
        report(progress, block.stop, len(drawn))
    return guesses


def _best(seen: Floats, rows: Ids, last: Ids, logs: Floats) -> list[int]:
    """Return the best guess after draw number `last`, given the rows of the draws in `seen`."""
    scores, guesses = logs.copy(), {}
    for draw, row in enumerate(rows[: last[-1] + 1]):
        scores += seen[row]
        if draw in last:
            guesses[draw] = int(scores.argmax())
    return [guesses[draw] for draw in last.tolist()]


def _by_rows(
    channel: LawChannel[Any], belief: Floats, drawn: Ids, last: Ids, progress: Progress | None
) -> Ids:
    outputs, places = np.unique(drawn, return_inverse=True)
    best = np.full((len(drawn), len(last)), -np.inf)
    guesses = np.zeros((len(drawn), len(last)), dtype=np.int64)
    possible = np.flatnonzero(belief > 0.0)
    steps = blocks(len(possible), row_cells=len(belief))
    for done, block in enumerate(steps, 1):
        ids = possible[block]
        columns = channel.log_probabilities(ids)[:, outputs]
        for word, row in zip(ids, columns, strict=True):
            scores = np.cumsum(row[places].reshape(drawn.shape), axis=1)[:, last]
            scores += math.log(belief[word])
            better = scores > best
            best[better], guesses[better] = scores[better], word
        report(progress, done, len(steps))
    return guesses


@dataclass(frozen=True, kw_only=True)
class PromisingGuesses:
    """Guesses among promising words, and what they say about the best guess of all words."""

    words: Ids
    """The best of the promising words, for each trial and number of draws."""
    unbeaten: NDArray[np.bool_]
    """Whether no promising word is better than the true word. Where one is, the best guess of all
    is wrong; so the share of these trials bounds the best guess from above."""


def promising_guesses(
    channel: LawChannel[Any], belief: Floats, drawn: Ids, last: Ids, truth: Ids
) -> PromisingGuesses:
    """Weigh the most promising words of each trial, and its true word for comparison."""
    trials, words = _promising(channel, belief, drawn, last)
    scores = _weighed(channel, belief, drawn, last, trials, words)
    own = _weighed(channel, belief, drawn, last, np.arange(len(drawn)), truth)
    guesses, best = np.empty((len(drawn), len(last)), dtype=np.int64), np.empty(own.shape)
    for place in range(len(last)):
        order = np.lexsort((scores[:, place], trials))
        guesses[trials[order], place] = words[order]  # the last one of each trial stays
        best[trials[order], place] = scores[order, place]
    return PromisingGuesses(words=guesses, unbeaten=own >= best)


def _weighed(
    channel: LawChannel[Any], belief: Floats, drawn: Ids, last: Ids, trials: Ids, words: Ids
) -> Floats:
    """Return the score of a word for a trial, pair by pair: (pairs, len(last))."""
    needed, which = np.unique(words, return_inverse=True)
    scores = np.empty((len(words), len(last)))
    for block in blocks(len(needed), row_cells=len(belief)):
        chosen = np.flatnonzero((which >= block.start) & (which < block.stop))
        rows = channel.log_probabilities(needed[block])
        seen = rows[(which[chosen] - block.start)[:, None], drawn[trials[chosen]]]
        scores[chosen] = np.cumsum(seen, axis=1)[:, last]
    return np.asarray(scores + _logs(belief)[words][:, None])


def _promising(channel: LawChannel[Any], belief: Floats, drawn: Ids, last: Ids) -> tuple[Ids, Ids]:
    """Return pairs of a trial and a word to weigh for it."""
    size, count = len(belief), drawn.shape[1]
    logs, totals = _logs(belief), _totals(channel)
    pairs = []
    for block in blocks(len(drawn), row_cells=size * count):
        outputs, places = np.unique(drawn[block], return_inverse=True)
        rows = _hopes(channel, outputs)[places.reshape(-1, count)]
        hopes = np.cumsum(rows, axis=1)[:, last] - (last + 1)[:, None] * totals + logs
        words = np.argpartition(-hopes, min(_PROMISING, size) - 1, axis=2)[..., :_PROMISING]
        trials = np.arange(block.start, block.start + len(words))
        pairs.append(np.unique(trials[:, None] * size + words.reshape(len(words), -1)))
    chosen = np.concatenate(pairs)
    return chosen // size, chosen % size


def _hopes(channel: LawChannel[Any], outputs: Ids) -> Floats:
    """Return how promising each word is at each output: its weight, or how near it is."""
    if channel.law.symmetric:
        return np.asarray(channel.law.log_weights(outputs))
    return -channel.lexicon.distances(outputs)


def _totals(channel: LawChannel[Any]) -> Floats:
    """Estimate ln of the sum of each word's weights, from some rows of a symmetric law."""
    size = len(channel.lexicon)
    if not channel.law.symmetric:
        return np.zeros(size)
    ids, sums, top = spread(size, _TOTALS), np.zeros(size), 0.0
    for block in blocks(len(ids), row_cells=size):
        weights = np.exp(channel.law.log_weights(ids[block]))
        sums += weights.sum(axis=0)
        top = max(top, float(weights.max()))
    # The words themselves weigh most, and most of them are not among the sampled rows.
    return np.asarray(np.log(top + sums * (size / len(ids))))


def _logs(belief: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(belief))
