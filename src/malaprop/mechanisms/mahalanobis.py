"""The Mahalanobis mechanism: elliptical Laplace noise, along the lexicon's own covariance."""

import math
from dataclasses import dataclass, field

import numpy as np

from malaprop.mechanisms.decoders import VectorMechanism
from malaprop.privacy.arrays import Floats, Reals
from malaprop.privacy.errors import ParameterError, require_whole
from malaprop.privacy.guarantee import Guarantee
from malaprop.privacy.mechanism import FreeVectors, bound_to_vectors, option
from malaprop.privacy.noise import Ellipsoid, EllipticalLaplace, clusters

_CHOICE = 0.25  # the share of ε for the choice of a cluster, if there are several


@dataclass(frozen=True, kw_only=True)
class Mahalanobis(VectorMechanism, name="mahalanobis"):
    """Adds elliptical Laplace noise to a word's vector and takes the nearest word.

    Distribution: y = x + A^½·z, z of density ∝ exp(−ε‖z‖₂), A = λΣ + (1 − λ)I, Σ the covariance of
    the lexicon's vectors scaled to trace d. Released vectors are rounded to a grid. With several
    clusters each has its A_c; one of them is drawn with probability ∝ exp(−(ε/8)·‖x − m_c‖_c), m_c
    its centre, ‖v‖_c = √(vᵀA_c⁻¹v), and the noise is of its A_c and of 3ε/4.

    Guarantee: ε·‖x − x'‖_RM metric differential privacy, ‖v‖_RM = max_c ‖v‖_c; in Euclidean
    distance that is ε/√λ_min(A), never less than ε. Both are stated.

    Why: the density of y is ∝ exp(−ε‖y − x‖_RM), and ‖·‖_RM is a norm. The draw of a cluster costs
    ε/4, and the noise depends on what was drawn, not on x. See docs/proofs/mahalanobis.md.

    Parameters: `epsilon`, ε, loss per unit of the RM norm. `regularization`, λ: 0 is Laplace, 1 the
    pure covariance. `clusters`, of a k-means clustering of the public vectors. `decoder`, as for
    Laplace.

    >>> from malaprop import Lexicon, Mahalanobis
    >>> cross = Lexicon(["n", "e", "s", "w"], [[0, 1], [2, 0], [0, -1], [-2, 0]])
    >>> guarantee = Mahalanobis(epsilon=2.0, regularization=1.0).on(cross).guarantee
    >>> guarantee.metric, [(name, round(e, 4)) for name, e in guarantee.equivalents]
    ('mahalanobis(λ=1)', [('euclidean', 3.1623)])

    Reference: Xu, Aggarwal, Feyisetan, Teissier, "A differentially private text perturbation method
    using a regularized Mahalanobis metric", 2020.
    """

    epsilon: float = field(metadata={"help": "ε, the privacy loss per unit of the RM norm"})
    regularization: float = option(0.5, "λ, from 0 (spherical noise) to 1 (the covariance alone)")
    clusters: int = option(1, "how many clusters have a covariance of their own")

    promise = "metric-dp: ε·d, Mahalanobis; ε/√λ_min in Euclidean distance"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require("regularization", "a number from 0 to 1", lambda x: 0 <= x <= 1)
        require_whole(self, "clusters", least=1)

    def _free(self, columns: int, public: Floats | None) -> FreeVectors:
        if public is None:
            raise ParameterError(
                "Mahalanobis shapes its noise like a cloud of vectors, and that of the vectors to "
                "release would give them away: give the 'public' vectors."
            )
        return bound_to_vectors(columns, *self._bind(public), public=("the public vectors",))

    def _bind(self, vectors: Reals) -> tuple[EllipticalLaplace, Guarantee]:
        exact = vectors.astype(np.float64)
        labels = clusters(exact, self.clusters)
        ellipsoids = tuple(
            Ellipsoid(exact[labels == c], self.regularization) for c in np.unique(labels)
        )
        choice = self.epsilon * (_CHOICE if len(ellipsoids) > 1 else 0.0)
        scale = 1.0 / (self.epsilon - choice)
        noise = EllipticalLaplace(ellipsoids=ellipsoids, scale=scale, choice=choice)
        least = min(ellipsoid.least for ellipsoid in ellipsoids)
        equivalents = (("euclidean", self.epsilon / math.sqrt(least)),)
        return noise, self._promise(noise, noise.metric.name, equivalents=equivalents)
