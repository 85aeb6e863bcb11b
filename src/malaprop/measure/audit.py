"""The exact audit: the worst loss of a channel over all pairs of words and all outputs.

The audit reads the law or the noise that a channel states, which is what the channel draws from. It
says that a guarantee `holds` only if it has computed every pair, and if the classes of all parts
are marked as proved. A pair that exceeds the guarantee is a finding in any case. The audit trusts
the proofs in docs/proofs/ and the lexicon's metric.
"""

import math
from dataclasses import replace

import numpy as np

from malaprop.core.channel import Channel, LawChannel, VectorChannel, checked_channel
from malaprop.core.guarantee import ANY_TWO_WORDS, Kind
from malaprop.core.law import Law
from malaprop.core.loss import allowed_by, excess_delta, normalised, rounding, worst_of_law
from malaprop.core.noise.noise import GaussianDensity, Noise
from malaprop.core.paths.channel import PathChannel
from malaprop.core.peaked import peak_loss
from malaprop.core.progress import Progress
from malaprop.core.proofs import is_proved
from malaprop.core.statements import EACH_WORD
from malaprop.measure.finding import Audit, delta_finding, finding, undecided
from malaprop.measure.gaussian_pairs import unproved, worst_gaussians
from malaprop.measure.law_checks import draws_its_law, flaw
from malaprop.measure.pairs import coverage, covers_any
from malaprop.measure.path_audit import audit_path
from malaprop.measure.vector_audit import audit_vectors

_CUBED = 1_000  # the most words for which all outputs of all pairs are computed,
_PAIRED = 300  # the δ of all pairs of laws,
_GAUSSIANS = 2_000  # and the δ of all pairs of Gaussians
_LOWER = "all pairs, at the output w only: a lower bound, with no proof that it is the worst"


def audit(channel: Channel | PathChannel, *, progress: Progress | None = None) -> Audit:
    """Compute the worst loss of a channel, and whether its guarantee is true.

    TEM, permute-and-flip and balanced are audited on whole lexicons, other laws of words on up to
    1,000 words. Channels of numbers and dates are audited on paths of any length. Gaussian noise is
    audited by the exact δ of its pairs. Other noise is audited by the loss of its vectors in closed
    form: words reveal no more. `progress(done, total)` is called at intervals.

    >>> from malaprop import Lexicon, TEM
    >>> line = Lexicon(["a", "b", "c"], [[0.0], [1.0], [3.0]])
    >>> result = audit(TEM(epsilon=2.0, exponent="half").on(line))
    >>> result.holds, result.pair, round(result.worst_ratio, 6)
    (True, ('c', 'b'), 0.55944)
    """
    if isinstance(channel, PathChannel):
        return audit_path(channel, progress)
    result = _computed(checked_channel(channel), progress)
    reason = _misstated(channel)
    if result.holds and reason:
        return replace(
            result, holds=None, at_most=math.inf, method=f"{result.method}; but {reason}"
        )
    return result


def _misstated(channel: Channel) -> str:
    """Say why a guarantee may not mean what it says; empty if it does."""
    guarantee, neighbourhoods = channel.guarantee, channel.neighbourhoods
    if not is_proved(guarantee):
        return "its guarantee is not a plain value, so it may say one thing and show another"
    if guarantee.words != 1:
        return f"its guarantee is for {guarantee.words} words, and a channel draws one"
    if guarantee.kinds or guarantee.per != EACH_WORD:
        return "its guarantee is for texts, and a channel draws a word"
    covered = ANY_TWO_WORDS
    if guarantee.kind is Kind.NEIGHBOURHOOD and neighbourhoods is not None:
        if not is_proved(neighbourhoods):
            return "nothing proves that its neighbourhoods are those of the guarantee"
        covered = neighbourhoods.pairs
    return "" if guarantee.pairs == covered else f"it was computed for {covered}"


