"""Metrics, the distances that guarantees are stated in, and the spaces that they measure.

A metric must satisfy the triangle inequality: otherwise every guarantee stated in it is false. So a
user's function is tested for the axioms, and cosine distance is refused. Steps in a word graph
are in `malaprop.privacy.word_graph`.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from malaprop.privacy.arrays import Floats, Ids, Keys, Reals, Vectors, checked_ids
from malaprop.privacy.errors import MetricError, ParameterError, did_you_mean
from malaprop.privacy.guarantee import proved

if TYPE_CHECKING:
    from malaprop.privacy.lazy_rows import NearWords

DistanceRows = Callable[[Ids], Floats]
"""From ids of words to a row each: the distances to all words."""


@dataclass(frozen=True, eq=False)
class KeyedDistances:
    """Distances that grow with keys, which are cheaper to compute and to compare."""

    keys: Callable[[Ids], Keys]
    lengths: Callable[[Keys], Floats]
    pairs: Callable[[Ids, Ids], Keys] | None = None
    """Returns the keys of pairs of words."""

    def __call__(self, ids: Ids) -> Floats:
        return self.lengths(self.keys(ids))


class Metric(ABC):
    """A distance d with d(x, x) = 0, d(x, y) = d(y, x) and d(x, z) ≤ d(x, y) + d(y, z)."""

    name: ClassVar[str]
    assumption: ClassVar[str] = ""
    """What a guarantee in this metric assumes."""

    @abstractmethod
    def on(self, vectors: Vectors) -> DistanceRows:
        """Return the function that maps ids to their distances to all `vectors`, in float64.

        Whatever depends on the vectors alone is computed here, once.
        """

    def relative_error(self, dimension: int) -> float:
        """Bound the relative rounding error of a distance."""
        # A squared distance below 1 % of ‖x‖² + ‖y‖² is computed again from differences. Above
        # that, each term has an error of at most (d + 4)·2⁻⁵³.
        return 100.0 * (dimension + 4) * 2.0**-53

    def token(self, vectors: Vectors) -> bytes:
        """Return bytes that identify the metric in a lexicon's fingerprint."""
        cls = type(self)
        if cls.__module__.startswith("malaprop.privacy."):
            return self.name.encode()
        # A user's subclass may have inherited the name.
        return f"{self.name}\0{cls.__module__}.{cls.__qualname__}".encode()

    def __str__(self) -> str:
        return self.name


class MetricSpace(Protocol):
    """Words, their vectors and a metric: all that a mechanism may know about a lexicon."""

    @property
    def words(self) -> Sequence[str]:
        """The words; a word's place is its id."""

    @property
    def vectors(self) -> NDArray[np.float32]:
        """The words' vectors, read-only."""

    @property
    def metric(self) -> Metric:
        """The metric of the distances."""

    def __len__(self) -> int: ...

    def distances(self, ids: Any) -> Floats:
        """Return the distances from the words `ids` to all words."""

    def keys(self, ids: Any) -> Keys:
        """Return numbers that grow with those distances and are cheaper to compute."""

    def lengths(self, keys: Keys) -> Floats:
        """Return the distances that keys stand for."""

    def near_words(self, ids: Any) -> "NearWords | None":
        """Return the nearest words of `ids`; None if the lexicon has no lists of them."""


_PARTS = ("words", "vectors", "metric", "distances", "keys", "lengths", "near_words")


def checked_space(space: Any, asker: str) -> MetricSpace:
    """Return `space` if it is a lexicon; otherwise raise an error in the name of `asker`.

    >>> checked_space([[0.0], [1.0]], "Laplace.on")
    Traceback (most recent call last):
    malaprop.privacy.errors.ParameterError: Laplace.on takes a lexicon, ... Got list. ...
    """
    held = getattr(space, "__dict__", ())
    lexical = all(hasattr(type(space), part) or part in held for part in _PARTS)
    if isinstance(space, type) or not lexical:
        remedy = ""
        if isinstance(space, list | tuple) or hasattr(space, "__array__"):
            remedy = (
                " If these are vectors of words, make a lexicon of words and vectors: "
                "malaprop.Lexicon(words, vectors). To release vectors that are not words, use "
                "malaprop.Laplace(epsilon=…).release(vectors), or in scikit-learn PrivateEmbedding."
            )
        raise ParameterError(
            f"{asker} takes a lexicon, such as malaprop.Lexicon.open('english'). "
            f"Got {type(space).__name__}.{remedy}"
        )
    checked: MetricSpace = space
    return checked


