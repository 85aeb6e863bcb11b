"""Which pairs of words a guarantee covers, and the exact δ of pairs of Gaussians."""

import math

import numpy as np

from malaprop.core.channel import Channel, VectorChannel
from malaprop.core.gaussian import spherical_delta
from malaprop.core.guarantee import Kind
from malaprop.core.loss import allowed_by
from malaprop.core.metrics import NAMED
from malaprop.core.randomness import seeded_rng
from malaprop.core.space import Floats
from malaprop.measure.densities import fits

_DRAWS = 100_000  # coordinates of the noise of a word


def coverage(channel: Channel) -> Floats | None:
    """What the guarantee allows between any two words, in nats; infinite if they are not covered.

    None if that cannot be told: neighbourhoods that are not known, a metric that is not.
    """
    ids, guarantee = np.arange(len(channel.lexicon)), channel.guarantee
    if guarantee.kind is Kind.NEIGHBOURHOOD:
        if type(channel).covers is Channel.covers:
            return None
        return np.where(channel.covers(ids), guarantee.epsilon, math.inf)
    distances = _distances(channel)
    return None if distances is None else allowed_by(guarantee)(distances)


def _distances(channel: Channel) -> Floats | None:
    """All distances, in the metric that the guarantee speaks of."""
    lexicon, name = channel.lexicon, channel.guarantee.metric
    ids = np.arange(len(lexicon))
    if name == str(lexicon.metric):
        return lexicon.distances(ids)
    if name in NAMED:
        return NAMED[name].on(lexicon.vectors)(ids)
    if hasattr(channel, "distance"):
        vectors = lexicon.vectors.astype(np.float64)
        return np.array([channel.distance(vectors, row) for row in vectors])
    return None


def scales_of(channel: VectorChannel) -> Floats | None:
    """The standard deviation of each word's Gaussian noise, if that is what a channel adds."""
    if hasattr(channel, "sigmas"):
        return np.asarray(channel.sigmas, dtype=np.float64)
    if hasattr(channel, "sigma"):
        return np.full(len(channel.lexicon), float(channel.sigma))
    return None


def is_as_wide(channel: VectorChannel, sigmas: Floats) -> bool:
    """Whether the noise of a few words is as wide as is said: no proof, but 5 % off shows."""
    from scipy.special import gammainc

    dimension = channel.lexicon.vectors.shape[1]
    r = math.sqrt(dimension) + np.linspace(-math.sqrt(dimension), 6.0, 1_000)
    below = gammainc(dimension / 2.0, r**2 / 2.0)  # of χ with that many degrees of freedom
    noisy = np.flatnonzero(sigmas > 0.0)
    for word in noisy[np.unique(np.linspace(0, len(noisy) - 1, 9).astype(np.int64))]:
        ids = np.full(max(_DRAWS // dimension, 2_000), word)
        noise = channel.release_words(ids, seeded_rng(0)) - channel.lexicon.vectors[word]
        if not fits(np.linalg.norm(noise, axis=1) / sigmas[word], r, below):
            return False
    return True


def worst_gaussians(
    channel: VectorChannel, sigmas: Floats, covers: Floats
) -> tuple[float, int, int] | None:
    """The largest δ of all covered pairs, and the pair.

    Where both have the same σ, δ grows with the distance: the farthest pair of them stands for all.
    """
    centres = channel.lexicon.vectors.astype(np.float64)
    still = np.flatnonzero(sigmas == 0.0)  # without noise a word gives what it gives
    centres[still] = channel.release_words(still, seeded_rng(0))
    worst: tuple[float, int, int] | None = None
    for i, j in _candidates(centres, sigmas, covers):
        distance = float(np.linalg.norm(centres[i] - centres[j]))
        delta = _delta(covers[i, j], sigmas[i], sigmas[j], distance, centres.shape[1])
        if worst is None or delta > worst[0]:
            worst = (delta, i, j)
    return worst


def _candidates(centres: Floats, sigmas: Floats, covers: Floats) -> list[tuple[int, int]]:
    """Pairs among which the worst is: all of different σ, and the farthest of each σ and ε."""
    farthest: dict[tuple[float, float], tuple[float, int, int]] = {}
    found = []
    for i in range(len(centres)):
        others = np.flatnonzero(np.isfinite(covers[i, :i]))
        distances = np.linalg.norm(centres[others] - centres[i], axis=1)
        same = sigmas[others] == sigmas[i]
        found += [(i, int(j)) for j in others[~same]]
        for epsilon in np.unique(covers[i, others[same]]):
            here = same & (covers[i, others] == epsilon)
            k = int(np.where(here, distances, -1.0).argmax())
            key, entry = (
                (float(sigmas[i]), float(epsilon)),
                (float(distances[k]), i, int(others[k])),
            )
            farthest[key] = max(farthest.get(key, entry), entry)
    return found + [(i, j) for _, i, j in farthest.values()]


def _delta(epsilon: float, sigma: float, other: float, distance: float, dimension: int) -> float:
    if sigma > 0.0 and other > 0.0:
        return spherical_delta(epsilon, sigma, other, distance, dimension)
    return 0.0 if sigma == other and distance == 0.0 else 1.0
