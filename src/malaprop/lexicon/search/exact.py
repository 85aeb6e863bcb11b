"""Exact nearest-word search in Euclidean space.

A float32 matrix product scores all words, a tile at a time, and leaves of each group of words the
highest score. Only the groups that can hold one of the nearest words, within the product's own
rounding error, are scored again; where words of theirs are too close to call, float64 decides.
"""

from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.proofs import proved
from malaprop.core.space import blocks
from malaprop.core.threads import in_threads, threads

Scores = NDArray[np.floating[Any]]
QueryRows = NDArray[np.intp]
_TILE = 512  # words whose scores are made at a time,
_QUERIES = 688  # for so many queries: 1.4 MB, which stays in a core's cache. With a power of two,
# all rows of scores would be in the same few lines of it: the product is slower by a tenth then.
_GROUP = 256  # words of which the first product leaves one score; see `_group_size`
_SHARE = 1 << 20  # numbers in the queries of a thread at a time: 8 MB, a few times over
_FEWEST = 64  # queries that are worth a thread's start
_MAXIMA = 1 << 23  # cells of the groups' highest scores: 32 MB
_AGAIN = 1 << 21  # cells that are scored again at a time


@proved("docs/proofs/laplace.md")
class NearestSearch:
    """The nearest of fixed vectors to any query, ties going to the lowest id.

    What float32 cannot tell apart, squared differences in float64 decide. So it is exact up to
    float64's own rounding, which begins to count for queries some 10⁷ times as far away as all
    words: there, words that lie close together cannot be told apart any more.
    """

    _unit = 2.0**-24  # float32's rounding unit
    _least = 2.0**-149  # and its smallest number

    is_exact: ClassVar[bool] = True
    """Whether the nearest word is found always."""
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
        """The ids of the `k` nearest vectors to each query, the nearest first: (queries, k)."""
        k = min(k, len(self._vectors))
        found = np.empty((len(queries), k), dtype=np.int64)

        def search(share: slice) -> None:
            found[share] = self._share(np.asarray(queries[share], dtype=np.float64), k)

        in_threads(search, self._shares(len(queries), k))
        return found

    def distances(self, queries: Floats, ids: Ids) -> Floats:
        """The distance of each query to the vector of its id, in float64."""
        return np.asarray(np.linalg.norm(self._vectors[ids] - queries, axis=1))

    def scores(self, queries: Floats) -> Scores:
        """Numbers that are higher for nearer vectors, of all vectors; in float32, for a few."""
        lifted, _ = self._lift(queries)
        words = np.empty((len(self._vectors), lifted.shape[1]), dtype=lifted.dtype)
        return np.asarray(lifted @ self._coordinates(slice(None), words).T)

    def _shares(self, count: int, k: int) -> list[slice]:
        """The queries in parts, of one size where there are enough for several threads."""
        room = min(_SHARE // self._vectors.shape[1], _MAXIMA // self._row_cells(k))
        most = max(_FEWEST, room)
        workers = threads() if count > _FEWEST else 1
        parts = workers * max(1, -(-count // (workers * most)))
        return blocks(count, row_cells=1, budget=max(_FEWEST, -(-count // parts)))

    def _row_cells(self, k: int) -> int:
        """Cells that are kept of the first product, for each query."""
        return -(-len(self._vectors) // self._group_size(k))

    def _group_size(self, k: int) -> int:
        """Words in a group: so few that the k nearest are in an eighth of the groups at most."""
        return max(1, min(_GROUP, len(self._vectors) // (8 * k)))

    def _share(self, queries: Floats, k: int) -> Ids:
        size = self._group_size(k)
        lifted, rounding = self._lift(queries)
        maxima = self._maxima(lifted, size)
        # k words have computed scores of at least `worst`, hence true ones of at least
        # worst − rounding; and a word whose true score is that has this computed one.
        worst = maxima.max(axis=0) if k == 1 else np.partition(maxima, -k, axis=0)[-k]
        least = (worst - 2.0 * rounding).astype(lifted.dtype)
        # Not ≥: should there be a NaN for some reason, float64 decides.
        near = ~(maxima < least)
        found = np.empty((len(queries), k), dtype=np.int64)
        cells = max(size, lifted.shape[1])  # of a pair of a query and a group near it
        for rows in _parts(np.count_nonzero(near, axis=0) * cells):
            again = self._again(lifted[rows], least[rows], near[:, rows], size)
            found[rows] = self._decide(queries[rows], rounding[rows], *again, k)
        return found

    def _maxima(self, lifted: Scores, size: int) -> Scores:
        """The highest score of each group of words for each query: (groups, queries)."""
        words, count = len(self._vectors), len(lifted)
        maxima = np.empty((-(-words // size), count), dtype=lifted.dtype)
        tile = max(1, _TILE // size) * size
        coordinates = np.empty((tile, lifted.shape[1]), dtype=lifted.dtype)
        cells = np.empty(tile * min(_QUERIES, count), dtype=lifted.dtype)
        columns = np.ascontiguousarray(lifted.T)
        for start in range(0, words, tile):
            some = self._coordinates(slice(start, start + tile), coordinates)
            for first in range(0, count, _QUERIES):
                part = slice(first, first + _QUERIES)
                wanted = columns[:, part]
                scores = cells[: len(some) * wanted.shape[1]].reshape(len(some), -1)
                np.matmul(some, wanted, out=scores)
                _group_maxima(scores, size, out=maxima[start // size :, part])
        return maxima

    def _again(
        self, lifted: Scores, least: Scores, near: NDArray[np.bool_], size: int
    ) -> tuple[QueryRows, Ids, Scores]:
        """Rows of queries, words, and their scores: all from `least` on, in the groups `near`."""
        # Few steps, and large ones: between them, threads wait for each other.
        groups, rows = np.divmod(np.flatnonzero(near), near.shape[1])
        wanted = lifted[rows]
        scores = np.empty((len(rows), size), dtype=lifted.dtype)
        coordinates = np.empty((size, lifted.shape[1]), dtype=lifted.dtype)
        first = np.searchsorted(groups, np.arange(len(near) + 1))
        for group in np.flatnonzero(np.diff(first)):
            part = slice(first[group], first[group + 1])
            words = self._coordinates(slice(group * size, (group + 1) * size), coordinates)
            np.matmul(wanted[part], words.T, out=scores[part, : len(words)])
        pairs, word = np.divmod(np.flatnonzero(~(scores < least[rows, None])), size)
        ids = groups[pairs] * size + word
        there = ids < len(self._vectors)  # the last group may be smaller: no scores were made
        pairs, word, ids = pairs[there], word[there], ids[there]
        return rows[pairs], ids, scores[pairs, word]

    def _decide(
        self, queries: Floats, rounding: Floats, rows: QueryRows, ids: Ids, scores: Scores, k: int
    ) -> Ids:
        """The k nearest of the words that were found near each query, the nearest first."""
        keys = -scores.astype(np.float64)
        order = np.lexsort((keys, rows))
        rows, ids, keys = rows[order], ids[order], keys[order]
        counts = np.bincount(rows, minlength=len(queries))
        first = np.cumsum(counts) - counts
        place = np.arange(len(rows)) - first[rows]
        # The k nearest are told from each other and from the next by more than both can be off.
        clear = np.diff(keys) > 2.0 * rounding[rows[1:]]
        close = (rows[1:] == rows[:-1]) & (place[1:] <= k) & ~clear
        if close.any():
            unclear = np.flatnonzero(np.isin(rows, rows[1:][close]))
            for block in blocks(len(unclear), row_cells=queries.shape[1]):
                some = unclear[block]
                keys[some] = self._exact(queries[rows[some]], ids[some])
            order = np.lexsort((ids, keys, rows))
            ids = ids[order]
        return np.asarray(ids[first[:, None] + np.arange(k)])

    def _lift(self, queries: Floats) -> tuple[Scores, Floats]:
        """Coordinates of queries, for scores that are higher for nearer vectors; and how far off
        a query's scores can be.
        """
        # argmin ‖x − y‖ = argmax ⟨x, y⟩ − ‖y‖²/2; divided by ‖x‖ it cannot overflow float32.
        norms = np.linalg.norm(queries, axis=1)
        scale = np.maximum(norms, 1.0)[:, None]
        with np.errstate(over="ignore"):  # see `huge`
            lifted = np.hstack([queries / scale, -max(1.0, self._reach) / scale]).astype(np.float32)
        # |fl(⟨x, y⟩) − ⟨x, y⟩| ≤ n·u/(1 − n·u)·Σ|xᵢyᵢ| for n terms, a sum of ‖x‖·‖y‖ at most; and a
        # few more roundings made them.
        terms = self._vectors.shape[1] + 8
        largest = self._reach * np.minimum(norms, 1.0) + self._reach**2 / scale[:, 0]
        rounding = terms * self._unit / (1.0 - terms * self._unit) * largest
        # Where scores could overflow, float64 decides between all words.
        huge = np.maximum(largest, self._reach) > 1e37
        lifted[huge], rounding[huge] = 0.0, np.inf
        return lifted, rounding + terms * self._least

    def _coordinates(self, words: slice | Ids, out: Scores) -> Scores:
        """The words' coordinates, whose products with those of queries are the scores."""
        vectors = self._vectors[words]
        found = out[: len(vectors)]
        found[:, :-1] = vectors
        found[:, -1] = np.minimum(self._half[words] / max(1.0, self._reach), 1e38)
        return found

    def _exact(self, queries: Floats, ids: Ids) -> Floats:
        """What orders vectors by their distance to a query, in float64, for pairs of them."""
        difference = self._vectors[ids] - queries
        return np.asarray(np.einsum("ij,ij->i", difference, difference))


def _group_maxima(scores: Scores, size: int, out: Scores) -> None:
    """The maxima of groups of `size` rows, the last of which may be smaller."""
    whole = len(scores) // size
    grouped = scores[: whole * size].reshape(whole, size, scores.shape[1])
    np.maximum.reduce(grouped, axis=1, out=out[:whole])
    if whole * size < len(scores):
        np.maximum.reduce(scores[whole * size :], axis=0, out=out[whole])


def _parts(cells: NDArray[np.int64]) -> list[slice]:
    """Rows of so many cells each, in parts of a budget."""
    cuts = np.flatnonzero(np.diff(np.cumsum(cells) // _AGAIN)) + 1
    ends = [0, *cuts.tolist(), len(cells)]
    return [slice(start, end) for start, end in pairwise(ends)]
