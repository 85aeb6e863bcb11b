"""How similar a word's replacement is to it on average."""

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.measure.words.statistic import Draws, Rows, Statistic


class ExpectedSimilarity(Statistic):
    """Σ_y p_y·cos(w, y), with the cosines of `malaprop.measure.similarity`."""

    name = "similarity"
    title = "expected similarity of the output"
    worst = "high"

    def exact(self, rows: Rows) -> Floats:
        """Average the similarities over the law."""
        return rows.similarity.expected(rows.ids, rows.probabilities)

    def sampled(self, draws: Draws) -> Floats:
        """Average the similarities over the draws."""
        values = [
            draws.similarity.to_some(word, outputs) @ shares
            for word, (outputs, shares) in zip(draws.ids, draws.shares, strict=True)
        ]
        return np.array(values)
