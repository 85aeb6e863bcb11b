"""How many outputs of a word have a probability above η."""

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.measure.words.statistic import Draws, Rows, Statistic, per_word


class Likely(Statistic):
    """The number of outputs with a probability above η: S_w without a dependence on runs."""

    name = "likely"
    title = "outputs with a probability above η"
    worst = "low"

    def bounds(self, size: int, runs: int) -> tuple[float, float]:
        """Return 0 and the number of words."""
        return 0.0, float(size)

    def exact(self, rows: Rows) -> Floats:
        """Count the probable outputs."""
        counts = np.count_nonzero(rows.probabilities > rows.options.least, axis=1)
        return np.asarray(counts, dtype=np.float64)

    def sampled(self, draws: Draws) -> Floats:
        """Count the outputs that make up a share above η."""
        least = draws.options.least
        return per_word(draws, lambda outputs, shares: np.count_nonzero(shares > least))
