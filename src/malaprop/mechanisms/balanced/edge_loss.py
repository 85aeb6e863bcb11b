"""The audit of a law on a word graph: every row computed anew, then every edge."""

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.law import Law
from malaprop.core.loss import NOTHING, Worst, normalised, rounding
from malaprop.core.metrics.graph import WordGraph
from malaprop.core.progress import Progress, report
from malaprop.core.space import blocks
from malaprop.mechanisms.balanced.balance import Balance

_SLIP = 1e-11  # by which rounding may make a row differ from the law that the proof speaks of


def worst_edge(
    law: Law, graph: WordGraph, balance: Balance, epsilon: float, progress: Progress | None = None
) -> Worst | None:
    """Return the worst edge, or pair across the cut-off; None if a row is not of the proved form.

    Pr[y|w] = ν(y)·(a(w)·e^(−t·d) + b(w)) is checked for every w and y; that gives a and b, and
    they give a bound for each edge (docs/proofs/balanced.md) which no table has a say in.
    """
    size = len(law.space)
    near, rest, proved = np.empty(size), np.empty(size), balance.exponent > 0.0
    for done, block in enumerate(steps := blocks(size, row_cells=size), 1):
        ids = np.arange(size)[block]
        near[block], rest[block], formed = _form(law, graph, balance, ids)
        proved = proved and formed
        report(progress, done, len(steps))
    return _worst(graph, balance.exponent, epsilon, near, rest, rounding(size)) if proved else None


def _form(law: Law, graph: WordGraph, balance: Balance, ids: Ids) -> tuple[Floats, Floats, bool]:
    """Return ln a and ln b of some words, and whether their rows are what these say."""
    drawn = balance.weights > 0.0
    chances = np.exp(normalised(law.log_weights(ids)))
    never = not chances[:, ~drawn].any()
    rows = chances[:, drawn] / balance.weights[drawn]
    kernel = np.exp(-balance.exponent * graph.distances(ids)[:, drawn])
    # Two unknowns, a and b, from the nearest word and the farthest; then all others must agree.
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
    graph: WordGraph, exponent: float, epsilon: float, near: Floats, rest: Floats, slack: float
) -> Worst:
    here, there = graph.edges.T
    losses = exponent * graph.weights + _gaps(near[here], near[there])
    losses = np.maximum(losses, _gaps(rest[here], rest[there]))
    bounds = epsilon * graph.weights
    worst = int(np.argmax((losses - slack) / bounds)) if len(losses) else -1
    across = _across(graph, exponent, near, rest)
    if worst < 0:
        return NOTHING
    ratio = float((losses[worst] - slack) / bounds[worst])
    u, v = int(here[worst]), int(there[worst])
    if near[u] < near[v]:
        u, v = v, u
    if across / (epsilon * graph.cutoff) > ratio:
        u, v = int(near.argmax()), int(near.argmin())
        bound = epsilon * graph.cutoff
        return Worst(ratio=across / bound, loss=across, bound=bound, pair=(u, v), output=u)
    return Worst(
        ratio=ratio, loss=float(losses[worst]), bound=float(bounds[worst]), pair=(u, v), output=u
    )


def _across(graph: WordGraph, exponent: float, near: Floats, rest: Floats) -> float:
    """A bound of the loss between any two words at or beyond the cut-off; 0 without one."""
    if not np.isfinite(graph.cutoff):
        return 0.0
    spreads = [float(_gaps(x.max(), x.min())) for x in (near, rest)]
    return max(exponent * graph.cutoff + spreads[0], spreads[1])


def _gaps(x: Floats, y: Floats) -> Floats:
    """|x − y| of logarithms: none between two zeros, and no end of it beside one."""
    with np.errstate(invalid="ignore"):
        return np.where(x == y, 0.0, np.abs(x - y))
