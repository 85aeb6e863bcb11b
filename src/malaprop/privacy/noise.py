"""Noise: how it is drawn, and what noisy vectors reveal about the word, in closed form."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.random import Generator

from malaprop.privacy import metrics
from malaprop.privacy.arrays import Floats, Ids, Reals, Vectors, blocks
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.guarantee import proved, rounded_up
from malaprop.privacy.law import NOTHING, LossRows, Worst, largest_ratio
from malaprop.privacy.metrics import NAMED, DistanceRows, Metric, MetricSpace
from malaprop.privacy.progress import Progress, in_threads, report

MOST_NUMERIC_DELTA = 1e-6
"""A release is refused if rounding could betray it with a higher probability."""
_UNIT = 2.0**-53


class Grid:
    """Multiples of a power of two, 2⁻¹⁰ of the standard deviation of a coordinate's noise.

    For a given x only some float64 numbers can occur as fl(x + z), and which ones depends on the
    last bits of x: whoever sees them can test every word. So only multiples leave a channel.
    """

    def __init__(self, spread: float) -> None:
        if not 1e-290 < spread < 1e290:
            raise ParameterError(
                f"The noise has a standard deviation of {spread:.3g}, which float64 cannot handle: "
                "choose another epsilon."
            )
        self.step = 2.0 ** (math.frexp(spread)[1] - 11)

    def snap(self, values: Floats) -> Floats:
        """Return the nearest multiples of the step; the grid is anchored at 0 for any input."""
        return np.asarray(np.rint(values / self.step) * self.step)

    def numeric_delta(self, dimension: int, largest: float) -> float:
        """Return about how often the last bit of float64 decides where a vector is rounded to.

        It holds for vectors with entries up to `largest`; docs/proofs/laplace.md derives it. Raises
        an error if float64 cannot hide such vectors.
        """
        # A coordinate of the noise is hardly ever beyond 8 standard deviations, 2^14 grid steps.
        delta = 2.0 * dimension * math.ulp(largest + 2.0**14 * self.step) / self.step
        if delta > MOST_NUMERIC_DELTA:
            # The limit is public; the vectors are not, so the message shows none of their entries.
            raise ParameterError(
                f"The noise is too small for float64 to hide vectors with entries above "
                f"{self._largest(dimension):.3g}: use a smaller epsilon, or scale the vectors down "
                "and epsilon up."
            )
        return float(delta)

    def _largest(self, dimension: int) -> float:
        """Return about the largest entry of vectors that float64 can hide."""
        return MOST_NUMERIC_DELTA * self.step / (2.0 * dimension) * 2.0**52

    def check(self, vectors: Floats) -> float:
        """Refuse vectors that float64 cannot hide; return how often, about, last bits matter."""
        largest = float(np.abs(vectors).max(initial=0.0))
        return self.numeric_delta(vectors.shape[1], largest if math.isfinite(largest) else 1e300)

    def limits(self, dimension: int) -> str:
        """Say what floating-point numbers add for any vectors, and which ones are refused."""
        self.numeric_delta(dimension, 0.0)
        return (
            f"float64, rounded to a grid of {self.step:.3g}; adds δ ≤ {MOST_NUMERIC_DELTA:.0e} a "
            f"vector: those with entries from about {self._largest(dimension):.3g} on are refused"
        )

    def numerics(self, vectors: Floats) -> str:
        """Say what floating-point numbers add for such vectors, which must be public."""
        delta = self.check(vectors)
        return f"float64, rounded to a grid of {self.step:.3g}; adds δ ≈ {delta:.0e} a word"


class Noise(ABC):
    """Noise that a channel adds to vectors. A subclass is a frozen dataclass."""

    @abstractmethod
    def release(self, vectors: Floats, rng: Generator) -> Floats:
        """Return a noisy vector for each row, rounded so that its last bits reveal nothing."""

    def release_words(self, space: MetricSpace, ids: Ids, rng: Generator) -> Floats:
        """Return noisy vectors of words. Override it if the noise depends on the word."""
        return self.release(space.vectors[ids].astype(np.float64), rng)

    def numerics(self, space: MetricSpace) -> str:
        """Say what floating-point numbers add to the loss of a word."""
        return ""

    def limits(self, columns: int) -> str:
        """Say what floating-point numbers add for any vector, and which vectors are refused."""
        return ""

    def length(self, columns: int) -> float | None:
        """Return the root mean square length of the noise; None if there is no such number."""
        return None

    def places(self, vectors: Floats) -> Floats:
        """Return where the noise of each row is centred, without noise: for public vectors only."""
        return vectors

    def density(self, space: MetricSpace) -> "ExponentialDensity | GaussianDensity | None":
        """Return the density of each word's noise before rounding; None if it is unknown."""
        return None

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """The noise's own metrics that a guarantee may be stated in, by name."""
        return {}


