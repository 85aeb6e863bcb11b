"""Search for the nearest words: in Euclidean space and in the Poincaré ball."""

from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from malaprop.privacy.arrays import Floats, Ids, blocks
from malaprop.privacy.guarantee import proved
from malaprop.privacy.metrics import MetricSpace, conformal, distances, lift
from malaprop.privacy.progress import in_threads, threads

# Exact nearest-word search in Euclidean space.
#
# A float32 matrix product scores all words, a tile at a time, and keeps the highest score of each
# group of words. Only groups that can hold one of the nearest words, given the product's rounding
# error, are scored again. If words are still too close to call, float64 decides.


Scores = NDArray[np.floating[Any]]
"""Numbers that are higher for nearer words."""
QueryRows = NDArray[np.intp]
"""Places of queries, that is rows of their matrix."""
_TILE = 512  # words scored at a time,
_QUERIES = 688  # and queries: 1.4 MB of scores, which stay in a core's cache. With a power of two,
# all rows of scores would share a few cache lines, and the product would be a tenth slower.
_GROUP = 256  # words per score that the first product keeps; see `_group_size`
_SHARE = 1 << 20  # numbers in the queries of a thread at a time: 8 MB, a few times over
_FEWEST = 64  # queries that justify starting a thread
_MAXIMA = 1 << 23  # cells for the groups' highest scores: 32 MB
_AGAIN = 1 << 21  # cells scored again at a time
# OpenBLAS (0.3.31, AVX-512) multiplies five columns by a vector with memory that it never wrote. It
# drops those products, but what they raise would become a warning. A real NaN is dealt with below.
_unwarned = np.errstate(invalid="ignore")


