"""Gaussian noise: of one width for all words, or of a public width for each word."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from malaprop.core.arrays import Floats, Ids
from malaprop.core.errors import ParameterError
from malaprop.core.noise.calibration import gaussian_delta
from malaprop.core.noise.grid import Grid
from malaprop.core.noise.laplace import centres_of
from malaprop.core.noise.noise import AdditiveNoise, GaussianDensity, Noise
from malaprop.core.proofs import proved
from malaprop.core.space import MetricSpace


@proved("docs/proofs/gaussian.md")
@dataclass(frozen=True, kw_only=True)
class SphericalGaussian(AdditiveNoise):
    """z ~ N(0, σ²·I)."""

    sigma: float
    """σ, the standard deviation of each coordinate."""
    epsilon: float
    """The default ε of `delta_at`."""

    @cached_property
    def _grid(self) -> Grid:
        return Grid(self.sigma)

    @property
    def step(self) -> float:
        """The step of the grid."""
        return self._grid.step

    def release(self, vectors: Floats, rng: Generator) -> Floats:
        """Return x + z for each row x."""
        self._grid.check(vectors)
        return self._grid.snap(vectors + self.sigma * rng.standard_normal(vectors.shape))

    def numerics(self, space: MetricSpace) -> str:
        """Say what floating-point numbers add to the loss of a word."""
        return self._grid.numerics(centres_of(space))

    def limits(self, columns: int) -> str:
        """Say what floating-point numbers add for any vector, and which vectors are refused."""
        return self._grid.limits(columns)

    def length(self, columns: int) -> float:
        """Return the root mean square length of the noise."""
        return math.sqrt(columns) * self.sigma

    def density(self, space: MetricSpace) -> GaussianDensity:
        """Return the density around the words' vectors."""
        sigmas = np.full(len(space), float(self.sigma))
        return GaussianDensity(centres=centres_of(space), sigmas=sigmas)

    def delta_at(self, distance: float, epsilon: float | None = None) -> float:
        """Return the exact δ between vectors `distance` apart, at the mechanism's ε or another."""
        chosen = self.epsilon if epsilon is None else epsilon
        return gaussian_delta(chosen, distance / self.sigma)

    def delta_curve(self, distances: ArrayLike, epsilon: float | None = None) -> Floats:
        """Return the exact δ for each of several distances, also beyond Δ."""
        array = np.asarray(distances, dtype=np.float64)
        return np.array([self.delta_at(d, epsilon) for d in array.ravel()]).reshape(array.shape)


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
        """Say what floating-point numbers add to the loss of a word."""
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
        """Return noisy vectors of words."""
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
