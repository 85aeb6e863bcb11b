"""The exact loss of a law on a word graph: every row is recomputed, then every edge."""

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.law import Law
from malaprop.core.loss import NOTHING, Worst, normalised, rounding
from malaprop.core.metrics.graph import WordGraph
from malaprop.core.progress import Progress, report
from malaprop.core.space import blocks
from malaprop.mechanisms.balanced.balance import Balance

_SLIP = 1e-11  # relative difference between a row and the proof's law that rounding may cause


def worst_edge(
    law: Law, graph: WordGraph, balance: Balance, epsilon: float, progress: Progress | None = None
) -> Worst | None:
    """Return the worst edge, or pair across the cut-off; None if a row has not the proved form.

    Pr[y|w] = ν(y)·(a(w)·e^(−t·d) + b(w)) is checked for every w and y. That gives a and b, and
    they give a bound for each edge (docs/proofs/balanced.md), independent of any table.
    """
    size = len(law.space)
    log_a, log_b, proved = np.empty(size), np.empty(size), balance.exponent > 0.0
    for done, block in enumerate(steps := blocks(size, row_cells=size), 1):
        ids = np.arange(size)[block]
        log_a[block], log_b[block], formed = _form(law, graph, balance, ids)
        proved = proved and formed
        report(progress, done, len(steps))
    return (
        _worst(graph, balance.exponent, epsilon, log_a, log_b, rounding(size)) if proved else None
    )


def _form(law: Law, graph: WordGraph, balance: Balance, ids: Ids) -> tuple[Floats, Floats, bool]:
    """Return ln a and ln b of words, and whether their rows have the form of the proof."""
    drawn = balance.weights > 0.0
    chances = np.exp(normalised(law.log_weights(ids)))
    never = not chances[:, ~drawn].any()
    rows = chances[:, drawn] / balance.weights[drawn]
    kernel = np.exp(-balance.exponent * graph.distances(ids)[:, drawn])
    # The nearest and the farthest word give a and b; then all others must agree.
    high, low = kernel.argmax(axis=1), kernel.argmin(axis=1)
    at = np.arange(len(ids))
    difference = kernel[at, high] - kernel[at, low]
    with np.errstate(divide="ignore", invalid="ignore"):
        a = np.where(difference > 0, (rows[at, high] - rows[at, low]) / difference, 1.0)
        b = np.maximum(rows[at, low] - a * kernel[at, low], 0.0)
        if balance.scale is None:
            a, b = rows[at, high] / kernel[at, high], np.zeros(len(ids))
        stated = a[:, None] * kernel + b[:, None]
        formed = never and (np.abs(rows - stated) <= _SLIP * stated).all() and (a > 0).all()
        return np.log(a), np.log(b), bool(formed)


def _worst(
    graph: WordGraph, exponent: float, epsilon: float, log_a: Floats, log_b: Floats, slack: float
) -> Worst:
    here, there = graph.edges.T
    losses = exponent * graph.weights + _gaps(log_a[here], log_a[there])
    losses = np.maximum(losses, _gaps(log_b[here], log_b[there]))
    bounds = epsilon * graph.weights
    worst = int(np.argmax((losses - slack) / bounds)) if len(losses) else -1
    across = _across(graph, exponent, log_a, log_b)
    if worst < 0:
        return NOTHING
    ratio = float((losses[worst] - slack) / bounds[worst])
    u, v = int(here[worst]), int(there[worst])
    if log_a[u] < log_a[v]:
        u, v = v, u
    if across / (epsilon * graph.cutoff) > ratio:
        u, v = int(log_a.argmax()), int(log_a.argmin())
        bound = epsilon * graph.cutoff
        return Worst(ratio=across / bound, loss=across, bound=bound, pair=(u, v), output=u)
    return Worst(
        ratio=ratio, loss=float(losses[worst]), bound=float(bounds[worst]), pair=(u, v), output=u
    )


def _across(graph: WordGraph, exponent: float, log_a: Floats, log_b: Floats) -> float:
    """Bound the loss between any two words at or beyond the cut-off; 0 without a cut-off."""
    if not np.isfinite(graph.cutoff):
        return 0.0
    spreads = [float(_gaps(x.max(), x.min())) for x in (log_a, log_b)]
    return max(exponent * graph.cutoff + spreads[0], spreads[1])


def _gaps(x: Floats, y: Floats) -> Floats:
    """Return |x − y| of logarithms, 0 for two of −∞: for two probabilities of 0."""
    with np.errstate(invalid="ignore"):
        return np.where(x == y, 0.0, np.abs(x - y))
