"""Noise: how it is drawn, and what noisy vectors reveal about the word, in closed form."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids
from malaprop.core.loss import LossRows
from malaprop.core.metric import Metric
from malaprop.core.metrics.named import NAMED
from malaprop.core.space import MetricSpace

_UNIT = 2.0**-53


class Noise(ABC):
    """Noise that a channel adds to vectors. A subclass is a frozen dataclass."""

    @abstractmethod
    def release(self, vectors: Floats, rng: Generator) -> Floats:
        """Return a noisy vector for each row, rounded so that its last bits reveal nothing."""

    def release_words(self, space: MetricSpace, ids: Ids, rng: Generator) -> Floats:
        """Return noisy vectors of words. Override it if the noise depends on the word."""
        return self.release(space.vectors[ids].astype(np.float64), rng)

    def numerics(self, space: MetricSpace) -> str:
        """Say what floating-point numbers add to the loss of a word."""
        return ""

    def limits(self, columns: int) -> str:
        """Say what floating-point numbers add for any vector, and which vectors are refused."""
        return ""

    def length(self, columns: int) -> float | None:
        """Return the root mean square length of the noise; None if there is no such number."""
        return None

    def places(self, vectors: Floats) -> Floats:
        """Return where the noise of each row is centred, without noise: for public vectors only."""
        return vectors

    def density(self, space: MetricSpace) -> "ExponentialDensity | GaussianDensity | None":
        """Return the density of each word's noise before rounding; None if it is unknown."""
        return None

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """The noise's own metrics that a guarantee may be stated in, by name."""
        return {}


class AdditiveNoise(Noise):
    """y = x + z, with noise z that does not depend on x, rounded to a grid."""

    @property
    @abstractmethod
    def step(self) -> float:
        """The step of the grid."""


@dataclass(frozen=True, kw_only=True)
class GaussianDensity:
    """N(centre, σ²·I) for each word. Without noise, σ = 0, the centre itself is released."""

    centres: Floats
    sigmas: Floats


@dataclass(frozen=True, kw_only=True)
class ExponentialDensity:
    """A density ∝ exp(−rate·d(y, x)) around each word's centre x, or a mixture of such densities.

    The constant is the same for all words. So, by the triangle inequality,

        sup over y of ln p(y|w) − ln p(y|w') = rate·d(x, x'),

    attained at y = x. For a mixture, the largest such term over its parts is an upper bound.
    Post-processing of the vectors reveals no more.
    """

    rate: float
    centres: Floats
    """The place that noise is added to, for each word: (words, dimensions)."""
    metric: str = "euclidean"
    """The name of d: euclidean, manhattan, or poincare, with volumes of that space."""
    roots: tuple[Floats, ...] = ()
    """For elliptical norms: y = x + z·root with spherical noise z, a root for each part."""
    chances: Floats | None = None
    """For a mixture, ln of the probability of each part: (words, parts)."""
    in_ball: bool = False
    """Whether releases are points of the Poincaré ball, in whichever chart."""

    @property
    def dimension(self) -> int:
        """The dimension of the space that the noise is in."""
        return int(self.centres.shape[1])

    @property
    def is_sane(self) -> bool:
        """Whether the numbers describe noise: a rate ≤ 0 or NaN would pass for no loss."""
        numbers = [self.centres, *self.roots]
        numbers += [] if self.chances is None else [self.chances]
        return 0.0 < self.rate < np.inf and all(np.isfinite(part).all() for part in numbers)

    @property
    def is_attained(self) -> bool:
        """Whether `loss` is the loss itself, not an upper bound."""
        return len(self.roots) <= 1

    def loss(self) -> LossRows:
        """Return a function from ids of words to the losses of their vectors against all words."""
        if not self.roots:
            distances = NAMED[self.metric].on(self.centres)  # type: ignore[arg-type]
            return lambda ids: self.rate * distances(ids)
        inverses = [np.linalg.inv(root) for root in self.roots]
        parts = [NAMED["euclidean"].on(self.centres @ inverse) for inverse in inverses]
        chances = self.chances if self.chances is not None else np.zeros((len(self.centres), 1))

        def rows(ids: Ids) -> Floats:
            losses = [
                chance[ids, None] - chance + self.rate * distances(ids)
                for chance, distances in zip(chances.T, parts, strict=True)
            ]
            return np.asarray(np.max(losses, axis=0))

        return rows

    @property
    def rounding(self) -> tuple[float, float]:
        """What float64 may add to a loss: a share of the loss, and a number of nats."""
        singular = [np.linalg.svd(root, compute_uv=False) for root in self.roots]
        condition = max((values[0] / values[-1] for values in singular), default=1.0)
        least = min((values[-1] for values in singular), default=1.0)
        reach = self.rate * float(np.linalg.norm(self.centres, axis=1).max()) / least
        unit = 8.0 * (self.dimension + 8) * _UNIT
        share = NAMED[self.metric].relative_error(self.dimension) + unit * condition
        return float(share), float(unit * (1.0 + reach * condition))