class GridNoise(Noise):
    """y = c + z for the place c of x, with noise z that does not depend on x, rounded to a grid."""

    @property
    @abstractmethod
    def grid(self) -> Grid:
        """The grid that releases are rounded to."""

    @abstractmethod
    def noise(self, shape: tuple[int, ...], rng: Generator) -> Floats:
        """Draw z, in rows."""

    def release(self, vectors: Floats, rng: Generator) -> Floats:
        centres = self.places(vectors)
        self.grid.check(centres)
        return self.grid.snap(centres + self.noise(centres.shape, rng))

    def numerics(self, space: MetricSpace) -> str:
        return self.grid.numerics(self.places(centres_of(space)))

    def limits(self, columns: int) -> str:
        return self.grid.limits(columns)


class AdditiveNoise(GridNoise):
    """y = x + z, rounded to a grid."""

    @property
    def is_independent(self) -> bool:
        """Whether the noise z does not depend on x."""
        return True


@dataclass(frozen=True, kw_only=True)
class GaussianDensity:
    """N(centre, σ²·W²) for each word. Without noise, σ = 0, the centre itself is released.

    W is the diagonal matrix of `widths`, the same for all words, or the identity without them.
    """

    centres: Floats
    sigmas: Floats
    widths: Floats | None = None

    @property
    def spherical(self) -> "GaussianDensity":
        """The same noise in units of its widths, N(W⁻¹·centre, σ²·I): an invertible map of it."""
        if self.widths is None:
            return self
        return GaussianDensity(centres=self.centres / self.widths, sigmas=self.sigmas)


