"""The balances of a word graph: found once for a list of ε, and kept; audited at each use.

On small lexicons they are found for the very ε when the mechanism is bound. For larger ones
`malaprop lexicon graph NAME` finds them for the ε of a grid; a law of the grid serves all ε above.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats
from malaprop.core.errors import LexiconError
from malaprop.core.metrics.graph import WordGraph
from malaprop.core.progress import Progress
from malaprop.lexicon.graph import files, places
from malaprop.lexicon.graph.words import SMALL
from malaprop.mechanisms.balanced.balance import (
    Balance,
    approach,
    balance,
    mass_unit,
    plain,
    solve,
    spread,
)
from malaprop.mechanisms.balanced.exponential_kernel import ByteKernel, DenseKernel

LARGE = 75_000
"""Words beyond which all distances, a byte each, do not fit 6 GB."""
VERIFIED = frozenset({"d590d19a0fcd4a21d68e44a59447ddca17844f81c89546732211fdc237908271"})
"""Digests of the tables that are shipped: their masses were verified when they were made."""
_STEP = 2.0**-16
_EXACT = 1e-13  # of a small lexicon's masses
_FINE = 5e-6  # of a large one's: float32 cannot do much better
_MARGIN = 1e-4  # by which t is below ε, for what rounding ν leaves of unevenness;
_SLOPE = 0.04  # and by which share of ε where there is no balance, for ln a to change


def grid() -> Floats:
    """The ε that balances are found for: round numbers, at most 5 % apart from 0.7 to 4.

    Beyond that ν = 1 does as well.

    >>> len(grid()), bool((grid()[1:] / grid()[:-1] <= 1.0501).all())
    (50, True)
    """
    ranges = (0.7, 1.0, 0.03), (1.0, 2.0, 0.05), (2.0, 3.0, 0.1), (3.0, 4.1, 0.125)
    return np.round(np.concatenate([np.arange(*one) for one in ranges]), 6)


def find(graph: WordGraph, fingerprint: str, epsilon: float) -> Balance:
    """The law that keeps most words among those that pass the audit for ε.

    ν = 1 with t = ε/2 always does.
    """
    if graph.size <= SMALL:
        return _of_small(graph, epsilon)
    table = table_of(fingerprint) if fingerprint else None
    if table is None:
        return Balance(exponent=epsilon / 2.0, weights=np.ones(graph.size))
    return table.best(graph, epsilon)


def _of_small(graph: WordGraph, epsilon: float) -> Balance:
    distances = graph.distances(np.arange(graph.size))
    kernel = DenseKernel(distances)
    exponent = epsilon * (1.0 - 1e-9)  # below ε by more than rounding can make the loss exceed t
    start = np.full(graph.size, 0.5)
    weights = solve(kernel, exponent, start, _EXACT)
    if weights is None:
        exponent *= 1.0 - _SLOPE
        weights = approach(kernel, exponent, start)
    found = balance(graph, kernel, epsilon, exponent, weights)
    even = plain(graph, epsilon, lambda t: np.exp(-t * distances).sum(axis=1))
    passing = [law for law in (found, even) if law.loss(graph) <= epsilon]
    return replace(max(passing, key=lambda law: law.kept), verified=True)


@dataclass(frozen=True, kw_only=True)
class BalanceTable:
    """Laws for a list of ε on one lexicon with its graph, and its level counts."""

    fingerprint: str
    laws: tuple[dict[str, Any], ...]
    weights: NDArray[np.uint16]
    masses: NDArray[np.uint16]
    counts: NDArray[np.integer[Any]]

    @property
    def digest(self) -> str:
        """SHA-256 of all that the table says."""
        about = json.dumps([self.fingerprint, self.laws], sort_keys=True)
        found = hashlib.sha256(about.encode())
        for array in (self.weights, self.masses, self.counts):
            found.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).data)
        return found.hexdigest()

    def best(self, graph: WordGraph, epsilon: float) -> Balance:
        """The law that keeps most words at ε, of those that pass the audit."""
        if self.counts.shape != (graph.size, graph.last + 1):
            raise LexiconError(
                "The balances that are kept for this lexicon do not fit its graph: run  "
                "malaprop lexicon graph NAME --force"
            )
        steps = graph.unit * np.arange(graph.last + 1)
        even = plain(graph, epsilon, lambda t: self.counts @ np.exp(-t * steps))
        below = [i for i, law in enumerate(self.laws) if law["epsilon"] <= epsilon * (1 + 1e-12)]
        if not below:
            return replace(even, verified=self.digest in VERIFIED)
        nearest = max(below, key=lambda i: float(self.laws[i]["epsilon"]))
        law = self.law(graph, nearest)
        passes = law.loss(graph) <= epsilon
        if not passes:
            raise LexiconError(
                f"The balance that is kept for ε = {self.laws[nearest]['epsilon']} on this lexicon "
                "does not pass the audit over all edges: its files were changed. Run  malaprop "
                "lexicon graph NAME --force"
            )
        found = max([law, even], key=lambda one: one.kept)
        return replace(found, verified=self.digest in VERIFIED)

    def law(self, graph: WordGraph, place: int) -> Balance:
        """One of the laws."""
        about = self.laws[place]
        unit, exponent = float(about["mass_unit"]), float(about["exponent"])
        even = Balance(
            exponent=exponent,
            weights=self.weights[place] * _STEP,
            masses=float(about["least_mass"]) + unit * self.masses[place],
            slack=unit,
        )
        if not about["spread"]:
            return even
        return spread(graph, even, float(about["epsilon"]))


def table_of(fingerprint: str) -> BalanceTable | None:
    """The table that was shipped or kept for this very lexicon, if there is one."""
    for path in places.balance_places(fingerprint):
        about, arrays = files.read_balances(path)
        if about["fingerprint"] == fingerprint:
            laws = tuple(about["laws"])
            return BalanceTable(fingerprint=fingerprint, laws=laws, **arrays)
    return None


def build(
    graph: WordGraph,
    fingerprint: str,
    epsilons: Floats | None = None,
    progress: Progress | None = None,
) -> BalanceTable:
    """Find the balances of a graph; level counts alone where all distances would not fit."""
    if not graph.unit:
        raise LexiconError(
            "Balances are found for graphs whose weights are multiples of 1/8 with distances up "
            "to 255 of their unit: choose such weights, or a cutoff."
        )
    wanted = grid() if epsilons is None else epsilons
    told = progress or (lambda done, total: None)
    passes = 1 if graph.size > LARGE else 2 + len(wanted)
    total = graph.size * passes
    counts = graph.counts(lambda done, _: told(done, total))
    if graph.size > LARGE:
        return _table(fingerprint, graph, counts, [], [])
    kernel = ByteKernel.of(graph, lambda done, _: told(graph.size + done, total))
    laws, found, hopeful = [], np.full(graph.size, 1.0), True
    for number, epsilon in enumerate(wanted[::-1], 1):  # from where ν is nearly 1
        exponent = float(epsilon) - _MARGIN
        exact = solve(kernel, exponent, found, _FINE) if hopeful else None
        hopeful = exact is not None  # without a balance at one t there is none at smaller ones
        if exact is None:
            exponent *= 1.0 - _SLOPE
        found = approach(kernel, exponent, found) if exact is None else exact
        rounded = np.minimum(np.rint(found / _STEP), 65535.0) * _STEP
        laws.append(balance(graph, kernel, float(epsilon), exponent, rounded))
        told(graph.size * (2 + number), total)
    return _table(fingerprint, graph, counts, laws[::-1], list(map(float, wanted)))


def _table(
    fingerprint: str,
    graph: WordGraph,
    counts: NDArray[np.int64],
    laws: list[Balance],
    epsilons: list[float],
) -> BalanceTable:
    stated, masses = [], []
    for law, epsilon in zip(laws, epsilons, strict=True):
        known = np.zeros(graph.size) if law.masses is None else law.masses
        least = float(known.min())
        unit = mass_unit(known)
        masses.append(np.rint((known - least) / unit).astype(np.uint16))
        stated.append(
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
        laws=tuple(stated),
        weights=np.array(weights, dtype=np.uint16).reshape(shape),
        masses=np.array(masses, dtype=np.uint16).reshape(shape),
        counts=counts.astype(np.uint16 if graph.size < 1 << 16 else np.uint32),
    )


def write(table: BalanceTable, path: Any) -> None:
    """Write a table into a folder of its own."""
    about = {"fingerprint": table.fingerprint, "laws": list(table.laws)}
    arrays = {"weights": table.weights, "masses": table.masses, "counts": table.counts}
    files.write_balances(path, about, arrays)
