"""Z(w) = Σ exp(−t·d(w, y)) of all words of a lexicon, for many exponents t in one pass.

Blocks of words run in parallel, in as many threads as there are cores.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.progress import Progress
from malaprop.core.space import MetricSpace, blocks
from malaprop.core.threads import each_in_threads

_STEPS = 4  # makes 4² equal steps of t from one power of two to the next
_OCTAVES = 6
_FINE = 8  # for a single ε: makes 8² equal steps from ε/2 to ε
_CHUNK = 1 << 14  # words at a time, so that their powers stay in the cache
_NEGLIGIBLE = 40.0  # all terms below exp(−40)/n add up to less than 2⁻⁵⁷, and Z is at least 1


@dataclass(frozen=True)
class Truncated:
    """The metric d_γ = min(d, γ) on a lexicon."""

    space: MetricSpace
    gamma: float

    def __len__(self) -> int:
        return len(self.space)

    def distances(self, ids: Ids) -> Floats:
        """Return the distances from the words `ids` to all words, cut off at γ."""
        distances = self.space.distances(ids)
        return distances if self.gamma == np.inf else np.minimum(distances, self.gamma)


@dataclass(frozen=True)
class Sums:
    """ln Z and its derivative by t, for each exponent and word, and extreme distances."""

    logs: Floats
    drifts: Floats
    nearest: Floats
    """The least positive distance of each word."""
    diameter: float


def nodes_for(space: Truncated) -> Floats:
    """Return 16 exponents per power of two, from about 1/(nearest distance) on."""
    ids = np.unique(np.linspace(0, len(space) - 1, 256).astype(np.int64))
    rows = [row for b in blocks(len(ids), len(space)) for row in space.distances(ids[b])]
    scale = float(np.median([_nearest(row) for row in rows]))
    first = 2.0 ** np.floor(np.log2(1.5 / scale)) if scale < np.inf else 1.0
    step = np.arange(_STEPS**2) / _STEPS**2
    octaves = [first * 2.0**octave * (1.0 + step) for octave in range(_OCTAVES)]
    return np.append(np.concatenate(octaves), first * 2.0**_OCTAVES)


def _nearest(row: Floats) -> float:
    return float(np.where(row > 0, row, np.inf).min())


def log_sums(space: Truncated, nodes: Floats, progress: Progress) -> Sums:
    """Compute ln Z of all words at all nodes."""
    logs, drifts = np.empty((2, len(nodes), len(space)))

    def of_row(word: int, row: Floats) -> None:
        total, moment = _sums(row, float(nodes[0]))
        logs[:, word], drifts[:, word] = np.log(total), -moment / total

    return Sums(logs, drifts, *_each_row(space, of_row, progress))


def log_sums_above(space: Truncated, first: float, progress: Progress) -> tuple[Floats, Sums]:
    """Return 64 exponents in equal steps from `first` to below twice that, and ln Z there.

    It computes no derivatives, so it says nothing about exponents in between.
    """
    steps = np.arange(_FINE**2) / _FINE**2
    logs = np.empty((_FINE**2, len(space)))

    def of_row(word: int, row: Floats) -> None:
        logs[:, word] = np.log(_sums_above(row, first))

    sums = Sums(logs, np.empty((0, len(space))), *_each_row(space, of_row, progress))
    return first * (1.0 + steps), sums


def _each_row(
    space: Truncated, of_row: Callable[[int, Floats], None], progress: Progress
) -> tuple[Floats, float]:
    """Visit all rows; return the least positive distance of each, and the largest of all."""
    size = len(space)
    nearest, farthest = np.empty((2, size))

    def of_block(block: slice) -> None:
        words = np.arange(size)[block]
        distances = space.distances(words)
        for word, row in zip(words, distances, strict=True):
            nearest[word], farthest[word] = _nearest(row), row.max()
            of_row(word, row)

    steps = blocks(size, row_cells=size)
    for done, _ in enumerate(each_in_threads(of_block, steps), 1):
        progress(done, len(steps))
    return nearest, float(farthest.max())


def _sums(row: Floats, first: float) -> tuple[Floats, Floats]:
    """Return Σ exp(−t·d) and Σ d·exp(−t·d) of a row, for all t.

    For equal steps s, exp(−(t + (4i + j)·s)·d) is a product of two factors. So 16 sums are one
    product of two matrices of 4 rows, and factors are squared from one power of two to the next.
    Words are dropped once they are negligible.
    """
    farthest = (_NEGLIGIBLE + np.log(len(row))) / first
    row = row[row <= farthest]
    start, step = np.exp(-first * row), np.exp(-first / _STEPS**2 * row)
    octaves = []
    for octave in range(_OCTAVES):
        relevant = row <= farthest / 2.0**octave
        if not relevant.all():
            row, start, step = row[relevant], start[relevant], step[relevant]
        octaves.append(_octave(row, start, step))
        start *= start
        step *= step
    total, moment = np.hstack([*octaves, [[start.sum()], [start @ row]]])
    return total, moment


def _octave(row: Floats, start: Floats, step: Floats) -> Floats:
    """Return both sums for 16 exponents: start·stepᵏ, k = 0 … 15."""
    coarse, fine = np.empty((_STEPS, len(row))), np.empty((2 * _STEPS, len(row)))
    fine[0], coarse[0] = 1.0, start
    _multiply_on(fine[:_STEPS], step)
    _multiply_on(coarse, fine[_STEPS - 1] * step)
    np.multiply(fine[:_STEPS], row, out=fine[_STEPS:])
    products = (coarse @ fine.T).reshape(_STEPS, 2, _STEPS)
    return np.asarray(products.swapaxes(0, 1).reshape(2, -1))


def _sums_above(row: Floats, first: float) -> Floats:
    """Return Σ exp(−t·d) of a row for 64 exponents, first·(1 + k/64), by a matrix product."""
    row = row[row <= (_NEGLIGIBLE + np.log(len(row))) / first]
    total = np.zeros((_FINE, _FINE))
    scratch = np.empty((2, _FINE, min(_CHUNK, len(row))))
    for begin in range(0, len(row), _CHUNK):
        part = row[begin : begin + _CHUNK]
        fine, coarse = scratch[:, :, : len(part)]
        step = np.exp(-first / _FINE**2 * part)
        fine[0], coarse[0] = 1.0, np.exp(-first * part)
        _multiply_on(fine, step)
        _multiply_on(coarse, fine[-1] * step)
        total += coarse @ fine.T
    return total.ravel()


def _multiply_on(rows: Floats, ratio: Floats) -> None:
    """Set each row to the one before it times the ratio."""
    for k in range(1, len(rows)):
        np.multiply(rows[k - 1], ratio, out=rows[k])