@dataclass(frozen=True, kw_only=True)
class ExponentialDensity:
    """A density ∝ exp(−rate·d(y, x)) around each word's centre x, or a mixture of such densities.

    The constant is the same for all words. So, by the triangle inequality,

        sup over y of ln p(y|w) − ln p(y|w') = rate·d(x, x'),

    attained at y = x. For a mixture, the largest such term over its parts is an upper bound.
    Post-processing of the vectors reveals no more.
    """

    rate: float
    centres: Floats
    """The place that noise is added to, for each word: (words, dimensions)."""
    metric: str = "euclidean"
    """The name of d: euclidean, manhattan, or poincare, with volumes of that space."""
    roots: tuple[Floats, ...] = ()
    """For elliptical norms: y = x + z·root with spherical noise z, a root for each part."""
    chances: Floats | None = None
    """For a mixture, ln of the probability of each part: (words, parts)."""
    in_ball: bool = False
    """Whether releases are points of the Poincaré ball, in whichever chart."""

    @property
    def is_sane(self) -> bool:
        """Whether the numbers describe noise: a rate ≤ 0 or NaN would pass for no loss."""
        numbers = [self.centres, *self.roots]
        numbers += [] if self.chances is None else [self.chances]
        return 0.0 < self.rate < np.inf and all(np.isfinite(part).all() for part in numbers)

    @property
    def is_attained(self) -> bool:
        """Whether `loss` is the loss itself, not an upper bound."""
        return len(self.roots) <= 1

    def loss(self) -> LossRows:
        """Return a function from ids of words to the losses of their vectors against all words."""
        if not self.roots:
            distances = NAMED[self.metric].on(self.centres)  # type: ignore[arg-type]
            return lambda ids: self.rate * distances(ids)
        inverses = [np.linalg.inv(root) for root in self.roots]
        parts = [NAMED["euclidean"].on(self.centres @ inverse) for inverse in inverses]
        chances = self.chances if self.chances is not None else np.zeros((len(self.centres), 1))

        def rows(ids: Ids) -> Floats:
            losses = [
                chance[ids, None] - chance + self.rate * distances(ids)
                for chance, distances in zip(chances.T, parts, strict=True)
            ]
            return np.asarray(np.max(losses, axis=0))

        return rows

    def worst(
        self, ids: Ids, columns: Ids | slice, allowed: LossRows, progress: Progress | None
    ) -> Worst | None:
        """Return the worst pair of words `ids`, by their places; `columns` selects their losses.

        None if a loss is NaN, or an allowed loss is NaN or below 0.
        """
        loss, (_, slack), worst = self.loss(), self.rounding, NOTHING
        steps = blocks(len(ids), row_cells=len(self.centres))
        for done, block in enumerate(steps, 1):
            losses, bounds = loss(ids[block])[:, columns], allowed(ids[block])[:, columns]
            if np.isnan(losses).any() or not (bounds >= 0.0).all():
                return None
            found = largest_ratio(losses, bounds, slack)
            if found.ratio > worst.ratio:
                worst = replace(found, pair=(block.start + found.pair[0], found.pair[1]))
            report(progress, done, len(steps))
        return worst

    @property
    def rounding(self) -> tuple[float, float]:
        """What float64 may add to a loss: a share of the loss, and a number of nats."""
        singular = [np.linalg.svd(root, compute_uv=False) for root in self.roots]
        condition = max((values[0] / values[-1] for values in singular), default=1.0)
        least = min((values[-1] for values in singular), default=1.0)
        reach = self.rate * float(np.linalg.norm(self.centres, axis=1).max()) / least
        dimension = self.centres.shape[1]
        unit = 8.0 * (dimension + 8) * _UNIT
        share = NAMED[self.metric].relative_error(dimension) + unit * condition
        return float(share), float(unit * (1.0 + reach * condition))


# Laplace noise: spherical, or on each coordinate.


@proved("docs/proofs/laplace.md")
@dataclass(frozen=True, kw_only=True)
class SphericalLaplace(AdditiveNoise):
    """Noise of density ∝ exp(−‖z‖₂/scale): a uniform direction, a Gamma radius."""

    scale: float
    dimension: int

    @cached_property
    def grid(self) -> Grid:
        return Grid(math.sqrt(self.dimension + 1) * self.scale)

    def noise(self, shape: tuple[int, ...], rng: Generator) -> Floats:
        return spherical_laplace(shape, self.scale, rng)

    def length(self, columns: int) -> float:
        return math.sqrt(self.dimension * (self.dimension + 1)) * self.scale

    def density(self, space: MetricSpace) -> ExponentialDensity:
        return ExponentialDensity(rate=rate_of(self.scale), centres=centres_of(space))


@proved("docs/proofs/coordinate-laplace.md")
@dataclass(frozen=True, kw_only=True)
class CoordinateLaplaceNoise(AdditiveNoise):
    """Independent noise of density ∝ exp(−|z|/scale) on each coordinate."""

    scale: float

    @cached_property
    def grid(self) -> Grid:
        return Grid(math.sqrt(2.0) * self.scale)

    def noise(self, shape: tuple[int, ...], rng: Generator) -> Floats:
        return rng.laplace(scale=self.scale, size=shape)

    def length(self, columns: int) -> float:
        return math.sqrt(2.0 * columns) * self.scale

    def density(self, space: MetricSpace) -> ExponentialDensity:
        centres = centres_of(space)
        return ExponentialDensity(rate=rate_of(self.scale), centres=centres, metric="manhattan")


def rate_of(scale: float) -> float:
    """Return 1/scale, which is infinite without noise."""
    return 1.0 / scale if scale else math.inf


def centres_of(space: MetricSpace) -> Floats:
    """Return the words' vectors in float64."""
    return space.vectors.astype(np.float64)


