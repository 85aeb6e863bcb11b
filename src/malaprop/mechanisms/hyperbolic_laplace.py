"""The Laplace mechanism of hyperbolic space."""

from dataclasses import dataclass

from malaprop.mechanisms.decoders import VectorMechanism
from malaprop.privacy.arrays import Reals
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.guarantee import Guarantee
from malaprop.privacy.noise import HyperbolicLaplaceNoise


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

    promise = "metric-dp: ε·d, Poincaré, ε > n − 1"
    needs = "poincare"

    def _bind(self, vectors: Reals) -> tuple[HyperbolicLaplaceNoise, Guarantee]:
        dimension = vectors.shape[1]
        if self.epsilon <= dimension - 1:
            raise ParameterError(
                f"The 'epsilon' parameter of HyperbolicLaplace must be above n − 1 = "
                f"{dimension - 1} in {dimension} dimensions: below that, no mechanism on all of "
                f"hyperbolic space stays near its input. Got {self.epsilon}. Use TEM, or "
                "TangentLaplace, which take any epsilon."
            )
        shape = (self.epsilon - dimension + 1.0) / 2.0
        noise = HyperbolicLaplaceNoise(shape=shape, dimension=dimension)
        return noise, self._promise(noise, "poincare")
