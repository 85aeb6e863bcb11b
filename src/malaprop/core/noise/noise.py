"""What noise is: how it is drawn, and what noisy vectors tell of the word, in closed form."""

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
        """Return a noisy vector for each row, rounded so that its last bits tell nothing."""

    def release_words(self, space: MetricSpace, ids: Ids, rng: Generator) -> Floats:
        """Return noisy vectors of words; overridden where the noise depends on the word."""
        return self.release(space.vectors[ids].astype(np.float64), rng)

    def numerics(self, space: MetricSpace) -> str:
        """Say what floating-point numbers add to the loss of a word."""
        return ""

    def density(self, space: MetricSpace) -> "ExponentialDensity | GaussianDensity | None":
        """Return the density of each word's noise, before rounding, where it is known."""
        return None

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """Metrics of its own that a guarantee may speak of, by name."""
        return {}


class AdditiveNoise(Noise):
    """y = x + z, with noise z that does not depend on x, rounded to a grid."""

    @property
    @abstractmethod
    def step(self) -> float:
        """The step of the grid."""

    def log_density(self, noise: Floats, vector: Floats) -> Floats:
        """Return ln of the density at each row of `noise`, added to `vector`, before rounding."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class GaussianDensity:
    """N(centre, σ²·I) for each word. Without noise, σ = 0, the centre itself is released."""

    centres: Floats
    sigmas: Floats


@dataclass(frozen=True, kw_only=True)
class ExponentialDensity:
    """A density ∝ exp(−rate·d(y, x)) around each word's centre x, or a mixture of such.

    The constant is the same for all words. So, by the triangle inequality,

        sup over y of ln p(y|w) − ln p(y|w') = rate·d(x, x'),

    attained at y = x. With several parts, of which one is drawn first, the largest of such terms
    is an upper bound. Whatever is made of the vectors without a look at the word tells no more.
    """

    rate: float
    centres: Floats
    """Where the noise of each word starts: (words, dimensions)."""
    metric: str = "euclidean"
    """What d is: euclidean, manhattan, or poincare, with volumes of that space."""
    roots: tuple[Floats, ...] = ()
    """For a norm that is not round: y = x + z·root, z of round noise; one for each part."""
    chances: Floats | None = None
    """ln of how likely each part is drawn for each word, where there are several."""
    in_ball: bool = False
    """Whether what is released is a point of the Poincaré ball, by whichever chart of it."""

    @property
    def dimension(self) -> int:
        """The dimension of the space that the noise is in."""
        return int(self.centres.shape[1])

    @property
    def is_sane(self) -> bool:
        """Whether there is such noise: a rate of 0 or less, or NaN, would pass for none told."""
        numbers = [self.centres, *self.roots]
        numbers += [] if self.chances is None else [self.chances]
        return 0.0 < self.rate < np.inf and all(np.isfinite(part).all() for part in numbers)

    @property
    def is_attained(self) -> bool:
        """Whether `loss` is the loss itself, not an upper bound."""
        return len(self.roots) <= 1

    def loss(self) -> LossRows:
        """Return what vectors of words w tell against those of all words w', in nats: by ids."""
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
        """What float64 may add to a loss: a share of it, and nats."""
        singular = [np.linalg.svd(root, compute_uv=False) for root in self.roots]
        condition = max((values[0] / values[-1] for values in singular), default=1.0)
        least = min((values[-1] for values in singular), default=1.0)
        reach = self.rate * float(np.linalg.norm(self.centres, axis=1).max()) / least
        unit = 8.0 * (self.dimension + 8) * _UNIT
        share = NAMED[self.metric].relative_error(self.dimension) + unit * condition
        return float(share), float(unit * (1.0 + reach * condition))
