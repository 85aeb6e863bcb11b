"""The noise of vector channels, as they state it, and whether their draws bear that out.

A channel states its noise by `log_density(noise, word)`, next to its sampler and from the same
fields. A class that has its own sampler and inherits the density states nothing.
"""

import math

import numpy as np

from malaprop.core import poincare
from malaprop.core.channel import VectorChannel
from malaprop.core.randomness import seeded_rng
from malaprop.core.space import Floats
from malaprop.measure.quadrature import Noise
from malaprop.mechanisms.decoders import Nearest
from malaprop.mechanisms.hyperbolic_laplace import HyperbolicLaplaceChannel
from malaprop.mechanisms.priv_emb import PrivEmbChannel
from malaprop.mechanisms.tangent_laplace import TangentLaplaceChannel

_SAMPLERS = ("_noise", "_release", "_release_words", "release_words", "_lengths", "_choose")
_DRAWS = 100_000  # lengths a word: a scale that is 5 % off moves their law by 0.018 or more
_SHARED = 20_000  # words a word
_OFF = 0.03  # six standard errors of a share, with room for a coarse grid


def noise_of(channel: VectorChannel) -> Noise | None:
    """A channel's noise, where it states it: that of the vector before it is rounded."""
    if not _states(channel):
        return None
    density, vectors = channel.log_density, channel.lexicon.vectors.astype(np.float64)  # type: ignore[attr-defined]
    if isinstance(channel, PrivEmbChannel):
        projected = vectors @ channel.projection.T
        # The decoder's lexicon has float32 vectors, as every lexicon.
        return Noise(density, projected, projected.astype(np.float32).astype(np.float64))
    if isinstance(channel, HyperbolicLaplaceChannel):
        return Noise(density, vectors, vectors, "hyperbolic")
    if isinstance(channel, TangentLaplaceChannel):
        return Noise(density, vectors, vectors, "tangent")
    flat = str(channel.lexicon.metric) != "poincare"
    return Noise(density, vectors, vectors) if flat else None


def _states(channel: VectorChannel) -> bool:
    """Whether the density was written for the sampler, or for one that was since replaced."""
    order = type(channel).__mro__

    def place(name: str) -> int:
        return next((i for i, cls in enumerate(order) if name in vars(cls)), len(order))

    return place("log_density") <= min(place(name) for name in _SAMPLERS)


def decodes_nearest(channel: VectorChannel) -> bool:
    """Whether words come from noisy vectors by the nearest word, and by nothing else."""
    plain = type(channel)._substitute is VectorChannel._substitute
    nearest = type(Nearest().on(channel.lexicon, channel.guarantee.epsilon))
    return plain and type(channel._decoder) is nearest


def draws_like(channel: VectorChannel, noise: Noise, law: Floats) -> bool:
    """Whether the draws of each word look like its noise, and like the law that follows.

    No proof, but a scale that is 5 % off shows.
    """
    for word in range(len(law)):
        r, below = noise.radial(word)
        seen = r < _horizon(noise, word)
        lengths = _lengths(channel, noise, word)
        if abs(below[-1] - 1.0) > 1e-2 or not fits(lengths, r[seen], below[seen]):
            return False
        drawn = channel.substitute(np.full(_SHARED, word), seeded_rng(1))
        shares = np.bincount(drawn, minlength=len(law)) / _SHARED
        if np.abs(shares - law[word]).max() > _OFF:
            return False
    return True


def fits(lengths: Floats, r: Floats, below: Floats) -> bool:
    """Kolmogorov and Smirnov's test at p = 10⁻⁶: whether a share `below` is at most `r` long."""
    shares = np.searchsorted(np.sort(lengths), r, side="right") / len(lengths)
    limit = math.sqrt(math.log(2e6) / (2.0 * len(lengths)))
    # Towards 0 rounding to a grid decides; that, too, is 2⁻¹⁰ of the width at most.
    return bool(np.abs(shares - below).max() <= limit + 1e-3)


def _horizon(noise: Noise, word: int) -> float:
    """How long noise can be without being cut, where the ball has no more room in float64."""
    if noise.geometry == "euclidean":
        return math.inf
    return poincare.REACH - float(np.linalg.norm(poincare.log0(noise.centres[[word]]))) - 0.1


def _lengths(channel: VectorChannel, noise: Noise, word: int) -> Floats:
    """How long the noise of a word is, in many draws."""
    drawn = channel.release_words(np.full(_DRAWS, word), rng := seeded_rng(0))
    if isinstance(channel, HyperbolicLaplaceChannel):
        # Its grid is coarse: a place in the cell of the grid, at random, makes up for that.
        inside = channel.step * (rng.random(drawn.shape) - 0.5)
        drawn = poincare.lower(poincare.lift(drawn) + inside)
        return poincare.distances(np.broadcast_to(noise.centres[word], drawn.shape), drawn)
    if noise.geometry == "tangent":
        return np.asarray(np.linalg.norm(poincare.log0(drawn) - noise.start(word), axis=1))
    return np.asarray(np.linalg.norm(drawn - noise.centres[word], axis=1))