def spherical_laplace(shape: tuple[int, ...], scale: float, rng: Generator) -> Floats:
    """Draw vectors of density ∝ exp(−‖z‖₂/scale), in rows."""
    count, dimension = shape
    direction = rng.standard_normal((count, dimension))
    # As `np.linalg.norm` computes it, without its overhead, which dominates for one vector.
    direction /= np.sqrt(np.add.reduce(direction * direction, axis=1, keepdims=True))
    radius = rng.standard_gamma(dimension, size=(count, 1)) * scale
    return np.asarray(radius * direction)


# Laplace noise shaped like a cloud of public vectors, or like one of several clouds.

_ROUNDS = 50  # of k-means; it need not converge, since any partition will do
_SHARE = 1 << 18  # numbers that a thread handles at a time: 2 MB


@proved("docs/proofs/mahalanobis.md")
class Ellipsoid:
    """The norm ‖v‖ = √(vᵀA⁻¹v), A = λΣ + (1 − λ)I, Σ the vectors' covariance scaled to trace d."""

    def __init__(self, vectors: Floats, regularization: float) -> None:
        self.regularization = regularization
        dimension = vectors.shape[1]
        self.centre: Floats = vectors.mean(axis=0)
        centred = vectors - self.centre
        scatter = centred.T @ centred
        trace, unit = float(np.trace(scatter)), np.eye(dimension)
        # Without any variance, all directions are alike.
        sigma = scatter * (dimension / trace) if trace > 0 else unit
        self.matrix: Floats = regularization * sigma + (1.0 - regularization) * unit
        values, axes = np.linalg.eigh(self.matrix)
        # Rounded down by the error of eigh: the ε derived from it must not be understated.
        self.least = float(values[0] - dimension * np.finfo(float).eps * values[-1])
        if self.least <= 1e-9 * values[-1]:
            raise ParameterError(
                "The covariance of the lexicon's vectors is singular, so some directions would get "
                "no noise at all: the 'regularization' must be below 1 for this "
                f"lexicon. Got {regularization}; 0.9 works."
            )
        self.root: Floats = (axes * np.sqrt(values)) @ axes.T
        self._inverse: Floats = (axes / np.sqrt(values)) @ axes.T

    def norm(self, vectors: Floats) -> Floats:
        """Return the norm of a vector, or of each row."""
        return np.asarray(np.linalg.norm(vectors @ self._inverse, axis=-1))


@proved("docs/proofs/mahalanobis.md")
class EllipticalMetric(Metric):
    """d(x, y) = max_c ‖x − y‖_c, the largest of the norms of several ellipsoids."""

    def __init__(self, ellipsoids: tuple[Ellipsoid, ...]) -> None:
        self._ellipsoids = ellipsoids
        shares = "/".join(dict.fromkeys(f"{e.regularization:g}" for e in ellipsoids))
        several = f", {len(ellipsoids)} clusters" if len(ellipsoids) > 1 else ""
        self.name = f"mahalanobis(λ={shares}{several})"  # type: ignore[misc]

    def on(self, vectors: Vectors) -> DistanceRows:
        """Compute norms by Cholesky factors, not by the roots that noise is drawn with."""
        exact = vectors.astype(np.float64)
        shapes = [np.linalg.cholesky(ellipsoid.matrix) for ellipsoid in self._ellipsoids]
        parts = [NAMED["euclidean"].on(np.linalg.solve(shape, exact.T).T) for shape in shapes]
        return lambda ids: np.asarray(np.max([distances(ids) for distances in parts], axis=0))

    def distance(self, x: Floats, y: Floats) -> Floats:
        """Return the distance between two vectors, or between two matrices row by row."""
        difference = np.asarray(x, dtype=np.float64) - np.asarray(y, dtype=np.float64)
        return np.asarray(np.max([e.norm(difference) for e in self._ellipsoids], axis=0))


