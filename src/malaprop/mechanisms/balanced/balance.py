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

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from malaprop.core.arrays import Floats, Ids, distinct
from malaprop.core.metrics.graph import WordGraph
from malaprop.core.proofs import proved

_ROUNDS = 60  # the most rounds of conjugate gradients; 10 to 20 are usual
_UPDATES = 12  # rounds of the Richardson-Lucy rule
_FLOOR = 2.0**-16  # smaller weights become 0: such words are never drawn, nor denormal
_HALVINGS = 50
_SAMPLE = 64

Product = Callable[[Floats], Floats]


class Kernel(Protocol):
    """The exponential kernel of a graph: the map x ↦ Kx with K(w, y) = e^(−t·d(w, y))."""

    def at(self, exponent: float, *, exact: bool) -> Product:
        """Return the map for one t, in float64 if `exact`, otherwise in what is fast."""


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

    @property
    def _within_the_proof(self) -> bool:
        """Whether the proof covers these numbers: t > 0, ν ≥ 0 and not all 0."""
        signs = self.weights.min() >= 0.0 and self.weights.max() > 0.0
        return bool(signs and self.exponent > 0.0 and self.slack >= 0.0)

    def loss(self, graph: WordGraph) -> float:
        """Compute the largest loss per step, over all edges and across the cut-off."""
        if not self._within_the_proof:
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


def solve(kernel: Kernel, exponent: float, start: Floats, tolerance: float) -> Floats | None:
    """Return ν > 0 with Kν = 1; None if there is none."""
    product = kernel.at(exponent, exact=False)
    weights = _conjugate_gradients(product, start, tolerance)
    return weights if (weights >= _FLOOR).all() else None


def approach(kernel: Kernel, exponent: float, start: Floats) -> Floats:
    """Return ν ≥ 0 with Kν near 1, for exponents without an exact solution."""
    product = kernel.at(exponent, exact=False)
    return _multiplicative(product, np.maximum(start, _FLOOR))


def _conjugate_gradients(product: Product, start: Floats, tolerance: float) -> Floats:
    """Solve Kν = 1 for symmetric K. The result need not be exact: it is checked later."""
    solution, left = start.copy(), 1.0 - product(start)
    towards, size = left.copy(), float(left @ left)
    for _ in range(_ROUNDS):
        if np.abs(left).max() <= tolerance:
            break
        image = product(towards)
        bend = float(towards @ image)
        if bend <= 0.0:  # K has a negative eigenvalue, so the method cannot go on
            break
        solution += size / bend * towards
        left -= size / bend * image
        size, before = float(left @ left), size
        towards = left + size / before * towards
    return solution


def _multiplicative(product: Product, weights: Floats) -> Floats:
    """Apply the Richardson-Lucy rule: ν ← ν·K(1/Kν)/K1 lowers D(1‖Kν) and keeps ν positive."""
    whole = product(np.ones_like(weights))
    for _ in range(_UPDATES):
        weights = weights * product(1.0 / product(weights)) / whole
    return np.where(weights >= _FLOOR, weights, 0.0)


def balance(
    graph: WordGraph, kernel: Kernel, epsilon: float, exponent: float, weights: Floats
) -> Balance:
    """Return the law of these ν at t: with b = 0 if its loss is at most ε, otherwise spread."""
    masses = kernel.at(exponent, exact=True)(weights)
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
    lowest = highest.max() - slope * graph.reach
    return np.asarray(np.exp(-np.maximum(highest, lowest)))


def plain(
    graph: WordGraph,
    epsilon: float,
    masses_at: Callable[[float], Floats],
    *,
    at_least: float = 0.0,
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