@proved("docs/proofs/laplace.md")
class NearestSearch:
    """Search for the nearest of fixed vectors to any query; ties go to the lowest id.

    If float32 cannot decide, squared differences in float64 do. So the search is exact up to
    float64's own rounding. That matters for queries some 10⁷ times as far away as all words: from
    there, words that lie close together look the same.
    """

    _unit = 2.0**-24  # float32's rounding unit
    _least = 2.0**-149  # and its smallest number

    hyperbolic: ClassVar[bool] = False
    """Whether distances are those of the Poincaré ball."""

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        self._vectors = vectors
        self._half = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64) / 2.0
        self._reach = float(np.sqrt(2.0 * self._half.max()))

    @property
    def sites(self) -> Floats:
        """The vectors that are searched, in float64."""
        return self._vectors.astype(np.float64)

    def nearest(self, queries: NDArray[np.floating[Any]], k: int = 1) -> Ids:
        """Return ids of the `k` nearest vectors to each query, the nearest first: (queries, k)."""
        k = min(k, len(self._vectors))
        ids = np.empty((len(queries), k), dtype=np.int64)

        @_unwarned
        def search(share: slice) -> None:
            ids[share] = self._share(np.asarray(queries[share], dtype=np.float64), k)

        in_threads(search, self._shares(len(queries), k))
        return ids

    def distances(self, queries: Floats, ids: Ids) -> Floats:
        """Return the distance of each query to the vector of its id, in float64."""
        return np.asarray(np.linalg.norm(self._vectors[ids] - queries, axis=1))

    def _shares(self, count: int, k: int) -> list[slice]:
        """Cut the queries into parts, of equal size if there are enough for several threads."""
        groups = -(-len(self._vectors) // self._group_size(k))
        most = max(_FEWEST, min(_SHARE // self._vectors.shape[1], _MAXIMA // groups))
        workers = threads() if count > _FEWEST else 1
        parts = workers * max(1, -(-count // (workers * most)))
        return blocks(count, row_cells=1, budget=max(_FEWEST, -(-count // parts)))

    def _group_size(self, k: int) -> int:
        """Return the size of a group: the k nearest are in an eighth of the groups at most."""
        return max(1, min(_GROUP, len(self._vectors) // (8 * k)))

    def _share(self, queries: Floats, k: int) -> Ids:
        size = self._group_size(k)
        lifted, rounding = self._lift(queries)
        maxima = self._maxima(lifted, size)
        # k words have computed scores of at least `worst`, so true scores of at least
        # worst − rounding. A word with such a true score has a computed one of at least `least`.
        worst = maxima.max(axis=0) if k == 1 else np.partition(maxima, -k, axis=0)[-k]
        least = (worst - 2.0 * rounding).astype(lifted.dtype)
        # Not ≥: if there is a NaN, float64 decides.
        candidates = ~(maxima < least)
        ids = np.empty((len(queries), k), dtype=np.int64)
        cells = max(size, lifted.shape[1])  # for a pair of a query and a candidate group
        for rows in _parts(np.count_nonzero(candidates, axis=0) * cells):
            again = self._again(lifted[rows], least[rows], candidates[:, rows], size)
            ids[rows] = self._decide(queries[rows], rounding[rows], *again, k)
        return ids

    def _maxima(self, lifted: Scores, size: int) -> Scores:
        """Return the highest score of each group of words for each query: (groups, queries)."""
        words, count = len(self._vectors), len(lifted)
        maxima = np.empty((-(-words // size), count), dtype=lifted.dtype)
        tile = max(1, _TILE // size) * size
        coordinates = np.empty((tile, lifted.shape[1]), dtype=lifted.dtype)
        cells = np.empty(tile * min(_QUERIES, count), dtype=lifted.dtype)
        columns = np.ascontiguousarray(lifted.T)
        for start in range(0, words, tile):
            words_here = self._coordinates(slice(start, start + tile), coordinates)
            for first in range(0, count, _QUERIES):
                part = slice(first, first + _QUERIES)
                wanted = columns[:, part]
                scores = cells[: len(words_here) * wanted.shape[1]].reshape(len(words_here), -1)
                np.matmul(words_here, wanted, out=scores)
                _group_maxima(scores, size, out=maxima[start // size :, part])
        return maxima

    def _again(
        self, lifted: Scores, least: Scores, candidates: NDArray[np.bool_], size: int
    ) -> tuple[QueryRows, Ids, Scores]:
        """Score `candidates` again; return query rows, words and scores, all from `least` on."""
        # Few and large steps: threads wait for each other between them.
        groups, rows = np.divmod(np.flatnonzero(candidates), candidates.shape[1])
        wanted = lifted[rows]
        scores = np.empty((len(rows), size), dtype=lifted.dtype)
        coordinates = np.empty((size, lifted.shape[1]), dtype=lifted.dtype)
        first = np.searchsorted(groups, np.arange(len(candidates) + 1))
        for group in np.flatnonzero(np.diff(first)):
            part = slice(first[group], first[group + 1])
            words = self._coordinates(slice(group * size, (group + 1) * size), coordinates)
            np.matmul(wanted[part], words.T, out=scores[part, : len(words)])
        pairs, word = np.divmod(np.flatnonzero(~(scores < least[rows, None])), size)
        ids = groups[pairs] * size + word
        there = ids < len(self._vectors)  # the last group may be smaller, and its scores incomplete
        pairs, word, ids = pairs[there], word[there], ids[there]
        return rows[pairs], ids, scores[pairs, word]

    def _decide(
        self, queries: Floats, rounding: Floats, rows: QueryRows, ids: Ids, scores: Scores, k: int
    ) -> Ids:
        """Return the k nearest of the candidate words of each query, the nearest first."""
        keys = -scores.astype(np.float64)
        order = np.lexsort((keys, rows))
        rows, ids, keys = rows[order], ids[order], keys[order]
        counts = np.bincount(rows, minlength=len(queries))
        first = np.cumsum(counts) - counts
        place = np.arange(len(rows)) - first[rows]
        # Clear: the scores of neighbours in this order differ by more than both errors.
        clear = np.diff(keys) > 2.0 * rounding[rows[1:]]
        close = (rows[1:] == rows[:-1]) & (place[1:] <= k) & ~clear
        if close.any():
            unclear = np.flatnonzero(np.isin(rows, rows[1:][close]))
            for block in blocks(len(unclear), row_cells=queries.shape[1]):
                pairs = unclear[block]
                keys[pairs] = self._exact(queries[rows[pairs]], ids[pairs])
            order = np.lexsort((ids, keys, rows))
            ids = ids[order]
        return np.asarray(ids[first[:, None] + np.arange(k)])

    def _lift(self, queries: Floats) -> tuple[Scores, Floats]:
        """Return coordinates of queries, and bounds on the rounding errors of their scores.

        The products with words' coordinates are the scores, higher for nearer vectors.
        """
        # argmin ‖x − y‖ = argmax ⟨x, y⟩ − ‖y‖²/2; divided by ‖x‖ it cannot overflow float32.
        norms = np.linalg.norm(queries, axis=1)
        scale = np.maximum(norms, 1.0)[:, None]
        with np.errstate(over="ignore"):  # see `huge`
            lifted = np.hstack([queries / scale, -max(1.0, self._reach) / scale]).astype(np.float32)
        # |fl(⟨x, y⟩) − ⟨x, y⟩| ≤ n·u/(1 − n·u)·Σ|xᵢyᵢ| for n terms; that sum is at most ‖x‖·‖y‖.
        # The terms themselves had a few more roundings.
        terms = self._vectors.shape[1] + 8
        largest = self._reach * np.minimum(norms, 1.0) + self._reach**2 / scale[:, 0]
        rounding = terms * self._unit / (1.0 - terms * self._unit) * largest
        # If scores could overflow, float64 decides between all words.
        huge = np.maximum(largest, self._reach) > 1e37
        lifted[huge], rounding[huge] = 0.0, np.inf
        return lifted, rounding + terms * self._least

    def _coordinates(self, words: slice, out: Scores) -> Scores:
        """Return the words' coordinates, whose products with those of queries are the scores."""
        vectors = self._vectors[words]
        coordinates = out[: len(vectors)]
        coordinates[:, :-1] = vectors
        coordinates[:, -1] = np.minimum(self._half[words] / max(1.0, self._reach), 1e38)
        return coordinates

    def _exact(self, queries: Floats, ids: Ids) -> Floats:
        """Return numbers that grow with the distance of each pair, in float64."""
        difference = self._vectors[ids] - queries
        return np.asarray(np.einsum("ij,ij->i", difference, difference))


def _group_maxima(scores: Scores, size: int, out: Scores) -> None:
    """Compute the maxima of groups of `size` rows; the last group may be smaller."""
    whole = len(scores) // size
    grouped = scores[: whole * size].reshape(whole, size, scores.shape[1])
    np.maximum.reduce(grouped, axis=1, out=out[:whole])
    if whole * size < len(scores):
        np.maximum.reduce(scores[whole * size :], axis=0, out=out[whole])


def _parts(cells: NDArray[np.int64]) -> list[slice]:
    """Cut rows into parts, given the cells of each row, within a budget of cells."""
    cuts = np.flatnonzero(np.diff(np.cumsum(cells) // _AGAIN)) + 1
    return [slice(start, end) for start, end in pairwise([0, *cuts.tolist(), len(cells)])]


# Exact nearest-word search in the Poincaré ball, and the search that a lexicon's metric asks for.
#
# For a query x, d(x, y) grows with ‖x − y‖²/(1 − ‖y‖²). That is linear in the word's *lifted*
# coordinates 2y/(1 − ‖y‖²) and 1/(1 − ‖y‖²), so one matrix product finds the nearest word here,
# too. It is in float64: near the edge of the ball the lifted coordinates are 10⁵ times as large as
# the differences that matter, which is too much for float32.


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