@proved("docs/proofs/mahalanobis.md")
@dataclass(frozen=True, kw_only=True, eq=False)
class EllipticalLaplace(AdditiveNoise):
    """y = x + A^½·z, z of density ∝ exp(−‖z‖₂/scale), A that of an ellipsoid.

    If there are several, one is drawn with probability ∝ exp(−(choice/2)·‖x − m_c‖_c), m_c being
    its centre.
    """

    ellipsoids: tuple[Ellipsoid, ...]
    scale: float
    choice: float
    """The loss of the draw of an ellipsoid, in nats per unit of distance; 0 for a single one."""

    @property
    def is_independent(self) -> bool:
        """Whether there is one ellipsoid: the draw among several depends on x."""
        return self.choice == 0.0

    @cached_property
    def metric(self) -> EllipticalMetric:
        return EllipticalMetric(self.ellipsoids)

    @property
    def metrics(self) -> Mapping[str, Metric]:
        return {self.metric.name: self.metric}

    @cached_property
    def grid(self) -> Grid:
        narrowest = min(float(e.matrix.diagonal().min()) for e in self.ellipsoids)
        return Grid(math.sqrt((len(self.ellipsoids[0].matrix) + 1) * narrowest) * self.scale)

    def length(self, columns: int) -> float:
        """Return the root mean square length of the noise: each A has the trace d."""
        return math.sqrt(columns * (columns + 1)) * self.scale

    def noise(self, shape: tuple[int, ...], rng: Generator) -> Floats:
        return spherical_laplace(shape, self.scale, rng)

    def release(self, vectors: Floats, rng: Generator) -> Floats:
        self.grid.check(vectors)
        noise = self.noise(vectors.shape, rng)
        chosen = self._choose(vectors, rng)

        def shape(rows: slice) -> None:
            part = noise[rows]
            for c, ellipsoid in enumerate(self.ellipsoids):
                here = chosen[rows] == c
                part[here] = part[here] @ ellipsoid.root
            noise[rows] = self.grid.snap(vectors[rows] + part)

        in_threads(shape, blocks(len(noise), row_cells=noise.shape[1], budget=_SHARE))
        return noise

    def _choose(self, vectors: Floats, rng: Generator) -> Ids:
        """Draw an ellipsoid for each vector, by the exponential mechanism on its distance."""
        if self.choice == 0.0:
            return np.zeros(len(vectors), dtype=np.int64)
        distances = np.stack([e.norm(vectors - e.centre) for e in self.ellipsoids], axis=1)
        nearest = distances.min(axis=1, keepdims=True)
        cumulative = np.exp(-self.choice / 2.0 * (distances - nearest)).cumsum(axis=1)
        uniform = rng.random((len(vectors), 1)) * cumulative[:, -1:]
        chosen = (cumulative <= uniform).sum(axis=1)
        return np.asarray(np.minimum(chosen, cumulative.shape[1] - 1), dtype=np.int64)

    def density(self, space: MetricSpace) -> ExponentialDensity:
        centres = centres_of(space)
        drawn = self.ellipsoids if self.choice else self.ellipsoids[:1]
        weights = -self.choice / 2.0 * np.stack([e.norm(centres - e.centre) for e in drawn], axis=1)
        return ExponentialDensity(
            rate=rate_of(self.scale),
            centres=centres,
            roots=tuple(e.root for e in drawn),
            chances=weights - np.logaddexp.reduce(weights, axis=1)[:, None],
        )


