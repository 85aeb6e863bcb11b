"""Hyperbolic space in the Poincaré ball: its metric, its translations, and two charts.

A point is a vector of norm below 1. The tangent chart (`log0`, `exp0`) and the hyperboloid chart
(`lift`, `lower`) map the ball onto all of ℝⁿ: rounding there cannot leave the ball.
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
"""The largest distance of a release from the origin: tanh(7) is still within the edge."""


@proved("docs/proofs/audit.md")
class Poincare(Metric):
    """d(x, y) = 2·arsinh(‖x − y‖/√((1 − ‖x‖²)(1 − ‖y‖²))), of vectors with norms below 1."""

    name = "poincare"

    def relative_error(self, dimension: int) -> float:
        """Near the edge, 1 − ‖x‖² ≥ 2⁻²⁰ has lost up to 20 bits."""
        return 2.0**21 * (dimension + 4) * 2.0**-53

    def on(self, vectors: Vectors) -> DistanceRows:
        """Compute from Euclidean distances; the textbooks' arcosh would lose all digits near 0."""
        norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
        if (outside := int((norms > EDGE).sum())) > 0:
            raise MetricError(
                f"The Poincaré metric needs vectors with norms of at most 1 − 2⁻²⁰; {outside} of "
                f"them are longer, up to {norms.max():.9g}. Scale those down to 1 − 10⁻⁵, or use "
                "vectors that were trained in the Poincaré ball."
            )
        roots = np.sqrt(conformal(vectors.astype(np.float64)))
        chords = Euclidean().on(vectors)

        def rows(ids: NDArray[np.int64]) -> Floats:
            distances = chords(ids)
            distances /= roots[ids, None] * roots
            return 2.0 * np.arcsinh(distances, out=distances)

        return rows


def conformal(points: Floats) -> Floats:
    """Return 1 − ‖x‖² of each row."""
    return np.asarray(1.0 - np.einsum("ij,ij->i", points, points))


def distances(x: Floats, y: Floats) -> Floats:
    """Return d(x, y), row by row.

    >>> distances(np.array([[0.5, 0.0]]), np.array([[0.0, 0.5]])).tolist()
    [1.6806997724280037]
    """
    chords = np.linalg.norm(x - y, axis=1)
    return np.asarray(2.0 * np.arcsinh(chords / np.sqrt(conformal(x) * conformal(y))))


def mobius_add(x: Floats, y: Floats) -> Floats:
    """Return x ⊕ y, row by row: y ↦ x ⊕ y is the translation, an isometry, that takes 0 to x."""
    xy = np.einsum("ij,ij->i", x, y)[:, None]
    xx, yy = 1.0 - conformal(x)[:, None], 1.0 - conformal(y)[:, None]
    return np.asarray(((1.0 + 2.0 * xy + yy) * x + (1.0 - xx) * y) / (1.0 + 2.0 * xy + xx * yy))


def log0(points: Floats) -> Floats:
    """Return the tangent vectors at the origin that lead to the points, of length d(0, x)."""
    norms = _norms(points)
    return np.asarray(points * (2.0 * np.arctanh(norms) / norms))


def exp0(tangents: Floats) -> Floats:
    """Return the points that tangent vectors at the origin lead to: the inverse of `log0`."""
    lengths = _norms(tangents)
    return np.asarray(tangents * (np.tanh(0.5 * lengths) / lengths))


def lift(points: Floats) -> Floats:
    """Return the space coordinates on the hyperboloid, 2x/(1 − ‖x‖²), of length sinh(d(0, x))."""
    return np.asarray(2.0 * points / conformal(points)[:, None])


def lower(lifted: Floats) -> Floats:
    """Return the points of the ball with these hyperboloid coordinates: the inverse of `lift`."""
    squares = np.einsum("ij,ij->i", lifted, lifted)[:, None]
    return np.asarray(lifted / (1.0 + np.sqrt(1.0 + squares)))


def travel(points: Floats, directions: Floats, far: Floats) -> Floats:
    """Return, lifted, the points at distance `far` from each point in the given direction.

    This is the lift of x ⊕ tanh(far/2)·u for unit vectors u. It has no denominators, so it keeps
    its digits where points of the ball have none left.
    """
    along = np.einsum("ij,ij->i", points, directions)[:, None]
    cosh, sinh = np.cosh(far)[:, None], np.sinh(far)[:, None]
    return np.asarray(sinh * directions + (cosh + sinh * along) * lift(points))


def shorten(vectors: Floats, longest: float) -> Floats:
    """Return the vectors, each shortened to a length of at most `longest`."""
    return np.asarray(vectors * np.minimum(1.0, longest / _norms(vectors)))


def in_ball(vectors: Floats) -> Floats:
    """Return the vectors; raise an error unless all of them are points of the ball."""
    longest = float(np.linalg.norm(vectors, axis=1).max(initial=0.0))
    if longest > EDGE:
        raise ParameterError(
            "Vectors in the Poincaré ball must have norms of at most 1 − 2⁻²⁰. "
            f"Got one of {longest:.9g}."
        )
    return vectors


def _norms(vectors: Floats) -> Floats:
    """Return ‖x‖ of each row, as a column; tiny instead of 0, so that division is possible."""
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
