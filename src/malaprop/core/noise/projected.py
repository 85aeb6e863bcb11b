"""Linear maps to fewer dimensions, how much they stretch, and noise that makes up for it.

A map Φ stretches no difference of two vectors by more than its operator norm ‖Φ‖, its largest
singular value. So spherical Laplace noise of scale ‖Φ‖/ε after Φ gives a loss of ε·‖x − x'‖₂.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.core.arrays import Floats
from malaprop.core.guarantee import rounded_up
from malaprop.core.noise.grid import Grid
from malaprop.core.noise.laplace import rate_of, spherical_laplace
from malaprop.core.noise.noise import ExponentialDensity, Noise
from malaprop.core.proofs import proved
from malaprop.core.space import MetricSpace

PROJECTIONS = ("orthonormal", "pca", "gaussian")


def projection_of(name: str, vectors: NDArray[np.floating[Any]], onto: int, seed: int) -> Floats:
    """Return the named projection of the space of public `vectors` onto `onto` dimensions.

    Only `pca` looks at the vectors; only the other two use `seed`.
    """
    if name == "pca":
        return principal(vectors, onto)
    draw = orthonormal if name == "orthonormal" else gaussian
    return draw(vectors.shape[1], onto, seed)


def orthonormal(dimension: int, onto: int, seed: int) -> Floats:
    """Return random orthonormal rows times √(d/m), which keep lengths on average: (onto, d)."""
    gauss = seeded_normal((dimension, onto), seed)
    columns, upper = np.linalg.qr(gauss)
    # The diagonal's signs make the law uniform, whichever signs the algorithm chose.
    columns *= np.where(np.diagonal(upper) < 0.0, -1.0, 1.0)
    return np.ascontiguousarray(columns.T * math.sqrt(dimension / onto))


def gaussian(dimension: int, onto: int, seed: int) -> Floats:
    """Return independent normal entries of variance 1/m: (onto, d)."""
    return seeded_normal((onto, dimension), seed) / math.sqrt(onto)


def principal(vectors: NDArray[np.floating[Any]], onto: int) -> Floats:
    """Return the unit directions in which public `vectors` vary most, as rows: (onto, d)."""
    centred = vectors.astype(np.float64)
    centred -= centred.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    rows = directions[:, ::-1][:, :onto].T
    largest = np.take_along_axis(rows, np.abs(rows).argmax(axis=1, keepdims=True), axis=1)
    return np.ascontiguousarray(rows * np.where(largest < 0.0, -1.0, 1.0))


def seeded_normal(shape: tuple[int, int], seed: int) -> Floats:
    """Return normal numbers that everybody can draw again."""
    return Generator(np.random.PCG64(seed)).standard_normal(shape)


def operator_norm(matrix: Floats) -> float:
    """Return the largest factor by which a matrix stretches a vector, rounded up."""
    computed = float(np.linalg.norm(matrix, ord=2))
    return computed * (1.0 + 4.0 * float(max(matrix.shape)) * 2.0**-52)


def paper_dimension(dimension: int, beta: float, delta: float) -> float:
    """Return PrivEmb's m = (√log₂ d + √ln(1/δ))²/β², before rounding to a whole number.

    >>> round(paper_dimension(300, 0.66, 1e-6), 1)
    99.6
    """
    return ((math.sqrt(math.log2(dimension)) + math.sqrt(math.log(1.0 / delta))) / beta) ** 2


def stretch_chance(words: int, onto: int, beta: float) -> float:
    """Bound the probability that a Gaussian Φ stretches a pair of fixed points by over 1 + β.

    ‖Φv‖²·m/‖v‖² is χ² with m degrees of freedom for each fixed v, and `words` points form C(n, 2)
    pairs. The bound says nothing about points that were chosen knowing Φ.
    """
    from scipy.stats import chi2

    pairs = words * (words - 1) / 2
    return min(1.0, pairs * float(chi2.sf(onto * (1.0 + beta) ** 2, onto)))


def shortfall(norm: float, stretch: float, words: int, onto: int) -> str:
    """Say why noise for a `stretch` below ‖Φ‖ guarantees nothing; empty if it is not below."""
    if norm <= stretch:
        return ""
    excess = (
        f"the projection stretches some differences by {norm:.3g} and the noise makes up for "
        f"{stretch:.3g}, so that the loss can be {norm / stretch:.3g}·ε·d"
    )
    if words < 2:
        return excess
    chance = stretch_chance(words, onto, stretch - 1.0)
    return (
        f"{excess}; between the {words} words alone it exceeds ε·d with a chance of "
        f"{rounded_up(chance, 2)} at most over the draw of the projection"
    )


@proved("docs/proofs/priv-emb.md")
@dataclass(frozen=True, kw_only=True, eq=False)
class ProjectedLaplace(Noise):
    """y = Φx + κ, κ of density ∝ exp(−‖κ‖₂/scale) in m dimensions, rounded to a grid."""

    matrix: Floats
    """Φ, with m rows: public."""
    scale: float

    def __post_init__(self) -> None:
        self.matrix.setflags(write=False)

    @cached_property
    def _grid(self) -> Grid:
        return Grid(math.sqrt(len(self.matrix) + 1) * self.scale)

    def numerics(self, space: MetricSpace) -> str:
        """Say what floating-point numbers add to the loss of a word."""
        return self.numerics_for(space.vectors)

    def numerics_for(self, vectors: NDArray[np.floating[Any]]) -> str:
        """Say what floating-point numbers add for such vectors, which must be public."""
        delta = self._check(self.exact(vectors))
        return f"float64, rounded to a grid of {self._grid.step:.3g}; adds δ ≈ {delta:.0e} a word"

    def limits(self, columns: int) -> str:
        """Say what floating-point numbers add for any vector, and which vectors are refused."""
        return f"{self._grid.limits(len(self.matrix))}, the entries being those after projection"

    def length(self, columns: int) -> float:
        """Return the root mean square length of the noise, which is added after projection."""
        return math.sqrt(len(self.matrix) * (len(self.matrix) + 1)) * self.scale

    def places(self, vectors: Floats) -> Floats:
        """Return Φx for each row x, without noise: for public vectors only."""
        return self.exact(vectors)

    def exact(self, vectors: NDArray[np.floating[Any]]) -> Floats:
        """Return Φx, without noise: for public vectors only."""
        with np.errstate(over="ignore", invalid="ignore"):  # values that overflow are refused
            return np.asarray(vectors @ self.matrix.T, dtype=np.float64)

    def release(self, vectors: Floats, rng: Generator) -> Floats:
        """Return a private vector of m dimensions for each row."""
        projected = self.exact(vectors)
        self._check(projected)
        noise = spherical_laplace(projected.shape, self.scale, rng)
        return self._grid.snap(projected + noise)

    def density(self, space: MetricSpace) -> ExponentialDensity:
        """Return the density around the projected vectors."""
        return ExponentialDensity(rate=rate_of(self.scale), centres=self.exact(space.vectors))

    def _check(self, projected: Floats) -> float:
        largest = float(np.abs(projected).max(initial=0.0))
        if not math.isfinite(largest):
            largest = 1e300
        return self._grid.numeric_delta(projected.shape[1], largest)
