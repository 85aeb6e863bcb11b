"""The multivariate Laplace mechanism, known as Madlib."""

import math
from dataclasses import dataclass
from typing import ClassVar

from numpy.random import Generator

from malaprop.core.additive import AdditiveChannel, spherical_laplace, spherical_laplace_log_density
from malaprop.core.channel import Floats
from malaprop.core.euclidean import require_euclidean
from malaprop.core.guarantee import Guarantee, Kind
from malaprop.core.space import MetricSpace
from malaprop.mechanisms.decoders import VectorMechanism


@dataclass(frozen=True, kw_only=True)
class Laplace(VectorMechanism, name="laplace"):
    """Adds spherical Laplace noise to a word's vector and takes the nearest word.

    Distribution: y = x + z with density ∝ exp(−ε‖z‖₂) in d dimensions: a uniform direction times
    a radius ~ Gamma(d, 1/ε). It is *not* Laplace noise on each coordinate, which would cost √d
    times as much. Released vectors are rounded to a grid.

    Guarantee: ε·‖x − x'‖₂ metric differential privacy, for the vector and for the word.

    Why: exp(−ε‖y − x‖)/exp(−ε‖y − x'‖) ≤ exp(ε‖x − x'‖) by the triangle inequality, and the
    normalising constant does not depend on x. Rounding and decoding are post-processing.

    Parameters: `epsilon`, ε, loss per unit of Euclidean distance. `decoder`, from the noisy vector
    to a word: `nearest`, `vickrey` or `rank`; it does not touch the guarantee.

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
        require_euclidean(lexicon, self)
        return LaplaceChannel(self, lexicon)


class LaplaceChannel(AdditiveChannel):
    """Laplace noise on the vectors of a lexicon."""

    def __init__(self, mechanism: Laplace, lexicon: MetricSpace) -> None:
        self._scale = 1.0 / mechanism.epsilon
        self._dimension = lexicon.vectors.shape[1]
        guarantee = Guarantee(
            kind=Kind.METRIC,
            epsilon=mechanism.epsilon,
            metric="euclidean",
            proof="docs/proofs/laplace.md",
        )
        spread = math.sqrt(self._dimension + 1) * self._scale
        decoder = mechanism.decoder_on(lexicon)
        super().__init__(lexicon, guarantee, decoder, spread=spread)

    def _noise(self, count: int, rng: Generator) -> Floats:
        return spherical_laplace(count, self._dimension, self._scale, rng)

    def log_density(self, noise: Floats, word: int) -> Floats:
        """ln of the density of a word's noise at each row, before it is rounded."""
        return spherical_laplace_log_density(noise, self._scale)
