"""Balance on a word graph: weights ν that let the exponent t be the loss itself.

    Pr[y|w] ∝ ν(y)·(a(w)·e^(−t·d(w, y)) + b(w)),   Z(w) = Σ_y ν(y)·e^(−t·d(w, y))

Between two words joined by an edge of weight s, the log-ratio of any output is at most
max(t·s + |Δ ln a|, |Δ ln b|). Added up along a shortest path, that bounds all pairs
(docs/proofs/balanced.md). Three forms are used:

* balanced: a = 1/Z, b = 0, with ν such that Z is constant. The loss is t per step.
* spread:   if no ν ≥ 0 makes Z constant. a is a little lower around the words of large Z, and
  b makes up for what is then missing from 1. The loss is t + the slope of ln a.
* plain:    ν = 1, a = 1/Z, b = 0. The loss is at most 2t, which needs no check, and mostly less.

Whatever ν is, the check over all edges decides: a bad ν costs utility, never privacy.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from malaprop.lexicon.graph import SMALL
from malaprop.lexicon.tables import BalanceTable, Tables, balance_is_verified
from malaprop.privacy.arrays import Floats, Ids, blocks, distinct
from malaprop.privacy.errors import LexiconError, ParameterError
from malaprop.privacy.guarantee import proved
from malaprop.privacy.law import NOTHING, Law, Worst, normalised, rounding
from malaprop.privacy.progress import Progress, in_threads, report
from malaprop.privacy.word_graph import AT_ONCE, WordGraph

_ROUNDS = 60  # the most rounds of conjugate gradients; 10 to 20 are usual
_ENOUGH = 20
_UPDATES = 12  # rounds of the Richardson-Lucy rule
_FLOOR = 2.0**-16  # smaller weights become 0: such words are never drawn, nor denormal
_HALVINGS = 50
_SAMPLE = 64

Product = Callable[[Floats], Floats]
Kernel = Callable[[float, bool], Product]
"""The map x ↦ Kx for one t, whether in float64 (`exact`) or not."""


@proved("docs/proofs/balanced.md")
@dataclass(frozen=True, kw_only=True)
class Balance:
    """A law on a graph: t, ν, the Z that they give, and a if it is not 1/Z."""

    exponent: float
    """t."""
    weights: Floats
    """ν, public; 0 for words that never come out."""
    masses: Floats | None = None
    """Z(w); None if unknown, and then the loss is 2t by the triangle inequality."""
    scale: Floats | None = None
    """a(w) of the spread form; None for a = 1/Z, b = 0."""
    slack: float = 0.0
    """A bound on the error of the stated masses."""
    verified: bool = False
    """Whether the masses are known to be right, so that a draw need not check them."""
    levels: Floats | None = None
    """About how many words are on each level of the graph, if known; it matters for speed only."""

    @property
    def form(self) -> str:
        """`balanced`, `spread`, `plain`, or `half`: plain without a check, at t = ε/2."""
        if self.masses is None:
            return "half"
        if self.scale is not None:
            return "spread"
        return "plain" if (self.weights == 1.0).all() else "balanced"

    @property
    def rest(self) -> Floats:
        """1 − a(w)·Z(w), the share of draws that are independent of the word."""
        return np.zeros(1) if self.scale is None else 1.0 - self.scale * self._known

    @property
    def _known(self) -> Floats:
        if self.masses is None:
            raise ValueError("The masses of this law are not known.")
        return self.masses

    @property
    def kept(self) -> float:
        """The mean chance that a word stays: the Bayes success under a uniform prior."""
        if self.scale is None:
            return float((self.weights / self._known).mean())
        return float((self.weights * (self.scale + self.rest / self.weights.sum())).mean())

    def loss(self, graph: WordGraph) -> float:
        """Compute the largest loss per step, over all edges and across the cut-off."""
        # The proof covers t > 0, and ν ≥ 0 that are not all 0.
        signs = self.weights.min() >= 0.0 and self.weights.max() > 0.0
        if not (signs and self.exponent > 0.0 and self.slack >= 0.0):
            return math.inf
        if self.masses is None:
            return 2.0 * self.exponent
        low, high = self.masses - self.slack, self.masses + self.slack
        if not low.min() > 0.0:
            return math.inf
        if self.scale is None:
            # On very short edges, rounding alone may exceed the bound of the triangle inequality.
            steepest = _steepest(graph, np.log(low), np.log(high))
            return min(self.exponent + steepest, 2.0 * self.exponent)
        if not (self.rest.min() > 0.0 and self.scale.min() > 0.0):
            return math.inf
        slope = _steepest(graph, np.log(self.scale), np.log(self.scale))
        level = _steepest(graph, np.log(self.rest), np.log(self.rest))
        return max(self.exponent + slope, level) + self._uneven(graph)

    def _uneven(self, graph: WordGraph) -> float:
        """Bound what the loss of a spread law gains if rows add up to 1 only within the slack."""
        off = np.zeros(1) if self.scale is None else self.scale * self.slack
        return _steepest(graph, np.log1p(-off), np.log1p(off)) if off.max() < 1.0 else math.inf


def sampled_words(size: int) -> Ids:
    """Return the words from which the number of words on each level is estimated."""
    return distinct(np.linspace(0, size - 1, _SAMPLE).astype(np.int64))


def _steepest(graph: WordGraph, low: Floats, high: Floats) -> float:
    """Bound the change per step of a function that lies between `low` and `high`."""
    here, there = graph.edges.T
    rise = np.maximum(high[here] - low[there], high[there] - low[here]) / graph.weights
    across = (high.max() - low.min()) / graph.cutoff  # 0 without a cut-off
    return float(max(rise.max(initial=0.0), across))


def solve(
    kernel: Kernel, exponent: float, start: Floats, tolerance: float, enough: int = _ROUNDS
) -> tuple[Floats, bool]:
    """Return ν with Kν = 1, by conjugate gradients, and whether ν > 0.

    The result need not be exact: it is checked later. After `enough` rounds, words of no weight
    mean that there is no ν > 0.
    """
    product = kernel(exponent, False)
    weights, left = start.copy(), 1.0 - product(start)
    towards, size = left.copy(), float(left @ left)
    for done in range(_ROUNDS):
        if np.abs(left).max() <= tolerance or (done >= enough and weights.min() < _FLOOR):
            break
        image = product(towards)
        bend = float(towards @ image)
        if bend <= 0.0:  # K has a negative eigenvalue, so the method cannot go on
            break
        weights += size / bend * towards
        left -= size / bend * image
        size, before = float(left @ left), size
        towards = left + size / before * towards
    return weights, bool((weights >= _FLOOR).all())


def approach(kernel: Kernel, exponent: float, start: Floats) -> Floats:
    """Return ν ≥ 0 with Kν near 1, for exponents without an exact solution.

    The Richardson-Lucy rule ν ← ν·K(1/Kν)/K1 lowers D(1‖Kν) and keeps ν positive.
    """
    product = kernel(exponent, False)
    weights = np.maximum(start, _FLOOR)
    whole = product(np.ones_like(weights))
    for _ in range(_UPDATES):
        weights = weights * product(1.0 / product(weights)) / whole
    return np.where(weights >= _FLOOR, weights, 0.0)


def balance(
    graph: WordGraph, kernel: Kernel, epsilon: float, exponent: float, weights: Floats
) -> Balance:
    """Return the law of these ν at t: with b = 0 if its loss is at most ε, otherwise spread."""
    masses = kernel(exponent, True)(weights)
    # The errors of sums in float64, and of storing the masses in 16 bits.
    slack = 4.0 * len(masses) * 2.0**-53 + mass_unit(masses)
    even = Balance(exponent=exponent, weights=weights, masses=masses, slack=slack)
    return even if even.loss(graph) <= epsilon else spread(graph, even, epsilon)


def mass_unit(masses: Floats) -> float:
    """Return the unit in which masses are stored in 16 bits."""
    return max(float(masses.max() - masses.min()) / 65535.0, 1e-12)


def spread(graph: WordGraph, even: Balance, epsilon: float) -> Balance:
    """Return the law of the same ν and t with the largest a for a loss of ε; t must be below ε.

    It exists: with a·Z ≤ 1/(1 + e^−t), ln(1 − aZ) cannot change by more than t per step.
    """
    # No a is above 1/Z, so this is the most that rows can add by not quite adding up to 1.
    reserve = replace(even, scale=1.0 / (even._known - even.slack))._uneven(graph)
    shape = even_scale(graph, even._known, epsilon - even.exponent - reserve)

    def at(share: float) -> Balance:
        return replace(even, scale=share * shape)

    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if at(middle).loss(graph) <= epsilon else (low, middle)
    return at(low)


def even_scale(graph: WordGraph, masses: Floats, slope: float) -> Floats:
    """Return the largest a with a·Z ≤ 1 whose logarithm changes by at most `slope` per step."""
    slope = max(0.0, slope - 1e-12)  # leaves room for rounding
    here, there = graph.edges.T
    fall, highest = slope * graph.weights, np.log(masses)
    # −ln a is the upper envelope of ln Z: it spreads along the edges, falling as it goes.
    while True:
        wider = highest.copy()
        np.maximum.at(wider, here, highest[there] - fall)
        np.maximum.at(wider, there, highest[here] - fall)
        if np.array_equal(wider, highest):
            break
        highest = wider
    return np.asarray(np.exp(-np.maximum(highest, highest.max() - slope * graph.reach)))


def plain(
    graph: WordGraph, epsilon: float, masses_at: Callable[[float], Floats], *, at_least: float = 0.0
) -> Balance:
    """Return the law of ν = 1 with the largest t whose loss is at most ε; t = ε/2 always is.

    The search ends as soon as that law is sure to keep fewer words than `at_least`: the law that is
    returned then has a smaller t.
    """

    def at(exponent: float) -> Balance:
        masses = masses_at(exponent)
        # Sums of up to n terms in float64.
        slack = float(len(masses) * 2.0**-52 * masses.max())
        return Balance(exponent=exponent, weights=np.ones(len(masses)), masses=masses, slack=slack)

    low, high, best = epsilon / 2.0, epsilon, at(epsilon / 2.0)
    for _ in range(_HALVINGS // 2):
        middle = (low + high) / 2.0
        tried = at(middle)
        if tried.loss(graph) <= epsilon:
            low, best = middle, tried
        else:
            high = middle
            # What is kept grows with t, as Z falls. A smaller t loses against the other law.
            if tried.kept < at_least:
                break
    return best


# The exponential kernel K(w, y) = e^(−t·d(w, y)) of all words, as a product with vectors.

_ROWS = 16  # rows at a time, which fit a processor's cache


def dense_kernel(distances: Floats) -> Kernel:
    """Return the kernel of all distances, always in float64: for small lexicons."""

    def at(exponent: float, exact: bool) -> Product:
        kernel = np.exp(-exponent * distances)
        return lambda x: np.asarray(kernel @ x)

    return at


def byte_kernel(graph: WordGraph, progress: Progress | None = None) -> Kernel:
    """Return the kernel of all levels, n² bytes: for lexicons of some ten thousand words."""
    # An even number of columns: two neighbours form a 16-bit number.
    levels = np.full((graph.size, graph.size + graph.size % 2), 255, dtype=np.uint8)
    for start in range(0, graph.size, AT_ONCE):
        ids: Ids = np.arange(start, min(start + AT_ONCE, graph.size))
        levels[ids, : graph.size] = graph.levels(ids)
        report(progress, int(ids[-1]) + 1, graph.size)

    def at(exponent: float, exact: bool) -> Product:
        real: Any = np.float64 if exact else np.float32
        values = np.zeros(256, dtype=real)
        values[: graph.last + 1] = np.exp(-exponent * graph.unit * np.arange(graph.last + 1))
        # A table from two bytes to their two values, stored as one complex number.
        low, high = np.meshgrid(values, values)
        both = [low, high] if sys.byteorder == "little" else [high, low]
        two = np.stack(both, axis=-1).reshape(-1, 2)
        table = two.view(np.result_type(real, np.complex64))[:, 0]

        def product(x: Floats) -> Floats:
            padded = np.zeros(levels.shape[1], dtype=real)
            padded[: len(x)] = x
            products = np.empty(len(levels))

            def rows(start: int) -> None:
                pairs = levels[start : start + _ROWS].view(np.uint16)
                taken = np.take(table, pairs, mode="clip").view(real)
                products[start : start + _ROWS] = taken @ padded

            in_threads(rows, range(0, len(products), _ROWS))
            return products

        return product

    return at


# The balances of a word graph: solved for a list of ε, kept, and audited at each use.
#
# On small lexicons they are solved for the very ε when the mechanism is bound. Larger ones carry a
# table, which `malaprop lexicon graph NAME` computes for the ε of a grid; a law of the grid serves
# all ε above.

LARGE = 75_000
"""Words beyond which all distances, a byte each, do not fit 6 GB."""
_STEP = 2.0**-16
_EXACT = 1e-13  # of a small lexicon's masses
_FINE = 5e-6  # of a large one's: float32 cannot do much better
_MARGIN = 1e-4  # by which t is below ε, for what rounding ν leaves of unevenness;
_SERVED = 1 / 1.06  # of an ε that a balance is for: those of a grid lie at most 5 % apart
_LEAST, _GREATEST = 0.1, 50.0  # ε to balance for
_SLOPE = 0.04  # and by which share of ε where there is no balance, for ln a to change


def grid() -> Floats:
    """Return the ε that tables have: round numbers, at most 5 % apart from 0.7 to 4.

    From there to 8 they lie further apart: ν = 1 does nearly as well. Beyond, it does as well.

    >>> dense = grid()[grid() <= 4.0]
    >>> len(grid()), len(dense), bool((dense[1:] / dense[:-1] <= 1.0501).all())
    (56, 49, True)
    """
    ranges = (
        *((0.7, 1.0, 0.03), (1.0, 2.0, 0.05), (2.0, 3.0, 0.1)),
        *((3.0, 4.1, 0.125), (4.25, 4.6, 0.25), (5.0, 6.1, 0.5), (7.0, 8.1, 1.0)),
    )
    return np.unique(np.round(np.concatenate([np.arange(*limits) for limits in ranges]), 6))


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
    kernel = dense_kernel(distances)
    exponent = epsilon * (1.0 - 1e-9)  # below ε by more than rounding can make the loss exceed t
    start = np.full(graph.size, 0.5)
    weights, positive = solve(kernel, exponent, start, _EXACT)
    if not positive:
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
        return replace(even, verified=balance_is_verified(table), levels=levels)
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
    return replace(best, verified=balance_is_verified(table), levels=levels)


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


def serves(table: BalanceTable, law: Balance, epsilon: float) -> bool:
    """Tell whether a law of a table is about as good as one that is balanced for this very ε.

    Tables of many words have none, and so have grids below their first ε.
    """
    near = [each["epsilon"] for each in table.laws if _SERVED * epsilon <= each["epsilon"]]
    above = not table.laws or epsilon < grid()[0] or law.exponent >= _SERVED * epsilon
    return above or min(near, default=math.inf) <= epsilon


def missing_balances(
    table: BalanceTable | None, size: int, epsilons: Sequence[float] | None = None
) -> list[float]:
    """Return the ε, by default those of the grid, for which a table has no balance of its own.

    A shipped table lacks none: its ε lie close together, and with others it would not be verified.
    """
    wanted = sorted(set(map(float, grid() if epsilons is None else epsilons)))
    for epsilon in wanted:
        if not _LEAST <= epsilon <= _GREATEST:
            raise ParameterError(
                f"The 'epsilon' of a balance must be from {_LEAST} to {_GREATEST:g}: beyond that "
                f"balanced needs none. Got {epsilon!r}."
            )
    if size > LARGE:
        if epsilons is not None:
            raise ParameterError(
                f"A lexicon of more than {LARGE:,} words has no balances, so there is none for "
                "one `epsilon`: leave it out."
            )
        return []
    if table is not None and balance_is_verified(table):
        return []
    known = [] if table is None else [law["epsilon"] for law in table.laws]
    return [epsilon for epsilon in wanted if epsilon not in known]


def build_table(
    graph: WordGraph,
    fingerprint: str,
    epsilons: Sequence[float] | Floats | None = None,
    progress: Progress | None = None,
    *,
    known: BalanceTable | None = None,
) -> BalanceTable:
    """Solve for the balances of a graph; count levels only where all distances would not fit.

    They are added to those of a table that is `known`.
    """
    if not graph.unit:
        raise LexiconError(
            "Balances are found for graphs whose weights are multiples of 1/8 with distances up "
            "to 255 of their unit: choose such weights, or a cutoff."
        )
    wanted = np.unique(grid() if epsilons is None else np.asarray(epsilons, dtype=np.float64))
    passes = 1 if graph.size > LARGE else 2 + len(wanted)

    def done(passed: int, words: int) -> None:
        report(progress, graph.size * passed + words, graph.size * passes)

    counts = graph.search.counts(lambda words, _: done(0, words))
    laws = {} if graph.size > LARGE else _solve_all(graph, wanted, done)
    notes, masses = [], []
    for epsilon, law in sorted(laws.items()):
        least, unit = float(law._known.min()), mass_unit(law._known)
        masses.append(np.rint((law._known - least) / unit))
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
    weights = [np.rint(law.weights / _STEP) for _, law in sorted(laws.items())]
    table = BalanceTable(
        fingerprint=fingerprint,
        laws=tuple(notes),
        weights=np.array(weights).astype(np.uint16).reshape(shape),
        masses=np.array(masses).astype(np.uint16).reshape(shape),
        counts=counts.astype(np.uint16 if graph.size < 1 << 16 else np.uint32),
    )
    return table if known is None else _joined(known, table)


def _joined(known: BalanceTable, added: BalanceTable) -> BalanceTable:
    """Return the laws of two tables of one graph, none of which is in both."""
    laws = (*known.laws, *added.laws)
    order = sorted(range(len(laws)), key=lambda row: float(laws[row]["epsilon"]))
    return replace(
        added,
        laws=tuple(laws[row] for row in order),
        weights=np.concatenate([known.weights, added.weights])[order],
        masses=np.concatenate([known.masses, added.masses])[order],
    )


def _solve_all(
    graph: WordGraph, epsilons: Floats, done: Callable[[int, int], None]
) -> dict[float, Balance]:
    """Return the balance of each ε, found from the largest down: there ν is nearly 1."""
    all_levels = byte_kernel(graph, lambda words, _: done(1, words))
    laws: dict[float, Balance] = {}
    weights, solvable, products = np.full(graph.size, 1.0), True, 0

    def kernel(exponent: float, exact: bool) -> Product:
        product = all_levels(exponent, exact)

        def counted(x: Floats) -> Floats:
            nonlocal products
            products += 1  # how many it takes is not known beforehand
            done(2 + len(laws), graph.size * products // (products + _ENOUGH))
            return product(x)

        return counted

    for epsilon in epsilons[::-1].tolist():
        exponent, products = epsilon - _MARGIN, 0
        if solvable:  # without a balance at one t there is none at smaller ones
            weights, solvable = solve(kernel, exponent, weights, _FINE, _ENOUGH)
        if not solvable:
            exponent *= 1.0 - _SLOPE
            weights = approach(kernel, exponent, weights)
        rounded = np.minimum(np.rint(weights / _STEP), 65535.0) * _STEP
        laws[epsilon] = balance(graph, kernel, epsilon, exponent, rounded)
        done(2 + len(laws), 0)
    return laws


# The exact loss of a law on a word graph: every row is recomputed, then every edge.

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
        log_a[block], log_b[block], formed = _form(law, graph, balance, np.arange(size)[block])
        proved = proved and formed
        report(progress, done, len(steps))
    here, there = graph.edges.T
    if not proved or not len(here):
        return NOTHING if proved else None
    exponent, slack, bounds = balance.exponent, rounding(size), epsilon * graph.weights
    losses = exponent * graph.weights + _gaps(log_a[here], log_a[there])
    losses = np.maximum(losses, _gaps(log_b[here], log_b[there]))
    ratios = (losses - slack) / bounds
    edge = int(np.argmax(ratios))
    ends = (int(here[edge]), int(there[edge]))
    u, v = ends if log_a[ends[0]] >= log_a[ends[1]] else ends[::-1]
    ratio, loss, bound = float(ratios[edge]), float(losses[edge]), float(bounds[edge])
    if np.isfinite(graph.cutoff):  # between any two words at or beyond the cut-off
        spreads = [float(_gaps(x.max(), x.min())) for x in (log_a, log_b)]
        across = max(exponent * graph.cutoff + spreads[0], spreads[1])
        if across / (epsilon * graph.cutoff) > ratio:
            u, v = int(log_a.argmax()), int(log_a.argmin())
            loss, bound = across, epsilon * graph.cutoff
            ratio = loss / bound
    return Worst(ratio=ratio, loss=loss, bound=bound, pair=(u, v), output=u)


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


def _gaps(x: Floats, y: Floats) -> Floats:
    """Return |x − y| of logarithms, 0 for two of −∞: for two probabilities of 0."""
    with np.errstate(invalid="ignore"):
        return np.where(x == y, 0.0, np.abs(x - y))
