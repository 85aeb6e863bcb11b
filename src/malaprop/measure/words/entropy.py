"""Shannon entropy of a word's replacement."""

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.measure.words.statistic import Draws, Rows, Statistic, per_word


class Entropy(Statistic):
    """−Σ_y p_y·log₂ p_y, in bits. From draws it is too small: rare outputs are missing."""

    name = "entropy"
    title = "Shannon entropy of the output, in bits"
    worst = "low"

    def bounds(self, size: int, runs: int) -> tuple[float, float]:
        """Return 0, and the entropy of words that are equally likely."""
        return 0.0, float(np.log2(size))

    def exact(self, rows: Rows) -> Floats:
        """Compute the entropy of each row."""
        finite = np.where(rows.probabilities > 0.0, rows.log_probabilities, 0.0)
        return np.asarray(-np.einsum("ij,ij->i", rows.probabilities, finite) / np.log(2.0))

    def sampled(self, draws: Draws) -> Floats:
        """Compute the entropy of the shares."""
        return per_word(draws, lambda outputs, shares: -(shares @ np.log2(shares)))
