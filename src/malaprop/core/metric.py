"""True metrics on word vectors, computed by rows of a whole lexicon at a time.

A metric must satisfy the triangle inequality, or every guarantee that is stated in it is
false; so a user's own function is checked on random triples, and cosine distance, which is no
metric, is refused.
"""

import difflib
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from malaprop.core.errors import MetricError

Vectors = NDArray[np.float32]
Floats = NDArray[np.float64]
Rows = Callable[[NDArray[np.int64]], Floats]

_TRIPLES = 200  # how many random triples a user's function is checked on


class Metric(ABC):
    """A distance d with d(x, x) = 0, d(x, y) = d(y, x) and d(x, z) ≤ d(x, y) + d(y, z)."""

    name: ClassVar[str]

    @abstractmethod
    def on(self, vectors: Vectors) -> Rows:
        """The function that maps ids to their distances to all `vectors`, in float64.

        What depends on the vectors alone is computed here, once.
        """

    def token(self, vectors: Vectors) -> bytes:
        """What identifies the metric in a lexicon's fingerprint."""
        return self.name.encode()

    def __str__(self) -> str:
        return self.name


class Euclidean(Metric):
    """d(x, y) = ‖x − y‖₂."""

    name = "euclidean"

    def on(self, vectors: Vectors) -> Rows:
        """Exact on a grid (see `products_are_exact`), else in float64."""
        return _grid_rows(vectors) if products_are_exact(vectors) else _float_rows(vectors)


class Angular(Metric):
    """d(x, y) = the angle between x and y, in radians: 0 to π."""

    name = "angular"

    def on(self, vectors: Vectors) -> Rows:
        """From the chord between unit vectors: arccos would lose half the digits near 0."""
        long = vectors.astype(np.float64)
        norms = np.linalg.norm(long, axis=1, keepdims=True)
        if not norms.all():
            raise MetricError(
                "The angular metric needs vectors that are not zero; "
                f"{int((norms == 0).sum())} of them are. Remove those words."
            )
        units = long / norms

        def rows(ids: NDArray[np.int64]) -> Floats:
            chords = _distances(units[ids], units)
            chords[np.arange(len(ids)), ids] = 0.0
            # 2·atan2(‖u − v‖, ‖u + v‖) is accurate at both ends of 0 … π.
            return 2.0 * np.arctan2(chords, _distances(-units[ids], units))

        return rows


class Manhattan(Metric):
    """d(x, y) = ‖x − y‖₁."""

    name = "manhattan"

    def on(self, vectors: Vectors) -> Rows:
        """By scipy's compiled loop over differences."""
        return _compiled_rows(vectors, "cityblock")


class Chebyshev(Metric):
    """d(x, y) = max |xᵢ − yᵢ|."""

    name = "chebyshev"

    def on(self, vectors: Vectors) -> Rows:
        """By scipy's compiled loop over differences."""
        return _compiled_rows(vectors, "chebyshev")


