"""The multivariate Laplace mechanism, known as Madlib."""

from dataclasses import dataclass

from malaprop.mechanisms.decoders import VectorMechanism
from malaprop.privacy.arrays import Reals
from malaprop.privacy.guarantee import Guarantee
from malaprop.privacy.noise import SphericalLaplace


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

    promise = "metric-dp: ε·d, Euclidean"
    choose_for = "words or vectors, when the noise itself must be simple to state"

    def _bind(self, vectors: Reals) -> tuple[SphericalLaplace, Guarantee]:
        noise = SphericalLaplace(scale=1.0 / self.epsilon, dimension=vectors.shape[1])
        return noise, self._promise(noise, "euclidean")