# Euclidean distances and angles, by matrix products that keep the digits that matter.

_PAIRS = 1 << 11  # vectors gathered at a time


@proved("docs/proofs/audit.md")
class Euclidean(Metric):
    """d(x, y) = ‖x − y‖₂."""

    name = "euclidean"

    def on(self, vectors: Vectors) -> DistanceRows:
        """Compute exactly on a grid (see `products_are_exact`), otherwise in float64."""
        if products_are_exact(vectors):
            return _grid_rows(vectors)
        return _rows(lambda ids: _distances(vectors[ids].astype(np.float64), vectors))


@proved("docs/proofs/audit.md")
class Angular(Metric):
    """d(x, y) = the angle between x and y, in radians: 0 to π."""

    name = "angular"

    def on(self, vectors: Vectors) -> DistanceRows:
        """Compute from chords between unit vectors: arccos would lose half the digits near 0."""
        long = vectors.astype(np.float64)
        norms = np.linalg.norm(long, axis=1, keepdims=True)
        if not norms.all():
            raise MetricError(
                "The angular metric needs nonzero vectors; "
                f"{int((norms == 0).sum())} of them are zero. Remove those words."
            )
        units = long / norms
        chords = _rows(lambda ids: _distances(units[ids], units))
        # 2·atan2(‖u − v‖, ‖u + v‖) is accurate at both ends of 0 … π.
        return lambda ids: 2.0 * np.arctan2(chords(ids), _distances(-units[ids], units))


def require_euclidean(space: MetricSpace, mechanism: object) -> None:
    """Refuse a lexicon whose metric is not exactly this module's `Euclidean`, nor a subclass."""
    if type(space.metric) is not Euclidean:
        raise MetricError(
            f"{type(mechanism).__name__} needs Euclidean distances; this lexicon measures "
            f"{space.metric} ones. Use TEM, which takes any metric, or "
            "lexicon.with_metric('euclidean')."
        )


def products_are_exact(vectors: Vectors) -> bool:
    """Whether a float32 matrix product of the vectors makes no rounding error at all."""
    return exact_unit(vectors) is not None


def exact_unit(vectors: Vectors) -> float | None:
    """Return a unit in which matrix products in float32 make no rounding error; None without one.

    They make none if all entries are integers times a power of two, so small that every partial
    sum of ‖x‖² + ‖y‖² − 2⟨x, y⟩ is an integer below 2²⁴ in those units. Squared distances are then
    exact, in any order of summation, on every machine.
    """
    few = 1024  # enough to rule out most lexicons, and much faster
    if len(vectors) > few and not products_are_exact(vectors[:few]):
        return None
    reach = 2.0 * float(np.sqrt(_squares(vectors).max()))
    if reach == 0.0:
        return 1.0
    exponent = 12 - int(np.frexp(reach)[1])  # (reach · 2^exponent)² ≤ 2²⁴
    if abs(exponent) > 50:  # beyond that, products would leave the range of float32
        return None
    scaled = vectors * np.float32(2.0**exponent)
    vanished = np.count_nonzero(scaled) < np.count_nonzero(vectors)
    exact = not vanished and np.array_equal(scaled, np.rint(scaled))
    return 2.0**-exponent if exact else None


def _squares(vectors: Reals) -> Floats:
    """Return ‖x‖² of each row, in float64."""
    return np.asarray(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))


