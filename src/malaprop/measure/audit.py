"""The exact audit: the worst loss of a channel over all pairs of words and all outputs.

It trusts the proofs in docs/proofs/ and the lexicon's metric, and nothing that a channel says of
itself but its law: log-weights, a density, standard deviations. It says that a guarantee `holds`
only where it has computed every pair; a pair that exceeds it is an exact finding in any case.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from malaprop.core.channel import Channel, LawChannel, VectorChannel
from malaprop.core.guarantee import Guarantee, Kind
from malaprop.core.loss import (
    Progress,
    Worst,
    allowed_by,
    draws_its_law,
    excess_delta,
    full_loss,
    normalised,
    peak_loss,
    worst_of_law,
)
from malaprop.measure.densities import decodes_nearest, draws_like, noise_of
from malaprop.measure.pairs import coverage, is_as_wide, scales_of, worst_gaussians
from malaprop.measure.quadrature import nearest_law

TOLERANCE = 1e-9
"""By how much rounding of distances may make a ratio exceed 1."""
_SLACK = 1e-10  # nats that rounding may add to the difference of two log-densities
_CUBED = 1_000  # words up to which all outputs of all pairs are looked at,
_PAIRED = 300  # and all pairs for a δ;
_PLANAR = 24  # up to which the law of a continuous channel is integrated;
_GAUSSIANS = 2_000  # and up to which pairs of Gaussians are looked at


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What an audit has found; `str()` says it in words."""

    worst_ratio: float
    """The worst loss over what the guarantee allows for that pair: at most 1 if it is true.

    For a guarantee with a δ, the worst true δ over the δ that it allows. NaN if nothing is known.
    """
    pair: tuple[str, str] | None
    """The two words that can be told apart best."""
    output: str | None
    """The output that tells them apart best."""
    holds: bool | None
    """Whether the guarantee is true: None where that was not decided."""
    loss: float
    """The loss of that pair in nats, or its δ."""
    allowed: float
    """What the guarantee allows for that pair."""
    method: str
    """How it was computed."""
    guarantee: Guarantee

    def __str__(self) -> str:
        verdict = {True: "holds", False: "FAILS", None: "not decided"}[self.holds]
        lines = [f"verdict      {verdict}", f"method       {self.method}"]
        if self.pair is not None:
            what = "δ" if self.guarantee.delta else "loss"
            at = "" if self.output is None else f", at the output {self.output}"
            told = f"{what} {self.loss:.6g} where {self.allowed:.6g} is allowed"
            lines += [
                f"worst pair   {self.pair[0]} and {self.pair[1]}{at}",
                f"worst ratio  {self.worst_ratio:.6g}: {told}",
            ]
        return "\n".join([*lines, f"guarantee    {self.guarantee}"])


def audit(channel: Channel, *, progress: Progress | None = None) -> Audit:
    """Compute the worst loss of a channel, and whether its guarantee is true.

    TEM and permute-and-flip on whole lexicons; any other law of words on up to 1,000 words;
    Gaussian noise by the exact δ of its pairs; other noise by quadrature, in one and two
    dimensions with the nearest word as output. `progress(done, total)` is told how far it is.

    >>> from malaprop import Lexicon, TEM
    >>> line = Lexicon(["a", "b", "c"], [[0.0], [1.0], [3.0]])
    >>> found = audit(TEM(epsilon=2.0, exponent="half").on(line))
    >>> found.holds, found.pair, round(found.worst_ratio, 6)
    (True, ('c', 'b'), 0.55944)
    """
    if isinstance(channel, LawChannel):
        return _law_audit(channel, progress)
    if isinstance(channel, VectorChannel):
        for attempt in (_gaussian_audit, _quadrature_audit):
            found = attempt(channel)
            if found is not None:
                return found
    return _undecided(channel, "there is no exact computation for this channel")


def _law_audit(channel: LawChannel, progress: Progress | None) -> Audit:
    guarantee, size = channel.guarantee, len(channel.lexicon)
    if not draws_its_law(channel):
        return _undecided(channel, "it does not draw from its log-weights, so those prove nothing")
    if guarantee.delta:
        return _delta_audit(channel)
    if size <= _CUBED:
        bound = coverage(channel)
        if bound is None:
            return _undecided(
                channel, f"it is not known how far words are apart: {guarantee.metric}"
            )
        worst = full_loss(channel, bound, progress)
        return _finding(channel, worst, exact=True, method="all outputs of all pairs")
    if guarantee.metric != str(channel.lexicon.metric) or guarantee.kind is Kind.NEIGHBOURHOOD:
        return _undecided(channel, f"only {_CUBED} words can be audited with this guarantee")
    worst, proved = peak_loss(channel, allowed_by(guarantee), progress)
    # The closed form needs the triangle inequality, which no sample of a user's function proves.
    proved = proved and not channel.lexicon.metric.assumption
    closed = "all pairs, in closed form: the law is one whose loss from w to w' is largest at w"
    lower = "all pairs, at the output w only: a lower bound, with no proof that it is the worst"
    return _finding(channel, worst, exact=proved, method=closed if proved else lower)


