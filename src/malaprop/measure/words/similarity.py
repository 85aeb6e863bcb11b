"""How similar a word's replacement is to it on average."""

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.measure.words.statistic import Draws, MeanStatistic, Rows


class ExpectedSimilarity(MeanStatistic):
    """Σ_y p_y·cos(w, y), with the cosines of `malaprop.measure.similarity`."""

    name = "similarity"
    title = "expected similarity of the output"
    worst = "high"

    def bounds(self, size: int, runs: int) -> tuple[float, float]:
        """Return −1 and 1: it is a cosine."""
        return -1.0, 1.0

    def exact(self, rows: Rows) -> Floats:
        """Average the similarities over the law."""
        return rows.similarity.expected(rows.ids, rows.probabilities)

    def each(self, draws: Draws) -> Floats:
        """Return the similarity of each draw with the word."""
        values = np.empty(draws.drawn.shape)
        for row, word in enumerate(draws.ids):
            outputs, places = np.unique(draws.drawn[row], return_inverse=True)
            values[row] = draws.similarity.to_some(word, outputs)[places]
        return values