def clusters(vectors: Floats, count: int) -> Ids:
    """Return the cluster of each vector, by Lloyd's k-means from fixed rows: it is deterministic.

    There may be fewer than `count` clusters if vectors coincide.

    >>> clusters(np.array([[0.0], [9.0], [0.1], [9.1]]), 2).tolist() in ([0, 1, 0, 1], [1, 0, 1, 0])
    True
    """
    if count > len(vectors):
        raise ParameterError(
            f"There can be at most {len(vectors)} clusters, one for each word. Got {count}."
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


# Laplace noise in hyperbolic space, and in its tangent space.

_FARTHEST = 300.0  # beyond it, only the direction counts and sinh would overflow
_MEAN_OF = 1 << 14


@proved("docs/proofs/hyperbolic.md")
@dataclass(frozen=True, kw_only=True)
class HyperbolicLaplaceNoise(Noise):
    """Noise of density ∝ exp(−ε·d(x, y)) by hyperbolic volume, in n dimensions.

    Its length is −½·ln V, V ~ Beta(shape, n), shape = (ε − n + 1)/2. Releases are rounded to a
    grid on the hyperboloid.
    """

    shape: float
    dimension: int

    @property
    def mean(self) -> float:
        """The mean length of the noise: (ψ(a + n) − ψ(a))/2, a being the shape."""
        return 0.5 * sum(1.0 / (self.shape + k) for k in range(self.dimension))

    @cached_property
    def grid(self) -> Grid:
        # A coarse grid, 2⁻⁴ of the noise in a coordinate: near the edge of the ball the
        # hyperboloid's coordinates are large, and float64 needs the room below the grid.
        return Grid(2.0**6 * min(self.mean, 1.0) / math.sqrt(self.dimension))

    def numerics(self, space: MetricSpace) -> str:
        delta = self._numeric_delta(centres_of(space))
        return (
            f"float64, rounded to a grid of {self.grid.step:.3g} on the hyperboloid; "
            f"adds δ ≈ {delta:.0e}"
        )

    def limits(self, columns: int) -> str:
        return (
            f"float64, rounded to a grid of {self.grid.step:.3g} on the hyperboloid; adds δ ≤ "
            f"{MOST_NUMERIC_DELTA:.0e} a vector: points too near the edge of the ball are refused"
        )

    def _numeric_delta(self, points: Floats) -> float:
        """Return about how often float64's last bits matter; refuse points that they betray."""
        far = 2.0 * math.atanh(float(np.linalg.norm(points, axis=1).max(initial=0.0)))
        delta = 2.0 * self.dimension * self._rounding(far) / self.grid.step
        if delta > MOST_NUMERIC_DELTA:
            raise ParameterError(
                "HyperbolicLaplace adds so much noise at this epsilon that float64 cannot hide "
                f"points near the edge of the ball (δ ≈ {delta:.0e}): use a larger epsilon, or TEM."
            )
        return float(max(delta, self.grid.numeric_delta(self.dimension, 1.0)))

    def _rounding(self, far: float) -> float:
        """Return the mean rounding error of a coordinate on the hyperboloid, for words `far` out.

        A move back across the origin cancels numbers of the size e^(length + far). The mean is
        taken over separate draws, which are public.
        """
        rng = Generator(np.random.PCG64(0))
        lengths = np.minimum(self._lengths(_MEAN_OF, rng), 300.0)
        outward = rng.standard_normal((_MEAN_OF, self.dimension))
        outward /= np.linalg.norm(outward, axis=1, keepdims=True)
        ends = np.cosh(far) * np.cosh(lengths) + np.sinh(far) * np.sinh(lengths) * outward[:, 0]
        ends = np.maximum(ends, np.cosh(lengths - far))
        cut = np.minimum(1.0, math.sinh(metrics.REACH) / np.maximum(ends, 1.0))
        return float(2.0**-52 * np.mean(np.exp(lengths + far) * cut))

    def release(self, vectors: Floats, rng: Generator) -> Floats:
        self._numeric_delta(metrics.in_ball(vectors))
        directions = rng.standard_normal(vectors.shape)
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        lifted = metrics.travel(vectors, directions, self._lengths(len(vectors), rng))
        # Beyond the reach, float64 has no points of the ball. Both steps are post-processing.
        return metrics.lower(self.grid.snap(metrics.shorten(lifted, math.sinh(metrics.REACH))))

    def _lengths(self, count: int, rng: Generator) -> Floats:
        """Draw lengths of the noise: −½·ln V, with V = X/(X + Y) of two Gamma variates."""
        x = rng.standard_gamma(self.shape, size=count)
        y = rng.standard_gamma(self.dimension, size=count)
        with np.errstate(divide="ignore", over="ignore"):  # x may be too small for float64
            return np.minimum(0.5 * np.log1p(y / x), _FARTHEST)

    def density(self, space: MetricSpace) -> ExponentialDensity | None:
        """Return the density around the words' points, by hyperbolic volume."""
        fits = space.vectors.shape[1] == self.dimension and self.shape > 0.0
        if not fits or type(space.metric) is not metrics.Poincare:
            return None
        rate = 2.0 * self.shape + self.dimension - 1.0
        centres = centres_of(space)
        return ExponentialDensity(rate=rate, centres=centres, metric="poincare", in_ball=True)


@proved("docs/proofs/hyperbolic.md")
@dataclass(frozen=True, kw_only=True)
class TangentLaplaceNoise(Noise):
    """y = exp₀(log₀ x + z), z of density ∝ exp(−‖z‖₂/scale); log₀ x + z is rounded to a grid."""

    scale: float
    dimension: int

    @cached_property
    def _tangent(self) -> SphericalLaplace:
        return SphericalLaplace(scale=self.scale, dimension=self.dimension)

    @property
    def grid(self) -> Grid:
        return self._tangent.grid

    def numerics(self, space: MetricSpace) -> str:
        delta = self.grid.check(metrics.log0(centres_of(space)))
        return (
            f"float64, rounded to a grid of {self.grid.step:.3g} in the tangent space; "
            f"adds δ ≈ {delta:.0e}"
        )

    def limits(self, columns: int) -> str:
        return f"{self._tangent.limits(columns)}, the entries being those in the tangent space"

    def release(self, vectors: Floats, rng: Generator) -> Floats:
        tangents = metrics.log0(metrics.in_ball(vectors))
        # Beyond the reach, float64 has no points of the ball.
        return metrics.exp0(metrics.shorten(self._tangent.release(tangents, rng), metrics.REACH))

    def density(self, space: MetricSpace) -> ExponentialDensity | None:
        if type(space.metric) is not metrics.Poincare:
            return None
        around = self._tangent.density(space)
        return replace(around, centres=metrics.log0(around.centres), in_ball=True)


# Linear maps to fewer dimensions, how much they stretch, and noise that makes up for it.
#
# A map Φ stretches no difference of two vectors by more than its operator norm ‖Φ‖, its largest
# singular value. So spherical Laplace noise of scale ‖Φ‖/ε after Φ gives a loss of ε·‖x − x'‖₂.

PROJECTIONS = ("orthonormal", "pca", "gaussian", "sparse")


def projection_of(name: str, vectors: Reals, onto: int, seed: int) -> Floats:
    """Return the named projection of the space of public `vectors` onto `onto` dimensions.

    Only `pca` looks at the vectors; only the others use `seed`.
    """
    if name == "pca":
        return principal(vectors, onto)
    draw = {"orthonormal": orthonormal, "gaussian": gaussian, "sparse": sparse}[name]
    return draw(vectors.shape[1], onto, seed)


def orthonormal(dimension: int, onto: int, seed: int) -> Floats:
    """Return random orthonormal rows times √(d/m), which keep lengths on average: (onto, d)."""
    gauss = Generator(np.random.PCG64(seed)).standard_normal((dimension, onto))
    columns, upper = np.linalg.qr(gauss)
    # The diagonal's signs make the law uniform, whichever signs the algorithm chose.
    columns *= np.where(np.diagonal(upper) < 0.0, -1.0, 1.0)
    return np.ascontiguousarray(columns.T * math.sqrt(dimension / onto))


def gaussian(dimension: int, onto: int, seed: int) -> Floats:
    """Return independent normal entries of variance 1/m: (onto, d)."""
    return Generator(np.random.PCG64(seed)).standard_normal((onto, dimension)) / math.sqrt(onto)


def sparse(dimension: int, onto: int, seed: int) -> Floats:
    """Return columns with s = ⌈√m⌉ entries ±1/√s each, in random rows, and 0 elsewhere: (onto, d).

    Signs are independent, so that ΦᵀΦ is the identity on average, as for a Gaussian Φ.
    """
    rng, entries = Generator(np.random.PCG64(seed)), math.ceil(math.sqrt(onto))
    rows = rng.permuted(np.tile(np.arange(onto), (dimension, 1)), axis=1)[:, :entries]
    signs = rng.choice([-1.0, 1.0], size=rows.shape)
    matrix = np.zeros((onto, dimension))
    matrix[rows, np.arange(dimension)[:, None]] = signs / math.sqrt(entries)
    return matrix


def principal(vectors: Reals, onto: int) -> Floats:
    """Return the unit directions in which public `vectors` vary most, as rows: (onto, d)."""
    centred = vectors.astype(np.float64)
    centred -= centred.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    rows = directions[:, ::-1][:, :onto].T
    largest = np.take_along_axis(rows, np.abs(rows).argmax(axis=1, keepdims=True), axis=1)
    return np.ascontiguousarray(rows * np.where(largest < 0.0, -1.0, 1.0))


def operator_norm(matrix: Floats) -> float:
    """Return the largest factor by which a matrix stretches a vector, rounded up."""
    return float(np.linalg.norm(matrix, ord=2)) * (1.0 + 4.0 * float(max(matrix.shape)) * 2.0**-52)


def paper_dimension(dimension: int, beta: float, delta: float) -> float:
    """Return PrivEmb's m = (√log₂ d + √ln(1/δ))²/β², before rounding to a whole number.

    >>> round(paper_dimension(300, 0.66, 1e-6), 1)
    99.6
    """
    return ((math.sqrt(math.log2(dimension)) + math.sqrt(math.log(1.0 / delta))) / beta) ** 2


def stretch_chance(words: int, onto: int, beta: float) -> float:
    """Bound the probability that a Gaussian Φ stretches a pair of fixed points by over 1 + β.

    ‖Φv‖²·m/‖v‖² is χ² with m degrees of freedom for each fixed v, and `words` points form C(n, 2)
    pairs. The bound says nothing about points that were chosen knowing Φ.
    """
    from scipy.stats import chi2

    return min(1.0, words * (words - 1) / 2 * float(chi2.sf(onto * (1.0 + beta) ** 2, onto)))


def shortfall(norm: float, stretch: float, words: int, onto: int) -> str:
    """Say why noise for a `stretch` below ‖Φ‖ guarantees nothing; empty if it is not below."""
    if norm <= stretch:
        return ""
    excess = (
        f"the projection stretches some differences by {norm:.3g} and the noise makes up for "
        f"{stretch:.3g}, so that the loss can be {norm / stretch:.3g}·ε·d"
    )
    if words < 2:
        return excess
    chance = stretch_chance(words, onto, stretch - 1.0)
    return (
        f"{excess}; between the {words} words alone it exceeds ε·d with a chance of "
        f"{rounded_up(chance, 2)} at most over the draw of the projection"
    )


@proved("docs/proofs/priv-emb.md")
@dataclass(frozen=True, kw_only=True, eq=False)
class ProjectedLaplace(GridNoise):
    """y = Φx + κ, κ of density ∝ exp(−‖κ‖₂/scale) in m dimensions, rounded to a grid."""

    matrix: Floats
    """Φ, with m rows: public."""
    scale: float

    def __post_init__(self) -> None:
        self.matrix.setflags(write=False)

    @cached_property
    def grid(self) -> Grid:
        return Grid(math.sqrt(len(self.matrix) + 1) * self.scale)

    def noise(self, shape: tuple[int, ...], rng: Generator) -> Floats:
        return spherical_laplace(shape, self.scale, rng)

    def limits(self, columns: int) -> str:
        return f"{self.grid.limits(len(self.matrix))}, the entries being those after projection"

    def length(self, columns: int) -> float:
        """Return the root mean square length of the noise, which is added after projection."""
        return math.sqrt(len(self.matrix) * (len(self.matrix) + 1)) * self.scale

    def places(self, vectors: Reals) -> Floats:
        """Return Φx for each row x, without noise: for public vectors only."""
        with np.errstate(over="ignore", invalid="ignore"):  # values that overflow are refused
            return np.asarray(vectors @ self.matrix.T, dtype=np.float64)

    def density(self, space: MetricSpace) -> ExponentialDensity:
        return ExponentialDensity(rate=rate_of(self.scale), centres=self.places(space.vectors))