def _delta_audit(channel: LawChannel) -> Audit:
    size = len(channel.lexicon)
    covers = coverage(channel) if size <= _PAIRED else None
    if covers is None:
        return _undecided(channel, f"with a δ, only {_PAIRED} words and known pairs can be audited")
    law = normalised(channel.log_weights(np.arange(size)))
    pairs = ((i, j) for i, j in np.argwhere(np.isfinite(covers)) if i != j)
    found = ((excess_delta(law[i], law[j], covers[i, j]), i, j) for i, j in pairs)
    return _delta_finding(channel, max(found, default=None), "the exact δ of all covered pairs")


def _gaussian_audit(channel: VectorChannel) -> Audit | None:
    """Between two spherical Gaussians δ is known exactly; what is decoded from them has no more."""
    sigmas = scales_of(channel)
    if sigmas is None or channel.guarantee.kind is Kind.METRIC:
        return None
    covers = coverage(channel) if len(channel.lexicon) <= _GAUSSIANS else None
    if covers is None:
        return _undecided(channel, f"only {_GAUSSIANS} words and known pairs can be audited")
    worst = worst_gaussians(channel, sigmas, covers)
    found = _delta_finding(channel, worst, "the exact δ of all covered pairs of Gaussians")
    return _confirmed(found, is_as_wide(channel, sigmas))


def _quadrature_audit(channel: VectorChannel) -> Audit | None:
    """Small lexicons in one or two dimensions, whose noise has a known density."""
    small = len(channel.lexicon) <= _PLANAR
    noise, covers = noise_of(channel), coverage(channel) if small else None
    if noise is None or covers is None or noise.dimension > 2 or not decodes_nearest(channel):
        return None
    if channel.guarantee.kind not in (Kind.METRIC, Kind.NONE) or channel.guarantee.delta:
        return None
    law, error = nearest_law(noise)
    worst = worst_of_law(law, covers, slack=2.0 * error)
    method = f"all outputs of all pairs, by quadrature with an error of {error:.0e} nats"
    found = _finding(channel, worst, exact=True, method=method)
    if found.holds is False or error == math.inf:
        return found
    # The guarantee is for the vectors, too; where they tell most is mostly at the words' places.
    bare = worst_of_law(noise.at_centres(), covers, slack=_SLACK)
    if bare.ratio > 1.0 + TOLERANCE and channel.guarantee.kind is Kind.METRIC:
        method = "the densities of the noisy vectors, before they are rounded, at the words' places"
        return _finding(channel, bare, exact=True, method=method)
    # What quadrature may have missed counts against the guarantee, but between words of one
    # vector, for which the same is computed twice.
    upper = worst_of_law(law, np.where(covers > 0, covers, math.inf), slack=-2.0 * error)
    if upper.ratio > 1.0 + TOLERANCE:
        return replace(found, holds=None)
    return _confirmed(found, draws_like(channel, noise, np.exp(law)))


def _confirmed(found: Audit, plausible: bool) -> Audit:
    """The finding, unless it says "holds" of a law or a width that the draws contradict."""
    if plausible or not found.holds:
        return found
    method = f"{found.method}; but its draws do not follow the noise that it states"
    return replace(found, holds=None, method=method)


def _finding(channel: Channel, worst: Worst, *, exact: bool, method: str) -> Audit:
    words, holds = channel.lexicon.words, worst.ratio <= 1.0 + TOLERANCE
    decided = exact or not holds
    if channel.guarantee.kind is Kind.NONE:
        decided, method = False, f"{method}; compared with ε·d, since nothing is promised"
    return Audit(
        worst_ratio=worst.ratio,
        pair=None
        if worst.pair[0] == worst.pair[1]
        else (words[worst.pair[0]], words[worst.pair[1]]),
        output=words[worst.output],
        holds=holds if decided else None,
        loss=worst.loss,
        allowed=worst.bound,
        method=method,
        guarantee=channel.guarantee,
    )


def _delta_finding(channel: Channel, worst: tuple[float, int, int] | None, method: str) -> Audit:
    if worst is None:
        return _undecided(channel, "no pair of words is covered")
    delta, first, second = worst
    words, allowed = channel.lexicon.words, channel.guarantee.delta
    holds = delta <= allowed * (1.0 + TOLERANCE)
    promised = channel.guarantee.kind is not Kind.NONE
    return Audit(
        worst_ratio=delta / allowed if allowed else math.inf if delta else 0.0,
        pair=(words[first], words[second]),
        output=None,
        holds=holds if promised else None,
        loss=delta,
        allowed=allowed,
        method=method if promised else f"{method}; nothing is promised",
        guarantee=channel.guarantee,
    )


def _undecided(channel: Channel, reason: str) -> Audit:
    return Audit(
        worst_ratio=math.nan,
        pair=None,
        output=None,
        holds=None,
        loss=math.nan,
        allowed=math.nan,
        method=reason,
        guarantee=channel.guarantee,
    )
