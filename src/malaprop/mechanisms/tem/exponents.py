"""The largest exponent t of the law ∝ exp(−t·d(w, y)) for a guarantee of ε·d.

The loss between w and w' is t·d(w, w') + ln Z(w') − ln Z(w) exactly (docs/proofs/tem.md), so

    L(t) = t + max over pairs of |ln Z(w) − ln Z(w')| / d(w, w'),    t ≤ L(t) ≤ 2t,

and the law is ε·d-private if and only if L(t) ≤ ε. With a threshold γ, the same holds for the
metric d_γ = min(d, γ), in Z and in the denominator alike. L_γ(t) is computed from d_γ, and says
nothing about another γ. All values here are upper bounds of L(t): they include a bound on rounding
errors.
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

_PARTS = 4  # places from one node to the next at which L(t) is bounded


@dataclass(frozen=True)
class Rates:
    """L(t) for the exponents of a grid, and the largest distance, cut off at γ."""

    exponents: Floats
    losses: Floats
    diameter: float


def largest_exponent(distances: Floats, epsilon: float) -> float:
    """Return the largest t found in ε/2 … ε with L(t) ≤ ε, from all distances of a small lexicon.

    For a threshold γ, pass min(d, γ) as distances.
    """
    from scipy.optimize import brentq

    # In units of 1/ε, so that (c·d, ε/c) gives the same result to the last bit.
    scaled = epsilon * distances
    inverse = np.divide(1.0, scaled, out=np.zeros_like(scaled), where=scaled > 0)

    def excess(ratio: float) -> float:
        return _loss_rate(scaled, inverse, ratio) - 1.0

    if excess(1.0) <= 0.0:
        return epsilon
    ratio, margin = float(brentq(excess, 0.5, 1.0, xtol=1e-12)), 1e-11
    while excess(ratio) > 0.0:  # this ends: at ½ the excess is never above 0
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
    """Return L_γ(t) on a whole lexicon, for t on a grid over six powers of two around its scale.

    It makes two passes over all distances: one for ln Z of all words at every fourth exponent, one
    for the steepest slopes there. ln Z is convex in t, which bounds the slopes in between.
    """
    space = Truncated(lexicon, gamma)
    nodes = nodes_for(space)
    half = _halves(progress)
    sums = log_sums(space, nodes, half(0))
    if sums.diameter == 0.0:  # all distances are 0: nothing distinguishes the words
        return Rates(nodes, nodes, 0.0)
    slopes = _steepest(space, sums, half(1))
    exponents, bounds = _between(nodes, sums, slopes)
    bounds += 2.0 * rounding(len(lexicon)) / float(sums.nearest.min())
    return Rates(exponents, exponents + np.minimum(bounds, exponents), sums.diameter)


def exponent_for(
    lexicon: MetricSpace, epsilon: float, gamma: float, progress: Progress | None = None
) -> tuple[float, float]:
    """Return the largest of 64 t in ε/2 … ε with L_γ(t) ≤ ε on a whole lexicon, and its diameter.

    It makes two passes over all distances: one for ln Z of all words at the 64 exponents, one that
    looks for pairs above ε. The result holds for this ε and larger ones; it says nothing
    about smaller ones.
    """
    space = Truncated(lexicon, gamma)
    half = _halves(progress)
    exponents, sums = log_sums_above(space, epsilon / 2.0, half(0))
    if sums.diameter == 0.0:  # all distances are 0: nothing distinguishes the words
        return epsilon, 0.0
    spare = (epsilon - exponents) * (1.0 - 2.0**-40)  # allows for rounding below
    spare -= 2.0 * rounding(len(lexicon)) / float(sums.nearest.min())
    held = exponents[_within(space, sums, spare, half(1))]
    return float(held.max(initial=epsilon / 2.0)), sums.diameter


def _halves(progress: Progress | None) -> Callable[[int], Progress]:
    """Return the progress callbacks of two passes of equal length that make up one task."""

    def half(passed: int) -> Progress:
        def report_half(done: int, total: int) -> None:
            if progress is not None:
                progress(passed * total + done, 2 * total)

        return report_half

    return half


def _steepest(space: Truncated, sums: Sums, progress: Progress) -> Floats:
    """Return max over pairs of |ln Z(w) − ln Z(w')|/d(w, w'), for each exponent.

    A word cannot be in the steepest pair if its ln Z is too close to all others, given the distance
    of its nearest word. Nor can two words that are too far apart for the difference of their ln Z.
    So the words with the most extreme ln Z come first.
    """
    logs, nearest = sums.logs.T.copy(), sums.nearest
    low, high = logs.min(axis=0), logs.max(axis=0)
    reach = np.maximum(high - logs, logs - low)  # the largest difference to any other ln Z
    order = np.argsort(-(reach / np.maximum(high - low, 1e-300)).max(axis=1) / nearest)
    slopes = np.zeros(logs.shape[1])

    def of_block(block: slice) -> Floats:
        steepest = slopes.copy()
        ids: Ids = order[block]
        ids = ids[(reach[ids] > steepest * nearest[ids, None]).any(axis=1)]
        for word, row in zip(ids, space.distances(ids), strict=True):
            nodes = np.flatnonzero(reach[word] > steepest * nearest[word])
            far = (reach[word, nodes] / np.maximum(steepest[nodes], 1e-300)).max(initial=0.0)
            neighbours = np.flatnonzero((row > 0) & (row < far))
            gaps = (
                np.abs(logs[neighbours[:, None], nodes] - logs[word, nodes]) / row[neighbours, None]
            )
            steepest[nodes] = np.maximum(steepest[nodes], gaps.max(axis=0, initial=0.0))
        return steepest

    # Threads read `slopes` and only this one writes it. An older value just skips fewer words.
    steps = blocks(len(space), row_cells=len(space))
    for done, steepest in enumerate(each_in_threads(of_block, steps), 1):
        np.maximum(slopes, steepest, out=slopes)
        progress(done, len(steps))
    return slopes


def _within(space: Truncated, sums: Sums, spare: Floats, progress: Progress) -> NDArray[np.bool_]:
    """Return for which exponents |ln Z(w) − ln Z(w')| ≤ spare·d(w, w') for all pairs.

    It skips words and pairs as `_steepest` does, and an exponent once a pair exceeds it.
    """
    logs, nearest = sums.logs, sums.nearest
    low, high = logs.min(axis=1, keepdims=True), logs.max(axis=1, keepdims=True)
    reach = np.maximum(high - logs, logs - low)
    order = np.argsort(-(reach / np.maximum(high - low, 1e-300)).max(axis=0) / nearest)
    holds = spare > 0.0

    def of_block(block: slice) -> NDArray[np.bool_]:
        still_holds = holds.copy()
        in_doubt = still_holds[:, None] & (
            reach[:, order[block]] > np.outer(spare, nearest[order[block]])
        )
        ids: Ids = order[block][in_doubt.any(axis=0)]
        for word, row in zip(ids, space.distances(ids), strict=True):
            nodes = np.flatnonzero(still_holds & (reach[:, word] > spare * nearest[word]))
            far = (reach[nodes, word] / spare[nodes]).max(initial=0.0)
            neighbours = np.flatnonzero((row > 0) & (row < far))
            for k in nodes:
                gaps = np.abs(logs[k, neighbours] - logs[k, word])
                still_holds[k] = (gaps <= spare[k] * row[neighbours]).all()
        return still_holds

    # Threads read `holds` and only this one writes it. An older value just skips fewer words.
    steps = blocks(len(space), row_cells=len(space))
    for done, still_holds in enumerate(each_in_threads(of_block, steps), 1):
        holds &= still_holds
        progress(done, len(steps))
    return holds


def _between(nodes: Floats, sums: Sums, slopes: Floats) -> tuple[Floats, Floats]:
    """Return exponents at and between the nodes, and bounds on the slope of ln Z at each.

    ln Z(w) is convex in t: it lies below its chord from node to node and above its tangents. So
    ln Z(w) − ln Z(w') is at most the difference of the chords, plus the largest possible depth of
    w' below its chord.
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
