"""Hyperbolic space in the Poincaré ball: its metric, its translations, and two charts of it.

A point is a vector of norm below 1. The tangent chart (`log0`, `exp0`) and the hyperboloid's
(`lift`, `lower`) map the ball onto all of ℝⁿ: what is rounded there cannot leave the ball.
"""

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Vectors
from malaprop.core.errors import MetricError, ParameterError
from malaprop.core.metric import DistanceRows, Metric
from malaprop.core.metrics.euclidean import Euclidean
from malaprop.core.proofs import proved
from malaprop.core.space import MetricSpace

EDGE = 1.0 - 2.0**-20
"""The largest norm of a vector. Closer to 1, float64 has too few digits of 1 − ‖x‖² left."""
REACH = 14.0
"""What is released is at most so far from the origin: 1 − tanh(7) is still within the edge."""


@proved("docs/proofs/audit.md")
class Poincare(Metric):
    """d(x, y) = 2·arsinh(‖x − y‖/√((1 − ‖x‖²)(1 − ‖y‖²))), of vectors with norms below 1."""

    name = "poincare"

    def relative_error(self, dimension: int) -> float:
        """Near the edge 1 − ‖x‖², which is at least 2⁻²⁰, has lost up to 20 bits."""
        return 2.0**21 * (dimension + 4) * 2.0**-53

    def on(self, vectors: Vectors) -> DistanceRows:
        """From Euclidean distances; the textbooks' arcosh would lose all digits near 0."""
        norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
        if (outside := int((norms > EDGE).sum())) > 0:
            raise MetricError(
                f"The Poincaré metric needs vectors with norms of at most 1 − 2⁻²⁰; {outside} of "
                f"them are longer, up to {norms.max():.9g}. Scale those down to 1 − 10⁻⁵, or take "
                "vectors that were trained in the Poincaré ball."
            )
        roots = np.sqrt(conformal(vectors.astype(np.float64)))
        chords = Euclidean().on(vectors)

        def rows(ids: NDArray[np.int64]) -> Floats:
            found = chords(ids)
            found /= roots[ids, None] * roots
            return 2.0 * np.arcsinh(found, out=found)

        return rows


def conformal(points: Floats) -> Floats:
    """1 − ‖x‖² of each row."""
    return np.asarray(1.0 - np.einsum("ij,ij->i", points, points))


def distances(x: Floats, y: Floats) -> Floats:
    """d(x, y), row by row.

    >>> distances(np.array([[0.5, 0.0]]), np.array([[0.0, 0.5]])).tolist()
    [1.6806997724280037]
    """
    chords = np.linalg.norm(x - y, axis=1)
    return np.asarray(2.0 * np.arcsinh(chords / np.sqrt(conformal(x) * conformal(y))))


def mobius_add(x: Floats, y: Floats) -> Floats:
    """x ⊕ y, row by row: y ↦ x ⊕ y is the translation, an isometry, that takes 0 to x."""
    xy = np.einsum("ij,ij->i", x, y)[:, None]
    xx, yy = 1.0 - conformal(x)[:, None], 1.0 - conformal(y)[:, None]
    return np.asarray(((1.0 + 2.0 * xy + yy) * x + (1.0 - xx) * y) / (1.0 + 2.0 * xy + xx * yy))


def log0(points: Floats) -> Floats:
    """The tangent vectors at the origin that lead to the points: as long as those are far."""
    norms = _norms(points)
    return np.asarray(points * (2.0 * np.arctanh(norms) / norms))


def exp0(tangents: Floats) -> Floats:
    """The points that tangent vectors at the origin lead to; `log0` undone."""
    lengths = _norms(tangents)
    return np.asarray(tangents * (np.tanh(0.5 * lengths) / lengths))


def lift(points: Floats) -> Floats:
    """The points' coordinates in space on the hyperboloid, 2x/(1 − ‖x‖²): sinh(d(0, x)) long."""
    return np.asarray(2.0 * points / conformal(points)[:, None])


def lower(lifted: Floats) -> Floats:
    """The points of the ball with these coordinates on the hyperboloid; `lift` undone."""
    squares = np.einsum("ij,ij->i", lifted, lifted)[:, None]
    return np.asarray(lifted / (1.0 + np.sqrt(1.0 + squares)))


def travel(points: Floats, directions: Floats, far: Floats) -> Floats:
    """Where one gets from each point by going `far` in a direction, lifted.

    This is the lift of x ⊕ tanh(far/2)·u, for unit vectors u. It has no denominators, so that it
    keeps its digits where the ball has none.
    """
    along = np.einsum("ij,ij->i", points, directions)[:, None]
    cosh, sinh = np.cosh(far)[:, None], np.sinh(far)[:, None]
    return np.asarray(sinh * directions + (cosh + sinh * along) * lift(points))


def shorten(vectors: Floats, longest: float) -> Floats:
    """The vectors, each cut down to a length of at most `longest`."""
    return np.asarray(vectors * np.minimum(1.0, longest / _norms(vectors)))


def in_ball(vectors: Floats) -> Floats:
    """The vectors, if all of them are points of the ball."""
    longest = float(np.linalg.norm(vectors, axis=1).max(initial=0.0))
    if longest > EDGE:
        raise ParameterError(
            "Vectors in the Poincaré ball must have norms of at most 1 − 2⁻²⁰. "
            f"Got one of {longest:.9g}."
        )
    return vectors


def _norms(vectors: Floats) -> Floats:
    """‖x‖ of each row, as a column; a zero vector's is tiny, so that one can divide by it."""
    return np.asarray(np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300))


def is_ball(space: MetricSpace) -> bool:
    """Whether a lexicon measures Poincaré distances, so that its words are in the ball."""
    return type(space.metric) is Poincare


def require_ball(lexicon: MetricSpace, mechanism: str) -> None:
    """Refuse a lexicon that is not in the Poincaré ball."""
    if str(lexicon.metric) != Poincare.name:
        raise MetricError(
            f"{mechanism} needs a lexicon in the Poincaré ball; this one measures {lexicon.metric} "
            "distances. Open 'english-hierarchy', or use TEM, which takes any metric."
        )
