"""Laplace noise on each coordinate."""

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from malaprop.core.additive import AdditiveChannel
from malaprop.core.channel import Floats
from malaprop.core.errors import MetricError
from malaprop.core.euclidean import Euclidean
from malaprop.core.guarantee import Guarantee, Kind
from malaprop.core.metrics import Manhattan
from malaprop.core.space import MetricSpace
from malaprop.mechanisms.decoders import VectorMechanism


@dataclass(frozen=True, kw_only=True)
class CoordinateLaplace(VectorMechanism, name="coordinate-laplace"):
    """Adds Laplace noise to each coordinate of a word's vector and takes the nearest word.

    Distribution: y = x + z, the coordinates of z independent, each of density (ε/2)·exp(−ε|z|).
    Released vectors are rounded to a grid.

    Guarantee: ε·‖x − x'‖₁ metric differential privacy. In Euclidean distance that is √d·ε, in d
    dimensions; `guarantee.equivalents` says so.

    Why: the density is ∝ exp(−ε‖z‖₁), so its ratio is at most exp(ε‖x − x'‖₁) by the triangle
    inequality; ‖v‖₁ ≤ √d·‖v‖₂, with equality where all coordinates are equally large.

    Parameters: `epsilon`, ε, loss per unit of *Manhattan* distance, whatever the lexicon measures.
    `decoder`, from the noisy vector to a word, as for Laplace.

    >>> from malaprop import CoordinateLaplace, Lexicon
    >>> tiny = Lexicon(["cold", "cool", "hot"], [[0.0] * 4, [1.0] * 4, [9.0] * 4])
    >>> guarantee = CoordinateLaplace(epsilon=2.0).on(tiny).guarantee
    >>> guarantee.metric, guarantee.epsilon, guarantee.equivalents
    ('manhattan', 2.0, (('euclidean', 4.0),))

    Reference: the "Laplacian" of Bollegala et al. 2023; Dwork, McSherry, Nissim, Smith 2006.
    """

    epsilon: float = field(metadata={"help": "ε, the privacy loss per unit of Manhattan distance"})

    promise: ClassVar[str] = "metric-dp: ε·d, Manhattan; √d·ε in Euclidean distance"

    def on(self, lexicon: MetricSpace) -> "CoordinateLaplaceChannel":
        """The mechanism bound to a lexicon, whose metric must be Manhattan or Euclidean."""
        if type(lexicon.metric) not in (Manhattan, Euclidean):
            raise MetricError(
                "CoordinateLaplace guarantees Manhattan distances, and so Euclidean ones; this "
                f"lexicon measures {lexicon.metric} ones. Use TEM, which takes any metric, or "
                "lexicon.with_metric('manhattan')."
            )
        return CoordinateLaplaceChannel(self, lexicon)


class CoordinateLaplaceChannel(AdditiveChannel):
    """Independent Laplace noise on the coordinates of a lexicon's vectors."""

    def __init__(self, mechanism: CoordinateLaplace, lexicon: MetricSpace) -> None:
        self._scale = 1.0 / mechanism.epsilon
        self._dimension = lexicon.vectors.shape[1]
        guarantee = Guarantee(
            kind=Kind.METRIC,
            epsilon=mechanism.epsilon,
            metric="manhattan",
            equivalents=(("euclidean", math.sqrt(self._dimension) * mechanism.epsilon),),
            proof="docs/proofs/coordinate-laplace.md",
        )
        decoder = mechanism.decoder_on(lexicon)
        spread = math.sqrt(2.0) * self._scale
        super().__init__(lexicon, guarantee, decoder, spread=spread)

    def _noise(self, count: int, rng: Generator) -> Floats:
        return rng.laplace(scale=self._scale, size=(count, self._dimension))

    def log_density(self, noise: Floats, word: int) -> Floats:
        """ln of the density of a word's noise at each row, before it is rounded."""
        constant = self._dimension * math.log(2.0 * self._scale)
        return np.asarray(-np.abs(noise).sum(axis=1) / self._scale - constant)
