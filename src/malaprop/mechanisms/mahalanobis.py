"""The Mahalanobis mechanism: elliptical Laplace noise, along the lexicon's own covariance."""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from malaprop.core.additive import AdditiveChannel, spherical_laplace, spherical_laplace_log_density
from malaprop.core.channel import Floats
from malaprop.core.ellipsoid import Ellipsoid, clusters
from malaprop.core.euclidean import require_euclidean
from malaprop.core.guarantee import Guarantee, Kind
from malaprop.core.space import Ids, MetricSpace, blocks
from malaprop.core.threads import in_threads
from malaprop.mechanisms.decoders import VectorMechanism

_CHOICE = 0.25  # the part of ε that chooses the cluster, where there are several
_SHARE = 1 << 18  # numbers of a thread at a time: 2 MB


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
    regularization: float = field(
        default=0.5, metadata={"help": "λ, from 0 (spherical noise) to 1 (the covariance alone)"}
    )
    clusters: int = field(
        default=1, metadata={"help": "how many clusters have a covariance of their own"}
    )

    promise: ClassVar[str] = "metric-dp: ε·d, Mahalanobis; ε/√λ_min in Euclidean distance"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require("regularization", "a number from 0 to 1", lambda x: 0 <= x <= 1)
        self._require("clusters", "a whole number, 1 or more", lambda x: x >= 1 and x % 1 == 0)
        object.__setattr__(self, "clusters", int(self.clusters))

    def on(self, lexicon: MetricSpace) -> "MahalanobisChannel":
        """The mechanism bound to a lexicon, whose metric must be Euclidean."""
        require_euclidean(lexicon, self)
        return MahalanobisChannel(self, lexicon)


class MahalanobisChannel(AdditiveChannel):
    """Elliptical Laplace noise on the vectors of a lexicon."""

    def __init__(self, mechanism: Mahalanobis, lexicon: MetricSpace) -> None:
        vectors = lexicon.vectors.astype(np.float64)
        labels = clusters(vectors, mechanism.clusters)
        self._ellipsoids = [
            Ellipsoid(vectors[labels == c], mechanism.regularization) for c in np.unique(labels)
        ]
        count = len(self._ellipsoids)
        self._choice = mechanism.epsilon * (_CHOICE if count > 1 else 0.0)
        self._scale = 1.0 / (mechanism.epsilon - self._choice)
        least = min(ellipsoid.least for ellipsoid in self._ellipsoids)
        several = f", {count} clusters" if count > 1 else ""
        guarantee = Guarantee(
            kind=Kind.METRIC,
            epsilon=mechanism.epsilon,
            metric=f"mahalanobis(λ={mechanism.regularization:g}{several})",
            equivalents=(("euclidean", mechanism.epsilon / math.sqrt(least)),),
            proof="docs/proofs/mahalanobis.md",
        )
        narrowest = min(float(e.matrix.diagonal().min()) for e in self._ellipsoids)
        spread = math.sqrt((vectors.shape[1] + 1) * narrowest) * self._scale
        decoder = mechanism.decoder_on(lexicon)
        super().__init__(lexicon, guarantee, decoder, spread=spread)

    def distance(self, x: Any, y: Any) -> Floats:
        """‖x − y‖_RM, the distance that the guarantee speaks of; matrices row by row."""
        difference = np.asarray(x, dtype=np.float64) - np.asarray(y, dtype=np.float64)
        return np.asarray(np.max([e.norm(difference) for e in self._ellipsoids], axis=0))

    def _noise(self, count: int, rng: Generator) -> Floats:
        return spherical_laplace(count, self._space.vectors.shape[1], self._scale, rng)

    def _release(self, vectors: Floats, rng: Generator) -> Floats:
        self._grid.numeric_delta(vectors.shape[1], float(np.abs(vectors).max(initial=0.0)))
        noise, chosen = self._noise(len(vectors), rng), self._choose(vectors, rng)

        def release(rows: slice) -> None:
            some = noise[rows]
            for c, ellipsoid in enumerate(self._ellipsoids):
                here = chosen[rows] == c
                some[here] = some[here] @ ellipsoid.root
            noise[rows] = self._grid.snap(vectors[rows] + some)

        in_threads(release, blocks(len(noise), row_cells=noise.shape[1], budget=_SHARE))
        return noise

    def _choose(self, vectors: Floats, rng: Generator) -> Ids:
        """A cluster for each vector, by the exponential mechanism on its distance to the centre."""
        if self._choice == 0.0:
            return np.zeros(len(vectors), dtype=np.int64)
        cumulative = self._weights(vectors).cumsum(axis=1)
        uniform = rng.random((len(vectors), 1)) * cumulative[:, -1:]
        chosen = (cumulative <= uniform).sum(axis=1)
        return np.asarray(np.minimum(chosen, cumulative.shape[1] - 1), dtype=np.int64)

    def _weights(self, vectors: Floats) -> Floats:
        """What the clusters' probabilities are proportional to: (vectors, clusters)."""
        distances = np.stack([e.norm(vectors - e.centre) for e in self._ellipsoids], axis=1)
        nearest = distances.min(axis=1, keepdims=True)
        return np.asarray(np.exp(-self._choice / 2.0 * (distances - nearest)))

    def log_density(self, noise: Floats, word: int) -> Floats:
        """ln of the density of a word's noise at each row, whichever cluster was drawn."""
        weights = self._weights(self._space.vectors[[word]].astype(np.float64))[0]
        with np.errstate(divide="ignore"):  # a cluster may be too far to be ever drawn
            chances = np.log(weights / weights.sum())
        parts = []
        for chance, ellipsoid in zip(chances, self._ellipsoids, strict=True):
            round_again = noise @ np.asarray(np.linalg.inv(ellipsoid.root), dtype=np.float64)
            part = spherical_laplace_log_density(round_again, self._scale)
            parts.append(chance + part - np.linalg.slogdet(ellipsoid.root)[1])
        return np.asarray(np.logaddexp.reduce(parts))