def _grid_rows(vectors: Vectors) -> DistanceRows:
    """Compute distances from their squares, which are exact in float32."""
    squares = _squares(vectors).astype(np.float32)

    def keys(ids: Ids) -> Keys:
        rows = (-2.0 * vectors[ids]) @ vectors.T
        for row, square in zip(rows, squares[ids], strict=True):
            row += squares + square
        return rows

    @cache
    def in_bytes() -> tuple[NDArray[Any], np.float32]:
        """Return the vectors as bytes in a unit, a power of two; unchanged if none fits.

        Words are gathered from all over the lexicon: a table of a quarter of the size stays in the
        cache more often.
        """
        largest = float(np.abs(vectors).max(initial=0.0))
        unit = np.float32(2.0 ** np.ceil(np.log2(largest / 127.0))) if largest else np.float32(1.0)
        scaled = vectors / unit
        if not np.array_equal(scaled, np.rint(scaled)):
            return vectors, np.float32(1.0)
        return scaled.astype(np.int8), unit

    def pairs(ids: Ids, words: Ids) -> Keys:
        table, unit = in_bytes()
        products = np.empty(len(ids), dtype=np.float32)
        gathered = np.empty((min(_PAIRS, len(ids)), vectors.shape[1]), dtype=np.float32)
        changes = np.flatnonzero(ids[1:] != ids[:-1]) + 1
        for first, last in pairwise([0, *changes.tolist(), len(ids)]):  # runs of one word each
            for start in range(first, last, _PAIRS):
                part = slice(start, min(start + _PAIRS, last))
                chosen = gathered[: part.stop - part.start]
                chosen[:] = table.take(words[part], axis=0)
                np.matmul(chosen, unit * vectors[ids[first]], out=products[part])
        return squares[ids] + squares[words] - 2.0 * products

    return KeyedDistances(keys, lambda keys: np.sqrt(keys, dtype=np.float64), pairs)


def _rows(compute: DistanceRows) -> DistanceRows:
    """Return a function for rows of distances; that of a word from itself is 0 exactly."""

    def rows(ids: Ids) -> Floats:
        distances = compute(ids)
        distances[np.arange(len(ids)), ids] = 0.0
        return distances

    return rows


