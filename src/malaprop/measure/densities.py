"""The densities of the noise of vector channels, stated a second time: an audit takes no channel's
word for its own.

They are those of the classes here, not of classes derived from them, which may do anything. A
channel of another class may state its own, by a method `log_density(noise)`.
"""

import math

import numpy as np

from malaprop.core.channel import VectorChannel
from malaprop.core.ellipsoid import Ellipsoid
from malaprop.core.randomness import seeded_rng
from malaprop.core.space import Floats
from malaprop.measure.quadrature import Density, Noise
from malaprop.mechanisms.coordinate_laplace import CoordinateLaplaceChannel
from malaprop.mechanisms.decoders import _NearestDecoder
from malaprop.mechanisms.hyperbolic_laplace import HyperbolicLaplaceChannel
from malaprop.mechanisms.laplace import LaplaceChannel
from malaprop.mechanisms.mahalanobis import MahalanobisChannel

_DRAWS, _OFF = 4_000, 0.06  # over seven standard errors of a share, with room for a coarse grid


def noise_of(channel: VectorChannel) -> Noise | None:
    """A channel's noise, where its density is known and the same for all words.

    It is that of the vector before it is rounded to a grid, which is post-processing.
    """
    epsilon, dimension = channel.guarantee.epsilon, channel.lexicon.vectors.shape[1]
    if type(channel) is LaplaceChannel:
        return Noise(_laplace(epsilon, dimension))
    if type(channel) is CoordinateLaplaceChannel:
        constant = dimension * math.log(epsilon / 2.0)
        return Noise(lambda z: np.asarray(constant - epsilon * np.abs(z).sum(axis=1)))
    if type(channel) is MahalanobisChannel and len(channel._ellipsoids) == 1:
        return Noise(_mahalanobis(channel._ellipsoids[0], epsilon, dimension))
    if type(channel) is HyperbolicLaplaceChannel and dimension <= 2:
        return Noise(_hyperbolic(epsilon, dimension), hyperbolic=True)
    stated: Density | None = getattr(channel, "log_density", None)
    return None if stated is None else Noise(stated)


def decodes_nearest(channel: VectorChannel) -> bool:
    """Whether words come from noisy vectors by the nearest word, and by nothing else."""
    plain = type(channel)._substitute is VectorChannel._substitute
    return plain and type(channel._decoder) is _NearestDecoder


def draws_like(channel: VectorChannel, law: Floats) -> bool:
    """Whether the draws of a few words look like the law: no proof, but no gross contradiction."""
    for word in np.unique(np.linspace(0, len(law) - 1, 5).astype(np.int64)):
        drawn = channel.substitute(np.full(_DRAWS, word), seeded_rng(0))
        shares = np.bincount(drawn, minlength=len(law)) / _DRAWS
        if np.abs(shares - law[word]).max() > _OFF:
            return False
    return True


def _laplace(epsilon: float, dimension: int) -> Density:
    """c·exp(−ε‖z‖₂), 1/c = Γ(d)/εᵈ times the surface of the unit sphere."""
    surface = math.log(2.0) + 0.5 * dimension * math.log(math.pi) - math.lgamma(dimension / 2.0)
    constant = dimension * math.log(epsilon) - math.lgamma(dimension) - surface

    def log_density(noise: Floats) -> Floats:
        return np.asarray(constant - epsilon * np.linalg.norm(noise, axis=1))

    return log_density


def _mahalanobis(shape: Ellipsoid, epsilon: float, dimension: int) -> Density:
    """c·exp(−ε‖A^(−1/2)z‖₂)/√det A."""
    root, plain = np.linalg.inv(np.linalg.cholesky(shape.matrix)), _laplace(epsilon, dimension)
    constant = float(np.linalg.slogdet(root)[1])
    return lambda noise: constant + plain(np.einsum("ij,kj->ik", noise, root))


def _hyperbolic(epsilon: float, dimension: int) -> Density:
    """c·exp(−ε·d(x, y)) by hyperbolic volume: 1/c is 2/ε on a line and 2π/(ε² − 1) in the plane."""
    constant = math.log(epsilon / 2.0 if dimension == 1 else (epsilon**2 - 1.0) / (2.0 * math.pi))
    return lambda noise: np.asarray(constant - epsilon * np.linalg.norm(noise, axis=1))
