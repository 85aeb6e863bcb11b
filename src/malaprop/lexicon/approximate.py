"""Approximate nearest-word search: in the part of the lexicon that is nearest to the query.

The words are put into cells around centres (k-means, an "inverted file"); of the cells, one in
sixteen is searched, those whose centres are nearest to the query. Cells, like words, are public.
"""

import numpy as np
from numpy.typing import NDArray

from malaprop.core.space import Ids, blocks
from malaprop.lexicon.search import Floats, NearestSearch, Scores

FEWEST = 4096
"""Words below which the exact search takes no longer."""
_SEARCHED = 16  # one in so many cells
_CELLS = 5.6  # times the root of the number of words: a thousand for 33,000
_SAMPLE = 32  # words for each centre, to find the centres from
_ROUNDS = 8  # of k-means: any partition serves, so it need not converge


class ApproximateSearch(NearestSearch):
    """One of the nearest of fixed vectors to any query, mostly the nearest."""

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        super().__init__(vectors)
        centres = _centres(vectors, max(1, int(_CELLS * np.sqrt(len(vectors)))))
        labels = NearestSearch(centres).nearest(vectors)[:, 0]
        used, labels = np.unique(labels, return_inverse=True)
        self._centres = NearestSearch(centres[used])
        self._members = np.argsort(labels, kind="stable")
        self._ends = np.cumsum(np.bincount(labels))

    def _row_cells(self, k: int) -> int:
        return len(self._ends)

    def _share(self, queries: Floats, k: int) -> Ids:
        lifted, rounding = self._lift(queries)
        if np.isinf(rounding).any():  # vectors that float32 cannot score
            return super()._share(queries, k)
        best = np.full((len(queries), k), -np.inf, dtype=lifted.dtype)
        found = np.zeros((len(queries), k), dtype=np.int64)
        most = int(np.diff(self._ends, prepend=0).max())
        coordinates = np.empty((most, lifted.shape[1]), dtype=lifted.dtype)
        cells = np.split(self._members, self._ends[:-1])
        for words, near in zip(cells, self._near(queries, k), strict=True):
            there = self._coordinates(words, coordinates)
            queried = np.flatnonzero(near)
            for block in blocks(len(queried), row_cells=len(words)):
                here = queried[block]
                scores = lifted[here] @ there.T
                best[here], found[here] = _best(best[here], found[here], scores, words)
        return found

    def _near(self, queries: Floats, k: int) -> NDArray[np.bool_]:
        """Whether a cell is to be searched for a query: (cells, queries)."""
        # No cell is empty: k of them have k words.
        wanted = min(max(k, len(self._ends) // _SEARCHED), len(self._ends))
        scores = self._centres.scores(queries)
        least = np.partition(scores, -wanted, axis=1)[:, -wanted]
        return np.ascontiguousarray(~(scores < least[:, None]).T)


def _best(best: Scores, found: Ids, scores: Scores, words: Ids) -> tuple[Scores, Ids]:
    """The highest scores so far with those of further words, and whose they are: (queries, k)."""
    k = best.shape[1]
    both = np.hstack([best, scores])
    place = both.argmax(axis=1)[:, None] if k == 1 else np.argsort(-both, axis=1)[:, :k]
    before = np.take_along_axis(found, np.minimum(place, k - 1), axis=1)
    ids = np.where(place < k, before, words[np.maximum(place - k, 0)])
    return np.take_along_axis(both, place, axis=1), ids


def _centres(vectors: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Centres of cells, by Lloyd's k-means on fixed rows: the same at each call."""
    from scipy.sparse import csr_array

    rng = np.random.Generator(np.random.PCG64(0))
    rows = rng.choice(len(vectors), min(len(vectors), _SAMPLE * count), replace=False)
    sample = vectors[rows]
    centres = sample[:count].copy()
    for _ in range(_ROUNDS):
        labels = NearestSearch(centres).nearest(sample)[:, 0]
        sizes = np.bincount(labels, minlength=count)
        shape = (len(sample), count)
        members = csr_array((np.ones(len(sample), "f4"), labels, np.arange(len(sample) + 1)), shape)
        filled = sizes > 0
        centres[filled] = (members.T @ sample)[filled] / sizes[filled, None]
    return centres
