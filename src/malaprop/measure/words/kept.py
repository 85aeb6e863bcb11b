"""N_w: the chance that a word stays as it is."""

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.measure.words.statistic import Draws, MeanStatistic, Rows


class Kept(MeanStatistic):
    """N_w = Pr[M(w) = w]. For a law that is largest at the word itself, 2^(−min-entropy)."""

    name = "kept"
    title = "chance that the word stays as it is (N_w)"
    worst = "high"

    def bounds(self, size: int, runs: int) -> tuple[float, float]:
        """Return 0 and 1: it is a chance."""
        return 0.0, 1.0

    def exact(self, rows: Rows) -> Floats:
        """Read it off the law."""
        return np.asarray(rows.probabilities[np.arange(len(rows.ids)), rows.ids])

    def each(self, draws: Draws) -> Floats:
        """Return 1 for a draw that returns the word, else 0."""
        return np.asarray(draws.drawn == draws.ids[:, None], dtype=np.float64)
