"""How large an exponent t the law ∝ exp(−t·d(w, y)) may have for a guarantee of ε·d.

The loss between w and w' is t·d(w, w') + ln Z(w') − ln Z(w) exactly (docs/proofs/tem.md), so

    L(t) = t + max over pairs of |ln Z(w) − ln Z(w')| / d(w, w'),    t ≤ L(t) ≤ 2t,

and the law is ε·d-private if and only if L(t) ≤ ε. With a threshold γ all of that is true of the
metric d_γ = min(d, γ), in Z and below the fraction alike: L_γ(t) is computed from d_γ, and says
nothing about another γ. All values here are upper bounds of L(t): they include what rounding can
have taken away.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.loss import rounding
from malaprop.core.progress import Progress
from malaprop.core.space import MetricSpace, blocks
from malaprop.core.threads import each_in_threads
from malaprop.mechanisms.tem.partition_function import (
    Sums,
    Truncated,
    log_sums,
    log_sums_above,
    nodes_for,
)

_PARTS = 4  # L(t) is bounded at so many places from one node to the next


@dataclass(frozen=True)
class Rates:
    """L(t) for the exponents of a grid, and the largest distance, which is at most γ."""

    exponents: Floats
    losses: Floats
    diameter: float


def largest_exponent(distances: Floats, epsilon: float) -> float:
    """The largest t found in ε/2 … ε with L(t) ≤ ε, from all distances of a small lexicon.

    With min(d, γ) for distances it is the exponent for that threshold.
    """
    from scipy.optimize import brentq

    # In units of 1/ε, so that (c·d, ε/c) gives the same exponent, to the last bit.
    scaled = epsilon * distances
    inverse = np.divide(1.0, scaled, out=np.zeros_like(scaled), where=scaled > 0)

    def excess(ratio: float) -> float:
        return _loss_rate(scaled, inverse, ratio) - 1.0

    if excess(1.0) <= 0.0:
        return epsilon
    ratio, margin = float(brentq(excess, 0.5, 1.0, xtol=1e-12)), 1e-11
    while excess(ratio) > 0.0:  # which ends: at ½ it is never above 0
        ratio, margin = max(0.5, ratio - margin), 2.0 * margin
    return ratio * epsilon


def _loss_rate(scaled: Floats, inverse: Floats, ratio: float) -> float:
    log_sums = np.log(np.exp(-ratio * scaled).sum(axis=1))
    gaps = np.abs(log_sums[:, None] - log_sums)
    gaps += 2.0 * rounding(len(scaled))
    gaps *= inverse
    return ratio + min(ratio, float(gaps.max(initial=0.0)))


def loss_rates(
    lexicon: MetricSpace, gamma: float = math.inf, progress: Progress | None = None
) -> Rates:
    """L_γ(t) on a whole lexicon, for t on a grid over six powers of two around its scale.

    Two passes over all distances: one for ln Z of all words at every fourth exponent, one for the
    steepest slopes there; ln Z is convex in t, which bounds the slopes in between.
    """
    space = Truncated(lexicon, gamma)
    nodes = nodes_for(space)
    half = _halves(progress)
    sums = log_sums(space, nodes, half(0))
    if sums.diameter == 0.0:  # no two words are apart, so that nothing tells them apart
        return Rates(nodes, nodes, 0.0)
    slopes = _steepest(space, sums, half(1))
    exponents, bounds = _between(nodes, sums, slopes)
    bounds += 2.0 * rounding(len(lexicon)) / float(sums.nearest.min())
    return Rates(exponents, exponents + np.minimum(bounds, exponents), sums.diameter)


def exponent_for(
    lexicon: MetricSpace, epsilon: float, gamma: float, progress: Progress | None = None
) -> tuple[float, float]:
    """The largest t of 64 in ε/2 … ε with L_γ(t) ≤ ε on a whole lexicon, and its diameter.

    Two passes over all distances: one for ln Z of all words at the 64, one that looks for pairs
    above ε. What it finds holds for this ε and greater ones; it says nothing of smaller ones.
    """
    space = Truncated(lexicon, gamma)
    half = _halves(progress)
    exponents, sums = log_sums_above(space, epsilon / 2.0, half(0))
    if sums.diameter == 0.0:  # no two words are apart, so that nothing tells them apart
        return epsilon, 0.0
    spare = (epsilon - exponents) * (1.0 - 2.0**-40)  # more than rounding below takes away
    spare -= 2.0 * rounding(len(lexicon)) / float(sums.nearest.min())
    held = exponents[_within(space, sums, spare, half(1))]
    return float(held.max(initial=epsilon / 2.0)), sums.diameter


def _halves(progress: Progress | None) -> Callable[[int], Progress]:
    """The progress of two passes of the same length, as that of one task."""

    def half(passed: int) -> Progress:
        def tell(done: int, total: int) -> None:
            if progress is not None:
                progress(passed * total + done, 2 * total)

        return tell

    return half


def _steepest(space: Truncated, sums: Sums, progress: Progress) -> Floats:
    """max over pairs of |ln Z(w) − ln Z(w')|/d(w, w'), for each exponent.

    A word whose ln Z is too near all others', given how far its nearest word is, cannot be in
    the steepest pair; nor can two words that are too far apart for what their ln Z can differ by.
    So the words with the most extreme ln Z come first.
    """
    logs, nearest = sums.logs.T.copy(), sums.nearest
    low, high = logs.min(axis=0), logs.max(axis=0)
    reach = np.maximum(high - logs, logs - low)  # how far any other ln Z can be
    order = np.argsort(-(reach / np.maximum(high - low, 1e-300)).max(axis=1) / nearest)
    slopes = np.zeros(logs.shape[1])

    def of_block(block: slice) -> Floats:
        found = slopes.copy()
        ids: Ids = order[block]
        ids = ids[(reach[ids] > found * nearest[ids, None]).any(axis=1)]
        for word, row in zip(ids, space.distances(ids), strict=True):
            nodes = np.flatnonzero(reach[word] > found * nearest[word])
            far = (reach[word, nodes] / np.maximum(found[nodes], 1e-300)).max(initial=0.0)
            near = np.flatnonzero((row > 0) & (row < far))
            gaps = np.abs(logs[near[:, None], nodes] - logs[word, nodes]) / row[near, None]
            found[nodes] = np.maximum(found[nodes], gaps.max(axis=0, initial=0.0))
        return found

    # Threads read `slopes` and only this one writes it: an older value passes over fewer words.
    steps = blocks(len(space), row_cells=len(space))
    for done, found in enumerate(each_in_threads(of_block, steps), 1):
        np.maximum(slopes, found, out=slopes)
        progress(done, len(steps))
    return slopes


def _within(space: Truncated, sums: Sums, spare: Floats, progress: Progress) -> NDArray[np.bool_]:
    """For which exponents |ln Z(w) − ln Z(w')| ≤ spare·d(w, w') for all pairs.

    Words and pairs are passed over as in `_steepest`; so is an exponent once a pair is above it.
    """
    logs, nearest = sums.logs, sums.nearest
    low, high = logs.min(axis=1, keepdims=True), logs.max(axis=1, keepdims=True)
    reach = np.maximum(high - logs, logs - low)
    order = np.argsort(-(reach / np.maximum(high - low, 1e-300)).max(axis=0) / nearest)
    holds = spare > 0.0

    def of_block(block: slice) -> NDArray[np.bool_]:
        found = holds.copy()
        in_doubt = found[:, None] & (
            reach[:, order[block]] > np.outer(spare, nearest[order[block]])
        )
        ids: Ids = order[block][in_doubt.any(axis=0)]
        for word, row in zip(ids, space.distances(ids), strict=True):
            nodes = np.flatnonzero(found & (reach[:, word] > spare * nearest[word]))
            far = (reach[nodes, word] / spare[nodes]).max(initial=0.0)
            near = np.flatnonzero((row > 0) & (row < far))
            for k in nodes:
                gaps = np.abs(logs[k, near] - logs[k, word])
                found[k] = (gaps <= spare[k] * row[near]).all()
        return found

    # Threads read `holds` and only this one writes it: an older value passes over fewer words.
    steps = blocks(len(space), row_cells=len(space))
    for done, found in enumerate(each_in_threads(of_block, steps), 1):
        holds &= found
        progress(done, len(steps))
    return holds


def _between(nodes: Floats, sums: Sums, slopes: Floats) -> tuple[Floats, Floats]:
    """Exponents at and between the nodes, and bounds on the slope of ln Z at each.

    ln Z(w) is convex in t: it lies below its chord from node to node and above its tangents. So
    ln Z(w) − ln Z(w') is at most the chords' difference, plus the most that w' is below its chord.
    """
    exponents, bounds = [nodes[0]], [slopes[0]]
    for k in range(len(nodes) - 1):
        width = nodes[k + 1] - nodes[k]
        for share in np.arange(1, _PARTS + 1) / _PARTS:
            chord = (1.0 - share) * sums.logs[k] + share * sums.logs[k + 1]
            left = sums.logs[k] + sums.drifts[k] * share * width
            right = sums.logs[k + 1] - sums.drifts[k + 1] * (1.0 - share) * width
            below = np.maximum(chord - np.maximum(left, right), 0.0)
            exponents.append(nodes[k] + share * width)
            bounds.append(
                (1.0 - share) * slopes[k]
                + share * slopes[k + 1]
                + float((below / sums.nearest).max())
            )
    return np.array(exponents), np.array(bounds)
