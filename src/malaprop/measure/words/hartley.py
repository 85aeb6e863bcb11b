"""Hartley entropy of a word's replacement."""

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.measure.words.statistic import Draws, Rows, Statistic, per_word


class Hartley(Statistic):
    """log₂ of the number of possible outputs. Nearly all words are possible, however unlikely."""

    name = "hartley"
    title = "Hartley entropy of the output, in bits"
    worst = "low"

    def bounds(self, size: int, runs: int) -> tuple[float, float]:
        """Return 0, and the entropy of words that are equally likely."""
        return 0.0, float(np.log2(size))

    def exact(self, rows: Rows) -> Floats:
        """Count the outputs that can occur."""
        return np.asarray(np.log2(np.count_nonzero(rows.probabilities > 0.0, axis=1)))

    def sampled(self, draws: Draws) -> Floats:
        """Count the outputs that did occur: a lower bound."""
        return per_word(draws, lambda outputs, shares: np.log2(len(outputs)))
