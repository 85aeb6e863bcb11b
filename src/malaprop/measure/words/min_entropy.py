"""Min-entropy of a word's replacement."""

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.measure.words.statistic import Draws, Rows, Statistic, per_word


class MinEntropy(Statistic):
    """−log₂ of the probability of the likeliest output, in bits."""

    name = "min_entropy"
    title = "min-entropy of the output, in bits"
    worst = "low"

    def bounds(self, size: int, runs: int) -> tuple[float, float]:
        """Return 0, and the entropy of words that are equally likely."""
        return 0.0, float(np.log2(size))

    def exact(self, rows: Rows) -> Floats:
        """Take the likeliest output of each row."""
        return np.asarray(-rows.log_probabilities.max(axis=1) / np.log(2.0))

    def sampled(self, draws: Draws) -> Floats:
        """Take the most frequent output."""
        return per_word(draws, lambda outputs, shares: -np.log2(shares.max()))
