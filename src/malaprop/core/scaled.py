"""Channels with Gaussian noise whose width depends on the word."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.random import Generator

from malaprop.core.additive import Grid
from malaprop.core.channel import Decoder, Floats, VectorChannel
from malaprop.core.errors import ParameterError
from malaprop.core.guarantee import Guarantee
from malaprop.core.space import Ids, MetricSpace


class ScaledChannel(VectorChannel):
    """y = x + z, z ~ N(0, σ²·I) with the word's own public σ, rounded to a grid of that σ's own.

    The step of the grid is a function of σ: it tells nothing that the width of the noise does not.
    A word with σ = 0 gets no noise: what is released for it is `bare`, or itself without one.
    """

    def __init__(
        self,
        space: MetricSpace,
        guarantee: Guarantee,
        decoder: Decoder,
        *,
        sigmas: Floats,
        bare: float | None = None,
    ) -> None:
        """`sigmas` has a σ for each word; `bare` is what all coordinates are where σ is 0."""
        self._sigmas = sigmas
        self._sigmas.setflags(write=False)
        self._bare = bare
        steps = {sigma: Grid(sigma).step for sigma in np.unique(sigmas) if sigma > 0.0}
        self._steps = np.array([steps.get(sigma, 0.0) for sigma in sigmas])
        super().__init__(space, replace(guarantee, numerics=self._numerics(space)), decoder)

    @property
    def sigmas(self) -> Floats:
        """The standard deviation of a coordinate of the noise, for each word: public."""
        return self._sigmas

    def _numerics(self, space: MetricSpace) -> str:
        noisy = self._sigmas[self._sigmas > 0.0]
        if len(noisy) == 0:
            return ""
        finest = Grid(float(noisy.min()))  # the one that hides least
        largest = float(np.abs(space.vectors).max())
        delta = finest.numeric_delta(space.vectors.shape[1], largest)
        return (
            f"float64, rounded to grids of {finest.step:.3g} or more; "
            f"adds δ ≈ {delta:.0e} a word or less"
        )

    def _release(self, vectors: Floats, rng: Generator) -> Floats:
        short = vectors.astype(np.float32) + np.float32(0.0)
        ids = np.array([self._index.get(row.tobytes(), -1) for row in short], dtype=np.int64)
        found = (ids >= 0) & (short == vectors).all(axis=1)
        if not found.all():
            raise ParameterError(
                "The noise of this mechanism depends on the word, so `release` takes rows of the "
                f"lexicon only; row {int(np.argmin(found))} is none. For other vectors use "
                "Gaussian or Laplace."
            )
        return self._release_words(ids, rng)

    def _release_words(self, ids: Ids, rng: Generator) -> Floats:
        exact = self._space.vectors[ids].astype(np.float64)
        noisy = exact + rng.standard_normal(exact.shape) * self._sigmas[ids, None]
        steps = self._steps[ids, None]
        snapped = np.rint(noisy / np.where(steps > 0.0, steps, 1.0)) * steps
        return np.where(steps > 0.0, snapped, exact if self._bare is None else self._bare)

    @cached_property
    def _index(self) -> Mapping[bytes, int]:
        """From a vector's bytes to the first word that has it. Adding 0 makes a −0 a 0."""
        rows = self._space.vectors + np.float32(0.0)
        return {rows[i].tobytes(): i for i in reversed(range(len(rows)))}
