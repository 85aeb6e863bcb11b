"""The balances of a word graph: solved for a list of ε, kept, and audited at each use.

On small lexicons they are solved for the very ε when the mechanism is bound. Larger ones carry a
table, which `malaprop lexicon graph NAME` computes for the ε of a grid; a law of the grid serves
all ε above.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats
from malaprop.core.errors import LexiconError
from malaprop.core.metrics.graph import WordGraph
from malaprop.core.progress import Progress
from malaprop.lexicon.graph.lookup import SMALL
from malaprop.lexicon.tables.balance_files import is_verified
from malaprop.lexicon.tables.values import BalanceTable, Tables
from malaprop.mechanisms.balanced.balance import (
    Balance,
    approach,
    balance,
    mass_unit,
    plain,
    sampled_words,
    solve,
    spread,
)
from malaprop.mechanisms.balanced.exponential_kernel import ByteKernel, DenseKernel

LARGE = 75_000
"""Words beyond which all distances, a byte each, do not fit 6 GB."""
_STEP = 2.0**-16
_EXACT = 1e-13  # of a small lexicon's masses
_FINE = 5e-6  # of a large one's: float32 cannot do much better
_MARGIN = 1e-4  # by which t is below ε, for what rounding ν leaves of unevenness;
_SLOPE = 0.04  # and by which share of ε where there is no balance, for ln a to change


def grid() -> Floats:
    """Return the ε that tables have: round numbers, at most 5 % apart from 0.7 to 4.

    Beyond that ν = 1 does as well.

    >>> len(grid()), bool((grid()[1:] / grid()[:-1] <= 1.0501).all())
    (50, True)
    """
    ranges = (0.7, 1.0, 0.03), (1.0, 2.0, 0.05), (2.0, 3.0, 0.1), (3.0, 4.1, 0.125)
    return np.round(np.concatenate([np.arange(*limits) for limits in ranges]), 6)


def find_balance(graph: WordGraph, tables: Tables, epsilon: float) -> Balance:
    """Return the law that keeps most words among those that pass the audit for ε.

    ν = 1 with t = ε/2 always does.
    """
    if graph.size <= SMALL:
        return _solve_small(graph, epsilon)
    tables.check("balances")
    if tables.balances is None:
        return Balance(exponent=epsilon / 2.0, weights=np.ones(graph.size))
    return best_balance(tables.balances, graph, epsilon)


def _solve_small(graph: WordGraph, epsilon: float) -> Balance:
    distances = graph.distances(np.arange(graph.size))
    kernel = DenseKernel(distances)
    exponent = epsilon * (1.0 - 1e-9)  # below ε by more than rounding can make the loss exceed t
    start = np.full(graph.size, 0.5)
    weights = solve(kernel, exponent, start, _EXACT)
    if weights is None:
        exponent *= 1.0 - _SLOPE
        weights = approach(kernel, exponent, start)
    solved = balance(graph, kernel, epsilon, exponent, weights)
    even = plain(graph, epsilon, lambda t: np.exp(-t * distances).sum(axis=1))
    passing = [law for law in (solved, even) if law.loss(graph) <= epsilon]
    return replace(max(passing, key=lambda law: law.kept), verified=True)


def best_balance(table: BalanceTable, graph: WordGraph, epsilon: float) -> Balance:
    """Return the law that keeps most words at ε, of those in the table that pass the audit."""
    if table.counts.shape != (graph.size, graph.last + 1):
        raise LexiconError(
            "The balances that are kept for this lexicon do not fit its graph: run  "
            "malaprop lexicon graph NAME --force"
        )
    steps = graph.unit * np.arange(graph.last + 1)

    def masses_at(exponent: float) -> Floats:
        return np.asarray(table.counts @ np.exp(-exponent * steps))

    below = [i for i, law in enumerate(table.laws) if law["epsilon"] <= epsilon * (1 + 1e-12)]
    levels = np.asarray(table.counts[sampled_words(graph.size)].mean(axis=0))
    if not below:
        even = plain(graph, epsilon, masses_at)
        return replace(even, verified=is_verified(table), levels=levels)
    row = max(below, key=lambda i: float(table.laws[i]["epsilon"]))
    law = balance_in(table, graph, row)
    if not law.loss(graph) <= epsilon:
        raise LexiconError(
            f"The balance that is kept for ε = {table.laws[row]['epsilon']} on this lexicon "
            "does not pass the audit over all edges: its files were changed. Run  malaprop "
            "lexicon graph NAME --force"
        )
    even = plain(graph, epsilon, masses_at, at_least=law.kept)
    best = max([law, even], key=lambda balance: balance.kept)
    return replace(best, verified=is_verified(table), levels=levels)


def balance_in(table: BalanceTable, graph: WordGraph, row: int) -> Balance:
    """Return one of the laws of a table."""
    note = table.laws[row]
    unit, exponent = float(note["mass_unit"]), float(note["exponent"])
    even = Balance(
        exponent=exponent,
        weights=table.weights[row] * _STEP,
        masses=float(note["least_mass"]) + unit * table.masses[row],
        slack=unit,
    )
    return spread(graph, even, float(note["epsilon"])) if note["spread"] else even


def build_table(
    graph: WordGraph,
    fingerprint: str,
    epsilons: Floats | None = None,
    progress: Progress | None = None,
) -> BalanceTable:
    """Solve for the balances of a graph; count levels only where all distances would not fit."""
    if not graph.unit:
        raise LexiconError(
            "Balances are found for graphs whose weights are multiples of 1/8 with distances up "
            "to 255 of their unit: choose such weights, or a cutoff."
        )
    wanted = grid() if epsilons is None else epsilons
    report = progress or (lambda done, total: None)
    passes = 1 if graph.size > LARGE else 2 + len(wanted)
    total = graph.size * passes
    counts = graph.counts(lambda done, _: report(done, total))
    if graph.size > LARGE:
        return _table(fingerprint, graph, counts, [], [])
    kernel = ByteKernel.of(graph, lambda done, _: report(graph.size + done, total))
    laws, weights, solvable = [], np.full(graph.size, 1.0), True
    for number, epsilon in enumerate(wanted[::-1], 1):  # from where ν is nearly 1
        exponent = float(epsilon) - _MARGIN
        exact = solve(kernel, exponent, weights, _FINE) if solvable else None
        solvable = exact is not None  # without a balance at one t there is none at smaller ones
        if exact is None:
            exponent *= 1.0 - _SLOPE
        weights = approach(kernel, exponent, weights) if exact is None else exact
        rounded = np.minimum(np.rint(weights / _STEP), 65535.0) * _STEP
        laws.append(balance(graph, kernel, float(epsilon), exponent, rounded))
        report(graph.size * (2 + number), total)
    return _table(fingerprint, graph, counts, laws[::-1], list(map(float, wanted)))


def _table(
    fingerprint: str,
    graph: WordGraph,
    counts: NDArray[np.int64],
    laws: list[Balance],
    epsilons: list[float],
) -> BalanceTable:
    notes, masses = [], []
    for law, epsilon in zip(laws, epsilons, strict=True):
        known = np.zeros(graph.size) if law.masses is None else law.masses
        least = float(known.min())
        unit = mass_unit(known)
        masses.append(np.rint((known - least) / unit).astype(np.uint16))
        notes.append(
            {
                "epsilon": epsilon,
                "exponent": law.exponent,
                "spread": law.scale is not None,
                "least_mass": least,
                "mass_unit": unit,
            }
        )
    shape = (len(laws), graph.size)
    weights = [np.rint(law.weights / _STEP).astype(np.uint16) for law in laws]
    return BalanceTable(
        fingerprint=fingerprint,
        laws=tuple(notes),
        weights=np.array(weights, dtype=np.uint16).reshape(shape),
        masses=np.array(masses, dtype=np.uint16).reshape(shape),
        counts=counts.astype(np.uint16 if graph.size < 1 << 16 else np.uint32),
    )