def _distances(left: Floats, right: Reals) -> Floats:
    """Return the Euclidean distances between all rows of `left` and `right`.

    ‖x‖² + ‖y‖² − 2⟨x, y⟩ loses digits if x and y are close. Those pairs are computed again from
    their differences, so that equal vectors are at distance 0 exactly.
    """
    distances = np.empty((len(left), len(right)))
    squares = _squares(left)[:, None]
    step = 1 << 14
    for start in range(0, len(right), step):
        block = right[start : start + step].astype(np.float64)
        scale = squares + _squares(block)
        square = scale - 2.0 * (left @ block.T)
        close = np.argwhere(square < 1e-2 * scale)
        for part in np.array_split(close, 1 + len(close) // 4096):
            square[part[:, 0], part[:, 1]] = _squares(left[part[:, 0]] - block[part[:, 1]])
        distances[:, start : start + step] = np.sqrt(np.maximum(square, 0.0, out=square))
    return distances


# Hyperbolic space in the Poincaré ball: its metric, its translations, and two charts.
#
# A point is a vector of norm below 1. The tangent chart (`log0`, `exp0`) and the hyperboloid chart
# (`lift`, `lower`) map the ball onto all of ℝⁿ: rounding there cannot leave the ball.

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

        def rows(ids: Ids) -> Floats:
            distances = chords(ids)
            distances /= roots[ids, None] * roots
            return 2.0 * np.arcsinh(distances, out=distances)

        return rows


def conformal(points: Floats) -> Floats:
    """Return 1 − ‖x‖² of each row."""
    return 1.0 - _squares(points)


def distances(x: Floats, y: Floats) -> Floats:
    """Return the Poincaré distance d(x, y), row by row.

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
    return np.asarray(lifted / (1.0 + np.sqrt(1.0 + _squares(lifted)[:, None])))


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


def _norms(vectors: Floats) -> Floats:
    """Return ‖x‖ of each row, as a column; tiny instead of 0, so that division is possible."""
    return np.asarray(np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300))


def in_ball(vectors: Floats) -> Floats:
    """Return the vectors; raise an error unless all of them are points of the ball."""
    longest = float(np.linalg.norm(vectors, axis=1).max(initial=0.0))
    if longest > EDGE:
        raise ParameterError(
            "Vectors in the Poincaré ball must have norms of at most 1 − 2⁻²⁰. "
            f"Got one of {longest:.9g}."
        )
    return vectors


def require_ball(lexicon: MetricSpace, mechanism: object) -> None:
    """Refuse a lexicon that is not in the Poincaré ball."""
    if str(lexicon.metric) != Poincare.name:
        raise MetricError(
            f"{type(mechanism).__name__} needs a lexicon in the Poincaré ball; this one measures "
            f"{lexicon.metric} distances. Open 'english-hierarchy', or use TEM, which takes any "
            "metric."
        )


# Further metrics, users' own functions, and all of them by name.

_TRIPLES = 200  # random triples of words that a user's function is tested on
_PROBES = 12  # words whose nearest words it is tested on


class _Compiled(Metric):
    """A distance that scipy's compiled loop over differences computes."""

    _scipy_name: ClassVar[str]

    def on(self, vectors: Vectors) -> DistanceRows:
        def rows(ids: Ids) -> Floats:
            from scipy.spatial.distance import cdist

            long = vectors.astype(np.float64)
            return np.asarray(cdist(long[ids], long, self._scipy_name))

        return rows


@proved("docs/proofs/audit.md")
class Manhattan(_Compiled):
    """d(x, y) = ‖x − y‖₁."""

    name, _scipy_name = "manhattan", "cityblock"


@proved("docs/proofs/audit.md")
class Chebyshev(_Compiled):
    """d(x, y) = max |xᵢ − yᵢ|."""

    name, _scipy_name = "chebyshev", "chebyshev"


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
        between = self._matrix_function(long)
        if broken := _broken_axiom(between, long):
            raise MetricError(f"{self._label} is not a metric: {broken}")
        return _rows(lambda ids: between(long[ids], long))

    def token(self, vectors: Vectors) -> bytes:
        """Return the name and some values of the function: code has no fingerprint."""
        probe = vectors[:: max(1, len(vectors) // 16)].astype(np.float64)
        values = self._matrix_function(probe)(probe, probe)
        return b"custom\0" + self._label.encode() + values.tobytes()

    def _matrix_function(self, vectors: Floats) -> Callable[[Floats, Floats], Floats]:
        """Return the function in the form (X, Y) → matrix."""
        x, y = np.repeat(vectors[:1], 3, axis=0), np.repeat(vectors[-1:], 2, axis=0)
        try:
            takes_matrices = np.shape(self._function(x, y)) == (3, 2)
        except Exception:  # a function of vectors may fail on matrices in any way
            takes_matrices = False

        def between(a: Floats, b: Floats) -> Floats:
            try:
                if takes_matrices:
                    return np.array(self._function(a, b), np.float64)
                rows = [[float(self._function(x, y)) for y in b] for x in a]
                return np.array(rows, dtype=np.float64).reshape(len(a), len(b))
            except Exception as error:
                raise MetricError(
                    f"{self._label} failed with {type(error).__name__}: a metric is a function of "
                    "two vectors that returns a number, or of two matrices that returns a matrix."
                ) from None

        return between


def _broken_axiom(between: Callable[[Floats, Floats], Floats], points: Floats) -> str:
    """Return which axiom of a metric a function breaks on samples of the points; empty if none."""
    no_triangle = (
        "it breaks the triangle inequality, as squared distances and cosine distance do. Use the "
        "square root, or the angle, instead."
    )
    triples = np.random.Generator(np.random.PCG64(0)).integers(len(points), size=(_TRIPLES, 3))
    for ids in triples:
        d = between(points[ids], points[ids])
        if d.shape != (3, 3) or not np.isfinite(d).all() or (d < 0).any():
            return "distances must be finite numbers, 0 or more."
        slack = 1e-9 * d.max()
        if np.abs(np.diagonal(d)).max() > slack:
            return f"d(x, x) must be 0. Got {d.diagonal().max()}."
        if np.abs(d - d.T).max() > slack:
            return f"it is asymmetric, {d[0, 1]} one way and {d[1, 0]} back."
        if (d[:, None, :] > d[:, :, None] + d[None, :, :] + slack).any():
            return no_triangle
    # Random words in many dimensions are all about equally far apart, and even squared distances
    # pass on them. Between near words x and y they break |d(x, z) − d(y, z)| ≤ d(x, y).
    rows = between(points[np.unique(np.linspace(0, len(points) - 1, _PROBES).astype(int))], points)
    near = np.argsort(rows, axis=1, kind="stable")[:, 1:3]
    for row, ids in zip(rows, near, strict=True):
        gaps = np.abs(between(points[ids], points) - row).max(axis=1)
        if (gaps > row[ids] + 1e-9 * row.max()).any():
            return no_triangle
    return ""


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


# Paths: finitely many points on a line, whose distances are counted in steps.
#
# Numbers, years, dates and times of day are paths: the values of a public grid, each at its place.

UNITS = 1 << 20
"""How many units make a step: positions are whole multiples of a unit."""
_LONGEST = 1 << 52  # units from end to end; up to there, float64 holds distances exactly


@proved("docs/proofs/kinds.md")
@dataclass(frozen=True, eq=False, repr=False)
class Path:
    """Points on a line, in increasing order, at whole multiples of 2⁻²⁰ step.

    Two paths with the same positions are equal.

    >>> years = Path.even(5)
    >>> years, years.distances([1])
    (Path of 5 points, 4 steps long, array([[1., 0., 1., 2., 3.]]))
    """

    positions: Ids
    """Where the points are, in units of 2⁻²⁰ step; read-only."""

    def __post_init__(self) -> None:
        array = np.asarray(self.positions)
        if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
            raise ParameterError(
                "The positions of a path must be a one-dimensional array of whole numbers, one or "
                "more."
            )
        if int(array.max()) >= 2**63:
            raise ParameterError("The positions of a path must be below 2⁶³.")
        positions = np.array(array, dtype=np.int64)
        if not (positions[1:] > positions[:-1]).all():
            raise ParameterError(
                "The positions of a path must be strictly increasing: each point once, in order."
            )
        if int(positions[-1]) - int(positions[0]) > _LONGEST:
            raise ParameterError("A path must not be longer than 2³² steps.")
        positions.flags.writeable = False
        object.__setattr__(self, "positions", positions)

    @classmethod
    def of_steps(cls, places: Any) -> Self:
        """Make a path of points at these places, given in steps and rounded to 2⁻²⁰ step."""
        units = np.asarray(places, dtype=np.float64) * float(UNITS)
        if not (np.abs(units) <= _LONGEST).all():
            raise ParameterError("The places of a path must be numbers of steps between ±2³².")
        return cls(np.rint(units).astype(np.int64))

    @classmethod
    def even(cls, count: int, per_step: int = 1) -> Self:
        """Make a path of `count` points, `per_step` of them to a step."""
        if count < 1 or not 1 <= per_step <= UNITS:
            raise ParameterError("An even path has a point or more, and 1 to 2²⁰ of them a step.")
        return cls((np.arange(count, dtype=np.int64) * (2 * UNITS) + per_step) // (2 * per_step))

    def __len__(self) -> int:
        return len(self.positions)

    @cached_property
    def gaps(self) -> Floats:
        """The distance of each point from the next, in steps."""
        return np.diff(self.positions) / UNITS

    @property
    def length(self) -> float:
        """The distance from the first point to the last, in steps."""
        return float(self.positions[-1] - self.positions[0]) / UNITS

    def distances(self, ids: Any) -> Floats:
        """Return the distances from the points `ids` to all points, in steps: exact."""
        points = self.checked(ids)
        return np.asarray(np.abs(self.positions - self.positions[points][:, None]) / UNITS)

    def checked(self, ids: Any) -> Ids:
        """Return `ids` as an array of numbers of points; raise an error if one is none."""
        try:
            return checked_ids(ids, len(self))
        except ParameterError:
            raise ParameterError(
                "Points of a path are given by a one-dimensional array of whole numbers between 0 "
                f"and {len(self) - 1}, the path's last point."
            ) from None

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.positions.astype("<i8").tobytes()).hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Path):
            return NotImplemented
        return self is other or np.array_equal(self.positions, other.positions)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Path of {len(self):,} points, {self.length:g} steps long"

    def __reduce__(self) -> tuple[type["Path"], tuple[Ids]]:
        return type(self), (self.positions,)  # checked again, and read-only again
