"""The permute-and-flip mechanism."""

import math
from dataclasses import dataclass

import numpy as np

from malaprop.privacy.arrays import Floats
from malaprop.privacy.channel import LawChannel
from malaprop.privacy.guarantee import PUBLIC, proved
from malaprop.privacy.law import PeakedLaw, law_numerics, require_exponent
from malaprop.privacy.mechanism import Mechanism
from malaprop.privacy.metrics import MetricSpace

_SMALL, _TERMS = 1 / 16, 14  # below 1/16, float64 needs only fourteen powers of a weight
_TAIL = 45.0  # e^(-45) is below a rounding unit
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)


@dataclass(frozen=True, kw_only=True)
class PermuteAndFlip(Mechanism, name="permute-and-flip"):
    """Goes through the words in random order and takes each with a chance that falls with distance.

    Distribution: the words y in a uniformly random order, each with a coin of probability
    a_y = exp(−(ε/2)·d(w, y)); the first whose coin shows heads is the replacement. That is
    Pr[y | w] = a_y·∫ ∏_{z ≠ y} (1 − u·a_z) du over 0 … 1, and so it is computed and drawn.

    Guarantee: ε·d metric differential privacy for any metric d.

    Why: the loss between w and w' is largest at y = w, where a scaling of u by exp(−(ε/2)·d(w, w'))
    bounds it by ε·d(w, w'). See docs/proofs/permute-and-flip.md.

    Parameters: `epsilon`, ε, loss per unit of distance.

    >>> from malaprop import Lexicon, PermuteAndFlip
    >>> import numpy as np
    >>> pair = Lexicon(["a", "b"], [[0.0], [1.0]])
    >>> law = np.exp(PermuteAndFlip(epsilon=2.0).on(pair).log_probabilities([0]))
    >>> law.round(8), (1 - np.exp(-1) / 2).round(8) == law[0, 0].round(8)
    (array([[0.81606028, 0.18393972]]), np.True_)

    Reference: McKenna, Sheldon, "Permute-and-Flip: a new mechanism for differentially private
    selection", 2020.
    """

    promise = "metric-dp: ε·d, any metric"

    def on(self, lexicon: MetricSpace) -> "LawChannel[PermuteAndFlipLaw]":
        law = PermuteAndFlipLaw(lexicon, exponent=self.epsilon / 2.0)
        numerics = law_numerics(lexicon, math.inf)
        public = (*PUBLIC, *filter(None, [lexicon.metric.assumption]))
        promise = self._promise(law, str(lexicon.metric), numerics=numerics, public=public)
        return LawChannel(law, promise)


@proved("docs/proofs/permute-and-flip.md")
@dataclass(frozen=True, eq=False)
class PermuteAndFlipLaw(PeakedLaw):
    exponent: float

    def __post_init__(self) -> None:
        require_exponent(self.exponent)

    def weights_at(self, distances: Floats) -> Floats:
        return np.array([log_law(row) for row in self.exponent * distances])


def log_law(scores: Floats) -> Floats:
    """Return ln of permute-and-flip's probabilities for a_y = exp(−scores); the least score is 0.

    The integrand is a polynomial in u that falls at least as fast as exp(−u·Σa). 64 Gauss-Legendre
    nodes, up to where it has vanished, integrate it to the last digits. Small a enter by their
    power sums.
    """
    coins = np.exp(-scores)
    small = coins <= _SMALL
    few, many = coins[~small], np.where(small, coins, 0.0)
    half = 0.5 * min(1.0, _TAIL / float(coins.sum()))
    u = half * (1.0 + _NODES)
    log_product = np.log1p(-np.outer(u, few)).sum(axis=1)
    power = np.ones_like(coins)
    for k in range(1, _TERMS + 1):
        power *= many
        log_product -= u**k * float(power.sum()) / k
    mass = half * _WEIGHTS * np.exp(log_product)
    integrals = np.zeros_like(coins)  # ∫ ∏/(1 − u·a) = Σₖ aᵏ·∫ uᵏ·∏ for small a
    for k in range(_TERMS, -1, -1):
        integrals *= many
        integrals += float(mass @ u**k)
    integrals[~small] = (1.0 / (1.0 - np.outer(few, u))) @ mass
    return np.asarray(np.log(integrals) - scores)
