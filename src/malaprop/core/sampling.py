"""Exact draws from a law that is given by log-weights.

Inverting a cumulative sum with one 53-bit uniform number would give words of probability below
2⁻⁵³ no chance at all, and an output that is impossible for one word but not for another gives
the word away. So a draw here has two stages, both of which keep the *relative* precision of
rare words: first the binary order of magnitude, counted from the rarest up; then a word of that
magnitude by rejection, which accepts at least every other try.

How far the log-probabilities of what is drawn can be from the law's is `log_error`, proved in
docs/proofs/sampling.md.
"""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

_LN2 = float(np.log(2.0))
_DEEPEST = 1000  # magnitudes below 2^-1000 are beyond float64, and have no chance


def draw(log_weights: Floats, count: int, rng: Generator) -> Ids:
    """`count` independent draws of an index i with probability ∝ exp(log_weights[i])."""
    weights = np.exp(log_weights - np.max(log_weights))
    # The exponent of a float is its magnitude: a weight of magnitude m is in [2^-m, 2^(1-m)).
    magnitudes = 1023 - (weights.view(np.int64) >> 52)
    masses: Floats = np.bincount(magnitudes, weights=weights).astype(np.float64)
    masses[_DEEPEST:] = 0.0
    chosen = _magnitudes(masses, count, rng)
    drawn = np.empty(count, dtype=np.int64)
    for magnitude in np.unique(chosen):
        places = np.flatnonzero(chosen == magnitude)
        members = np.flatnonzero(magnitudes == magnitude)
        drawn[places] = _members(members, weights, 2.0 * 0.5**magnitude, len(places), rng)
    return drawn


def log_error(size: int, spread: float) -> float:
    """A bound on the error of a drawn log-probability, for `size` words.

    `spread` is the largest difference of two log-weights. The bound holds for all words but those
    rarer than 2⁻¹⁰⁰ together.
    """
    magnitudes = min(spread / _LN2, _DEEPEST) + 2.0
    return 4.0 * magnitudes * size * 2.0**-53


def _magnitudes(masses: Floats, count: int, rng: Generator) -> NDArray[np.intp]:
    """`count` magnitudes, drawn by their masses; the rarest come first in the cumulative sum."""
    cumulative = np.cumsum(masses[::-1])
    # Near 0, where the rare magnitudes lie, the second and third number give the digits.
    first, second, third = rng.random((3, count))
    uniform = first + 2.0**-53 * (second + 2.0**-53 * third)
    found = np.searchsorted(cumulative, uniform * cumulative[-1], side="right")
    return np.asarray(len(masses) - 1 - np.minimum(found, len(masses) - 1), dtype=np.intp)


def _members(members: Ids, weights: Floats, bound: float, count: int, rng: Generator) -> Ids:
    """`count` of the members, each with probability ∝ its weight, which is in [bound/2, bound)."""
    accepted = np.empty(0, dtype=np.int64)
    while len(accepted) < count:
        tries = 2 * (count - len(accepted)) + 4
        candidates = members[rng.integers(len(members), size=tries)]
        kept = candidates[rng.random(tries) * bound < weights[candidates]]
        accepted = np.concatenate([accepted, kept])
    return accepted[:count]
