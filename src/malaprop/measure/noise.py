"""The noise of this library's channels, and what noisy vectors tell of the word, in closed form.

A word's noise has a density ∝ exp(−rate·d(y, x)), d a norm or the ball's metric, x the word's
place, with a constant that is the same for all words. So, by the triangle inequality,

    sup over y of ln p(y|w) − ln p(y|w') = rate·d(x, x'),

attained at y = x. With several parts, of which one is drawn first, the largest of such terms is
an upper bound. Whatever is made of the vectors without a look at the word tells no more.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from malaprop.core import poincare
from malaprop.core.channel import VectorChannel
from malaprop.core.metric import Rows
from malaprop.core.metrics import NAMED
from malaprop.core.space import Floats, Ids
from malaprop.measure.shipped import is_shipped
from malaprop.mechanisms.coordinate_laplace import CoordinateLaplaceChannel
from malaprop.mechanisms.hyperbolic_laplace import HyperbolicLaplaceChannel
from malaprop.mechanisms.laplace import LaplaceChannel
from malaprop.mechanisms.mahalanobis import MahalanobisChannel
from malaprop.mechanisms.priv_emb import PrivEmbChannel
from malaprop.mechanisms.tangent_laplace import TangentLaplaceChannel

_UNIT = 2.0**-53


@dataclass(frozen=True, kw_only=True)
class Noise:
    """Noise of density ∝ exp(−rate·d) around each word's place, or a mixture of such."""

    rate: float
    centres: Floats
    """Where the noise of each word starts: (words, dimensions)."""
    metric: str = "euclidean"
    """What d is: euclidean, manhattan, or poincare, with volumes of that space."""
    roots: tuple[Floats, ...] = ()
    """For a norm that is not round: y = x + z·root, z of round noise; one for each part."""
    chances: Floats | None = None
    """ln of how likely each part is drawn for each word, where there are several."""

    @property
    def dimension(self) -> int:
        """Of the space that the noise is in."""
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

    def loss(self) -> Rows:
        """What the vectors of words w tell against those of all words w', in nats: by ids of w."""
        if not self.roots:
            far = NAMED[self.metric].on(self.centres)  # type: ignore[arg-type]
            return lambda ids: self.rate * far(ids)
        inverses = [np.linalg.inv(root) for root in self.roots]
        parts = [NAMED["euclidean"].on(self.centres @ inverse) for inverse in inverses]
        chances = self.chances if self.chances is not None else np.zeros((len(self.centres), 1))

        def rows(ids: Ids) -> Floats:
            found = [
                chance[ids, None] - chance + self.rate * far(ids)
                for chance, far in zip(chances.T, parts, strict=True)
            ]
            return np.asarray(np.max(found, axis=0))

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


def noise_of(channel: VectorChannel) -> Noise | None:
    """The noise that a channel adds, where that is proved; before it is rounded to a grid."""
    known = _NOISES.get(type(channel))
    return known(channel) if known is not None and is_shipped(channel) else None


def _rate(scale: float) -> float:
    return 1.0 / scale if scale else np.inf


def _vectors(channel: VectorChannel) -> Floats:
    return channel.lexicon.vectors.astype(np.float64)


def _laplace(channel: LaplaceChannel) -> Noise:
    return Noise(rate=_rate(channel._scale), centres=_vectors(channel))


def _coordinate(channel: CoordinateLaplaceChannel) -> Noise:
    return Noise(rate=_rate(channel._scale), centres=_vectors(channel), metric="manhattan")


def _mahalanobis(channel: MahalanobisChannel) -> Noise:
    vectors = _vectors(channel)
    ellipsoids = channel._ellipsoids if channel._choice else channel._ellipsoids[:1]
    far = np.stack([e.norm(vectors - e.centre) for e in ellipsoids], axis=1)
    weights = -channel._choice / 2.0 * far
    return Noise(
        rate=_rate(channel._scale),
        centres=vectors,
        roots=tuple(e.root for e in ellipsoids),
        chances=weights - np.logaddexp.reduce(weights, axis=1)[:, None],
    )


def _projected(channel: PrivEmbChannel) -> Noise:
    return Noise(rate=_rate(channel.scale), centres=channel._noise.exact(channel.lexicon.vectors))


def _hyperbolic(channel: HyperbolicLaplaceChannel) -> Noise:
    # Of the sampler's shape a = (ε − n + 1)/2; see docs/proofs/hyperbolic.md.
    rate = 2.0 * channel._shape + channel._dimension - 1.0
    return Noise(rate=rate, centres=_vectors(channel), metric="poincare")


def _tangent(channel: TangentLaplaceChannel) -> Noise:
    return Noise(rate=_rate(channel._scale), centres=poincare.log0(_vectors(channel)))


_NOISES: dict[type, Callable[..., Noise]] = {
    LaplaceChannel: _laplace,
    CoordinateLaplaceChannel: _coordinate,
    MahalanobisChannel: _mahalanobis,
    PrivEmbChannel: _projected,
    HyperbolicLaplaceChannel: _hyperbolic,
    TangentLaplaceChannel: _tangent,
}
