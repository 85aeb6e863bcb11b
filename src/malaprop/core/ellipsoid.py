"""The shape of a cloud of public vectors, as a norm; and clusters of them."""

import numpy as np

from malaprop.core.errors import ParameterError
from malaprop.core.metric import Floats
from malaprop.core.space import Ids

_ROUNDS = 50  # of k-means: any partition serves, so it need not converge


class Ellipsoid:
    """The norm ‖v‖ = √(vᵀA⁻¹v), A = λΣ + (1 − λ)I, Σ the vectors' covariance scaled to trace d."""

    def __init__(self, vectors: Floats, regularization: float) -> None:
        dimension = vectors.shape[1]
        self.centre: Floats = vectors.mean(axis=0)
        centred = vectors - self.centre
        scatter = centred.T @ centred
        trace, unit = float(np.trace(scatter)), np.eye(dimension)
        # Without any variance no direction differs from another.
        sigma = scatter * (dimension / trace) if trace > 0 else unit
        self.matrix: Floats = regularization * sigma + (1.0 - regularization) * unit
        values, axes = np.linalg.eigh(self.matrix)
        # Rounded down by the error of eigh: what is derived from it must not be understated.
        self.least = float(values[0] - dimension * np.finfo(float).eps * values[-1])
        if self.least <= 1e-9 * values[-1]:
            raise ParameterError(
                "The covariance of the lexicon's vectors is singular, so there would be no noise "
                "at all in some directions: the 'regularization' must be below 1 for this "
                f"lexicon. Got {regularization}; 0.9 works."
            )
        self.root: Floats = (axes * np.sqrt(values)) @ axes.T
        self._inverse: Floats = (axes / np.sqrt(values)) @ axes.T

    def norm(self, vectors: Floats) -> Floats:
        """The norm of a vector, or of each row."""
        return np.asarray(np.linalg.norm(vectors @ self._inverse, axis=-1))


def clusters(vectors: Floats, count: int) -> Ids:
    """The cluster of each vector, by Lloyd's k-means from fixed rows: the same at each call.

    There may be fewer than `count`, where vectors coincide.

    >>> clusters(np.array([[0.0], [9.0], [0.1], [9.1]]), 2).tolist() in ([0, 1, 0, 1], [1, 0, 1, 0])
    True
    """
    if count > len(vectors):
        raise ParameterError(
            f"There can be at most as many clusters as words, {len(vectors)}. Got {count}."
        )
    rows = np.random.Generator(np.random.PCG64(0)).choice(len(vectors), count, replace=False)
    centres, labels = vectors[rows], np.zeros(len(vectors), dtype=np.int64)
    for _ in range(_ROUNDS if count > 1 else 0):
        before = labels
        scores = vectors @ centres.T - np.einsum("ij,ij->i", centres, centres) / 2.0
        labels = np.argmax(scores, axis=1).astype(np.int64)
        if np.array_equal(before, labels):
            break
        for c in np.unique(labels):
            centres[c] = vectors[labels == c].mean(axis=0)
    return labels
