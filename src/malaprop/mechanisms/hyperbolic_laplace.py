"""The Laplace mechanism of hyperbolic space."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from malaprop.core import poincare
from malaprop.core.additive import MOST_NUMERIC_DELTA, Grid, log_sphere
from malaprop.core.channel import Floats, VectorChannel
from malaprop.core.errors import ParameterError
from malaprop.core.guarantee import Guarantee, Kind
from malaprop.core.space import MetricSpace
from malaprop.mechanisms.decoders import VectorMechanism

_FARTHEST = 300.0  # beyond it only the direction counts, and sinh would overflow
_MEAN_OF = 1 << 14


@dataclass(frozen=True, kw_only=True)
class HyperbolicLaplace(VectorMechanism, name="hyperbolic-laplace"):
    """Moves a word's vector by hyperbolic Laplace noise and takes the nearest word.

    Distribution: y in the Poincaré ball of dimension n, of density ∝ exp(−ε·d(x, y)) by hyperbolic
    volume. That is y = x ⊕ r·u, u a uniform direction, r = (1 − √V)/(1 + √V) and
    V ~ Beta((ε − n + 1)/2, n), so that d(x, y) = −½·ln V. Released vectors are rounded to a grid
    on the hyperboloid.

    Guarantee: ε·d(x, x') metric differential privacy in the Poincaré distance d, for the vector
    and for the word. It exists for ε > n − 1 only: volume grows like exp((n − 1)·d).

    Why: the triangle inequality; the normalising constant is the same for all x, because
    y ↦ x ⊕ y is an isometry. No factor of 2 is lost. docs/proofs/hyperbolic.md has the rest.

    Parameters: `epsilon`, ε, loss per unit of Poincaré distance, above n − 1. `decoder`, from the
    noisy vector to a word: `nearest`, `vickrey` or `rank`; it does not touch the guarantee.

    >>> from malaprop import HyperbolicLaplace, Lexicon, seeded_rng
    >>> tree = Lexicon(["thing", "cat", "dog"], [[0, 0], [0.8, 0.1], [0.8, -0.1]], "poincare")
    >>> channel = HyperbolicLaplace(epsilon=3.0).on(tree)
    >>> [tree.words[i] for i in channel.substitute([1] * 6, seeded_rng(3))]
    ['cat', 'cat', 'dog', 'cat', 'cat', 'cat']

    Reference: after Feyisetan, Diethe, Drake, "Leveraging hierarchical representations for
    preserving privacy and utility in text", 2019, whose own sampler is `PoincareMetropolis`.
    """

    promise: ClassVar[str] = "metric-dp: ε·d, Poincaré, ε > n − 1"
    needs: ClassVar[str] = "poincare"

    def on(self, lexicon: MetricSpace) -> "HyperbolicLaplaceChannel":
        """The mechanism bound to a lexicon in the Poincaré ball, of dimension below ε + 1."""
        poincare.require_ball(lexicon, "HyperbolicLaplace")
        dimension = lexicon.vectors.shape[1]
        if self.epsilon <= dimension - 1:
            raise ParameterError(
                f"The 'epsilon' parameter of HyperbolicLaplace must be above n − 1 = "
                f"{dimension - 1} in {dimension} dimensions: below that, no mechanism on all of "
                f"hyperbolic space stays near its input. Got {self.epsilon}. Use TEM, or "
                "TangentLaplace, which take any epsilon."
            )
        return HyperbolicLaplaceChannel(self, lexicon)


class HyperbolicLaplaceChannel(VectorChannel):
    """Hyperbolic Laplace noise on the vectors of a lexicon."""

    def __init__(self, mechanism: HyperbolicLaplace, lexicon: MetricSpace) -> None:
        self._dimension = lexicon.vectors.shape[1]
        self._shape = (mechanism.epsilon - self._dimension + 1.0) / 2.0
        # ψ(a + n) − ψ(a) is this sum, n being an integer.
        self._mean = 0.5 * sum(1.0 / (self._shape + k) for k in range(self._dimension))
        # A coarse grid, 2⁻⁴ of the noise in a coordinate: near the edge of the ball the
        # hyperboloid's coordinates are large, and float64 needs the room below the grid.
        self._grid = Grid(2.0**6 * min(self._mean, 1.0) / math.sqrt(self._dimension))
        delta = self._numeric_delta(lexicon.vectors.astype(np.float64))
        guarantee = Guarantee(
            kind=Kind.METRIC,
            epsilon=mechanism.epsilon,
            metric="poincare",
            proof="docs/proofs/hyperbolic.md",
            numerics=f"float64, rounded to a grid of {self._grid.step:.3g} on the hyperboloid; "
            f"adds δ ≈ {delta:.0e}",
        )
        super().__init__(lexicon, guarantee, mechanism.decoder_on(lexicon))

    def _numeric_delta(self, points: Floats) -> float:
        """About how often float64's last bits show; what they would betray is refused."""
        far = 2.0 * math.atanh(float(np.linalg.norm(points, axis=1).max(initial=0.0)))
        delta = 2.0 * self._dimension * self._rounding(far) / self._grid.step
        if delta > MOST_NUMERIC_DELTA:
            raise ParameterError(
                "HyperbolicLaplace leads so far at this epsilon that float64 cannot hide points "
                f"near the edge of the ball (δ ≈ {delta:.0e}): use a larger epsilon, or TEM."
            )
        return float(max(delta, self._grid.numeric_delta(self._dimension, 1.0)))

    def _rounding(self, far: float) -> float:
        """The mean rounding error of a coordinate on the hyperboloid, for words `far` out.

        A way that leads back across the origin cancels numbers of the size e^(length + far). The
        mean is taken over draws of its own, which are public.
        """
        rng = Generator(np.random.PCG64(0))
        lengths = np.minimum(self._lengths(_MEAN_OF, rng), 300.0)
        outward = rng.standard_normal((_MEAN_OF, self._dimension))
        outward /= np.linalg.norm(outward, axis=1, keepdims=True)
        ends = np.cosh(far) * np.cosh(lengths) + np.sinh(far) * np.sinh(lengths) * outward[:, 0]
        ends = np.maximum(ends, np.cosh(lengths - far))
        cut = np.minimum(1.0, math.sinh(poincare.REACH) / np.maximum(ends, 1.0))
        return float(2.0**-52 * np.mean(np.exp(lengths + far) * cut))

    def _release(self, vectors: Floats, rng: Generator) -> Floats:
        self._numeric_delta(poincare.in_ball(vectors))
        directions = rng.standard_normal(vectors.shape)
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        lifted = poincare.travel(vectors, directions, self._lengths(len(vectors), rng))
        # Beyond the reach, the ball has no room in float64. Both steps are post-processing.
        kept = poincare.shorten(lifted, math.sinh(poincare.REACH))
        return poincare.lower(self._grid.snap(kept))

    def _lengths(self, count: int, rng: Generator) -> Floats:
        """How far the noise leads: −½·ln V, with V = X/(X + Y) of two Gamma variates."""
        x = rng.standard_gamma(self._shape, size=count)
        y = rng.standard_gamma(self._dimension, size=count)
        with np.errstate(divide="ignore", over="ignore"):  # x may be too small for float64
            return np.minimum(0.5 * np.log1p(y / x), _FARTHEST)

    @property
    def step(self) -> float:
        """The step of the grid, in the coordinates of the hyperboloid."""
        return self._grid.step

    def log_density(self, noise: Floats, word: int) -> Floats:
        """ln of the density by hyperbolic volume, for rows that lead from the word's point.

        The length r has the density 2·e^(−2ar)·(1 − e^(−2r))^(n−1)/B(a, n), a the shape, and the
        sphere of that radius the surface of the unit sphere times sinhⁿ⁻¹ r.
        """
        n, a = self._dimension, self._shape
        beta = math.lgamma(a) + math.lgamma(n) - math.lgamma(a + n)
        constant = n * math.log(2.0) - beta - log_sphere(n)
        return np.asarray(constant - (2.0 * a + n - 1.0) * np.linalg.norm(noise, axis=1))
