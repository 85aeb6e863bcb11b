"""Approximate nearest-word search: in the part of the lexicon that is nearest to the query.

The words are put into cells around centres (k-means, an "inverted file"). A search looks into the
64 cells whose centres are nearest to the query. Cells, like words, are public. Their number and
their size grow with the square root of the lexicon's size, and so does the work for a query.
"""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.proofs import proved
from malaprop.core.space import blocks
from malaprop.lexicon.search.exact import NearestSearch, QueryRows, Scores

FEWEST = 4096
"""The least number of words for which it is faster than the exact search."""
_SEARCHED = 64  # cells searched for a query
_STRIP = 48  # words of a cell that are scored together,
_BATCH = 64  # for this many queries
_CELLS = 5.6  # number of cells over the square root of the number of words: 1,000 for 33,000
_SAMPLE = 32  # words per centre that the centres are computed from
_ROUNDS = 8  # of k-means; it need not converge, since any partition will do


@proved("docs/proofs/laplace.md")
class ApproximateSearch(NearestSearch):
    """Search for one of the nearest of fixed vectors to any query, mostly the nearest.

    Cells are cut into strips of `_STRIP` words, and the queries for a strip into batches of
    `_BATCH`. Then one call of numpy makes thousands of small products, and threads do not wait for
    each other between them.
    """

    is_exact: ClassVar[bool] = False

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        super().__init__(vectors)
        centres = _centres(vectors, max(1, int(_CELLS * np.sqrt(len(vectors)))))
        labels = NearestSearch(centres).nearest(vectors)[:, 0]
        used, labels = np.unique(labels, return_inverse=True)
        self._centres = NearestSearch(centres[used])
        sizes = np.bincount(labels)
        self._strips = -(-sizes // _STRIP)  # strips of each cell,
        self._first = np.cumsum(self._strips) - self._strips  # and the first of them
        place = _within(sizes)
        strip = np.repeat(self._first, sizes) + place // _STRIP
        shape = (int(self._strips.sum()), _STRIP)
        self._vacant = np.ones(shape, dtype=np.bool_)
        self._vacant[strip, place % _STRIP] = False
        self._members = np.zeros(shape, dtype=np.int64)
        self._members[strip, place % _STRIP] = np.argsort(labels, kind="stable")
        # Vacant places repeat the strip's first word, which is harmless if k is 1.
        self._members = np.where(self._vacant, self._members[:, :1], self._members)

    def _row_cells(self, k: int) -> int:
        return len(self._members) * min(k, _STRIP)

    def _share(self, queries: Floats, k: int) -> Ids:
        lifted, rounding = self._lift(queries)
        if np.isinf(rounding).any():  # vectors that float32 cannot score
            return super()._share(queries, k)
        cells = self._nearest_cells(queries, k)
        strips = self._strips[cells]
        counts = strips.sum(axis=1)
        rows = np.repeat(np.arange(len(queries)), counts)
        wanted = np.repeat(self._first[cells].ravel(), strips.ravel()) + _within(strips.ravel())
        scores, ids = self._scored(lifted, rows, wanted, min(k, _STRIP))
        # The results of all strips of a query, side by side.
        shape = (len(queries), int(counts.max(initial=0)), scores.shape[1])
        every = np.full(shape, -np.inf, dtype=lifted.dtype)
        words = np.zeros(shape, dtype=np.int64)
        place = _within(counts)
        every[rows, place], words[rows, place] = scores, ids
        best = _highest(every.reshape(len(queries), -1), k)
        return np.take_along_axis(words.reshape(len(queries), -1), best, axis=1)

    def _nearest_cells(self, queries: Floats, k: int) -> Ids:
        """Return the cells to search for each query."""
        # No cell is empty, so k cells have at least k words.
        count = len(self._strips)
        wanted = min(max(k, _SEARCHED), count)
        scores = self._centres.scores(queries)
        return np.asarray(np.argpartition(scores, count - wanted, axis=1)[:, count - wanted :])

    def _scored(self, lifted: Scores, rows: QueryRows, wanted: Ids, k: int) -> tuple[Scores, Ids]:
        """Return the k highest scores, and their words, for each pair of a query and a strip.

        If a strip has fewer words, the other scores are −∞.
        """
        small = np.min_scalar_type(len(self._members))  # small integers sort fast
        order = np.argsort(wanted.astype(small), kind="stable")
        counts = np.bincount(wanted, minlength=len(self._members))
        batches = -(-counts // _BATCH)
        place = _within(counts)
        batch = np.repeat(np.cumsum(batches) - batches, counts) + place // _BATCH
        strips = np.repeat(np.arange(len(counts)), batches)
        # A batch that is not full is padded with the first query.
        queries = np.zeros((len(strips), _BATCH), dtype=np.intp)
        queries[batch, place % _BATCH] = rows[order]
        scores = np.empty((len(strips), _BATCH, k), dtype=lifted.dtype)
        ids = np.empty((len(strips), _BATCH, k), dtype=np.int64)
        for part in blocks(len(strips), row_cells=(_BATCH + _STRIP) * lifted.shape[1]):
            members = self._members[strips[part]]
            products = lifted[queries[part]] @ self._strip_coordinates(members, lifted)
            if k > 1:
                vacant = self._vacant[strips[part]][:, None, :]
                products[np.broadcast_to(vacant, products.shape)] = -np.inf
            best = _highest(products, k)
            scores[part] = np.take_along_axis(products, best, axis=2)
            ids[part] = np.take_along_axis(members[:, None, :], best, axis=2)
        back = np.empty_like(order)
        back[order] = batch * _BATCH + place % _BATCH
        return scores.reshape(-1, k)[back], ids.reshape(-1, k)[back]

    def _strip_coordinates(self, members: Ids, lifted: Scores) -> Scores:
        """Return the coordinates of the words of strips: (strips, coordinates, words)."""
        out = np.empty((members.size, lifted.shape[1]), dtype=lifted.dtype)
        coordinates = self._coordinates(members.ravel(), out)
        return coordinates.reshape(*members.shape, -1).transpose(0, 2, 1)


def _within(counts: Ids) -> Ids:
    """Count from 0 within each run: `_within([2, 3])` is 0, 1, 0, 1, 2."""
    ends = np.cumsum(counts)
    return np.asarray(np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts))


def _highest(scores: Scores, k: int) -> NDArray[np.intp]:
    """Return the places of the k highest scores along the last axis, the highest first."""
    if k == 1:
        return np.asarray(scores.argmax(axis=-1)[..., None])
    return np.asarray(np.argsort(-scores, axis=-1)[..., :k])


def _centres(vectors: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Return the centres of cells, by Lloyd's k-means on fixed rows: it is deterministic."""
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
