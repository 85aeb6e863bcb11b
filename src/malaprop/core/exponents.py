"""How large an exponent t the law ∝ exp(−t·d(w, y)) may have for a guarantee of ε·d.

The loss between w and w' is t·d(w, w') + ln Z(w') − ln Z(w) exactly (docs/proofs/tem.md), so

    L(t) = t + max over pairs of |ln Z(w) − ln Z(w')| / d(w, w'),    t ≤ L(t) ≤ 2t,

and the law is ε·d-private if and only if L(t) ≤ ε. All values here are upper bounds of L(t):
they include what rounding can have taken away.
"""

from dataclasses import dataclass

import numpy as np

from malaprop.core.loss import Progress, rounding
from malaprop.core.space import Floats, MetricSpace, blocks

_STEPS = 4  # L(t) is computed for 4² equal steps of t from one power of two to the next,
_PARTS = 4  # and bounded for 4 times as many
_OCTAVES = 6
_LEAST = 1e-150  # what weighs less counts as that: no denormal number slows the products down


@dataclass(frozen=True)
class Rates:
    """L(t) for the exponents of a grid, without a threshold, and the largest distance."""

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


def loss_rates(space: MetricSpace, progress: Progress | None = None) -> Rates:
    """L(t) on a whole lexicon, for t on a grid over six powers of two around its scale.

    Two passes over all distances: one for ln Z of all words at every fourth exponent, one for the
    steepest slopes there; ln Z is convex in t, which bounds the slopes in between.
    """
    nodes = _nodes(space)
    sums = _log_sums(space, nodes, progress)
    if sums.diameter == 0.0:  # no two words are apart, so that nothing tells them apart
        return Rates(nodes, nodes, 0.0)
    slopes = _steepest(space, sums, progress)
    exponents, bounds = _between(nodes, sums, slopes)
    bounds += 2.0 * rounding(len(space)) / float(sums.nearest.min())
    return Rates(exponents, exponents + np.minimum(bounds, exponents), sums.diameter)


@dataclass(frozen=True)
class _Sums:
    """ln Z and its derivative by t, for each exponent and word; and what distances there are."""

    logs: Floats
    drifts: Floats
    nearest: Floats
    """The least distance above 0 of each word."""
    diameter: float


def _nodes(space: MetricSpace) -> Floats:
    """16 exponents from each power of two to the next, from about 1/(nearest distance) on."""
    ids = np.unique(np.linspace(0, len(space) - 1, 256).astype(np.int64))
    rows = [_nearest(space.distances(ids[b])) for b in blocks(len(ids), len(space))]
    scale = float(np.median(np.concatenate(rows)))
    first = 2.0 ** np.floor(np.log2(1.5 / scale)) if scale < np.inf else 1.0
    step = np.arange(_STEPS**2) / _STEPS**2
    octaves = [first * 2.0**octave * (1.0 + step) for octave in range(_OCTAVES)]
    return np.append(np.concatenate(octaves), first * 2.0**_OCTAVES)


def _nearest(distances: Floats) -> Floats:
    return np.asarray(np.where(distances > 0, distances, np.inf).min(axis=1))


def _log_sums(space: MetricSpace, nodes: Floats, progress: Progress | None) -> _Sums:
    size = len(space)
    logs, drifts = np.empty((2, len(nodes), size))
    nearest, diameter = np.empty(size), 0.0
    steps = blocks(size, row_cells=size)
    for done, block in enumerate(steps, 1):
        distances = space.distances(np.arange(size)[block])
        nearest[block], diameter = _nearest(distances), max(diameter, float(distances.max()))
        for word, row in zip(np.arange(size)[block], distances, strict=True):
            total, moment = _sums(row, nodes)
            logs[:, word], drifts[:, word] = np.log(total), -moment / total
        if progress:
            progress(done, 2 * len(steps))
    return _Sums(logs, drifts, nearest, diameter)


def _sums(row: Floats, nodes: Floats) -> tuple[Floats, Floats]:
    """Σ exp(−t·d) and Σ d·exp(−t·d) of a row, for all t.

    On equal steps s, exp(−(t + (4i + j)·s)·d) is a product of two factors, so that 16 sums are one
    product of two matrices of 4 rows; and from one power of two to the next, factors are squared.
    """
    start, step = np.exp(-nodes[0] * row), np.exp(-nodes[0] / _STEPS**2 * row)
    coarse, fine = np.empty((_STEPS, len(row))), np.empty((2 * _STEPS, len(row)))
    found = []
    for _ in range(_OCTAVES):
        np.maximum(start, _LEAST, out=start)
        np.maximum(step, _LEAST ** (1 / _STEPS**2), out=step)
        fine[0], coarse[0] = 1.0, start
        for j in range(1, _STEPS):
            np.multiply(fine[j - 1], step, out=fine[j])
        stride = fine[_STEPS - 1] * step
        for i in range(1, _STEPS):
            np.multiply(coarse[i - 1], stride, out=coarse[i])
        np.multiply(fine[:_STEPS], row, out=fine[_STEPS:])
        found.append((coarse @ fine.T).reshape(_STEPS, 2, _STEPS).swapaxes(0, 1).reshape(2, -1))
        start *= start
        step *= step
    last = np.maximum(start, _LEAST)
    total, moment = np.hstack([*found, [[last.sum()], [last @ row]]])
    return total, moment


def _steepest(space: MetricSpace, sums: _Sums, progress: Progress | None) -> Floats:
    """max over pairs of |ln Z(w) − ln Z(w')|/d(w, w'), for each exponent.

    A word whose ln Z is too near all others', given how far its nearest word is, cannot be in
    the steepest pair. So the words with the most extreme ln Z come first.
    """
    logs, nearest = sums.logs, sums.nearest
    low, high = logs.min(axis=1, keepdims=True), logs.max(axis=1, keepdims=True)
    reach = np.maximum(high - logs, logs - low)  # how far any other ln Z can be
    order = np.argsort(-(reach / np.maximum(high - low, 1e-300)).max(axis=0) / nearest)
    slopes = np.zeros(len(logs))
    steps = blocks(len(space), row_cells=len(space))
    for done, block in enumerate(steps, 1):
        ids = order[block]
        ids = ids[(reach[:, ids] > slopes[:, None] * nearest[ids]).any(axis=0)]
        for word, row in zip(ids, space.distances(ids), strict=True):
            inverse = np.divide(1.0, row, out=np.zeros_like(row), where=row > 0)
            for t in np.flatnonzero(reach[:, word] > slopes * nearest[word]):
                gaps = np.abs(logs[t] - logs[t, word])
                gaps *= inverse
                slopes[t] = max(slopes[t], float(gaps.max()))
        if progress:
            progress(len(steps) + done, 2 * len(steps))
    return slopes


def _between(nodes: Floats, sums: _Sums, slopes: Floats) -> tuple[Floats, Floats]:
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
