"""The exact loss of a law: the largest log-ratio between two words, over all pairs and outputs.

    loss(w, w') = max over y of ln Pr[y|w] − ln Pr[y|w']

For any law that is a search over n² pairs and n outputs. Where a proof says that the maximum is
attained at y = w, it is a search over the pairs alone, and whole lexicons can be searched.
"""

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from malaprop.core.channel import LawChannel
from malaprop.core.guarantee import Guarantee, Kind
from malaprop.core.space import Floats, Ids, blocks

Progress = Callable[[int, int], None]
Allowed = Callable[[Floats], Floats]


class PeakedLaw(LawChannel):
    """A law of the distances alone whose loss from w to w' is largest at the output w.

    A subclass proves it, and says by `is_peaked` of which weights its proof speaks.
    """

    @abstractmethod
    def weights_at(self, distances: Floats) -> Floats:
        """ln of the unnormalised probabilities, from whole rows of distances."""

    @abstractmethod
    def is_peaked(self, distances: Floats, log_weights: Floats) -> bool:
        """Whether these are the weights that the proof speaks of."""

    def log_weights(self, ids: Ids) -> Floats:
        """The weights of whole rows: how many words are near gives nothing away."""
        return self.weights_at(self._space.distances(ids))


@dataclass(frozen=True, kw_only=True)
class Worst:
    """The pair of words, and the output, that tell most beyond what is allowed."""

    ratio: float
    """The loss over what is allowed; infinite where nothing is allowed, or y impossible for w'."""
    loss: float
    """ln Pr[y|w] − ln Pr[y|w']."""
    bound: float
    """What is allowed between them."""
    pair: tuple[int, int]
    """w and w'."""
    output: int
    """y."""


_NOTHING = Worst(ratio=0.0, loss=0.0, bound=0.0, pair=(0, 0), output=0)


def allowed_by(guarantee: Guarantee) -> Allowed:
    """What a guarantee allows between two words, from their distances, in nats."""
    # Without a promise: what it would have been.
    if guarantee.kind is Kind.METRIC or (guarantee.kind is Kind.NONE and not guarantee.delta):
        return lambda d: guarantee.epsilon * np.minimum(d, guarantee.cap)
    return lambda d: np.where(d <= guarantee.radius, guarantee.epsilon, math.inf)


def rounding(size: int) -> float:
    """A bound on the rounding error of a loss that was computed from `size` log-weights."""
    # Sums of `size` positive terms, a logarithm, and log-weights of up to 10³ nats.
    return float((size + 1024) * 2.0**-51)


def peak_loss(
    channel: LawChannel, allowed: Allowed, progress: Progress | None = None
) -> tuple[Worst, bool]:
    """The worst pair at the output y = w, and whether no other output can be worse.

    Without that proof it is a lower bound: an excess is an excess, but none may have been missed.
    """
    size = len(channel.lexicon)
    own, proved = np.empty(size), True
    steps = blocks(size, row_cells=size)
    for done, block in enumerate(steps, 1):
        ids = np.arange(size)[block]
        rows, _, peaked = _law(channel, ids, proved)
        own[block] = rows[np.arange(len(ids)), ids]
        proved = peaked
        _tell(progress, done, 2 * len(steps))
    worst = _NOTHING
    for done, block in enumerate(steps, 1 + len(steps)):
        ids = np.arange(size)[block]
        rows, distances, _ = _law(channel, ids, False)
        loss = _difference(own, rows)
        bound = allowed(distances)
        ratio, row, word = _worst_of(loss, bound, rounding(size))
        if ratio > worst.ratio:
            worst = Worst(
                ratio=ratio,
                loss=float(loss[row, word]),
                bound=float(bound[row, word]),
                pair=(word, int(ids[row])),
                output=word,
            )
        _tell(progress, done, 2 * len(steps))
    return worst, proved


def full_loss(channel: LawChannel, bound: Floats, progress: Progress | None = None) -> Worst:
    """The worst pair over all outputs, by looking at every one: n³ steps.

    `bound` is what is allowed between any two words.
    """
    ids = np.arange(len(channel.lexicon))
    law = normalised(channel.log_weights(ids))
    return worst_of_law(law, bound, slack=rounding(len(ids)), progress=progress)


def worst_of_law(
    law: Floats, bound: Floats, *, slack: float, progress: Progress | None = None
) -> Worst:
    """The worst pair of a law, ln Pr[y|w] in rows, given what is allowed for each pair.

    `slack` is taken from each loss: what rounding may have added.
    """
    worst = _NOTHING
    for other in range(len(law)):
        difference = _difference(law, law[other])
        loss = difference.max(axis=1)
        ratio, _, word = _worst_of(loss[None], bound[other][None], slack)
        if ratio > worst.ratio and word != other:
            worst = Worst(
                ratio=ratio,
                loss=float(loss[word]),
                bound=float(bound[other, word]),
                pair=(word, other),
                output=int(difference[word].argmax()),
            )
        _tell(progress, other + 1, len(law))
    return worst


def excess_delta(log_p: Floats, log_q: Floats, epsilon: float) -> float:
    """The exact δ between two laws at ε: Σ_y max(0, Pr[y|w] − e^ε·Pr[y|w'])."""
    return float(np.maximum(np.exp(log_p) - np.exp(log_q + epsilon), 0.0).sum())


def normalised(log_weights: Floats) -> Floats:
    """ln of the probabilities that are drawn from these weights, which are overwritten."""
    log_weights -= log_weights.max(axis=1, keepdims=True)
    log_weights -= np.log(np.exp(log_weights).sum(axis=1, keepdims=True))
    return log_weights


def _law(channel: LawChannel, ids: Ids, check: bool) -> tuple[Floats, Floats, bool]:
    """Log-probabilities and distances of some words, and whether the law is provably peaked."""
    distances = channel.lexicon.distances(ids)
    if not isinstance(channel, PeakedLaw) or type(channel).log_weights is not PeakedLaw.log_weights:
        return normalised(channel.log_weights(ids)), distances, False
    weights = channel.weights_at(distances)
    peaked = check and _is_metric(distances, ids) and channel.is_peaked(distances, weights)
    return normalised(weights), distances, peaked


def _is_metric(distances: Floats, ids: Ids) -> bool:
    """Whether the triangle inequality holds between the first word, the others, and all words."""
    first, legs = distances[0], distances[0, ids][:, None]
    slack = 1e-9 * float(first.max())
    return bool((np.abs(distances - first).max(axis=1) <= legs[:, 0] + slack).all())


def _difference(log_p: Floats, log_q: Floats) -> Floats:
    """ln p − ln q; −∞ where p is 0, for what cannot come out tells nothing."""
    with np.errstate(invalid="ignore"):
        found = log_p - log_q
    if np.isneginf(np.min(log_p)):
        found[np.broadcast_to(np.isneginf(log_p), found.shape)] = -math.inf
    return found


def _worst_of(loss: Floats, bound: Floats, slack: float) -> tuple[float, int, int]:
    """The largest loss/bound, its row and its column."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (loss - slack) / bound
    if np.isnan(ratio.max()):  # ∞/∞: a pair that is not covered
        ratio = np.nan_to_num(ratio, nan=0.0, posinf=math.inf)
    row, column = divmod(int(ratio.argmax()), loss.shape[1])
    return float(ratio[row, column]), row, column


def _tell(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)
