"""S_w: how many different words come out in R runs."""

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.measure.words.statistic import Draws, Rows, Statistic, per_word


class Distinct(Statistic):
    """S_w, the number of different outputs in R runs; from a law its mean, Σ_y 1 − (1 − p_y)^R.

    It grows with R, so it compares mechanisms only at the same R.
    """

    name = "distinct"
    title = "different outputs in R runs (S_w)"
    worst = "low"

    def bounds(self, size: int, runs: int) -> tuple[float, float]:
        """Return 1, and the number of words or of runs, whichever is smaller."""
        return 1.0, float(min(size, runs))

    def exact(self, rows: Rows) -> Floats:
        """Compute the mean number of different outputs."""
        with np.errstate(divide="ignore"):  # a word that always comes out: ln 0
            missed = np.expm1(rows.options.runs * np.log1p(-np.minimum(rows.probabilities, 1.0)))
        return np.asarray(-missed.sum(axis=1))

    def sampled(self, draws: Draws) -> Floats:
        """Count the different outputs."""
        return per_word(draws, lambda outputs, shares: len(outputs))
