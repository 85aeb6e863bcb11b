"""Exact nearest-word search in the Poincaré ball, and the search that a lexicon's metric asks for.

For a query x, d(x, y) grows with ‖x − y‖²/(1 − ‖y‖²). That is linear in the word's *lifted*
coordinates 2y/(1 − ‖y‖²) and 1/(1 − ‖y‖²), so one matrix product finds the nearest word here, too.
It is in float64: near the edge of the ball the lifted coordinates are 10⁵ times as large as the
differences that matter, which is too much for float32.
"""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.metrics.poincare import conformal, distances, lift
from malaprop.core.proofs import proved
from malaprop.core.space import MetricSpace
from malaprop.lexicon.search.exact import NearestSearch, Scores


@proved("docs/proofs/laplace.md")
class PoincareSearch(NearestSearch):
    """Search for the nearest of fixed points of the ball to any other point of it."""

    _unit = 2.0**-53  # float64's rounding unit

    hyperbolic: ClassVar[bool] = True

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        self._vectors = vectors
        long = vectors.astype(np.float64)
        self._conformal = conformal(long)
        self._lifted = np.hstack([lift(long), 1.0 / self._conformal[:, None]])
        self._largest = 4.0 / float(self._conformal.min())

    def distances(self, queries: Floats, ids: Ids) -> Floats:
        """Return the distance of each query to the vector of its id."""
        return distances(queries, self._vectors[ids].astype(np.float64))

    def _lift(self, queries: Floats) -> tuple[Scores, Floats]:
        # ‖x − y‖²/(1 − ‖y‖²) = (1 + ‖x‖²)/(1 − ‖y‖²) − ⟨x, 2y/(1 − ‖y‖²)⟩ − 1
        squares = 1.0 - conformal(queries)[:, None]
        # The terms of the product add up to less than `largest`. They had about as many roundings
        # as there are terms, counting those of ‖x‖² and ‖y‖².
        rounding = 2.0 * (self._lifted.shape[1] + 8) * self._unit * self._largest
        return np.hstack([queries, -1.0 - squares]), np.full(len(queries), rounding)

    def _coordinates(self, words: slice, out: Scores) -> Scores:
        return np.asarray(self._lifted[words])

    def _exact(self, queries: Floats, ids: Ids) -> Floats:
        return np.asarray(super()._exact(queries, ids) / self._conformal[ids])


def search_on(space: MetricSpace) -> NearestSearch:
    """Return a search by Poincaré distance if that is the metric, otherwise by Euclidean."""
    search = PoincareSearch if str(space.metric) == "poincare" else NearestSearch
    return search(space.vectors)
