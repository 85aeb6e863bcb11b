"""The multivariate Laplace mechanism, known as Madlib."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from malaprop.core.channel import Floats, VectorChannel
from malaprop.core.errors import MetricError, ParameterError
from malaprop.core.guarantee import Guarantee, Kind
from malaprop.core.mechanism import Mechanism
from malaprop.core.space import MetricSpace
from malaprop.mechanisms.decoders import Nearest

_MOST_NUMERIC_DELTA = 1e-6


@dataclass(frozen=True, kw_only=True)
class Laplace(Mechanism, name="laplace"):
    """Adds spherical Laplace noise to a word's vector and takes the nearest word.

    Distribution: y = x + z with density ∝ exp(−ε‖z‖₂) in d dimensions: a uniform direction times
    a radius ~ Gamma(d, 1/ε). It is *not* Laplace noise on each coordinate, which would cost √d
    times as much. Released vectors are rounded to a grid.

    Guarantee: ε·‖x − x'‖₂ metric differential privacy, for the vector and for the word.

    Why: exp(−ε‖y − x‖)/exp(−ε‖y − x'‖) ≤ exp(ε‖x − x'‖) by the triangle inequality, and the
    normalising constant does not depend on x. Rounding and decoding are post-processing.

    Parameters: `epsilon`, ε, loss per unit of Euclidean distance.

    >>> from malaprop import Laplace, Lexicon, seeded_rng
    >>> tiny = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [9.0]])
    >>> channel = Laplace(epsilon=2.0).on(tiny)
    >>> channel.substitute([0, 0, 2, 2], seeded_rng(1)).tolist()
    [0, 0, 2, 2]

    Reference: Feyisetan, Balle, Drake, Diethe, WSDM 2020; Algorithm 1 of Carvalho et al. 2021.
    """

    promise: ClassVar[str] = "metric-dp: ε·d, Euclidean"

    def on(self, lexicon: MetricSpace) -> "LaplaceChannel":
        """The mechanism bound to a lexicon, whose metric must be Euclidean."""
        if str(lexicon.metric) != "euclidean":
            raise MetricError(
                f"Laplace guarantees Euclidean distances; this lexicon measures {lexicon.metric} "
                "ones. Use TEM, which takes any metric, or lexicon.with_metric('euclidean')."
            )
        return LaplaceChannel(self, lexicon)


class LaplaceChannel(VectorChannel):
    """Laplace noise on the vectors of a lexicon."""

    def __init__(self, mechanism: Laplace, lexicon: MetricSpace) -> None:
        self._scale = 1.0 / mechanism.epsilon
        self._dimension = lexicon.vectors.shape[1]
        if not math.isfinite(self._scale * (self._dimension + 1) * 1e10):
            raise ParameterError(
                f"The 'epsilon' parameter of Laplace is too small for float64: {mechanism.epsilon}."
            )
        # The standard deviation of a coordinate is √(d + 1)/ε; the grid is 2⁻¹⁰ of its power of 2.
        spread = math.sqrt(self._dimension + 1) * self._scale
        self._grid = 2.0 ** (math.frexp(spread)[1] - 11)
        delta = self._numeric_delta(float(np.abs(lexicon.vectors).max()))
        guarantee = Guarantee(
            kind=Kind.METRIC,
            epsilon=mechanism.epsilon,
            metric="euclidean",
            proof="docs/proofs/laplace.md",
            numerics=f"float64, rounded to a grid of {self._grid:.3g}; adds δ ≈ {delta:.0e} "
            "(docs/proofs/laplace.md)",
        )
        super().__init__(lexicon, guarantee, Nearest(lexicon))

    def _release(self, vectors: Floats, rng: Generator) -> Floats:
        self._numeric_delta(float(np.abs(vectors).max(initial=0.0)))
        # Float sums betray their summands in the last bits; multiples of a grid do not.
        noisy = vectors + self._noise(len(vectors), rng)
        return np.asarray(np.rint(noisy / self._grid) * self._grid)

    def _noise(self, count: int, rng: Generator) -> Floats:
        direction = rng.standard_normal((count, self._dimension))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        radius = rng.standard_gamma(self._dimension, size=(count, 1)) * self._scale
        return np.asarray(radius * direction)

    def _numeric_delta(self, largest: float) -> float:
        """How much the last bits of float64 can give away, after rounding to the grid."""
        # A coordinate of the sum is hardly ever beyond 8 standard deviations, 2^14 grid steps.
        last_bit = float(np.spacing(largest + 2.0**14 * self._grid))
        delta: float = 2.0 * self._dimension * last_bit / self._grid
        if delta > _MOST_NUMERIC_DELTA:
            raise ParameterError(
                "The noise is too small beside the vectors for float64 to hide them: "
                f"ε = {1.0 / self._scale:.3g} with entries up to {largest:.3g}. "
                "Use a smaller epsilon, or scale the vectors down and epsilon up."
            )
        return delta
