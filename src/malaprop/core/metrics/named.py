"""Metrics by name, and users' own functions.

A user's function is tested for the axioms of a metric. Cosine distance, which is not a metric, is
refused.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Vectors
from malaprop.core.errors import MetricError
from malaprop.core.metric import DistanceRows, Metric
from malaprop.core.metrics.euclidean import Angular, Euclidean
from malaprop.core.metrics.poincare import Poincare
from malaprop.core.proofs import proved
from malaprop.core.suggest import did_you_mean

_TRIPLES = 200  # random triples of words that a user's function is tested on
_PROBES = 12  # words whose nearest words it is tested on


@proved("docs/proofs/audit.md")
class Manhattan(Metric):
    """d(x, y) = ‖x − y‖₁."""

    name = "manhattan"

    def on(self, vectors: Vectors) -> DistanceRows:
        """Compute by scipy's compiled loop over differences."""
        return _compiled_rows(vectors, "cityblock")


@proved("docs/proofs/audit.md")
class Chebyshev(Metric):
    """d(x, y) = max |xᵢ − yᵢ|."""

    name = "chebyshev"

    def on(self, vectors: Vectors) -> DistanceRows:
        """Compute by scipy's compiled loop over differences."""
        return _compiled_rows(vectors, "chebyshev")


class Custom(Metric):
    """A user's own function, of two vectors or of two matrices of row vectors.

    `function(x, y)` returns a number for two vectors, as for scipy and scikit-learn; or, faster,
    `function(X, Y)` returns all len(X) × len(Y) distances. A trial call finds out which it is.
    """

    name = "custom"
    assumption = "that the user's function is a metric, which was tried on samples only"

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self._function = function
        name = getattr(function, "__name__", type(function).__name__)
        # A function called "euclidean" must not pass for the metric of that name.
        free = name.isidentifier() and name not in (*NAMED, "graph")
        self._label = name if free else f"custom({name})"

    def __str__(self) -> str:
        return self._label

    def on(self, vectors: Vectors) -> DistanceRows:
        """Test the axioms of a metric, then compute with the function."""
        long = vectors.astype(np.float64)
        pairwise = self._pairwise(long)
        _check_axioms(self._label, pairwise, long)
        _check_near_pairs(self._label, pairwise, long)

        def rows(ids: NDArray[np.int64]) -> Floats:
            distances = pairwise(long[ids], long)
            distances[np.arange(len(ids)), ids] = 0.0
            return distances

        return rows

    def token(self, vectors: Vectors) -> bytes:
        """Return the name and some values of the function: code has no fingerprint."""
        probe = vectors[:: max(1, len(vectors) // 16)].astype(np.float64)
        return b"custom\0" + self._label.encode() + self._pairwise(probe)(probe, probe).tobytes()

    def _pairwise(self, vectors: Floats) -> Callable[[Floats, Floats], Floats]:
        """Return the function in the form (X, Y) → matrix."""
        x, y = np.repeat(vectors[:1], 3, axis=0), np.repeat(vectors[-1:], 2, axis=0)
        try:
            takes_matrices = np.shape(self._function(x, y)) == (3, 2)
        except Exception:  # a function of vectors may fail on matrices in any way
            takes_matrices = False
        if takes_matrices:
            return lambda a, b: self._tried(lambda: np.array(self._function(a, b), np.float64))
        return lambda a, b: self._tried(lambda: self._looped(a, b))

    def _tried(self, compute: Callable[[], Floats]) -> Floats:
        try:
            return compute()
        except Exception as error:
            raise MetricError(
                f"{self._label} failed with {type(error).__name__}: a metric is a function of two "
                "vectors that returns a number, or of two matrices that returns a matrix."
            ) from None

    def _looped(self, a: Floats, b: Floats) -> Floats:
        rows = [[float(self._function(x, y)) for y in b] for x in a]
        return np.array(rows, dtype=np.float64).reshape(len(a), len(b))


NAMED: dict[str, Metric] = {
    m.name: m for m in (Euclidean(), Angular(), Manhattan(), Chebyshev(), Poincare())
}


def as_metric(metric: "str | Metric | Callable[[Any, Any], Any]") -> Metric:
    """Return a metric, given its name, a user's function, or the metric itself.

    >>> str(as_metric("angular"))
    'angular'
    """
    if isinstance(metric, Metric):
        return metric
    if not isinstance(metric, str):
        if callable(metric):
            return Custom(metric)
        raise MetricError(f"A metric must be a name or a function. Got {type(metric).__name__}.")
    if metric in NAMED:
        return NAMED[metric]
    if "cos" in metric.lower():
        raise MetricError(
            "Cosine distance is not a metric: it breaks the triangle inequality, and with it every "
            "guarantee. Use 'angular', the angle itself, which orders words in the same way."
        )
    if metric == "graph":
        raise MetricError("The metric 'graph' needs a word graph: use lexicon.with_graph().")
    hint = did_you_mean(metric, NAMED)
    raise MetricError(
        f"Unknown metric {metric!r}.{hint} There are {', '.join(NAMED)}, or give a function."
    )


def _compiled_rows(vectors: Vectors, name: str) -> DistanceRows:
    def rows(ids: NDArray[np.int64]) -> Floats:
        from scipy.spatial.distance import cdist

        distances: Floats = cdist(vectors[ids].astype(np.float64), vectors.astype(np.float64), name)
        return distances

    return rows


def _check_axioms(label: str, pairwise: Callable[[Floats, Floats], Floats], points: Floats) -> None:
    """Refuse a function that is not a metric on random triples of the lexicon's vectors."""
    picks = np.random.Generator(np.random.PCG64(0)).integers(len(points), size=(_TRIPLES, 3))
    for i, j, k in picks:
        three = points[[i, j, k]]
        d = pairwise(three, three)
        if d.shape != (3, 3) or not np.isfinite(d).all() or (d < 0).any():
            raise MetricError(
                f"{label} is not a metric: distances must be finite numbers, 0 or more."
            )
        slack = 1e-9 * d.max()
        if np.abs(np.diagonal(d)).max() > slack:
            raise MetricError(
                f"{label} is not a metric: d(x, x) must be 0. Got {d.diagonal().max()}."
            )
        if np.abs(d - d.T).max() > slack:
            raise MetricError(
                f"{label} is not a metric: it is asymmetric, {d[0, 1]} one way and {d[1, 0]} back."
            )
        if (d[:, None, :] > d[:, :, None] + d[None, :, :] + slack).any():
            raise _no_triangle(label)


def _check_near_pairs(
    label: str, pairwise: Callable[[Floats, Floats], Floats], points: Floats
) -> None:
    """Refuse a function that breaks |d(x, z) − d(y, z)| ≤ d(x, y) for near words x and y.

    Random words in many dimensions are all about equally far apart, and even squared distances
    pass on them. They fail between near words.
    """
    picks = np.unique(np.linspace(0, len(points) - 1, _PROBES).astype(int))
    rows = pairwise(points[picks], points)
    near = np.argsort(rows, axis=1, kind="stable")[:, 1:3]
    for row, ids in zip(rows, near, strict=True):
        others = pairwise(points[ids], points)
        gaps = np.abs(others - row).max(axis=1)
        if (gaps > row[ids] + 1e-9 * row.max()).any():
            raise _no_triangle(label)


def _no_triangle(label: str) -> MetricError:
    return MetricError(
        f"{label} is not a metric: it breaks the triangle inequality, as squared distances and "
        "cosine distance do. Use the square root, or the angle, instead."
    )
