"""A guess at a word from several outputs, where the law of words is unknown.

The observer takes Pr[y | w] for m(y)·g(d(w, y))/c(w): m is how often y comes out of any word, g how
much more often words at that distance do, and c makes up for words with many others around them. m
does not matter for a guess. g and c are learned from draws. On a small lexicon, the observer learns
the whole law instead. Any such guess is an attack, so that its success, measured on other draws, is
a lower bound of the best guess.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import Channel
from malaprop.core.space import MetricSpace, blocks

_SMALL: Final = 1_000  # words of a lexicon up to which the whole law is learned,
_DRAWS: Final = 1 << 17  # from so many draws in all
_UNSEEN: Final = 0.1  # draws of an output that a word never gave
_PAIRS: Final = 1_024  # words and their outputs from which g is learned
_BASE: Final = 256  # outputs whose distances to all words say how usual a distance is
_BINS: Final = 16
_CROWD: Final = 512  # outputs from which c is estimated
_STEPS: Final = 4_096  # of a table of g


class GuessRule(ABC):
    """How an observer weighs words, given outputs."""

    @abstractmethod
    def scores(self, outputs: Ids) -> NDArray[np.float32]:
        """Return about ln Pr[y | w] of each output y, but for a constant: (outputs, words)."""

    def guesses(self, belief: Floats, drawn: Ids, last: Ids) -> Ids:
        """Return the guess of each trial after its draw number `last`: (trials, len(last))."""
        with np.errstate(divide="ignore"):
            logs = np.log(belief).astype(np.float32)
        guesses = np.empty((len(drawn), len(last)), dtype=np.int64)
        for trial, outputs in enumerate(drawn):
            distinct, places = np.unique(outputs, return_inverse=True)
            totals = np.cumsum(self.scores(distinct)[places], axis=0)[last]
            guesses[trial] = (totals + logs).argmax(axis=1)
        return guesses


def learned_rule(channel: Channel, belief: Floats, rng: Generator) -> GuessRule:
    """Learn how to guess from draws of a channel."""
    if len(belief) <= _SMALL:
        return _whole_law(channel, rng)
    truth = rng.choice(len(belief), size=_PAIRS, p=belief)
    outputs = channel.substitute(truth, rng)
    moved, usual = _distances(channel.lexicon, truth, outputs)
    table, step, same = _gains(moved, usual, len(belief))
    bare = DistanceRule(
        space=channel.lexicon,
        table=table,
        step=step,
        same=same,
        crowding=np.zeros(len(belief), dtype=np.float32),
    )
    return DistanceRule(
        space=bare.space, table=table, step=step, same=same, crowding=_crowding(bare, outputs)
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class DistanceRule(GuessRule):
    """Weighs words by their distances to the outputs."""

    space: MetricSpace
    table: NDArray[np.float32]
    """ln g, by distance in steps."""
    step: float
    same: float
    """ln g of the word itself."""
    crowding: NDArray[np.float32]
    """ln c of each word."""

    def scores(self, outputs: Ids) -> NDArray[np.float32]:
        """Look up g, and subtract what crowded words gain."""
        rows = self.space.distances(outputs)
        rows *= 1.0 / self.step
        scores = self.table[np.minimum(rows, _STEPS - 1.0).astype(np.int32)]
        scores[np.arange(len(outputs)), outputs] = self.same
        scores -= self.crowding
        return scores


@dataclass(frozen=True, kw_only=True, eq=False)
class SmallLaw(GuessRule):
    """Weighs words by how often draws of theirs gave the outputs."""

    columns: NDArray[np.float32]
    """ln Pr[y | w], about: a row for each output y."""

    def scores(self, outputs: Ids) -> NDArray[np.float32]:
        """Look them up."""
        return self.columns[outputs]


def _whole_law(channel: Channel, rng: Generator) -> SmallLaw:
    size = len(channel.lexicon)
    runs = _DRAWS // size
    words = np.repeat(np.arange(size), runs)
    pairs = channel.substitute(words, rng) * size + words
    counts = np.bincount(pairs, minlength=size * size).reshape(size, size)
    return SmallLaw(columns=np.log(counts + _UNSEEN).astype(np.float32))


def _distances(space: MetricSpace, truth: Ids, outputs: Ids) -> tuple[Floats, Floats]:
    """Return the distance of each output to its word, and those of some outputs to all words."""
    moved, usual = np.empty(len(truth)), []
    for block in blocks(len(truth), row_cells=len(space)):
        rows = space.distances(outputs[block])
        moved[block] = rows[np.arange(len(rows)), truth[block]]
        if block.start < _BASE:
            usual.append(rows[:, ::4].ravel())
    return moved, np.concatenate(usual)


def _gains(moved: Floats, usual: Floats, size: int) -> tuple[NDArray[np.float32], float, float]:
    """Return ln g as a table by distance, its step, and ln g of the word itself.

    g is the share of moves at a distance, over the share of all words at that distance.
    """
    away, usual = moved[moved > 0.0], usual[usual > 0.0]
    stays = (len(moved) - len(away) + 0.5) / (len(moved) + 1.0)
    same = float(np.log(stays * size))
    largest = float(usual.max(initial=1.0))
    step = largest / (_STEPS - 1)
    if len(away) < 2 * _BINS:  # hardly any word moves: nothing can be said about distances
        return np.zeros(_STEPS, dtype=np.float32), step, same
    edges = np.unique(np.quantile(away, np.linspace(0.0, 1.0, _BINS + 1)))
    inner = edges[1:-1]
    bins = np.searchsorted(inner, away)
    moves = np.bincount(bins, minlength=len(inner) + 1)
    words = np.bincount(np.searchsorted(inner, usual), minlength=len(inner) + 1) + 0.5
    gains = np.log((moves + 0.5) / len(moved)) - np.log(words / len(usual))
    means = np.bincount(bins, weights=away, minlength=len(inner) + 1) / np.maximum(moves, 1)
    table = np.interp(step * np.arange(_STEPS), means, gains)
    return table.astype(np.float32), step, same


def _crowding(rule: DistanceRule, outputs: Ids) -> NDArray[np.float32]:
    """Estimate ln c: the sum of Pr[y | w] over outputs y must be 1 for each word w."""
    size, some = len(rule.space), outputs[:_CROWD]
    sums = np.zeros(size)
    for block in blocks(len(some), row_cells=size):
        gains = np.exp(rule.scores(some[block]))
        gains[np.arange(len(gains)), some[block]] = 0.0  # the word itself is added for all alike
        sums += gains.sum(axis=0)
    totals: Floats = sums / len(some) + np.exp(rule.same) / size
    return np.log(totals).astype(np.float32)
