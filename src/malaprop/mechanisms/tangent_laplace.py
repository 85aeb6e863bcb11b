"""Laplace noise in the tangent space of hyperbolic space."""

from dataclasses import dataclass

from malaprop.mechanisms.decoders import VectorMechanism
from malaprop.privacy.arrays import Reals
from malaprop.privacy.guarantee import Guarantee
from malaprop.privacy.noise import TangentLaplaceNoise


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

    promise = "metric-dp: ε·d, Poincaré"
    needs = "poincare"

    def _bind(self, vectors: Reals) -> tuple[TangentLaplaceNoise, Guarantee]:
        noise = TangentLaplaceNoise(scale=1.0 / self.epsilon, dimension=vectors.shape[1])
        return noise, self._promise(noise, "poincare")
