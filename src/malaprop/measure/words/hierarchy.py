"""K_w on a hierarchy: how many outputs lie as low in it as the word (hyperbolic-2019, §VI-B)."""

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.core.space import MetricSpace
from malaprop.measure.words.statistic import Draws, Rows, Statistic

_METRIC = "poincare"


class BelowInHierarchy(Statistic):
    """min over ŵ of |{w' ∈ S_w : w' ≺ ŵ}|, where S_w are outputs of w, and ŵ those above w.

    An observer who sees the more general ŵ takes the word for any of the outputs below it. "Below"
    is "farther from the origin of the Poincaré ball", which is where vectors keep a hierarchy. So
    the least number is that of the output just above w: the outputs at least as far out as w, w
    itself among them. The least is 1. S_w are the outputs of R runs; from a law, the mean over such
    runs is computed.

    It needs a lexicon in the ball, such as `english-hierarchy`: the relations themselves, by which
    fewer words are below each other, are not part of a lexicon.
    """

    name = "hierarchy"
    title = "outputs as low in the hierarchy as the word (K_w of hyperbolic-2019)"
    worst = "low"

    def applies(self, space: MetricSpace) -> bool:
        """Whether the vectors keep a hierarchy."""
        return str(space.metric) == _METRIC

    def exact(self, rows: Rows) -> Floats:
        """Compute the mean number of outputs of R runs that are as low as each word."""
        depths = _depths(rows.space)
        with np.errstate(divide="ignore"):  # a word that always comes out: ln 0
            missed = np.expm1(rows.options.runs * np.log1p(-np.minimum(rows.probabilities, 1.0)))
        seen = -missed
        seen[np.arange(len(rows.ids)), rows.ids] = 1.0  # it counts, whether it comes out or not
        low = depths >= depths[rows.ids, None]
        return np.asarray(np.einsum("ij,ij->i", seen, low))

    def sampled(self, draws: Draws) -> Floats:
        """Count the outputs that occurred and are as low as each word."""
        depths = _depths(draws.space)
        counts = [
            np.count_nonzero(depths[outputs[outputs != word]] >= depths[word]) + 1
            for word, (outputs, _) in zip(draws.ids, draws.shares, strict=True)
        ]
        return np.array(counts, dtype=np.float64)


def _depths(space: MetricSpace) -> Floats:
    """Return how far each word is from the origin, which orders as hyperbolic distance does."""
    return np.asarray(np.linalg.norm(space.vectors.astype(np.float64), axis=1))
