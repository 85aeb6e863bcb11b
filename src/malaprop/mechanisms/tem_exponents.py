"""The largest exponent t of TEM's law ∝ exp(−t·d(w, y)) for a guarantee of ε·d, audited.

The loss between w and w' is t·d(w, w') + ln Z(w') − ln Z(w) exactly (docs/proofs/tem.md), with
Z(w) = Σ exp(−t·d(w, y)) over all words y, so

    L(t) = t + max over pairs of |ln Z(w) − ln Z(w')| / d(w, w'),    t ≤ L(t) ≤ 2t,

and the law is ε·d-private if and only if L(t) ≤ ε. With a threshold γ, the same holds for the
metric d_γ = min(d, γ), in Z and in the denominator alike. L_γ(t) is computed from d_γ, and says
nothing about another γ. All values here are upper bounds of L(t): they include a bound on
rounding errors.

Small lexicons are audited when the mechanism is bound to them. Large ones carry tables, which
`malaprop lexicon audit` computes once, in as many threads as there are cores: see
`malaprop.lexicon.tables`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from malaprop.lexicon.lexicon import Lexicon
from malaprop.lexicon.tables import ExponentTable, tables_of
from malaprop.privacy.arrays import Floats, Ids, blocks
from malaprop.privacy.errors import COMPUTABLE, LexiconError, ParameterError, is_computable
from malaprop.privacy.law import rounding
from malaprop.privacy.metrics import Custom, DistanceRows, MetricSpace
from malaprop.privacy.progress import Progress, each_in_threads, report, stage

_STEPS = 4  # makes 4² equal steps of t from one power of two to the next
_OCTAVES = 6
_FINE = 8  # for a single ε: makes 8² equal steps from ε/2 to ε
_CHUNK = 1 << 14  # words at a time, so that their powers stay in the cache
_NEGLIGIBLE = 40.0  # all terms below exp(−40)/n add up to less than 2⁻⁵⁷, and Z is at least 1
_PARTS = 4  # places from one node to the next at which L(t) is bounded
_SMALL = 2_000  # words: the audit of so many takes a second
_UP = 1.0 + 1e-9  # above what rounding can take from the largest distance


@dataclass(frozen=True)
class Rates:
    """L(t) for the exponents of a grid, and the largest distance, cut off at γ."""

    exponents: Floats
    losses: Floats
    diameter: float


def loss_rates(
    lexicon: MetricSpace, gamma: float = math.inf, progress: Progress | None = None
) -> Rates:
    """Return L_γ(t) on a whole lexicon, for t on a grid over six powers of two around its scale.

    It makes two passes over all distances: one for ln Z of all words at every fourth exponent, one
    for the steepest slopes there. ln Z is convex in t, which bounds the slopes in between.
    """
    size, distances = len(lexicon), _cut_off(lexicon, gamma)
    nodes = _nodes_for(distances, size)
    logs, drifts = np.empty((2, len(nodes), size))

    def of_row(word: int, row: Floats) -> None:
        total, moment = _sums(row, float(nodes[0]))
        logs[:, word], drifts[:, word] = np.log(total), -moment / total

    nearest, diameter = _each_row(distances, size, of_row, stage(progress, 0, 2))
    if diameter == 0.0:  # all distances are 0: nothing distinguishes the words
        return Rates(nodes, nodes, 0.0)
    slopes = _steepest(distances, logs, nearest, stage(progress, 1, 2))
    # ln Z(w) is convex in t: it lies below its chord from node to node and above its tangents. So
    # ln Z(w) − ln Z(w') is at most the difference of the chords, plus the largest possible depth of
    # w' below its chord.
    exponents, bounds = [nodes[0]], [slopes[0]]
    for k, width in enumerate(np.diff(nodes)):
        for share in np.arange(1, _PARTS + 1) / _PARTS:
            chord = (1.0 - share) * logs[k] + share * logs[k + 1]
            left = logs[k] + drifts[k] * share * width
            right = logs[k + 1] - drifts[k + 1] * (1.0 - share) * width
            below = np.maximum(chord - np.maximum(left, right), 0.0)
            exponents.append(nodes[k] + share * width)
            slope = (1.0 - share) * slopes[k] + share * slopes[k + 1]
            bounds.append(slope + float((below / nearest).max()))
    tried = np.array(exponents)
    steepest = np.array(bounds) + 2.0 * rounding(size) / float(nearest.min())
    return Rates(tried, tried + np.minimum(steepest, tried), diameter)


def exponent_for(
    lexicon: MetricSpace, epsilon: float, gamma: float, progress: Progress | None = None
) -> tuple[float, float]:
    """Return the largest of 64 t in ε/2 … ε with L_γ(t) ≤ ε on a whole lexicon, and its diameter.

    It makes two passes over all distances: one for ln Z of all words at the 64 exponents, one that
    looks for pairs above ε. The result holds for this ε and larger ones; it says nothing
    about smaller ones, nor about exponents in between.
    """
    size, distances = len(lexicon), _cut_off(lexicon, gamma)
    exponents = epsilon / 2.0 * (1.0 + np.arange(_FINE**2) / _FINE**2)
    logs = np.empty((_FINE**2, size))

    def of_row(word: int, row: Floats) -> None:
        logs[:, word] = np.log(_sums_above(row, epsilon / 2.0))

    nearest, diameter = _each_row(distances, size, of_row, stage(progress, 0, 2))
    if diameter == 0.0:  # all distances are 0: nothing distinguishes the words
        return epsilon, 0.0
    spare = (epsilon - exponents) * (1.0 - 2.0**-40)  # allows for rounding in the slopes
    spare -= 2.0 * rounding(size) / float(nearest.min())
    limits = np.where(spare > 0.0, spare, np.inf)
    slopes = _steepest(distances, logs, nearest, stage(progress, 1, 2), limits)
    return float(exponents[slopes <= spare].max(initial=epsilon / 2.0)), diameter


def _cut_off(lexicon: MetricSpace, gamma: float) -> DistanceRows:
    """Return the metric d_γ = min(d, γ) on a lexicon."""
    if gamma == np.inf:
        return lexicon.distances
    return lambda ids: np.minimum(lexicon.distances(ids), gamma)


def _nodes_for(distances: DistanceRows, size: int) -> Floats:
    """Return 16 exponents per power of two, from about 1/(nearest distance) on."""
    ids = np.unique(np.linspace(0, size - 1, 256).astype(np.int64))
    rows = [row for block in blocks(len(ids), size) for row in distances(ids[block])]
    scale = float(np.median([_nearest(row) for row in rows]))
    first = 2.0 ** np.floor(np.log2(1.5 / scale)) if scale < np.inf else 1.0
    step = np.arange(_STEPS**2) / _STEPS**2
    octaves = [first * 2.0**octave * (1.0 + step) for octave in range(_OCTAVES)]
    return np.append(np.concatenate(octaves), first * 2.0**_OCTAVES)


def _nearest(row: Floats) -> float:
    return float(np.where(row > 0, row, np.inf).min())


def _each_row(
    distances: DistanceRows,
    size: int,
    of_row: Callable[[int, Floats], None],
    progress: Progress | None,
) -> tuple[Floats, float]:
    """Visit all rows; return the least positive distance of each, and the largest of all."""
    nearest, farthest = np.empty((2, size))

    def of_block(block: slice) -> None:
        words = np.arange(size)[block]
        for word, row in zip(words, distances(words), strict=True):
            nearest[word], farthest[word] = _nearest(row), row.max()
            of_row(word, row)

    steps = blocks(size, row_cells=size)
    for done, _ in enumerate(each_in_threads(of_block, steps), 1):
        report(progress, done, len(steps))
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
    return np.asarray((coarse @ fine.T).reshape(_STEPS, 2, _STEPS).swapaxes(0, 1).reshape(2, -1))


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
    for k in range(1, len(rows)):
        np.multiply(rows[k - 1], ratio, out=rows[k])


def _steepest(
    distances: DistanceRows,
    logs: Floats,
    nearest: Floats,
    progress: Progress | None,
    limits: Floats | None = None,
) -> Floats:
    """Return max over pairs of |ln Z(w) − ln Z(w')|/d(w, w'), for each exponent.

    A word cannot be in the steepest pair if its ln Z is too close to all others, given the distance
    of its nearest word. Nor can two words that are too far apart for the difference of their ln Z.
    So the words with the most extreme ln Z come first.

    With `limits`, slopes below them are not looked for, and one above is given as infinite.
    """
    logs = logs.T.copy()
    size, count = logs.shape
    low, high = logs.min(axis=0), logs.max(axis=0)
    reach = np.maximum(high - logs, logs - low)  # the largest difference to any other ln Z
    order = np.argsort(-(reach / np.maximum(high - low, 1e-300)).max(axis=1) / nearest)
    slopes = np.zeros(count) if limits is None else limits.copy()

    def of_block(block: slice) -> Floats:
        steepest = slopes.copy()
        ids: Ids = order[block]
        ids = ids[(reach[ids] > steepest * nearest[ids, None]).any(axis=1)]
        for word, row in zip(ids, distances(ids), strict=True):
            nodes = np.flatnonzero(reach[word] > steepest * nearest[word])
            far = (reach[word, nodes] / np.maximum(steepest[nodes], 1e-300)).max(initial=0.0)
            neighbours = np.flatnonzero((row > 0) & (row < far))
            gaps = np.abs(logs[neighbours[:, None], nodes] - logs[word, nodes])
            found = (gaps / row[neighbours, None]).max(axis=0, initial=0.0)
            if limits is not None:
                found[found > limits[nodes]] = np.inf
            steepest[nodes] = np.maximum(steepest[nodes], found)
        return steepest

    # Threads read `slopes` and only this one writes it. An older value just skips fewer words.
    steps = blocks(size, row_cells=size)
    for done, steepest in enumerate(each_in_threads(of_block, steps), 1):
        np.maximum(slopes, steepest, out=slopes)
        report(progress, done, len(steps))
    return slopes


def largest_exponent(distances: Floats, epsilon: float) -> float:
    """Return the largest t found in ε/2 … ε with L(t) ≤ ε, from all distances of a small lexicon.

    For a threshold γ, pass min(d, γ) as distances.
    """
    from scipy.optimize import brentq

    # In units of 1/ε, so that (c·d, ε/c) gives the same result to the last bit.
    scaled = epsilon * distances
    inverse = np.divide(1.0, scaled, out=np.zeros_like(scaled), where=scaled > 0)

    def excess(ratio: float) -> float:
        log_sums = np.log(np.exp(-ratio * scaled).sum(axis=1))
        gaps = np.abs(log_sums[:, None] - log_sums)
        gaps += 2.0 * rounding(len(scaled))
        gaps *= inverse
        return ratio + min(ratio, float(gaps.max(initial=0.0))) - 1.0

    if excess(1.0) <= 0.0:
        return epsilon
    ratio, margin = float(brentq(excess, 0.5, 1.0, xtol=1e-12)), 1e-11
    while excess(ratio) > 0.0:  # this ends: at ½ the excess is never above 0
        ratio, margin = max(0.5, ratio - margin), 2.0 * margin
    return ratio * epsilon


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
    lexicon: Lexicon,
    gamma: float = math.inf,
    progress: Progress | None = None,
    *,
    epsilon: float | None = None,
) -> ExponentTable:
    """Audit a lexicon with a threshold or without: two passes over all distances.

    A threshold that no distance reaches is none, and the table says so. For one ε alone it takes
    less than half the time.
    """
    check_numbers(gamma, epsilon)
    if isinstance(lexicon.metric, Custom):
        raise LexiconError(
            "A lexicon with a function of your own for its metric has no fingerprint to keep an "
            "audit under: code can change. Use one of the named metrics, or exponent='half'."
        )
    if epsilon is None:
        rates = loss_rates(lexicon, gamma, progress)
        diameter, exponents = rates.diameter, tuple(rates.exponents.tolist())
        losses = tuple(np.nextafter(rates.losses, np.inf).tolist())
    else:
        exponent, diameter = exponent_for(lexicon, epsilon, gamma, progress)
        exponents, losses = (exponent,), (float(epsilon),)
    return ExponentTable(
        fingerprint=lexicon.fingerprint,
        gamma=gamma if diameter == gamma else math.inf,
        epsilon=None if epsilon is None else float(epsilon),
        diameter=diameter,
        exponents=exponents,
        losses=losses,
    )


def check_numbers(gamma: float, epsilon: float | None = None) -> None:
    """Refuse a threshold or an ε that no lexicon can be audited for."""
    if not gamma > 0.0:
        raise ParameterError(f"The threshold γ must be a number above 0. Got {gamma}.")
    if epsilon is not None and not 0.0 < epsilon < math.inf:
        raise ParameterError(f"ε must be a number above 0, and finite. Got {epsilon}.")
    if epsilon is not None and not is_computable(epsilon):
        raise ParameterError(f"ε must be {COMPUTABLE}. Got {epsilon}.")


def how_to_audit(lexicon: MetricSpace, gamma: float | None) -> str:
    """Say what to do for an audited exponent on a lexicon that has none for its threshold."""
    run = f"run  malaprop lexicon audit {getattr(lexicon, 'opened_as', '') or 'NAME'}"
    if isinstance(lexicon, Lexicon) and lexicon.name and not lexicon.opened_as:
        # The name is that of the same words under another metric.
        run = "save it by lexicon.save(FOLDER), and run  malaprop lexicon audit FOLDER"
    threshold, tables, other = math.inf if gamma is None else gamma, tables_of(lexicon), ""
    if threshold < math.inf:
        run += f" --gamma {float(threshold)!r}"
        other = ", or leave 'gamma' out" if tables.exponents_for(math.inf) else ""
    single = [t.epsilon for t in tables.exponents if t.gamma == threshold]
    listed = ", ".join(f"{epsilon:g}" for epsilon in sorted(e for e in single if e is not None))
    kept = f" (add --epsilon for this ε alone; what was kept is for ε = {listed})" if listed else ""
    return run + kept + other
