"""Laplace noise in hyperbolic space, and in its tangent space."""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats
from malaprop.core.errors import ParameterError
from malaprop.core.metrics import poincare
from malaprop.core.noise.grid import MOST_NUMERIC_DELTA, Grid
from malaprop.core.noise.laplace import SphericalLaplace, centres_of
from malaprop.core.noise.noise import ExponentialDensity, Noise
from malaprop.core.proofs import proved
from malaprop.core.space import MetricSpace

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
    def _grid(self) -> Grid:
        # A coarse grid, 2⁻⁴ of the noise in a coordinate: near the edge of the ball the
        # hyperboloid's coordinates are large, and float64 needs the room below the grid.
        return Grid(2.0**6 * min(self.mean, 1.0) / math.sqrt(self.dimension))

    @property
    def step(self) -> float:
        """The step of the grid, in the coordinates of the hyperboloid."""
        return self._grid.step

    def numerics(self, space: MetricSpace) -> str:
        """Say what floating-point numbers add to the loss of a word."""
        delta = self._numeric_delta(centres_of(space))
        return (
            f"float64, rounded to a grid of {self.step:.3g} on the hyperboloid; "
            f"adds δ ≈ {delta:.0e}"
        )

    def limits(self, columns: int) -> str:
        """Say what floating-point numbers add for any point, and which points are refused."""
        return (
            f"float64, rounded to a grid of {self.step:.3g} on the hyperboloid; adds δ ≤ "
            f"{MOST_NUMERIC_DELTA:.0e} a vector: points too near the edge of the ball are refused"
        )

    def _numeric_delta(self, points: Floats) -> float:
        """Return about how often float64's last bits matter; refuse points that they betray."""
        far = 2.0 * math.atanh(float(np.linalg.norm(points, axis=1).max(initial=0.0)))
        delta = 2.0 * self.dimension * self._rounding(far) / self.step
        if delta > MOST_NUMERIC_DELTA:
            raise ParameterError(
                "HyperbolicLaplace adds so much noise at this epsilon that float64 cannot hide "
                f"points near the edge of the ball (δ ≈ {delta:.0e}): use a larger epsilon, or TEM."
            )
        return float(max(delta, self._grid.numeric_delta(self.dimension, 1.0)))

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
        cut = np.minimum(1.0, math.sinh(poincare.REACH) / np.maximum(ends, 1.0))
        return float(2.0**-52 * np.mean(np.exp(lengths + far) * cut))

    def release(self, vectors: Floats, rng: Generator) -> Floats:
        """Return x moved by noise, for each row x."""
        self._numeric_delta(poincare.in_ball(vectors))
        directions = rng.standard_normal(vectors.shape)
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        lifted = poincare.travel(vectors, directions, self._lengths(len(vectors), rng))
        # Beyond the reach, float64 has no points of the ball. Both steps are post-processing.
        kept = poincare.shorten(lifted, math.sinh(poincare.REACH))
        return poincare.lower(self._grid.snap(kept))

    def _lengths(self, count: int, rng: Generator) -> Floats:
        """Draw lengths of the noise: −½·ln V, with V = X/(X + Y) of two Gamma variates."""
        x = rng.standard_gamma(self.shape, size=count)
        y = rng.standard_gamma(self.dimension, size=count)
        with np.errstate(divide="ignore", over="ignore"):  # x may be too small for float64
            return np.minimum(0.5 * np.log1p(y / x), _FARTHEST)

    def density(self, space: MetricSpace) -> ExponentialDensity | None:
        """Return the density around the words' points, by hyperbolic volume."""
        fits = space.vectors.shape[1] == self.dimension and self.shape > 0.0
        if not fits or not poincare.is_ball(space):
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
        """The noise in the tangent space."""
        return SphericalLaplace(scale=self.scale, dimension=self.dimension)

    @property
    def step(self) -> float:
        """The step of the grid, in the tangent space."""
        return self._tangent.step

    def numerics(self, space: MetricSpace) -> str:
        """Say what floating-point numbers add to the loss of a word."""
        delta = self._tangent.grid.check(poincare.log0(centres_of(space)))
        return (
            f"float64, rounded to a grid of {self.step:.3g} in the tangent space; "
            f"adds δ ≈ {delta:.0e}"
        )

    def limits(self, columns: int) -> str:
        """Say what floating-point numbers add for any point, and which points are refused."""
        return f"{self._tangent.limits(columns)}, the entries being those in the tangent space"

    def release(self, vectors: Floats, rng: Generator) -> Floats:
        """Return x moved by noise, for each row x."""
        tangents = poincare.log0(poincare.in_ball(vectors))
        # Beyond the reach, float64 has no points of the ball.
        return poincare.exp0(poincare.shorten(self._tangent.release(tangents, rng), poincare.REACH))

    def density(self, space: MetricSpace) -> ExponentialDensity | None:
        """Return the density around the words' tangent vectors."""
        if not poincare.is_ball(space):
            return None
        around = self._tangent.density(space)
        return replace(around, centres=poincare.log0(around.centres), in_ball=True)
