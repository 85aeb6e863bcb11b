"""Laplace noise shaped like a cloud of public vectors, or like one of several clouds."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids, Vectors
from malaprop.core.errors import ParameterError
from malaprop.core.metric import DistanceRows, Metric
from malaprop.core.metrics.named import NAMED
from malaprop.core.noise.grid import Grid
from malaprop.core.noise.laplace import centres_of, rate_of, spherical_laplace
from malaprop.core.noise.noise import AdditiveNoise, ExponentialDensity
from malaprop.core.proofs import proved
from malaprop.core.space import MetricSpace, blocks
from malaprop.core.threads import in_threads

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

    @cached_property
    def metric(self) -> EllipticalMetric:
        """The largest of the ellipsoids' norms."""
        return EllipticalMetric(self.ellipsoids)

    @cached_property
    def _grid(self) -> Grid:
        narrowest = min(float(e.matrix.diagonal().min()) for e in self.ellipsoids)
        dimension = len(self.ellipsoids[0].matrix)
        return Grid(math.sqrt((dimension + 1) * narrowest) * self.scale)

    @property
    def step(self) -> float:
        """The step of the grid."""
        return self._grid.step

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """The norm that the guarantee is stated in."""
        return {self.metric.name: self.metric}

    def numerics(self, space: MetricSpace) -> str:
        """Say what floating-point numbers add to the loss of a word."""
        return self._grid.numerics(centres_of(space))

    def limits(self, columns: int) -> str:
        """Say what floating-point numbers add for any vector, and which vectors are refused."""
        return self._grid.limits(columns)

    def length(self, columns: int) -> float:
        """Return the root mean square length of the noise: each A has the trace d."""
        return math.sqrt(columns * (columns + 1)) * self.scale

    def release(self, vectors: Floats, rng: Generator) -> Floats:
        """Return x + A^½·z for each row x."""
        self._grid.check(vectors)
        noise = spherical_laplace(vectors.shape, self.scale, rng)
        chosen = self._choose(vectors, rng)

        def shape(rows: slice) -> None:
            part = noise[rows]
            for c, ellipsoid in enumerate(self.ellipsoids):
                here = chosen[rows] == c
                part[here] = part[here] @ ellipsoid.root
            noise[rows] = self._grid.snap(vectors[rows] + part)

        in_threads(shape, blocks(len(noise), row_cells=noise.shape[1], budget=_SHARE))
        return noise

    def _choose(self, vectors: Floats, rng: Generator) -> Ids:
        """Draw an ellipsoid for each vector, by the exponential mechanism on its distance."""
        if self.choice == 0.0:
            return np.zeros(len(vectors), dtype=np.int64)
        cumulative = self._weights(vectors).cumsum(axis=1)
        uniform = rng.random((len(vectors), 1)) * cumulative[:, -1:]
        chosen = (cumulative <= uniform).sum(axis=1)
        return np.asarray(np.minimum(chosen, cumulative.shape[1] - 1), dtype=np.int64)

    def _weights(self, vectors: Floats) -> Floats:
        """Return the unnormalised probabilities of the ellipsoids: (vectors, ellipsoids)."""
        distances = np.stack([e.norm(vectors - e.centre) for e in self.ellipsoids], axis=1)
        nearest = distances.min(axis=1, keepdims=True)
        return np.asarray(np.exp(-self.choice / 2.0 * (distances - nearest)))

    def density(self, space: MetricSpace) -> ExponentialDensity:
        """Return the mixture of densities around the words' vectors."""
        centres = centres_of(space)
        drawn = self.ellipsoids if self.choice else self.ellipsoids[:1]
        distances = np.stack([e.norm(centres - e.centre) for e in drawn], axis=1)
        weights = -self.choice / 2.0 * distances
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
