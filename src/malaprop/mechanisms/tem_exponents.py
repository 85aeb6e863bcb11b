"""The solver: the largest exponent for ε·d, audited."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon.lexicon import Lexicon
from malaprop.lexicon.tables import ExponentTable, tables_of
from malaprop.privacy.arrays import Floats, Ids, blocks
from malaprop.privacy.errors import COMPUTABLE, LexiconError, ParameterError, is_computable
from malaprop.privacy.law import rounding
from malaprop.privacy.metrics import Custom, MetricSpace
from malaprop.privacy.progress import Progress, each_in_threads

# Z(w) = Σ exp(−t·d(w, y)) of all words of a lexicon, for many exponents t in one pass.
#
# Blocks of words run in parallel, in as many threads as there are cores.


_STEPS = 4  # makes 4² equal steps of t from one power of two to the next
_OCTAVES = 6
_FINE = 8  # for a single ε: makes 8² equal steps from ε/2 to ε
_CHUNK = 1 << 14  # words at a time, so that their powers stay in the cache
_NEGLIGIBLE = 40.0  # all terms below exp(−40)/n add up to less than 2⁻⁵⁷, and Z is at least 1


@dataclass(frozen=True)
class Truncated:
    """The metric d_γ = min(d, γ) on a lexicon."""

    space: MetricSpace
    gamma: float

    def __len__(self) -> int:
        return len(self.space)

    def distances(self, ids: Ids) -> Floats:
        """Return the distances from the words `ids` to all words, cut off at γ."""
        distances = self.space.distances(ids)
        return distances if self.gamma == np.inf else np.minimum(distances, self.gamma)


@dataclass(frozen=True)
class Sums:
    """ln Z and its derivative by t, for each exponent and word, and extreme distances."""

    logs: Floats
    drifts: Floats
    nearest: Floats
    """The least positive distance of each word."""
    diameter: float


def nodes_for(space: Truncated) -> Floats:
    """Return 16 exponents per power of two, from about 1/(nearest distance) on."""
    ids = np.unique(np.linspace(0, len(space) - 1, 256).astype(np.int64))
    rows = [row for b in blocks(len(ids), len(space)) for row in space.distances(ids[b])]
    scale = float(np.median([_nearest(row) for row in rows]))
    first = 2.0 ** np.floor(np.log2(1.5 / scale)) if scale < np.inf else 1.0
    step = np.arange(_STEPS**2) / _STEPS**2
    octaves = [first * 2.0**octave * (1.0 + step) for octave in range(_OCTAVES)]
    return np.append(np.concatenate(octaves), first * 2.0**_OCTAVES)


def _nearest(row: Floats) -> float:
    return float(np.where(row > 0, row, np.inf).min())


def log_sums(space: Truncated, nodes: Floats, progress: Progress) -> Sums:
    """Compute ln Z of all words at all nodes."""
    logs, drifts = np.empty((2, len(nodes), len(space)))

    def of_row(word: int, row: Floats) -> None:
        total, moment = _sums(row, float(nodes[0]))
        logs[:, word], drifts[:, word] = np.log(total), -moment / total

    return Sums(logs, drifts, *_each_row(space, of_row, progress))


def log_sums_above(space: Truncated, first: float, progress: Progress) -> tuple[Floats, Sums]:
    """Return 64 exponents in equal steps from `first` to below twice that, and ln Z there.

    It computes no derivatives, so it says nothing about exponents in between.
    """
    steps = np.arange(_FINE**2) / _FINE**2
    logs = np.empty((_FINE**2, len(space)))

    def of_row(word: int, row: Floats) -> None:
        logs[:, word] = np.log(_sums_above(row, first))

    sums = Sums(logs, np.empty((0, len(space))), *_each_row(space, of_row, progress))
    return first * (1.0 + steps), sums


def _each_row(
    space: Truncated, of_row: Callable[[int, Floats], None], progress: Progress
) -> tuple[Floats, float]:
    """Visit all rows; return the least positive distance of each, and the largest of all."""
    size = len(space)
    nearest, farthest = np.empty((2, size))

    def of_block(block: slice) -> None:
        words = np.arange(size)[block]
        distances = space.distances(words)
        for word, row in zip(words, distances, strict=True):
            nearest[word], farthest[word] = _nearest(row), row.max()
            of_row(word, row)

    steps = blocks(size, row_cells=size)
    for done, _ in enumerate(each_in_threads(of_block, steps), 1):
        progress(done, len(steps))
    return nearest, float(farthest.max())


def _sums(row: Floats, first: float) -> tuple[Floats, Floats]:
    """Return Σ exp(−t·d) and Σ d·exp(−t·d) of a row, for all t.

    For equal steps s, exp(−(t + (4i + j)·s)·d) is a product of two factors. So 16 sums are one
    product of two matrices of 4 rows, and factors are squared from one power of two to the next.
    Words are dropped once they are negligible.
    """
    farthest = (_NEGLIGIBLE + np.log(len(row))) / first
    row = row[row <= farthest]
    start, step = np.exp(-first * row), np.exp(-first / _STEPS**2 * row)
    octaves = []
    for octave in range(_OCTAVES):
        relevant = row <= farthest / 2.0**octave
        if not relevant.all():
            row, start, step = row[relevant], start[relevant], step[relevant]
        octaves.append(_octave(row, start, step))
        start *= start
        step *= step
    total, moment = np.hstack([*octaves, [[start.sum()], [start @ row]]])
    return total, moment


def _octave(row: Floats, start: Floats, step: Floats) -> Floats:
    """Return both sums for 16 exponents: start·stepᵏ, k = 0 … 15."""
    coarse, fine = np.empty((_STEPS, len(row))), np.empty((2 * _STEPS, len(row)))
    fine[0], coarse[0] = 1.0, start
    _multiply_on(fine[:_STEPS], step)
    _multiply_on(coarse, fine[_STEPS - 1] * step)
    np.multiply(fine[:_STEPS], row, out=fine[_STEPS:])
    products = (coarse @ fine.T).reshape(_STEPS, 2, _STEPS)
    return np.asarray(products.swapaxes(0, 1).reshape(2, -1))


def _sums_above(row: Floats, first: float) -> Floats:
    """Return Σ exp(−t·d) of a row for 64 exponents, first·(1 + k/64), by a matrix product."""
    row = row[row <= (_NEGLIGIBLE + np.log(len(row))) / first]
    total = np.zeros((_FINE, _FINE))
    scratch = np.empty((2, _FINE, min(_CHUNK, len(row))))
    for begin in range(0, len(row), _CHUNK):
        part = row[begin : begin + _CHUNK]
        fine, coarse = scratch[:, :, : len(part)]
        step = np.exp(-first / _FINE**2 * part)
        fine[0], coarse[0] = 1.0, np.exp(-first * part)
        _multiply_on(fine, step)
        _multiply_on(coarse, fine[-1] * step)
        total += coarse @ fine.T
    return total.ravel()


def _multiply_on(rows: Floats, ratio: Floats) -> None:
    """Set each row to the one before it times the ratio."""
    for k in range(1, len(rows)):
        np.multiply(rows[k - 1], ratio, out=rows[k])


# The largest exponent t of the law ∝ exp(−t·d(w, y)) for a guarantee of ε·d.
#
# The loss between w and w' is t·d(w, w') + ln Z(w') − ln Z(w) exactly (docs/proofs/tem.md), so
#
#     L(t) = t + max over pairs of |ln Z(w) − ln Z(w')| / d(w, w'),    t ≤ L(t) ≤ 2t,
#
# and the law is ε·d-private if and only if L(t) ≤ ε. With a threshold γ, the same holds for the
# metric d_γ = min(d, γ), in Z and in the denominator alike. L_γ(t) is computed from d_γ, and says
# nothing about another γ. All values here are upper bounds of L(t): they include a bound on
# rounding errors.


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


# Audited exponents: how large TEM's exponent may be on a lexicon.
#
# Small lexicons are audited when the mechanism is bound to them. Large ones carry tables, which
# `malaprop lexicon audit` computes once: see `malaprop.lexicon.tables`.


_SMALL = 2_000  # words: the audit of so many takes a second
_UP = 1.0 + 1e-9  # above what rounding can take from the largest distance


def audited_exponent(
    lexicon: MetricSpace, epsilon: float, gamma: float | None
) -> tuple[float, float] | None:
    """Return the audited exponent and the threshold that it holds for, if they are at hand.

    Without a threshold (None) that is the largest distance of the lexicon.
    """
    if len(lexicon) <= _SMALL:
        distances = lexicon.distances(np.arange(len(lexicon)))
        limit = float(distances.max()) * _UP if gamma is None else gamma
        return largest_exponent(np.minimum(distances, limit), epsilon), limit
    tables = tables_of(lexicon).exponents_for(math.inf if gamma is None else gamma, epsilon)
    if not tables:
        return None
    limit = tables[0].diameter * _UP if gamma is None else gamma
    return max(table.largest(epsilon) for table in tables), limit


def build_table(
    lexicon: Lexicon, gamma: float = math.inf, progress: Progress | None = None
) -> ExponentTable:
    """Audit a lexicon with a threshold or without: two passes over all distances.

    A threshold that no distance reaches is none, and the table says so.
    """
    check_numbers(gamma)
    _check(lexicon)
    rates = loss_rates(lexicon, gamma, progress)
    return ExponentTable(
        fingerprint=lexicon.fingerprint,
        gamma=gamma if rates.diameter == gamma else math.inf,
        diameter=rates.diameter,
        exponents=tuple(rates.exponents.tolist()),
        losses=tuple(np.nextafter(rates.losses, np.inf).tolist()),
    )


def build_table_for(
    lexicon: Lexicon, epsilon: float, gamma: float = math.inf, progress: Progress | None = None
) -> ExponentTable:
    """Audit a lexicon for one ε alone, in less than half the time."""
    check_numbers(gamma, epsilon)
    _check(lexicon)
    exponent, diameter = exponent_for(lexicon, epsilon, gamma, progress)
    return ExponentTable(
        fingerprint=lexicon.fingerprint,
        gamma=gamma if diameter == gamma else math.inf,
        epsilon=float(epsilon),
        diameter=diameter,
        exponents=(exponent,),
        losses=(float(epsilon),),
    )


def check_numbers(gamma: float, epsilon: float | None = None) -> None:
    """Refuse a threshold or an ε that no lexicon can be audited for."""
    if not gamma > 0.0:
        raise ParameterError(f"The threshold γ must be a number above 0. Got {gamma}.")
    if epsilon is None:
        return
    if not 0.0 < epsilon < math.inf:
        raise ParameterError(f"ε must be a number above 0, and finite. Got {epsilon}.")
    if not is_computable(epsilon):
        raise ParameterError(f"ε must be {COMPUTABLE}. Got {epsilon}.")


def _check(lexicon: Lexicon) -> None:
    """Refuse a lexicon that cannot be audited."""
    if isinstance(lexicon.metric, Custom):
        raise LexiconError(
            "A lexicon with a function of your own for its metric has no fingerprint to keep an "
            "audit under: code can change. Use one of the named metrics, or exponent='half'."
        )


def how_to_audit(lexicon: MetricSpace, gamma: float | None) -> str:
    """Say what to do for an audited exponent on a lexicon that has none for its threshold."""
    run = _command(lexicon)
    if gamma is None or gamma == math.inf:
        return run + _audited_for(lexicon, math.inf)
    other = ", or leave 'gamma' out" if tables_of(lexicon).exponents_for(math.inf) else ""
    return f"{run} --gamma {float(gamma)!r}{_audited_for(lexicon, gamma)}{other}"


def _audited_for(lexicon: MetricSpace, gamma: float) -> str:
    """Say for which single values of ε the lexicon was audited."""
    tables = tables_of(lexicon).exponents
    audited = sorted(t.epsilon for t in tables if t.epsilon is not None and t.gamma == gamma)
    listed = ", ".join(f"{epsilon:g}" for epsilon in audited)
    return f" (add --epsilon for this ε alone; what was kept is for ε = {listed})" if listed else ""


def _command(lexicon: MetricSpace) -> str:
    if isinstance(lexicon, Lexicon) and lexicon.name and not lexicon.opened_as:
        # The name is that of the same words under another metric.
        return "save it by lexicon.save(FOLDER), and run  malaprop lexicon audit FOLDER"
    name = lexicon.opened_as if isinstance(lexicon, Lexicon) else ""
    return f"run  malaprop lexicon audit {name or 'NAME'}"
