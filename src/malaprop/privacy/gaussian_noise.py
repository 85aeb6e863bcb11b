"""Gaussian noise, the exact δ, and the least σ for (ε, δ): docs/proofs/gaussian.md."""

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from malaprop.privacy.arrays import Floats, Ids, Vectors
from malaprop.privacy.errors import ParameterError, checked_number
from malaprop.privacy.guarantee import proved
from malaprop.privacy.metrics import NAMED, DistanceRows, Metric, MetricSpace
from malaprop.privacy.noise import AdditiveNoise, GaussianDensity, Grid, Noise, centres_of

_ROUND_UP = 1.0 + 4e-14  # exceeds the rounding errors of this module
_LN_ROOT_2PI = 0.5 * math.log(2.0 * math.pi)
_FAR = 90.0  # e^(-90/2) is below a rounding unit
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)


def gaussian_scale(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """Return the least σ for which N(x, σ²I) is (ε, δ)-private between vectors `sensitivity` apart.

    It is accurate to 10⁻¹³ (relative), and never below the exact value. This is the analytic
    calibration of Balle and Wang 2018, for any ε; ε = 0 bounds the total variation by δ. A δ above
    0.99, which protects nothing and makes the equation hard to solve, gets the σ of 0.99.

    >>> round(gaussian_scale(1.0, 1e-5), 10)
    3.7306316348
    """
    _require("epsilon", "a finite number, 0 or more", epsilon, lambda x: 0 <= x < math.inf)
    _require("epsilon", "0, or 1e-300 to 1e+100", epsilon, lambda x: x == 0 or 1e-300 <= x <= 1e100)
    _require("delta", "above 0 and below 1", delta, lambda x: 0 < x < 1)
    _require("sensitivity", "a finite number above 0", sensitivity, lambda x: 0 < x < math.inf)
    return sensitivity / _ratio(epsilon, min(delta, 0.99)) * _ROUND_UP


def gaussian_delta(epsilon: float, ratio: float) -> float:
    """Return the exact δ between N(x, σ²I) and N(x', σ²I), with ratio = ‖x − x'‖/σ.

    >>> round(gaussian_delta(1.0, 1 / 3.73063163481594), 15)
    1e-05
    """
    _require("epsilon", "a finite number, 0 or more", epsilon, lambda x: 0 <= x < math.inf)
    _require("ratio", "0 or more", ratio, lambda x: x >= 0)
    if epsilon == 0.0:
        return math.erf(ratio / math.sqrt(8.0))
    s = math.inf if ratio == 0.0 else epsilon / ratio - ratio / 2.0
    if abs(s) > 40.0:  # Φ(−40) is 0 in float64
        return 0.0 if s > 0 else 1.0
    return min(1.0, math.exp(_log_delta(epsilon, ratio)))


def classical_scale(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """Return σ = Δ·√(2 ln(1.25/δ))/ε, proved for ε < 1 only (Dwork and Roth 2014)."""
    return sensitivity * math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon


def spherical_delta(
    epsilon: float, sigma: float, other: float, distance: float, dimension: int
) -> float:
    """Return the exact δ between N(x, σ²I) and N(x', σ'²I), the larger of both directions.

    `distance` is ‖x − x'‖.
    """
    if sigma == other:
        return gaussian_delta(epsilon, distance / sigma)
    both = ((sigma, other), (other, sigma))
    return max(_one_way(epsilon, s, t, distance, dimension) for s, t in both)


def deltas_of_pairs(density: GaussianDensity, covers: Floats) -> Iterator[tuple[float, int, int]]:
    """Yield the δ of pairs of words that include the worst of those that are covered.

    `covers` has the ε of each pair, infinite if it is not covered. For words of the same σ, δ grows
    with the distance: the farthest pair of each ε stands for all of them.
    """
    centres, sigmas = density.centres, density.sigmas
    farthest: dict[tuple[float, float], tuple[float, int, int]] = {}
    for i in range(len(centres)):
        others = np.flatnonzero(np.isfinite(covers[i, :i]))
        distances = np.linalg.norm(centres[others] - centres[i], axis=1)
        same = sigmas[others] == sigmas[i]
        for k in np.flatnonzero(~same).tolist():
            yield _delta_of(density, covers, float(distances[k]), i, int(others[k]))
        for epsilon in np.unique(covers[i, others[same]]):
            k = int(np.where(same & (covers[i, others] == epsilon), distances, -1.0).argmax())
            key, pair = (sigmas[i], epsilon), (float(distances[k]), i, int(others[k]))
            farthest[key] = max(farthest.get(key, pair), pair)
    for pair in farthest.values():
        yield _delta_of(density, covers, *pair)


def _delta_of(
    density: GaussianDensity, covers: Floats, distance: float, i: int, j: int
) -> tuple[float, int, int]:
    sigma, other = float(density.sigmas[i]), float(density.sigmas[j])
    if not (sigma > 0.0 and other > 0.0):
        return (0.0 if sigma == other and distance == 0.0 else 1.0), i, j
    try:
        dimension = density.centres.shape[1]
        return spherical_delta(float(covers[i, j]), sigma, other, distance, dimension), i, j
    except ParameterError:  # the two σ are too close to compute with, so nothing is shown
        return 0.0, i, j


def _one_way(epsilon: float, sigma: float, other: float, distance: float, dimension: int) -> float:
    """Return the sup over sets S of P(S) − e^ε·Q(S), P = N(x, σ²I), Q = N(x', σ'²I), σ ≠ σ'.

    ln p/q = a·‖z − c‖² + k with c on the line through x and x'. So S is a ball around c or the
    outside of one, and its masses are tails of noncentral χ² laws.
    """
    from scipy.stats import ncx2

    gap = (sigma - other) * (sigma + other)
    if distance * max(sigma, other) > 1e5 * abs(gap):  # scipy's series would not converge
        raise ParameterError(
            f"The standard deviations {sigma!r} and {other!r} are too close to distinguish at a "
            f"distance of {distance!r}: treat them as equal."
        )
    a = gap / (2.0 * sigma**2 * other**2)
    k = dimension * math.log(other / sigma) - distance**2 / (2.0 * gap)
    square = (epsilon - k) / a
    if square <= 0.0:  # a < 0, and p/q stays below e^ε everywhere
        return 0.0
    mass = ncx2.sf if a > 0 else ncx2.cdf
    p = float(mass(square / sigma**2, dimension, (distance * sigma / gap) ** 2))
    q = float(mass(square / other**2, dimension, (distance * other / gap) ** 2))
    return max(0.0, p - (math.exp(epsilon + math.log(q)) if q > 0.0 else 0.0))


def _ratio(epsilon: float, delta: float) -> float:
    """Return μ with δ(ε; μ) = δ, by Newton's method on ln δ as a function of ln μ.

    The start is below the root: the μ with Φ(−s) = δ, since δ(ε; μ) ≤ Φ(−s) for s = ε/μ − μ/2. The
    function is concave, so no step overshoots the root.
    """
    if epsilon == 0.0:
        from scipy.special import erfinv

        return math.sqrt(8.0) * float(erfinv(delta))
    z = -NormalDist().inv_cdf(delta)
    root = math.hypot(z, math.sqrt(2.0 * epsilon))
    ratio = 2.0 * epsilon / (z + root) if z > 0 else root - z
    for _ in range(2000):
        value = _log_delta(epsilon, ratio)
        s = epsilon / ratio - ratio / 2.0
        slope = ratio * math.exp(-s * s / 2.0 - _LN_ROOT_2PI - value)
        if slope == 0.0:
            break
        step = (math.log(delta) - value) / slope
        ratio *= math.exp(step)
        if abs(step) < 1e-13:
            return ratio
    raise ParameterError(
        f"No scale was found for epsilon = {epsilon!r} and delta = {delta!r}: choose less extreme "
        "values."
    )


def _log_delta(epsilon: float, ratio: float) -> float:
    """Return ln δ(ε; μ), δ = ∫ e^(−θ)·√(2ε)·φ(√(2ε)·sinh θ) dθ from θ₀ = ln(√(2ε)/μ) to infinity.

    The integrand is positive and smooth: nothing cancels, nothing overflows. The parts left out at
    both ends are less than a rounding unit of the whole.
    """
    root = math.sqrt(2.0 * epsilon)
    least = max(epsilon / ratio - ratio / 2.0, 0.0)  # where the normal density is highest
    low = max(math.log(root / ratio), -math.asinh(math.sqrt(_FAR) / root))
    high = min(low + _FAR / 2.0, math.asinh(math.sqrt(least**2 + _FAR) / root))
    span = root * (math.sinh(high) - math.sinh(low))
    edges = np.linspace(low, high, 1 + math.ceil(2.0 * (high - low) + span / 2.0))
    half = np.diff(edges)[:, None] / 2.0
    theta = edges[:-1, None] + half * (1.0 + _NODES)
    s = root * np.sinh(theta)
    terms = np.exp((least - s) * (least + s) / 2.0 - theta) * (half * _WEIGHTS)
    return math.log(root * float(terms.sum())) - least**2 / 2.0 - _LN_ROOT_2PI


def _require(name: str, constraint: str, value: float, holds: Callable[[float], bool]) -> None:
    checked_number(value, f"'{name}' of a Gaussian", constraint, holds)


# Gaussian noise: of one width for all words, or of a public width for each word.


@proved("docs/proofs/gaussian.md")
@dataclass(frozen=True, kw_only=True)
class SphericalGaussian(AdditiveNoise):
    """z ~ N(0, σ²·I)."""

    sigma: float
    """σ, the standard deviation of each coordinate."""
    epsilon: float
    """The default ε of `delta_at`."""

    @cached_property
    def grid(self) -> Grid:
        return Grid(self.sigma)

    def noise(self, shape: tuple[int, ...], rng: Generator) -> Floats:
        return self.sigma * rng.standard_normal(shape)

    def length(self, columns: int) -> float:
        return math.sqrt(columns) * self.sigma

    def density(self, space: MetricSpace) -> GaussianDensity:
        sigmas = np.full(len(space), float(self.sigma))
        return GaussianDensity(centres=centres_of(space), sigmas=sigmas)

    def delta_at(self, distance: float, epsilon: float | None = None) -> float:
        """Return the exact δ between vectors `distance` apart, at the mechanism's ε or another."""
        return gaussian_delta(self.epsilon if epsilon is None else epsilon, distance / self.sigma)

    def delta_curve(self, distances: ArrayLike, epsilon: float | None = None) -> Floats:
        """Return the exact δ for each of several distances, also beyond Δ."""
        array = np.asarray(distances, dtype=np.float64)
        return np.array([self.delta_at(d, epsilon) for d in array.ravel()]).reshape(array.shape)


@proved("docs/proofs/gaussian.md")
class ScaledMetric(Metric):
    """‖W⁻¹(x − y)‖₂: the Euclidean distance in units of a width for each coordinate.

    Its name has a digest of the widths: a promise within one of these distances says nothing about
    noise of other widths.
    """

    def __init__(self, widths: Floats) -> None:
        self._widths = widths
        digest = hashlib.sha256(np.ascontiguousarray(widths, dtype="<f8").tobytes()).hexdigest()
        self.name = f"scaled({digest[:12]})"  # type: ignore[misc]

    def on(self, vectors: Vectors) -> DistanceRows:
        scaled: Any = vectors.astype(np.float64) / self._widths
        return NAMED["euclidean"].on(scaled)

    def distance(self, x: Floats, y: Floats) -> Floats:
        """Return the distance between two vectors, or between two matrices row by row."""
        difference = np.asarray(x, dtype=np.float64) - np.asarray(y, dtype=np.float64)
        return np.asarray(np.linalg.norm(difference / self._widths, axis=-1))


@proved("docs/proofs/gaussian.md")
@dataclass(frozen=True, kw_only=True, eq=False)
class CoordinateGaussian(AdditiveNoise):
    """Independent noise N(0, (σ·wⱼ)²) on each coordinate j."""

    sigma: float
    """σ, the standard deviation in units of the widths."""
    widths: Floats
    """wⱼ, public."""
    epsilon: float
    """The default ε of `delta_at`."""

    def __post_init__(self) -> None:
        self.widths.setflags(write=False)

    @cached_property
    def grid(self) -> Grid:
        """The grid in units of the widths; rounded vectors are multiplied by them."""
        return Grid(self.sigma)

    def noise(self, shape: tuple[int, ...], rng: Generator) -> Floats:
        return rng.standard_normal(shape) * (self.sigma * self.widths)

    def release(self, vectors: Floats, rng: Generator) -> Floats:
        centres = vectors / self.widths
        self.grid.check(centres)
        noisy = centres + self.sigma * rng.standard_normal(centres.shape)
        return self.grid.snap(noisy) * self.widths

    def numerics(self, space: MetricSpace) -> str:
        return f"{self.grid.numerics(centres_of(space) / self.widths)}, in units of the widths"

    def limits(self, columns: int) -> str:
        return f"{self.grid.limits(columns)}, the entries being those in units of the widths"

    def length(self, columns: int) -> float:
        return self.sigma * float(np.linalg.norm(self.widths))

    @cached_property
    def metric(self) -> ScaledMetric:
        return ScaledMetric(self.widths)

    @property
    def metrics(self) -> Mapping[str, Metric]:
        return {self.metric.name: self.metric}

    def density(self, space: MetricSpace) -> GaussianDensity | None:
        if space.vectors.shape[1] != len(self.widths):
            return None
        sigmas = np.full(len(space), float(self.sigma))
        return GaussianDensity(centres=centres_of(space), sigmas=sigmas, widths=self.widths)

    def delta_at(self, distance: float, epsilon: float | None = None) -> float:
        """Return the exact δ between vectors `distance` apart in units of the widths."""
        return gaussian_delta(self.epsilon if epsilon is None else epsilon, distance / self.sigma)


@proved("docs/proofs/nadp.md")
@dataclass(frozen=True, kw_only=True, eq=False)
class WordGaussian(Noise):
    """z ~ N(0, σ²·I) with the word's own public σ, rounded to a grid that depends on σ.

    The step of the grid is a function of σ: it reveals nothing beyond the width of the noise. A
    word with σ = 0 gets no noise: `bare` is released for it or, if that is None, its own vector.
    """

    space: MetricSpace
    sigmas: Floats
    """The standard deviation of a coordinate of the noise, for each word: public."""
    bare: float | None = None
    """The value of all coordinates that is released for words with σ = 0."""

    def __post_init__(self) -> None:
        self.sigmas.setflags(write=False)

    @cached_property
    def steps(self) -> Floats:
        """The step of each word's grid; 0 where σ is 0."""
        steps = {sigma: Grid(sigma).step for sigma in np.unique(self.sigmas) if sigma > 0.0}
        return np.array([steps.get(sigma, 0.0) for sigma in self.sigmas])

    def numerics(self, space: MetricSpace) -> str:
        noisy = self.sigmas[self.sigmas > 0.0]
        if len(noisy) == 0:
            return ""
        finest = Grid(float(noisy.min()))  # the grid that hides least
        return (
            f"float64, rounded to grids of {finest.step:.3g} or more; "
            f"adds δ ≈ {finest.check(centres_of(space)):.0e} a word or less"
        )

    def density(self, space: MetricSpace) -> GaussianDensity | None:
        """Return the density around the words' vectors; for σ = 0, around what is released.

        None for any lexicon but the one that the σ belong to.
        """
        if space is not self.space or self.sigmas.shape != (len(space),):
            return None
        centres = centres_of(space)
        if self.bare is not None:
            centres[self.sigmas == 0.0] = self.bare
        return GaussianDensity(centres=centres, sigmas=self.sigmas)

    def release(self, vectors: Floats, rng: Generator) -> Floats:
        """Return noisy vectors for rows that are words of the lexicon."""
        short = vectors.astype(np.float32) + np.float32(0.0)
        ids = np.array([self._index.get(row.tobytes(), -1) for row in short], dtype=np.int64)
        known = (ids >= 0) & (short == vectors).all(axis=1)
        if not known.all():
            raise ParameterError(
                "The noise of this mechanism depends on the word, so `release` takes rows of the "
                f"lexicon only; row {int(np.argmin(known))} is not one. For other vectors use "
                "Gaussian or Laplace."
            )
        return self.release_words(self.space, ids, rng)

    def release_words(self, space: MetricSpace, ids: Ids, rng: Generator) -> Floats:
        exact = space.vectors[ids].astype(np.float64)
        noisy = exact + rng.standard_normal(exact.shape) * self.sigmas[ids, None]
        steps = self.steps[ids, None]
        snapped = np.rint(noisy / np.where(steps > 0.0, steps, 1.0)) * steps
        return np.where(steps > 0.0, snapped, exact if self.bare is None else self.bare)

    @cached_property
    def _index(self) -> Mapping[bytes, int]:
        """Maps a vector's bytes to the first word that has it. Adding 0 turns −0 into 0."""
        rows = self.space.vectors + np.float32(0.0)
        return {rows[i].tobytes(): i for i in reversed(range(len(rows)))}
