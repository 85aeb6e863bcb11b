"""The audit of noise that states its `log_density` without a proof.

If its densities exceed a guarantee somewhere, that is a finding. If they do not, that proves
nothing.
"""

from dataclasses import replace
from inspect import getmro

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import VectorChannel
from malaprop.core.loss import NOTHING, LossRows
from malaprop.core.noise.noise import AdditiveNoise, Noise
from malaprop.core.randomness import seeded_rng
from malaprop.measure.finding import Audit, finding, undecided
from malaprop.measure.pairs import losses, worse

_WORDS, _AROUND = 100, 24  # words to compare, and points around each of them
_SLACK = 1e-10  # nats that rounding may add to a difference of log-densities
_SAMPLERS = ("release", "release_words")


def audit_stated_density(
    channel: VectorChannel[Noise], allowed: LossRows, unproved: str, words: Ids | None = None
) -> Audit:
    """Compare densities of noisy vectors with what is allowed, at points around the words.

    `unproved` says why the guarantee is undecided if no excess is found. The first 100 of `words`
    are compared, by default of all.
    """
    noise = channel.noise
    if not isinstance(noise, AdditiveNoise) or not _states(noise):
        return undecided(channel, unproved)
    ids = (np.arange(len(channel.lexicon)) if words is None else words)[:_WORDS]
    law = _densities(noise, channel.lexicon.vectors[ids].astype(np.float64))
    loss, _ = losses(law, law)
    worst = worse(NOTHING, loss, allowed(ids)[:, ids], slack=_SLACK)
    worst = replace(worst, pair=(int(ids[worst.pair[0]]), int(ids[worst.pair[1]])))
    method = "the densities that it states for the noisy vectors, at points around words"
    result = finding(channel, worst, exact=False, method=method, words=False)
    if result.holds is False:
        return result
    return replace(result, method=f"{result.method}, are within it; but {unproved}")


def _states(noise: AdditiveNoise) -> bool:
    """Whether the density was written for this sampler, not for one replaced in a subclass."""
    order = getmro(type(noise))

    def place(name: str) -> int:
        return next((i for i, cls in enumerate(order) if name in vars(cls)), len(order))

    stated = type(noise).log_density is not AdditiveNoise.log_density
    return stated and place("log_density") <= min(place(name) for name in _SAMPLERS)


def _densities(noise: AdditiveNoise, centres: Floats) -> Floats:
    """Return ln of the density of each word's noisy vector, at random points around all words."""
    rng = seeded_rng(0)
    offsets = rng.standard_normal((len(centres), _AROUND, centres.shape[1]))
    # From a thousandth of the noise's width to a few widths.
    offsets *= noise.step * 2.0 ** np.linspace(0.0, 12.0, _AROUND)[:, None]
    points = (centres[:, None] + offsets).reshape(-1, centres.shape[1])
    densities = [noise.log_density(points - centre, centre) for centre in centres]
    return np.asarray(densities, dtype=np.float64)
