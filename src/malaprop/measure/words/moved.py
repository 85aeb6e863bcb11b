"""How far a word is moved on average."""

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.core.space import blocks
from malaprop.measure.words.statistic import Draws, MeanStatistic, Rows


class Moved(MeanStatistic):
    """Σ_y p_y·d(w, y), in the lexicon's metric. Small values are useful, not private."""

    name = "moved"
    title = "expected distance of the output"
    worst = "low"

    def exact(self, rows: Rows) -> Floats:
        """Average the distances over the law."""
        return np.asarray(np.einsum("ij,ij->i", rows.probabilities, rows.distances))

    def each(self, draws: Draws) -> Floats:
        """Return the distance that each draw moves the word."""
        moves = np.empty(draws.drawn.shape)
        for block in blocks(len(draws.ids), row_cells=len(draws.space)):
            distances = draws.space.distances(draws.ids[block])
            moves[block] = np.take_along_axis(distances, draws.drawn[block], axis=1)
        return moves
