"""Laplace noise in the tangent space of hyperbolic space."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from malaprop.core import poincare
from malaprop.core.additive import Grid, spherical_laplace, spherical_laplace_log_density
from malaprop.core.channel import Floats, VectorChannel
from malaprop.core.guarantee import Guarantee, Kind
from malaprop.core.space import MetricSpace
from malaprop.mechanisms.decoders import VectorMechanism


@dataclass(frozen=True, kw_only=True)
class TangentLaplace(VectorMechanism, name="tangent-laplace"):
    """Adds Laplace noise to a word's vector in the tangent space at the origin of the ball.

    Distribution: y = exp₀(log₀ x + z) in the Poincaré ball, z with density ∝ exp(−ε‖z‖₂): a
    uniform direction times a radius ~ Gamma(n, 1/ε). log₀ x + z is rounded to a grid.

    Guarantee: ε·d(x, x') metric differential privacy in the Poincaré distance d, for the vector
    and for the word, for any ε.

    Why: Laplace noise gives ε·‖log₀ x − log₀ x'‖, and in a space of negative curvature log₀ only
    shortens distances, ‖log₀ x − log₀ x'‖ ≤ d(x, x'). exp₀ and the rounding are post-processing.

    Parameters: `epsilon`, ε, loss per unit of Poincaré distance. `decoder`, from the noisy vector
    to a word: `nearest`, `vickrey` or `rank`; it does not touch the guarantee.

    >>> from malaprop import Lexicon, TangentLaplace, seeded_rng
    >>> tree = Lexicon(["thing", "cat", "dog"], [[0, 0], [0.8, 0.1], [0.8, -0.1]], "poincare")
    >>> channel = TangentLaplace(epsilon=3.0).on(tree)
    >>> [tree.words[i] for i in channel.substitute([1] * 6, seeded_rng(1))]
    ['cat', 'dog', 'cat', 'cat', 'cat', 'cat']

    Reference: after Feyisetan, Diethe, Drake, "Leveraging hierarchical representations for
    preserving privacy and utility in text", 2019; Cartan and Hadamard for the inequality.
    """

    promise: ClassVar[str] = "metric-dp: ε·d, Poincaré"
    needs: ClassVar[str] = "poincare"

    def on(self, lexicon: MetricSpace) -> "TangentLaplaceChannel":
        """The mechanism bound to a lexicon in the Poincaré ball."""
        poincare.require_ball(lexicon, "TangentLaplace")
        return TangentLaplaceChannel(self, lexicon)


class TangentLaplaceChannel(VectorChannel):
    """Laplace noise on the tangent vectors of a lexicon."""

    def __init__(self, mechanism: TangentLaplace, lexicon: MetricSpace) -> None:
        self._scale = 1.0 / mechanism.epsilon
        self._dimension = lexicon.vectors.shape[1]
        self._grid = Grid(math.sqrt(self._dimension + 1) * self._scale)
        delta = self._numeric_delta(poincare.log0(lexicon.vectors.astype(np.float64)))
        guarantee = Guarantee(
            kind=Kind.METRIC,
            epsilon=mechanism.epsilon,
            metric="poincare",
            proof="docs/proofs/hyperbolic.md",
            numerics=f"float64, rounded to a grid of {self._grid.step:.3g} in the tangent space; "
            f"adds δ ≈ {delta:.0e}",
        )
        super().__init__(lexicon, guarantee, mechanism.decoder_on(lexicon))

    def _numeric_delta(self, tangents: Floats) -> float:
        largest = float(np.abs(tangents).max(initial=0.0))
        return self._grid.numeric_delta(self._dimension, largest)

    def _release(self, vectors: Floats, rng: Generator) -> Floats:
        tangents = poincare.log0(poincare.in_ball(vectors))
        self._numeric_delta(tangents)
        noise = spherical_laplace(len(vectors), self._dimension, self._scale, rng)
        # Beyond the reach, the ball has no room in float64.
        snapped = poincare.shorten(self._grid.snap(tangents + noise), poincare.REACH)
        return poincare.exp0(snapped)

    def log_density(self, noise: Floats, word: int) -> Floats:
        """ln of the density of a word's noise in the tangent space, before it is rounded."""
        return spherical_laplace_log_density(noise, self._scale)
