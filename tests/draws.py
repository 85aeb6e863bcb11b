"""Whether noise draws what it states: the one thing about a proved class that only draws can show.

The audit reads the density of a class that is marked as proved, and draws nothing. So whoever
marks a class tests its draws, too.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, chi2, gamma, kstest

from malaprop import Lexicon, seeded_rng
from malaprop.privacy import metrics
from malaprop.privacy.noise import ExponentialDensity, GaussianDensity, Noise

DRAWS = 40_000
Density = ExponentialDensity | GaussianDensity


def off_by(density: Density, share: float) -> Density:
    """The density of noise that is wider by a share."""
    if isinstance(density, GaussianDensity):
        return replace(density, sigmas=density.sigmas * (1.0 + share))
    return replace(density, rate=density.rate / (1.0 + share))


def p_value(noise: Noise, space: Lexicon, density: Density, word: int = 0) -> float:
    """How likely lengths like those that were drawn are, by a density of one part."""
    drawn = noise.release_words(space, np.full(DRAWS, word), seeded_rng(11))
    dimension = density.centres.shape[1]
    if isinstance(density, GaussianDensity):
        widths = 1.0 if density.widths is None else density.widths
        ways = (drawn - density.centres[word]) / widths
        squares = (ways**2).sum(axis=1) / density.sigmas[word] ** 2
        return float(kstest(squares, chi2(dimension).cdf).pvalue)
    lengths = _lengths(density, drawn, density.centres[word])
    if density.metric == "poincare":  # docs/proofs/hyperbolic.md
        shape = (density.rate - dimension + 1.0) / 2.0
        return float(kstest(np.exp(-2.0 * lengths), beta(shape, dimension).cdf).pvalue)
    # ∝ exp(−r·‖z‖), whatever the norm: r·‖z‖ has a Gamma law.
    return float(kstest(density.rate * lengths, gamma(dimension).cdf).pvalue)


def _lengths(
    density: ExponentialDensity, drawn: NDArray[np.float64], centre: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How far the noise has led, in the metric of the density."""
    if density.metric == "poincare":
        return metrics.distances(drawn, np.broadcast_to(centre, drawn.shape))
    ways = (metrics.log0(drawn) if density.in_ball else drawn) - centre
    if density.roots:
        (root,) = density.roots
        ways = ways @ np.linalg.inv(root)
    order = 1 if density.metric == "manhattan" else 2
    return np.asarray(np.linalg.norm(ways, ord=order, axis=1))
