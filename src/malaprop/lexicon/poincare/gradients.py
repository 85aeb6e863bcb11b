"""Computes the gradient of the training loss on a batch of words, by matrix products."""

from dataclasses import dataclass

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.metrics.poincare import conformal
from malaprop.lexicon.poincare.relations import Hierarchy

_TINY = 1e-9  # the gradient of a distance is undefined at distance 0


@dataclass(frozen=True)
class TrainingBatch:
    """Words, and negatives to contrast the words above them with.

    Each negative stands for as many words as its weight says.
    """

    words: Ids
    others: Ids
    weights: Floats


def gradients(hierarchy: Hierarchy, vectors: Floats, batch: TrainingBatch) -> tuple[Ids, Floats]:
    """Return the ids of all words involved, and the Euclidean gradient of the loss at them."""
    rows, above = _pairs(hierarchy, batch.words)
    own, others = vectors[batch.words], vectors[batch.others]
    negative = _Distances(own, others)
    decay = negative.decay * batch.weights
    decay[_excluded(batch, rows, above, len(vectors))] = 0.0
    total = decay.sum(axis=1)

    positive = _Distances(own[rows], vectors[above], paired=True)
    both = positive.decay + total[rows]
    # Derivatives of the loss with respect to distances: to words above, and to the others.
    pull = 2.0 * total[rows] / both
    push = -2.0 * decay * np.bincount(rows, 1.0 / both, minlength=len(own))[:, None]

    gradient = np.zeros_like(vectors)
    from_own, from_above = positive.backward(pull)
    np.add.at(gradient, batch.words[rows], from_own)
    np.add.at(gradient, above, from_above)
    from_own, from_others = negative.backward(push)
    np.add.at(gradient, batch.words, from_own)
    np.add.at(gradient, batch.others, from_others)
    ids = np.unique(np.concatenate([batch.words, batch.others, above]))
    return ids, gradient[ids]


class _Distances:
    """Distances of all x to all y, or of each x to its y, and their derivatives."""

    def __init__(self, x: Floats, y: Floats, *, paired: bool = False) -> None:
        self._x, self._y, self._paired = x, y, paired
        self._cx, self._cy = conformal(x), conformal(y)
        if paired:
            self._chords = np.einsum("ij,ij->i", x - y, x - y)
            self._scale = 1.0 / (self._cx * self._cy)
        else:
            squares = 2.0 - self._cx[:, None] - self._cy
            self._chords = np.maximum(squares - 2.0 * (x @ y.T), 0.0)
            self._scale = 1.0 / (self._cx[:, None] * self._cy)
        excess = 2.0 * self._chords * self._scale  # cosh d − 1
        self._sinh = np.sqrt(excess * (excess + 2.0))
        decay = 1.0 / (1.0 + excess + self._sinh)
        self.decay: Floats = decay * decay
        """e^−2d"""

    def backward(self, by_distance: Floats) -> tuple[Floats, Floats]:
        """Return the gradients at x and y, given the derivatives with respect to distances.

        ∂d/∂x = 4/(sinh d·(1 − ‖x‖²)(1 − ‖y‖²))·(x − y + ‖x − y‖²/(1 − ‖x‖²)·x)
        """
        factors = 4.0 * by_distance * self._scale / np.maximum(self._sinh, _TINY)
        radial = factors * self._chords
        if self._paired:
            towards = factors[:, None] * (self._x - self._y)
            at_x = towards + (radial / self._cx)[:, None] * self._x
            return at_x, (radial / self._cy)[:, None] * self._y - towards
        own = factors.sum(axis=1) + radial.sum(axis=1) / self._cx
        other = factors.sum(axis=0) + radial.sum(axis=0) / self._cy
        at_x = own[:, None] * self._x - factors @ self._y
        return at_x, other[:, None] * self._y - factors.T @ self._x


def _pairs(hierarchy: Hierarchy, words: Ids) -> tuple[Ids, Ids]:
    """Return all pairs of a word and one above it: the position of the first, the second's id."""
    return np.repeat(np.arange(len(words)), hierarchy.counts[words]), hierarchy.above_of(words)


def _excluded(batch: TrainingBatch, rows: Ids, above: Ids, size: int) -> tuple[Ids, Ids]:
    """Return where a word would be its own negative, or have a word above it as one."""
    columns = np.full(size, -1)
    columns[batch.others] = np.arange(len(batch.others))
    all_rows = np.concatenate([rows, np.arange(len(batch.words))])
    all_columns = columns[np.concatenate([above, batch.words])]
    present = all_columns >= 0
    return all_rows[present], all_columns[present]
