"""Channels that add noise to a vector, and round the sum so that its last bits tell nothing.

For a given x only some float64 numbers can occur as fl(x + z), and which ones depends on the last
bits of x: whoever sees them can test every word. So only multiples of a grid leave a channel.
"""

import math
from abc import abstractmethod
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from malaprop.core.channel import Decoder, Floats, VectorChannel
from malaprop.core.errors import ParameterError
from malaprop.core.guarantee import Guarantee
from malaprop.core.space import MetricSpace

MOST_NUMERIC_DELTA = 1e-6
"""A release that floating-point numbers could betray with a higher probability is refused."""


class Grid:
    """Multiples of a power of two, 2⁻¹⁰ of the standard deviation of a coordinate's noise."""

    def __init__(self, spread: float) -> None:
        if not 1e-290 < spread < 1e290:
            raise ParameterError(
                f"The noise has a standard deviation of {spread:.3g}, which float64 cannot add up: "
                "choose another epsilon."
            )
        self.step = 2.0 ** (math.frexp(spread)[1] - 11)

    def snap(self, values: Floats) -> Floats:
        """The nearest multiples of the step. The grid is anchored at 0, whatever the input."""
        return np.asarray(np.rint(values / self.step) * self.step)

    def numeric_delta(self, dimension: int, largest: float) -> float:
        """About how often the last bit of float64 decides where a vector is rounded to.

        For vectors with entries up to `largest`; derived in docs/proofs/laplace.md. What float64
        cannot hide is refused.
        """
        # A coordinate of the sum is hardly ever beyond 8 standard deviations, 2^14 grid steps.
        last_bit = math.ulp(largest + 2.0**14 * self.step)
        delta = 2.0 * dimension * last_bit / self.step
        if delta > MOST_NUMERIC_DELTA:
            # The limit is public; the vectors are not, so no number of theirs is shown.
            limit = MOST_NUMERIC_DELTA * self.step / (2.0 * dimension) * 2.0**52
            raise ParameterError(
                f"The noise is too small for float64 to hide vectors with entries above "
                f"{limit:.3g}: use a smaller epsilon, or scale the vectors down and epsilon up."
            )
        return float(delta)


class AdditiveChannel(VectorChannel):
    """y = x + z, with noise z that does not depend on x, rounded to a grid."""

    def __init__(
        self, space: MetricSpace, guarantee: Guarantee, decoder: Decoder, *, spread: float
    ) -> None:
        """`spread` is the standard deviation of a coordinate of the noise (the least of them)."""
        self._grid = Grid(spread)
        largest = float(np.abs(space.vectors).max())
        delta = self._grid.numeric_delta(space.vectors.shape[1], largest)
        numerics = (
            f"float64, rounded to a grid of {self._grid.step:.3g}; adds δ ≈ {delta:.0e} a word"
        )
        super().__init__(space, replace(guarantee, numerics=numerics), decoder)

    @abstractmethod
    def _noise(self, count: int, rng: Generator) -> Floats:
        """`count` independent noise vectors."""

    def _release(self, vectors: Floats, rng: Generator) -> Floats:
        self._grid.numeric_delta(vectors.shape[1], float(np.abs(vectors).max(initial=0.0)))
        return self._grid.snap(vectors + self._noise(len(vectors), rng))


def spherical_laplace(count: int, dimension: int, scale: float, rng: Generator) -> Floats:
    """`count` vectors of density ∝ exp(−‖z‖₂/scale): a uniform direction, a Gamma radius."""
    direction = rng.standard_normal((count, dimension))
    # What `np.linalg.norm` computes, without its detours: for one vector they take the most time.
    direction /= np.sqrt(np.add.reduce(direction * direction, axis=1, keepdims=True))
    radius = rng.standard_gamma(dimension, size=(count, 1)) * scale
    return np.asarray(radius * direction)


def log_sphere(dimension: int) -> float:
    """ln of the surface of the unit sphere."""
    return math.log(2.0) + 0.5 * dimension * math.log(math.pi) - math.lgamma(0.5 * dimension)


def spherical_laplace_log_density(noise: Floats, scale: float) -> Floats:
    """ln of the density of `spherical_laplace` at each row: c·exp(−‖z‖₂/scale)."""
    dimension = noise.shape[1]
    constant = dimension * math.log(scale) + math.lgamma(dimension) + log_sphere(dimension)
    return np.asarray(-np.linalg.norm(noise, axis=1) / scale - constant)
