"""The exact audit of some words: their pairs, and each with its nearest word.

It is quick on any lexicon, and it can show that a guarantee is false. It cannot show that one is
true: the worst pair may be another.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import Channel, LawChannel, VectorChannel, checked_channel
from malaprop.core.errors import ParameterError
from malaprop.core.guarantee import Kind
from malaprop.core.law import Law
from malaprop.core.loss import (
    NOTHING,
    Worst,
    excess_delta,
    normalised,
    rounding,
    worst_of_law,
)
from malaprop.core.noise.noise import ExponentialDensity, GaussianDensity, Noise
from malaprop.core.progress import Progress
from malaprop.measure.audit import audit
from malaprop.measure.chosen_words import word_ids
from malaprop.measure.finding import TOLERANCE, Audit, delta_finding, finding, undecided
from malaprop.measure.gaussian_pairs import unproved, worst_gaussians
from malaprop.measure.hard_pairs import nearest_words
from malaprop.measure.law_checks import draws_its_law
from malaprop.measure.pairs import allowance, worse
from malaprop.measure.vector_audit import UNPROVED, draws_its_noise

MOST = 500
"""Words that are audited at most: the time grows with the square of their number."""
_PAIRED = 100  # and of laws with a δ


def audit_words(
    channel: Channel, words: Sequence[str] | int, *, progress: Progress | None = None
) -> Audit:
    """Compute the worst loss over the pairs of some words, and of each with its nearest word.

    It `holds` only if the words are all words of the lexicon, which is `malaprop.audit`. Otherwise
    the verdict is FAILS, or not decided.

    >>> from malaprop import Lexicon, TEM
    >>> line = Lexicon(["a", "b", "c", "d"], [[0.0], [1.0], [3.0], [9.0]])
    >>> result = audit_words(TEM(epsilon=2.0).on(line), ["a"])
    >>> result.holds, result.pair, result.worst_ratio <= 1.0
    (None, ('a', 'b'), True)
    """
    size = len(checked_channel(channel).lexicon)
    chosen = np.unique(word_ids(channel.lexicon, words))
    if len(chosen) == size:
        return audit(channel, progress=progress)
    most = _PAIRED if channel.guarantee.delta and isinstance(channel, LawChannel) else MOST
    if len(chosen) > most:
        raise ParameterError(
            f"Some words are audited exactly up to {most}, or all of the lexicon. Got "
            f"{len(chosen):,}."
        )
    ids = np.union1d(chosen, nearest_words(channel, chosen)[0])
    result = _computed(channel, ids, progress)
    part = f"{len(chosen):,} of {size:,} words and their nearest: a sample, not a whole audit"
    return replace(
        result,
        holds=None if result.holds else result.holds,
        at_most=math.inf,
        method=f"{result.method}; {part}",
    )


def _computed(channel: Channel, ids: Ids, progress: Progress | None) -> Audit:
    rows = allowance(channel)
    if rows is None:
        return undecided(
            channel, f"distances in the guarantee's metric are unknown: {channel.guarantee.metric}"
        )
    bound = rows(ids)[:, ids]
    if not (bound >= 0.0).all():
        return undecided(channel, "the distances of words are not numbers")
    bound = np.minimum(bound, bound.T)  # a pair is covered either way round
    if isinstance(channel, LawChannel):
        return _audit_laws(channel, ids, bound, progress)
    if isinstance(channel, VectorChannel):
        return _audit_noise(channel, ids, bound)
    return undecided(channel, "there is no exact computation for this channel")


def _audit_laws(
    channel: LawChannel[Law], ids: Ids, bound: Floats, progress: Progress | None
) -> Audit:
    if not draws_its_law(channel):
        return undecided(channel, "it does not draw from its log-weights, so those prove nothing")
    law = normalised(channel.law.log_weights(ids))
    if np.isnan(law).any():
        return undecided(channel, "its rows are not the logarithms of a law")
    if channel.guarantee.delta:
        pairs = ((i, j) for i, j in np.argwhere(np.isfinite(bound)) if i != j)
        deltas = ((excess_delta(law[i], law[j], bound[i, j]), i, j) for i, j in pairs)
        return _with_delta(channel, max(deltas, default=None), ids, "the exact δ of covered pairs")
    worst = worst_of_law(law, bound, slack=rounding(law.shape[1]), progress=progress)
    return finding(channel, _named(worst, ids), exact=False, method="all outputs of pairs")


def _audit_noise(channel: VectorChannel[Noise], ids: Ids, bound: Floats) -> Audit:
    density = channel.noise.density(channel.lexicon)
    if isinstance(density, GaussianDensity) and channel.guarantee.kind is not Kind.METRIC:
        some = replace(density, centres=density.centres[ids], sigmas=density.sigmas[ids])
        method = "the exact δ of covered pairs of Gaussians"
        doubt = unproved(channel, some.sigmas, bound)
        return _with_delta(channel, worst_gaussians(some, bound), ids, method, doubt)
    if channel.guarantee.delta:
        return undecided(channel, "there is no exact computation for this channel's guarantee")
    if not isinstance(density, ExponentialDensity) or not draws_its_noise(channel):
        return undecided(channel, UNPROVED)
    if not density.is_sane:
        return undecided(channel, "its parameters do not describe noise: a scale must be above 0")
    share, nats = density.rounding
    worst = _named(worse(NOTHING, density.loss()(ids)[:, ids], bound, slack=nats), ids)
    result = finding(
        channel,
        worst,
        exact=False,
        method="the noisy vectors of pairs, in closed form; words tell no more",
        tolerance=TOLERANCE + share,
        words=False,
    )
    return result if density.is_attained else replace(result, holds=None)


def _named(worst: Worst, ids: Ids) -> Worst:
    """Replace places among the words audited by ids of the lexicon."""
    first, second = worst.pair
    return replace(worst, pair=(int(ids[first]), int(ids[second])))


def _with_delta(
    channel: Channel,
    worst: tuple[float, int, int] | None,
    ids: Ids,
    method: str,
    doubt: str = "",
) -> Audit:
    if worst is not None:
        delta, first, second = worst
        worst = (delta, int(ids[first]), int(ids[second]))
    return delta_finding(channel, worst, method, doubt)
