"""Figures of channels that targets of a calibration are about, each with its error."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats
from malaprop.core.channel import Channel, LawChannel
from malaprop.core.errors import ParameterError
from malaprop.core.randomness import seeded_rng
from malaprop.core.space import MetricSpace
from malaprop.measure.chosen_words import word_ids
from malaprop.measure.intervals import clopper_pearson
from malaprop.measure.searching import SURE, Figure
from malaprop.measure.sure_candidates import sure_batches
from malaprop.measure.words.candidates import law_batches
from malaprop.measure.words.statistic import registry
from malaprop.measure.words.statistics import statistics_of
from malaprop.pipeline.spreading import spread

_WORDS = 256  # of a large lexicon
_RUNS = 16  # draws of each word where the law is unknown, in each of several batches
_BATCHES = 8
_NOISE_WORDS = 128  # whose candidates are counted from draws,
_SURE = 4  # batches where candidates are counted for the whole of some words
_RIVALS = 4  # inputs that are compared with a word, for each candidate that is asked for
_FEW = 30  # words whose own errors count for the worst of them, and whose differences tell little


class FiguresOfWords:
    """Figures of some words of a lexicon, for one channel after the other."""

    def __init__(
        self, lexicon: MetricSpace, words: Sequence[str] | int | None, rng: Generator
    ) -> None:
        """Take words, a number of them, or None for all or some."""
        self.lexicon = lexicon
        self._seed = int(rng.integers(2**32))
        ids = word_ids(lexicon, words)
        if isinstance(words, int) and len(ids) == 1 < len(lexicon):
            raise ParameterError(
                "A sample of 1 word tells nothing of the others: take 2 or more, or list words."
            )
        if words is None and len(ids) < len(lexicon):
            ids = word_ids(lexicon, _WORDS)
        self._ids = ids
        listed = words is not None and not isinstance(words, int)
        self.are_whole = listed or len(ids) == len(lexicon)
        """Whether the words are all that the figures are about, and no sample."""

    def rng(self) -> Generator:
        """Return the generator of a figure's draws, the same for each ε.

        So the curve is smooth, and an ε has one chance, not many, to meet the target by luck.
        """
        return seeded_rng(self._seed)

    def figure(self, channel: Channel, name: str, worst: float | None) -> Figure:
        """Return the mean of a statistic over the words, or that of the worst words."""
        batches = self._batches(channel, name)
        values = batches.mean(axis=0)
        if worst is not None:
            whole = self.are_whole and isinstance(channel, LawChannel)
            few = len(batches) > 1 and len(values) < _FEW
            return _tail(values, worst, whole, _RUNS * _BATCHES if few else None)
        return Figure(float(values.mean()), float(values.mean()) + _margin(batches, self.are_whole))

    def surely_kept(self, channel: Channel) -> float:
        """Return the lower end of the mean share of the words that stay, given the same words."""
        batches = self._batches(channel, "kept")
        return max(0.0, float(batches.mean()) - _margin(batches, whole=True))

    def candidates(self, channel: Channel, least: float) -> Figure:
        """Return the mean number of candidates of the words; for noise, those that are sure."""
        ids, whole = self._ids, self.are_whole
        if isinstance(channel, LawChannel):
            batches = law_batches(channel, ids, self.rng())
        else:
            if len(ids) > _NOISE_WORDS:
                ids, whole = ids[spread(len(ids), _NOISE_WORDS)], False
            count = _SURE if whole or len(ids) < _FEW else 1  # words tell the error, if many
            most = math.ceil(_RIVALS * least)
            batches = sure_batches(channel, ids, self.rng(), most=most, count=count)
        mean = float(batches.mean())
        # The word itself always explains its output, so nothing below 1 is possible.
        return Figure(max(1.0, mean), max(1.0, mean - _margin(batches, whole)))

    def _batches(self, channel: Channel, name: str) -> Floats:
        """Return a statistic of the words: one row from a law, or several rows from draws."""
        rng = self.rng()
        return np.stack(
            [
                statistics_of(channel, self._ids, registry[name], _RUNS, rng)
                for _ in range(1 if isinstance(channel, LawChannel) else _BATCHES)
            ]
        )


def _margin(batches: Floats, whole: bool) -> float:
    """Return the error of a mean: of a choice of words unless they are the `whole`, and of draws.

    Words may share noise, so that their differences do not tell the error of draws. Batches do.
    """
    from scipy.special import stdtrit

    square, least, words = 0.0, math.inf, batches.shape[1]
    if not whole:
        square += float(batches.mean(axis=0).var(ddof=1)) / words
        least = words
    if len(batches) > 1:
        square += float(batches.mean(axis=1).var(ddof=1)) / len(batches)
        least = min(least, len(batches))
    # Student's t, one-sided, where few words or batches tell the error.
    sure = SURE if least >= _FEW else float(stdtrit(least - 1, 0.95))
    return sure * math.sqrt(square)


def _tail(values: Floats, worst: float, whole: bool, runs: int | None = None) -> Figure:
    """Return the share that a share of words exceeds, with an upper bound for a sample.

    The bound is the order statistic that lies above the true quantile with 95 % confidence. With
    `runs`, as many draws gave each value, and its own upper bound takes its place.
    """
    ordered = np.sort(values)
    place = min(len(ordered) - 1, math.ceil((1.0 - worst) * len(ordered)) - 1)
    value = float(ordered[max(place, 0)])
    if whole:
        return Figure(value, value)
    margin = SURE * math.sqrt(len(ordered) * worst * (1.0 - worst))
    upper = min(len(ordered) - 1, place + math.ceil(margin))
    if runs is None:
        return Figure(value, float(ordered[upper]))
    return Figure(value, float(clopper_pearson(np.rint(ordered[upper] * runs), runs, 0.9)[1]))
