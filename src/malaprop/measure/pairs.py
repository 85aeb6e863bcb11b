"""Which pairs of words a guarantee covers, what it allows between them, and what exceeds it."""

import math

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import Channel, VectorChannel
from malaprop.core.guarantee import Kind
from malaprop.core.loss import Allowed, LossRows, Worst, allowed_by
from malaprop.core.metric import DistanceRows
from malaprop.core.metrics.graph import Steps
from malaprop.core.metrics.named import NAMED
from malaprop.core.proofs import is_proved


def coverage(channel: Channel) -> Floats | None:
    """Return what the guarantee allows between any two words, in nats; infinite if not covered.

    None if that is unknown, because the neighbourhoods or the metric are.
    """
    rows = allowance(channel)
    if rows is None:
        return None
    allowed = rows(np.arange(len(channel.lexicon)))
    if not (allowed >= 0.0).all():  # NaN, or a user's function that is not a metric
        return None
    return np.minimum(allowed, allowed.T)  # a pair is covered either way round


def covers_any(bound: Floats) -> bool:
    """Whether the allowed loss is finite for some pair of different words."""
    return bool(np.isfinite(bound[~np.eye(len(bound), dtype=np.bool_)]).any())


def allowance(channel: Channel) -> LossRows | None:
    """Return a function from ids to rows of `coverage`; None if those are unknown."""
    guarantee = channel.guarantee
    if guarantee.kind is Kind.NEIGHBOURHOOD:
        return _within(channel)
    distances = _distances(channel, guarantee.metric)
    if distances is None:
        return None
    statements: list[tuple[Allowed, DistanceRows]]
    statements = [(allowed_by(guarantee), distances)]
    for name, _ in guarantee.equivalents:  # each of them is a promise as well
        further = _distances(channel, name)
        if further is None:
            return None
        statements.append((allowed_by(guarantee.in_metric(name)), further))

    def rows(ids: Ids) -> Floats:
        return np.asarray(np.min([allowed(far(ids)) for allowed, far in statements], axis=0))

    return rows


def _within(channel: Channel) -> LossRows | None:
    """Return what is allowed in public neighbourhoods, up to the guarantee's radius."""
    guarantee, neighbourhoods = channel.guarantee, channel.neighbourhoods
    distances = _distances(channel, guarantee.metric)
    if neighbourhoods is None or distances is None:
        return None
    allowed = allowed_by(guarantee)
    return lambda ids: np.where(neighbourhoods.covers(ids), allowed(distances(ids)), math.inf)


def _distances(channel: Channel, name: str) -> DistanceRows | None:
    """Return distances to all words in the named metric; None if it is unknown."""
    lexicon = channel.lexicon
    if name in NAMED:  # not the lexicon's own metric, which may just have the same name
        return NAMED[name].on(lexicon.vectors)
    if name == str(lexicon.metric):
        real = name != Steps.name or is_proved(lexicon.metric)
        return lexicon.metric.on(lexicon.vectors) if real else None
    metrics = channel.noise.metrics if isinstance(channel, VectorChannel) else {}
    return metrics[name].on(lexicon.vectors) if name in metrics else None


def worse(
    worst: Worst, loss: Floats, bound: Floats, *, slack: float = 0.0, first: int = 0
) -> Worst:
    """Return `worst`, or a worse pair among rows of losses that start at the word `first`.

    `slack` is subtracted from each loss: it bounds what rounding may have added.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.nan_to_num((loss - slack) / bound, nan=0.0, posinf=math.inf, neginf=0.0)
    row, other = divmod(int(ratio.argmax()), ratio.shape[1])
    if ratio[row, other] <= worst.ratio:
        return worst
    return Worst(
        ratio=float(ratio[row, other]),
        loss=float(loss[row, other]),
        bound=float(bound[row, other]),
        pair=(first + row, other),
        output=0,
    )
