"""N_w: the chance that a word stays as it is."""

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.measure.words.statistic import Draws, Rows, Statistic


class Kept(Statistic):
    """N_w = Pr[M(w) = w]. For a law that is largest at the word itself, 2^(−min-entropy)."""

    name = "kept"
    title = "chance that the word stays as it is (N_w)"
    worst = "high"

    def exact(self, rows: Rows) -> Floats:
        """Read it off the law."""
        return np.asarray(rows.probabilities[np.arange(len(rows.ids)), rows.ids])

    def sampled(self, draws: Draws) -> Floats:
        """Count the draws that return the word."""
        return np.asarray((draws.drawn == draws.ids[:, None]).mean(axis=1))
