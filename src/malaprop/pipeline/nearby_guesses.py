"""The best guess at an output among the words near it: a lower bound of the best guess of all.

With all n words equally likely, the best guess is right with probability (1/n)·Σ_y max_w Pr[y | w]:
the mean of max_w Pr[y | w] over outputs y that are spread evenly, not drawn. To consider fewer
words w is an attack, too, and its success a lower bound. The word y itself is always considered,
so the bound is never below the share of words that stay. For TEM it is the value itself: with
Pr[y | w] = exp(−t·d(w, y))/Z(w), the triangle inequality gives Z(y) ≤ exp(t·d(w, y))·Z(w), so no
word explains y better than y does.
"""

from typing import Final

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import Channel, LawChannel, VectorChannel
from malaprop.core.law import Law
from malaprop.core.noise.shared_draws import shared_draws, shares_noise
from malaprop.core.space import blocks

_NEAR: Final = 64  # words considered at an output of a law
_CELLS: Final = 1 << 24  # probabilities computed in all: 500 rows of 33,000 words, half a second
FEW: Final = 4
"""Words considered at an output of noise, the word itself included."""
_RUNS: Final = 128  # draws of each of them
_DEAR_RUNS: Final = 16  # where each draw is decoded on its own
_CHEAP: Final = 1_000  # words of a lexicon up to which decoding is cheap


def nearby_chances(channel: Channel, outputs: Ids, rng: Generator) -> Floats:
    """Return max Pr[y | w] over words w near each output y: computed from a law, or estimated."""
    if isinstance(channel, LawChannel):
        return by_law(channel, outputs)
    return by_draws(channel, outputs, rng)


def by_law(channel: LawChannel[Law], outputs: Ids) -> Floats:
    """Return max Pr[y | w] over words w near each output y, from rows of a law."""
    size = len(channel.lexicon)
    best, words, places = _first_guesses(channel, outputs)
    needed, which = np.unique(words, return_inverse=True)
    for block in blocks(len(needed), row_cells=size):
        chosen = (which >= block.start) & (which < block.stop)
        rows = channel.log_probabilities(needed[block])
        chances = np.exp(rows[which[chosen] - block.start, outputs[places[chosen]]])
        np.maximum.at(best, places[chosen], chances)
    return best


def _first_guesses(channel: LawChannel[Law], outputs: Ids) -> tuple[Floats, Ids, Ids]:
    """Return Pr[y | y], and the words to compare with: their ids, and the place of the output.

    For a symmetric law, row y says how large Pr[y | w] could be at most if w were as concentrated
    as can be, so words that cannot win are left out. Those with the best prospects come first.
    """
    law, size = channel.law, len(channel.lexicon)
    best, words, places, prospects = [], [], [], []
    for block in blocks(len(outputs), row_cells=size):
        own = outputs[block]
        rows = channel.log_probabilities(own)
        here = np.arange(len(own))
        stays = rows[here, own]
        order = rows if law.symmetric else -channel.lexicon.distances(own)
        order[here, own] = -np.inf
        near = np.argpartition(-order, min(_NEAR, size - 1) - 1, axis=1)[:, :_NEAR]
        hopes = np.take_along_axis(order, near, axis=1)
        if law.symmetric:
            hopes = hopes - 2.0 * stays[:, None]  # ln w(y, w)/w(y, y), against ln Pr[y | y]
        row, column = np.nonzero(hopes > (0.0 if law.symmetric else -np.inf))
        best.append(np.exp(stays))
        words.append(near[row, column])
        places.append(row + block.start)
        prospects.append(hopes[row, column])
    first = np.argsort(-np.concatenate(prospects), kind="stable")[: _CELLS // size]
    return np.concatenate(best), np.concatenate(words)[first], np.concatenate(places)[first]


def by_draws(channel: Channel, outputs: Ids, rng: Generator) -> Floats:
    """Estimate max Pr[y | w] over the few nearest words w of each output y, from draws.

    One half of the draws chooses the word, the other half measures it: on average the result is
    not above the truth.
    """
    nearest = nearest_words(channel, outputs, FEW)
    words, which = np.unique(nearest, return_inverse=True)
    drawn = draws_of_words(channel, words, rng)[which.reshape(nearest.shape)]
    right = drawn == outputs[:, None, None]
    half = right.shape[2] // 2
    chosen = right[:, :, :half].sum(axis=2).argmax(axis=1)  # ties go to the word itself
    return np.asarray(right[np.arange(len(outputs)), chosen, half:].mean(axis=1))


def nearest_words(channel: Channel, outputs: Ids, count: int) -> Ids:
    """Return each output and its nearest other words, `count` in all: (outputs, words)."""
    size, parts = len(channel.lexicon), []
    count = min(count, size)
    for block in blocks(len(outputs), row_cells=size):
        own = outputs[block]
        rows = channel.lexicon.distances(own)
        rows[np.arange(len(own)), own] = -np.inf
        near = np.argpartition(rows, count - 1, axis=1)[:, :count]
        order = np.take_along_axis(rows, near, axis=1).argsort(axis=1)
        parts.append(np.take_along_axis(near, order, axis=1))
    return np.concatenate(parts)


def draws_of_words(channel: Channel, words: Ids, rng: Generator) -> Ids:
    """Return 128 draws of each word, or 16 where that would take long: (words, draws)."""
    if isinstance(channel, VectorChannel) and shares_noise(channel):
        return shared_draws(channel, words, _RUNS, rng, None)
    runs = _RUNS if len(channel.lexicon) <= _CHEAP else _DEAR_RUNS
    return channel.substitute(np.repeat(words, runs), rng).reshape(len(words), runs)
