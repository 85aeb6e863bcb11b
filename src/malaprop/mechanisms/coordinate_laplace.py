"""Laplace noise on each coordinate."""

import math
from dataclasses import dataclass, field

from malaprop.mechanisms.decoders import VectorMechanism
from malaprop.privacy.arrays import Reals
from malaprop.privacy.errors import MetricError
from malaprop.privacy.guarantee import Guarantee
from malaprop.privacy.metrics import Euclidean, Manhattan, MetricSpace
from malaprop.privacy.noise import CoordinateLaplaceNoise


@dataclass(frozen=True, kw_only=True)
class CoordinateLaplace(VectorMechanism, name="coordinate-laplace"):
    """Adds Laplace noise to each coordinate of a word's vector and takes the nearest word.

    Distribution: y = x + z, the coordinates of z independent, each of density (ε/2)·exp(−ε|z|).
    Released vectors are rounded to a grid.

    Guarantee: ε·‖x − x'‖₁ metric differential privacy. In Euclidean distance that is √d·ε, in d
    dimensions; `guarantee.equivalents` says so.

    Why: the density is ∝ exp(−ε‖z‖₁), so its ratio is at most exp(ε‖x − x'‖₁) by the triangle
    inequality; ‖v‖₁ ≤ √d·‖v‖₂, with equality where all coordinates are equally large.

    Parameters: `epsilon`, ε, loss per unit of *Manhattan* distance, whatever the lexicon's metric.
    `decoder`, from the noisy vector to a word, as for Laplace.

    >>> from malaprop import CoordinateLaplace, Lexicon
    >>> tiny = Lexicon(["cold", "cool", "hot"], [[0.0] * 4, [1.0] * 4, [9.0] * 4])
    >>> guarantee = CoordinateLaplace(epsilon=2.0).on(tiny).guarantee
    >>> guarantee.metric, guarantee.epsilon, guarantee.equivalents
    ('manhattan', 2.0, (('euclidean', 4.0),))

    Reference: the "Laplacian" of Bollegala et al. 2023; Dwork, McSherry, Nissim, Smith 2006.
    """

    epsilon: float = field(metadata={"help": "ε, the privacy loss per unit of Manhattan distance"})

    promise = "metric-dp: ε·d, Manhattan; √d·ε in Euclidean distance"

    def _check(self, lexicon: MetricSpace) -> None:
        if type(lexicon.metric) not in (Manhattan, Euclidean):
            raise MetricError(
                "CoordinateLaplace has a guarantee in Manhattan and Euclidean distance; this "
                f"lexicon measures {lexicon.metric} ones. Use TEM, which takes any metric, or "
                "lexicon.with_metric('manhattan')."
            )

    def _bind(self, vectors: Reals) -> tuple[CoordinateLaplaceNoise, Guarantee]:
        noise = CoordinateLaplaceNoise(scale=1.0 / self.epsilon)
        euclidean = math.sqrt(vectors.shape[1]) * self.epsilon
        return noise, self._promise(noise, "manhattan", equivalents=(("euclidean", euclidean),))
