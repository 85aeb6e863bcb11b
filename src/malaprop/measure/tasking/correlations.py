"""Correlations between what was computed and what people said."""

import numpy as np

from malaprop.core.arrays import Floats


def cosines(left: Floats, right: Floats) -> Floats:
    """Return the cosine of each row with the row at the same place; 0 for a vector of length 0.

    >>> cosines(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[2.0, 0.0], [1.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    products = np.einsum("ij,ij->i", left, right)
    return np.asarray(np.divide(products, lengths, out=np.zeros(len(left)), where=lengths > 0))


def pearson(left: Floats, right: Floats) -> float:
    """Return Pearson's correlation; 0 if either side does not vary."""
    left, right = left - left.mean(), right - right.mean()
    size = float(np.sqrt((left @ left) * (right @ right)))
    return float(left @ right) / size if size > 0 else 0.0


def spearman(left: Floats, right: Floats) -> float:
    """Return Spearman's correlation; equal values share their mean rank.

    >>> round(spearman(np.array([1.0, 2.0, 9.0]), np.array([0.0, 5.0, 6.0])), 6)
    1.0
    """
    from scipy.stats import rankdata

    return pearson(rankdata(left), rankdata(right))


def official(of_groups: list[tuple[int, float, float]]) -> float:
    """Return nadp-2023's score: geometric means of both correlations, weighted by group size.

    Each group is its size, Pearson's and Spearman's correlation. A geometric mean needs both above
    0: otherwise the group counts as 0.

    >>> official([(1, 0.5, 0.5), (3, 0.9, 0.9), (4, -0.1, 0.2)])
    0.4
    """
    means = [size * np.sqrt(max(p, 0.0) * max(s, 0.0)) for size, p, s in of_groups]
    return round(float(sum(means)) / sum(size for size, _, _ in of_groups), 12)