class Custom(Metric):
    """A user's own function, of two vectors or of two matrices of row vectors.

    `function(x, y)` returns a number for two vectors, as for scipy and scikit-learn; or, faster,
    `function(X, Y)` returns all len(X) × len(Y) distances. Which of the two is tried out.
    """

    name = "custom"

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self._function = function
        self._label = getattr(function, "__name__", type(function).__name__)

    def __str__(self) -> str:
        return self._label

    def on(self, vectors: Vectors) -> Rows:
        """The function itself, once it has passed the checks."""
        long = vectors.astype(np.float64)
        pairwise = self._pairwise(long)
        _check_axioms(self._label, pairwise, long)

        def rows(ids: NDArray[np.int64]) -> Floats:
            found = pairwise(long[ids], long)
            found[np.arange(len(ids)), ids] = 0.0
            return found

        return rows

    def token(self, vectors: Vectors) -> bytes:
        """Its name, and values of it: code itself has no fingerprint."""
        probe = vectors[:: max(1, len(vectors) // 16)].astype(np.float64)
        return b"custom\0" + self._label.encode() + self._pairwise(probe)(probe, probe).tobytes()

    def _pairwise(self, vectors: Floats) -> Callable[[Floats, Floats], Floats]:
        """The function in the form (X, Y) → matrix."""
        x, y = np.repeat(vectors[:1], 3, axis=0), np.repeat(vectors[-1:], 2, axis=0)
        try:
            takes_matrices = np.shape(self._function(x, y)) == (3, 2)
        except Exception:  # a function of vectors may fail on matrices in any way
            takes_matrices = False
        if takes_matrices:
            return lambda a, b: np.array(self._function(a, b), dtype=np.float64)
        return self._looped

    def _looped(self, a: Floats, b: Floats) -> Floats:
        found = [[float(self._function(x, y)) for y in b] for x in a]
        return np.array(found, dtype=np.float64).reshape(len(a), len(b))


NAMED: dict[str, Metric] = {m.name: m for m in (Euclidean(), Angular(), Manhattan(), Chebyshev())}


def as_metric(metric: "str | Metric | Callable[[Any, Any], Any]") -> Metric:
    """A metric from its name, from a user's function, or itself.

    >>> str(as_metric("angular"))
    'angular'
    """
    if isinstance(metric, Metric):
        return metric
    if not isinstance(metric, str):
        if callable(metric):
            return Custom(metric)
        raise MetricError(f"A metric must be a name or a function. Got a {type(metric).__name__}.")
    if metric in NAMED:
        return NAMED[metric]
    if "cos" in metric.lower():
        raise MetricError(
            "Cosine distance is no metric: it breaks the triangle inequality, and with it every "
            "guarantee. Use 'angular', the angle itself, which orders words in the same way."
        )
    near = difflib.get_close_matches(metric, NAMED, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise MetricError(
        f"Unknown metric {metric!r}.{hint} There are {', '.join(NAMED)}, or give a function."
    )


def products_are_exact(vectors: Vectors) -> bool:
    """Whether a float32 matrix product of the vectors makes no rounding error at all.

    So it is where all entries are integers times a power of two, small enough that every
    partial sum of ‖x‖² + ‖y‖² − 2⟨x, y⟩ is an integer below 2²⁴ in those units: then squared
    distances are exact, in any order of summation, on every machine.
    """
    few = 1024  # enough to tell for most lexicons, and much faster
    return _fits_grid(vectors[:few]) and _fits_grid(vectors)


def _fits_grid(vectors: Vectors) -> bool:
    reach = 2.0 * float(np.sqrt(_squares(vectors).max()))
    if reach == 0.0:
        return True
    exponent = 12 - int(np.frexp(reach)[1])  # (reach · 2^exponent)² ≤ 2²⁴
    if abs(exponent) > 100:  # beyond that, float32 itself would overflow
        return False
    scaled = vectors * np.float32(2.0**exponent)
    return np.array_equal(scaled, np.rint(scaled))


def _squares(vectors: NDArray[np.floating[Any]]) -> Floats:
    """‖x‖² of each row, in float64."""
    found: Floats = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    return found


def _grid_rows(vectors: Vectors) -> Rows:
    squares = _squares(vectors)

    def rows(ids: NDArray[np.int64]) -> Floats:
        found = (vectors[ids] @ vectors.T).astype(np.float64)
        found *= -2.0
        found += squares
        found += squares[ids, None]
        return np.sqrt(found, out=found)

    return rows


def _float_rows(vectors: Vectors) -> Rows:
    def rows(ids: NDArray[np.int64]) -> Floats:
        found = _distances(vectors[ids].astype(np.float64), vectors)
        found[np.arange(len(ids)), ids] = 0.0
        return found

    return rows


def _compiled_rows(vectors: Vectors, name: str) -> Rows:
    def rows(ids: NDArray[np.int64]) -> Floats:
        from scipy.spatial.distance import cdist

        found: Floats = cdist(vectors[ids].astype(np.float64), vectors.astype(np.float64), name)
        return found

    return rows


def _distances(left: Floats, right: NDArray[np.floating[Any]]) -> Floats:
    """Euclidean distances of all rows of `left` and `right`.

    ‖x‖² + ‖y‖² − 2⟨x, y⟩ loses its digits where x and y are close; those pairs are computed
    again from their differences, so that equal vectors are at distance 0 exactly.
    """
    found = np.empty((len(left), len(right)))
    squares = _squares(left)[:, None]
    step = 1 << 14
    for start in range(0, len(right), step):
        block = right[start : start + step].astype(np.float64)
        scale = squares + _squares(block)
        square = scale - 2.0 * (left @ block.T)
        close = np.argwhere(square < 1e-4 * scale)
        for part in np.array_split(close, 1 + len(close) // 4096):
            difference = left[part[:, 0]] - block[part[:, 1]]
            square[part[:, 0], part[:, 1]] = _squares(difference)
        found[:, start : start + step] = np.sqrt(np.maximum(square, 0.0, out=square))
    return found


def _check_axioms(label: str, pairwise: Callable[[Floats, Floats], Floats], points: Floats) -> None:
    """Refuse a function that is no metric on random triples of the lexicon's own vectors."""
    picks = np.random.Generator(np.random.PCG64(0)).integers(len(points), size=(_TRIPLES, 3))
    for i, j, k in picks:
        three = points[[i, j, k]]
        d = pairwise(three, three)
        if d.shape != (3, 3) or not np.isfinite(d).all() or (d < 0).any():
            raise MetricError(f"{label} is no metric: distances must be finite numbers, 0 or more.")
        slack = 1e-9 * d.max()
        if np.abs(np.diagonal(d)).max() > slack:
            raise MetricError(f"{label} is no metric: d(x, x) must be 0. Got {d.diagonal().max()}.")
        if np.abs(d - d.T).max() > slack:
            raise MetricError(
                f"{label} is no metric: it is not symmetric, {d[0, 1]} one way and {d[1, 0]} back."
            )
        if (d[:, None, :] > d[:, :, None] + d[None, :, :] + slack).any():
            raise MetricError(
                f"{label} is no metric: it breaks the triangle inequality, as squared distances "
                "and cosine distance do. Take the root of the one, the angle for the other."
            )
