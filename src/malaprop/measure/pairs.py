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
    """What the guarantee allows between any two words, in nats; infinite if they are not covered.

    None if that cannot be told: neighbourhoods that are not known, a metric that is not.
    """
    rows = allowance(channel)
    if rows is None:
        return None
    found = rows(np.arange(len(channel.lexicon)))
    if not (found >= 0.0).all():  # NaN, or a user's metric that is none
        return None
    return np.minimum(found, found.T)  # a pair is covered either way round


def covers_any(bound: Floats) -> bool:
    """Whether what is allowed is finite for a pair of two words."""
    return bool(np.isfinite(bound[~np.eye(len(bound), dtype=np.bool_)]).any())


def allowance(channel: Channel) -> LossRows | None:
    """The rows of `coverage`, by ids."""
    guarantee = channel.guarantee
    if guarantee.kind is Kind.NEIGHBOURHOOD:
        return _within(channel)
    distances = _distances(channel, guarantee.metric)
    if distances is None:
        return None
    statements: list[tuple[Allowed, DistanceRows]]
    statements = [(allowed_by(guarantee), distances)]
    for name, _ in guarantee.equivalents:  # each of them is promised as well
        further = _distances(channel, name)
        if further is None:
            return None
        statements.append((allowed_by(guarantee.in_metric(name)), further))

    def rows(ids: Ids) -> Floats:
        return np.asarray(np.min([allowed(far(ids)) for allowed, far in statements], axis=0))

    return rows


def _within(channel: Channel) -> LossRows | None:
    """What is allowed in public neighbourhoods, up to the guarantee's radius."""
    guarantee, neighbourhoods = channel.guarantee, channel.neighbourhoods
    distances = _distances(channel, guarantee.metric)
    if neighbourhoods is None or distances is None:
        return None
    allowed = allowed_by(guarantee)
    return lambda ids: np.where(neighbourhoods.covers(ids), allowed(distances(ids)), math.inf)


def _distances(channel: Channel, name: str) -> DistanceRows | None:
    """Distances to all words, in a metric that a guarantee speaks of."""
    lexicon = channel.lexicon
    if name in NAMED:  # not the lexicon's own, which may only be called so
        return NAMED[name].on(lexicon.vectors)
    if name == str(lexicon.metric):
        real = name != Steps.name or is_proved(lexicon.metric)
        return lexicon.metric.on(lexicon.vectors) if real else None
    metrics = channel.noise.metrics if isinstance(channel, VectorChannel) else {}
    return metrics[name].on(lexicon.vectors) if name in metrics else None


def losses(upper: Floats, lower: Floats) -> tuple[Floats, Ids]:
    """max over y of ln p(y|w) − ln p(y|w'), from rows of either, and the y: (w, w').

    Given bounds, the first from below and the second from above, it is a lower bound of the loss;
    the other way round, an upper one.
    """
    found = np.full((len(upper), len(lower)), -math.inf)
    outputs = np.zeros(found.shape, dtype=np.int64)
    for word, row in enumerate(upper):
        with np.errstate(invalid="ignore"):
            differences = np.where(np.isneginf(row), -math.inf, row - lower)
        differences[np.isnan(differences)] = -math.inf  # where a density is not known
        outputs[word] = differences.argmax(axis=1)
        found[word] = differences.max(axis=1)
    return found, outputs


def worse(
    worst: Worst, loss: Floats, bound: Floats, *, slack: float = 0.0, first: int = 0
) -> Worst:
    """The given one, or a worse one among rows of losses that begin with the word `first`.

    `slack` is taken from each loss: what rounding may have added.
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
