"""Laplace noise: spherical, or on each coordinate."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats
from malaprop.core.noise.grid import Grid
from malaprop.core.noise.noise import AdditiveNoise, ExponentialDensity
from malaprop.core.proofs import proved
from malaprop.core.space import MetricSpace


@proved("docs/proofs/laplace.md")
@dataclass(frozen=True, kw_only=True)
class SphericalLaplace(AdditiveNoise):
    """Noise of density ∝ exp(−‖z‖₂/scale): a uniform direction, a Gamma radius."""

    scale: float
    dimension: int

    @cached_property
    def grid(self) -> Grid:
        """The grid that releases are rounded to."""
        return Grid(math.sqrt(self.dimension + 1) * self.scale)

    @property
    def step(self) -> float:
        """The step of the grid."""
        return self.grid.step

    def release(self, vectors: Floats, rng: Generator) -> Floats:
        """Return x + z for each row x."""
        self.grid.check(vectors)
        noise = spherical_laplace(vectors.shape, self.scale, rng)
        return self.grid.snap(vectors + noise)

    def numerics(self, space: MetricSpace) -> str:
        """Say what floating-point numbers add to the loss of a word."""
        return self.grid.numerics(centres_of(space))

    def limits(self, columns: int) -> str:
        """Say what floating-point numbers add for any vector, and which vectors are refused."""
        return self.grid.limits(columns)

    def length(self, columns: int) -> float:
        """Return the root mean square length of the noise."""
        return math.sqrt(self.dimension * (self.dimension + 1)) * self.scale

    def density(self, space: MetricSpace) -> ExponentialDensity:
        """Return the density around the words' vectors."""
        return ExponentialDensity(rate=rate_of(self.scale), centres=centres_of(space))


@proved("docs/proofs/coordinate-laplace.md")
@dataclass(frozen=True, kw_only=True)
class CoordinateLaplaceNoise(AdditiveNoise):
    """Independent noise of density ∝ exp(−|z|/scale) on each coordinate."""

    scale: float

    @cached_property
    def _grid(self) -> Grid:
        return Grid(math.sqrt(2.0) * self.scale)

    @property
    def step(self) -> float:
        """The step of the grid."""
        return self._grid.step

    def release(self, vectors: Floats, rng: Generator) -> Floats:
        """Return x + z for each row x."""
        self._grid.check(vectors)
        noise = rng.laplace(scale=self.scale, size=vectors.shape)
        return self._grid.snap(vectors + noise)

    def numerics(self, space: MetricSpace) -> str:
        """Say what floating-point numbers add to the loss of a word."""
        return self._grid.numerics(centres_of(space))

    def limits(self, columns: int) -> str:
        """Say what floating-point numbers add for any vector, and which vectors are refused."""
        return self._grid.limits(columns)

    def length(self, columns: int) -> float:
        """Return the root mean square length of the noise."""
        return math.sqrt(2.0 * columns) * self.scale

    def density(self, space: MetricSpace) -> ExponentialDensity:
        """Return the density around the words' vectors."""
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
