"""The exact audit: the worst loss of a channel over all pairs of words and all outputs.

It trusts the proofs in docs/proofs/ and the lexicon's metric. It says that a guarantee `holds` only
where it has computed every pair, from the log-weights that words are drawn from, or for noise of a
channel of this library, to the very class. A pair that exceeds it is a finding in any case.
"""

from dataclasses import replace

import numpy as np

from malaprop.core.channel import Channel, LawChannel, VectorChannel, checked_channel
from malaprop.core.graph import graph_of
from malaprop.core.guarantee import Kind
from malaprop.core.loss import (
    Progress,
    allowed_by,
    excess_delta,
    full_loss,
    normalised,
    peak_loss,
)
from malaprop.core.space import Floats
from malaprop.measure.edges import edge_loss
from malaprop.measure.finding import Audit, delta_finding, finding, undecided
from malaprop.measure.gaussians import scales_of, unproved, worst_gaussians
from malaprop.measure.laws import draws_its_law, flaw
from malaprop.measure.pairs import coverage
from malaprop.measure.shipped import is_shipped_law
from malaprop.measure.vectors import vector_audit
from malaprop.mechanisms.balanced import BalancedChannel

_CUBED = 1_000  # words up to which all outputs of all pairs are looked at,
_PAIRED = 300  # and all pairs for a δ;
_GAUSSIANS = 2_000  # and up to which pairs of Gaussians are looked at


def audit(channel: Channel, *, progress: Progress | None = None) -> Audit:
    """Compute the worst loss of a channel, and whether its guarantee is true.

    TEM, permute-and-flip and balanced on whole lexicons; any other law of words on up to 1,000
    words; Gaussian noise by the exact δ of its pairs; other noise by the loss of its vectors in
    closed form, and, on up to 24 words in one and two dimensions, by bounds on its words' law.
    `progress(done, total)` is told how far it is.

    >>> from malaprop import Lexicon, TEM
    >>> line = Lexicon(["a", "b", "c"], [[0.0], [1.0], [3.0]])
    >>> found = audit(TEM(epsilon=2.0, exponent="half").on(line))
    >>> found.holds, found.pair, round(found.worst_ratio, 6)
    (True, ('c', 'b'), 0.55944)
    """
    checked_channel(channel)
    if isinstance(channel, LawChannel):
        return _law_audit(channel, progress)
    if isinstance(channel, VectorChannel):
        sigmas = scales_of(channel)
        if sigmas is None or channel.guarantee.kind is Kind.METRIC:
            return vector_audit(channel, progress)
        return _gaussian_audit(channel, sigmas)
    return undecided(channel, "there is no exact computation for this channel")


def _law_audit(channel: LawChannel, progress: Progress | None) -> Audit:
    guarantee, size = channel.guarantee, len(channel.lexicon)
    if not draws_its_law(channel):
        return undecided(channel, "it does not draw from its log-weights, so those prove nothing")
    if size <= _CUBED and (reason := flaw(channel)):
        return undecided(channel, reason)
    if guarantee.delta:
        return _delta_audit(channel)
    if size <= _CUBED:
        bound = coverage(channel)
        if bound is None:
            return undecided(
                channel, f"it is not known how far words are apart: {guarantee.metric}"
            )
        worst = full_loss(channel, bound, progress)
        return finding(channel, worst, exact=True, method="all outputs of all pairs")
    of_the_lexicon = guarantee.metric == str(channel.lexicon.metric) and not guarantee.equivalents
    if not of_the_lexicon or guarantee.kind is Kind.NEIGHBOURHOOD:
        return undecided(channel, f"only {_CUBED} words can be audited with this guarantee")
    if type(channel) is BalancedChannel and channel.graph is graph_of(channel.lexicon.metric):
        return _edge_audit(channel, progress)
    worst, proved = peak_loss(channel, allowed_by(guarantee), progress)
    # The closed form needs a proof of the law, and the triangle inequality, which no sample of a
    # user's function proves.
    proved = proved and is_shipped_law(channel)
    closed = "all pairs, in closed form: the law is one whose loss from w to w' is largest at w"
    lower = "all pairs, at the output w only: a lower bound, with no proof that it is the worst"
    return finding(channel, worst, exact=proved, method=closed if proved else lower)


def _edge_audit(channel: BalancedChannel, progress: Progress | None) -> Audit:
    """On a word graph the edges decide; a bound that is exceeded need not be attained."""
    worst, proved = edge_loss(channel, channel.guarantee.epsilon, progress)
    if not proved:
        return undecided(channel, "its rows are not those of the law that the proof speaks of")
    method = f"all rows computed anew, then all {len(channel.graph.edges):,} edges of the graph"
    found = finding(channel, worst, exact=is_shipped_law(channel), method=method)
    attained = channel.law.scale is None and np.isinf(channel.graph.cutoff)
    return found if found.holds or attained else replace(found, holds=None)


def _delta_audit(channel: LawChannel) -> Audit:
    size = len(channel.lexicon)
    covers = coverage(channel) if size <= _PAIRED else None
    if covers is None:
        return undecided(channel, f"with a δ, only {_PAIRED} words and known pairs can be audited")
    law = normalised(channel.log_weights(np.arange(size)))
    pairs = ((i, j) for i, j in np.argwhere(np.isfinite(covers)) if i != j)
    found = ((excess_delta(law[i], law[j], covers[i, j]), i, j) for i, j in pairs)
    return delta_finding(channel, max(found, default=None), "the exact δ of all covered pairs")


def _gaussian_audit(channel: VectorChannel, sigmas: Floats) -> Audit:
    """Between two spherical Gaussians δ is known exactly; what is decoded from them has no more."""
    covers = coverage(channel) if len(channel.lexicon) <= _GAUSSIANS else None
    if covers is None:
        return undecided(channel, f"only {_GAUSSIANS} words and known pairs can be audited")
    worst = worst_gaussians(channel, sigmas, covers)
    method = "the exact δ of all covered pairs of Gaussians"
    return delta_finding(channel, worst, method, unproved(channel, sigmas, covers))
