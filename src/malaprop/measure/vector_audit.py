"""The audit of channels that add noise to vectors.

The loss of the vectors is known in closed form, for any number of words and dimensions. It decides:
decoding is post-processing, so words reveal no more.
"""

import numpy as np

from malaprop.core.channel import VectorChannel
from malaprop.core.guarantee import Kind
from malaprop.core.loss import NOTHING, LossRows, Worst
from malaprop.core.noise.noise import ExponentialDensity, Noise
from malaprop.core.progress import Progress, report
from malaprop.core.proofs import is_proved, proof_of
from malaprop.core.space import blocks
from malaprop.measure.finding import TOLERANCE, Audit, finding, undecided
from malaprop.measure.pairs import allowance, worse

_BLURRED = 1e-6  # a rounding error, as a share or in nats, that could hide an excess
_METHOD = "the noisy vectors of all pairs, in closed form; words tell no more"

UNPROVED = "what it draws is not proved: a part of it has no proof, or is derived from one that has"


def draws_its_noise(channel: VectorChannel[Noise]) -> bool:
    """Whether all parts are proved: the channel, its noise, its decoder and its lexicon."""
    parts = (channel.noise, channel.decoder, channel.lexicon, channel.lexicon.metric)
    return bool(proof_of(channel)) and all(is_proved(part) for part in parts)


def audit_vectors(channel: VectorChannel[Noise], progress: Progress | None) -> Audit:
    """Compare the loss of noisy vectors with what a guarantee without δ allows."""
    guarantee, allowed = channel.guarantee, allowance(channel)
    if guarantee.kind not in (Kind.METRIC, Kind.NONE) or guarantee.delta or allowed is None:
        return undecided(channel, "there is no exact computation for this channel's guarantee")
    noise = channel.noise.density(channel.lexicon) if draws_its_noise(channel) else None
    if not isinstance(noise, ExponentialDensity):
        return undecided(channel, UNPROVED)
    if not noise.is_sane:
        return undecided(channel, "its parameters do not describe noise: a scale must be above 0")
    share, nats = noise.rounding
    tolerance = TOLERANCE + share
    worst = _worst_vectors(noise.loss(), allowed, nats, len(channel.lexicon), progress)
    if worst is None:
        return undecided(channel, "its losses, or the distances of words, are not numbers")
    result = finding(channel, worst, exact=True, method=_METHOD, tolerance=tolerance, words=False)
    if worst.ratio > 1.0 + tolerance:
        loose = "only an upper bound of the loss is known, and it exceeds the guarantee"
        return result if noise.is_attained else undecided(channel, loose)
    if max(share, nats) > _BLURRED:
        return undecided(channel, "its shape is so narrow that float64 cannot compute its loss")
    return result


def _worst_vectors(
    loss: LossRows, allowed: LossRows, slack: float, size: int, progress: Progress | None
) -> Worst | None:
    """Return the worst pair; None if a loss is NaN, or an allowed loss is NaN or below 0."""
    worst, steps = NOTHING, blocks(size, row_cells=size)
    for done, block in enumerate(steps, 1):
        ids = np.arange(size)[block]
        losses_here, bounds = loss(ids), allowed(ids)
        if np.isnan(losses_here).any() or not (bounds >= 0.0).all():
            return None
        worst = worse(worst, losses_here, bounds, slack=slack, first=int(ids[0]))
        report(progress, done, len(steps))
    return worst