def _computed(channel: Channel, progress: Progress | None) -> Audit:
    if isinstance(channel, LawChannel):
        return _audit_law(channel, progress)
    if isinstance(channel, VectorChannel):
        density = channel.noise.density(channel.lexicon)
        if isinstance(density, GaussianDensity) and channel.guarantee.kind is not Kind.METRIC:
            return _audit_gaussians(channel, density)
        return audit_vectors(channel, progress)
    return undecided(channel, "there is no exact computation for this channel")


def _audit_law(channel: LawChannel[Law], progress: Progress | None) -> Audit:
    guarantee, size = channel.guarantee, len(channel.lexicon)
    if not draws_its_law(channel):
        return undecided(channel, "it does not draw from its log-weights, so those prove nothing")
    if size <= _CUBED and (reason := flaw(channel.law)):
        return undecided(channel, reason)
    if guarantee.delta:
        return _audit_delta(channel)
    if size <= _CUBED:
        return _audit_all_outputs(channel, progress)
    of_the_lexicon = guarantee.metric == str(channel.lexicon.metric) and not guarantee.equivalents
    if not of_the_lexicon or guarantee.kind is Kind.NEIGHBOURHOOD:
        return undecided(channel, f"only {_CUBED} words can be audited with this guarantee")
    return _audit_closed_form(channel, progress)


def _audit_all_outputs(channel: LawChannel[Law], progress: Progress | None) -> Audit:
    """Compute every output of every pair: n³ steps."""
    bound = coverage(channel)
    if bound is None:
        return undecided(
            channel, f"distances in the guarantee's metric are unknown: {channel.guarantee.metric}"
        )
    if channel.guarantee.kind in (Kind.BOUNDED, Kind.NEIGHBOURHOOD) and not covers_any(bound):
        return undecided(channel, "no pair of words is covered")
    law = normalised(channel.law.log_weights(np.arange(len(channel.lexicon))))
    worst = worst_of_law(law, bound, slack=rounding(len(law)), progress=progress)
    return finding(channel, worst, exact=True, method="all outputs of all pairs")


def _audit_closed_form(channel: LawChannel[Law], progress: Progress | None) -> Audit:
    """Use the closed form of a law's loss, which needs a proof of the law and of the metric.

    Samples of a user's function do not prove the triangle inequality.
    """
    law = channel.law
    vouched = is_proved(law) and is_proved(law.space.metric)
    closed = law.closed_loss(channel.guarantee, progress) if vouched else None
    if closed is None:
        worst, _ = peak_loss(law, allowed_by(channel.guarantee), progress)
        return finding(channel, worst, exact=False, method=_LOWER)
    if closed.worst is None:
        return undecided(channel, "its rows do not have the form that the proof is about")
    method = closed.method if closed.proved else _LOWER
    result = finding(channel, closed.worst, exact=closed.proved, method=method)
    return result if result.holds or closed.attained else replace(result, holds=None)


def _audit_delta(channel: LawChannel[Law]) -> Audit:
    size = len(channel.lexicon)
    covers = coverage(channel) if size <= _PAIRED else None
    if covers is None:
        return undecided(channel, f"with a δ, only {_PAIRED} words and known pairs can be audited")
    law = normalised(channel.law.log_weights(np.arange(size)))
    pairs = ((i, j) for i, j in np.argwhere(np.isfinite(covers)) if i != j)
    deltas = ((excess_delta(law[i], law[j], covers[i, j]), i, j) for i, j in pairs)
    return delta_finding(channel, max(deltas, default=None), "the exact δ of all covered pairs")


def _audit_gaussians(channel: VectorChannel[Noise], density: GaussianDensity) -> Audit:
    """Use the exact δ between spherical Gaussians, which bounds that of the decoded words."""
    covers = coverage(channel) if len(channel.lexicon) <= _GAUSSIANS else None
    if covers is None:
        return undecided(channel, f"only {_GAUSSIANS} words and known pairs can be audited")
    worst = worst_gaussians(density, covers)
    method = "the exact δ of all covered pairs of Gaussians"
    return delta_finding(channel, worst, method, unproved(channel, density.sigmas, covers))
