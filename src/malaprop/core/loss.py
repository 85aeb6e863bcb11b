"""The exact loss of a law: the largest log-ratio between two words, over all pairs and outputs.

    loss(w, w') = max over y of ln Pr[y|w] − ln Pr[y|w']

For a general law that is a search over n² pairs and n outputs. For the laws of
`malaprop.core.peaked`, a proof says that the maximum is attained at y = w.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.guarantee import Guarantee, Kind
from malaprop.core.progress import Progress, report

Allowed = Callable[[Floats], Floats]
"""From distances to the losses that are allowed there, in nats."""
LossRows = Callable[[Ids], Floats]
"""From ids of words w to a row each: the losses against all words w', in nats."""


@dataclass(frozen=True, kw_only=True)
class Worst:
    """The pair of words and the output with the largest loss, relative to what is allowed."""

    ratio: float
    """The loss over what is allowed; infinite if nothing is allowed, or w' cannot give y."""
    loss: float
    """ln Pr[y|w] − ln Pr[y|w']."""
    bound: float
    """What is allowed between them."""
    pair: tuple[int, int]
    """w and w'."""
    output: int
    """y."""


NOTHING = Worst(ratio=0.0, loss=0.0, bound=0.0, pair=(0, 0), output=0)
"""The worst of an empty set of pairs."""


def allowed_by(guarantee: Guarantee) -> Allowed:
    """Return what a guarantee allows between two words, from their distances, in nats."""
    # For `none`, compare with what the promise would have been.
    if guarantee.kind is Kind.METRIC or (guarantee.kind is Kind.NONE and not guarantee.delta):
        return lambda d: guarantee.epsilon * np.minimum(d, guarantee.cap)
    return lambda d: np.where(d <= guarantee.radius, guarantee.epsilon, math.inf)


def rounding(size: int) -> float:
    """Bound the rounding error of a loss that was computed from `size` log-weights."""
    # Sums of `size` positive terms, a logarithm, and log-weights of up to 10³ nats.
    return float((size + 1024) * 2.0**-51)


def worst_of_law(
    law: Floats, bound: Floats, *, slack: float, progress: Progress | None = None
) -> Worst:
    """Return the worst pair of a law, ln Pr[y|w] in rows, given what is allowed for each pair.

    `slack` is subtracted from each loss: it bounds what rounding may have added.
    """
    worst = NOTHING
    for other in range(len(law)):
        ratios = log_ratio(law, law[other])
        loss = ratios.max(axis=1)
        ratio, _, word = largest_ratio(loss[None], bound[other][None], slack)
        if ratio > worst.ratio and word != other:
            worst = Worst(
                ratio=ratio,
                loss=float(loss[word]),
                bound=float(bound[other, word]),
                pair=(word, other),
                output=int(ratios[word].argmax()),
            )
        report(progress, other + 1, len(law))
    return worst


def excess_delta(log_p: Floats, log_q: Floats, epsilon: float) -> float:
    """Return the exact δ between two laws at ε: Σ_y max(0, Pr[y|w] − e^ε·Pr[y|w'])."""
    return float(np.maximum(np.exp(log_p) - np.exp(log_q + epsilon), 0.0).sum())


def normalised(log_weights: Floats) -> Floats:
    """Return ln of the probabilities that are drawn from these weights, which it overwrites.

    A row that cannot be normalised becomes NaN.
    """
    with np.errstate(invalid="ignore"):
        log_weights -= log_weights.max(axis=1, keepdims=True)
        log_weights -= np.log(np.exp(log_weights).sum(axis=1, keepdims=True))
    return log_weights


def log_ratio(log_p: Floats, log_q: Floats) -> Floats:
    """Return ln p − ln q, or −∞ where p is 0: an output that cannot occur reveals nothing."""
    with np.errstate(invalid="ignore"):
        ratios = log_p - log_q
    if np.isneginf(np.min(log_p)):
        ratios[np.broadcast_to(np.isneginf(log_p), ratios.shape)] = -math.inf
    return ratios


def largest_ratio(loss: Floats, bound: Floats, slack: float) -> tuple[float, int, int]:
    """Return the largest loss/bound, its row and its column."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (loss - slack) / bound
    if np.isnan(ratio.max()):  # ∞/∞: a pair that is not covered
        ratio = np.nan_to_num(ratio, nan=0.0, posinf=math.inf)
    row, column = divmod(int(ratio.argmax()), loss.shape[1])
    return float(ratio[row, column]), row, column
