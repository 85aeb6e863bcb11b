"""The best guess at a word from several of its draws, by the law of a channel.

All words are weighed where that is quick, from columns of the law or from all of its rows. On a
large lexicon, a page weighs the most promising words of each trial only. That is an attack, too,
so its success is a lower bound.
"""

import math
from typing import Any, Final

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import LawChannel
from malaprop.core.progress import Progress, report
from malaprop.core.space import blocks
from malaprop.measure.law_columns import columns_of
from malaprop.pipeline.spreading import spread

_TOTALS: Final = 512  # rows from which the sum of weights of every word is estimated
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
    for trial, outputs in enumerate(drawn):
        seen = np.concatenate(list(columns.parts(outputs)))
        scores = np.cumsum(seen, axis=0)[last] + logs
        guesses[trial] = scores.argmax(axis=1)
        report(progress, trial + 1, len(drawn))
    return guesses


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


def promising_guesses(channel: LawChannel[Any], belief: Floats, drawn: Ids, last: Ids) -> Ids:
    """Return the best guess of each trial among its most promising words: (trials, len(last))."""
    trials, words = _promising(channel, belief, drawn, last)
    needed, which = np.unique(words, return_inverse=True)
    scores = np.empty((len(words), len(last)))
    for block in blocks(len(needed), row_cells=len(belief)):
        chosen = np.flatnonzero((which >= block.start) & (which < block.stop))
        rows = channel.log_probabilities(needed[block])
        seen = rows[(which[chosen] - block.start)[:, None], drawn[trials[chosen]]]
        scores[chosen] = np.cumsum(seen, axis=1)[:, last]
    scores += _logs(belief)[words][:, None]
    guesses = np.empty((len(drawn), len(last)), dtype=np.int64)
    for place in range(len(last)):
        order = np.lexsort((scores[:, place], trials))
        guesses[trials[order], place] = words[order]  # the last one of each trial stays
    return guesses


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
