"""How likely noisy vectors are for each word, from the stated density of the noise."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import Channel, VectorChannel
from malaprop.core.metrics import poincare
from malaprop.core.noise.noise import ExponentialDensity, GaussianDensity

Scores = NDArray[np.float32]
_CUT: Final = 1e-3  # releases in the ball so near its end may have been cut off there


class VectorLikelihoods:
    """ln of the density of each word at noisy vectors, but for a constant."""

    def __init__(self, density: ExponentialDensity | GaussianDensity) -> None:
        self._density = density
        self.slow = isinstance(density, ExponentialDensity) and density.metric == "manhattan"
        """Whether `of_all` orders words by another norm, since their own takes long."""
        roots = density.roots if isinstance(density, ExponentialDensity) else ()
        self._inverses: list[Floats | None] = [np.asarray(np.linalg.inv(root)) for root in roots]
        self._inverses = self._inverses or [None]
        self._shifts = [float(np.linalg.slogdet(root)[1]) for root in roots]
        self._centres = [self._mapped(density.centres, part) for part in self._inverses]

    def of_all(self, noisy: Floats) -> Scores:
        """Return them for all words, in float32: (vectors, words)."""
        density, placed = self._density, self._placed(noisy)
        if isinstance(density, ExponentialDensity) and density.metric == "poincare":
            return (-density.rate * _in_the_ball(placed, density.centres)).astype(np.float32)
        parts = [
            self._from_squares(_squares(self._mapped(placed, inverse), centres), slice(None), part)
            for part, (inverse, centres) in enumerate(
                zip(self._inverses, self._centres, strict=True)
            )
        ]
        return np.asarray(_mixed(parts), dtype=np.float32)

    def of_some(self, noisy: Floats, words: Ids) -> Floats:
        """Return them for some words, in float64: (vectors, words)."""
        from scipy.spatial.distance import cdist

        density, placed = self._density, self._placed(noisy)
        if isinstance(density, ExponentialDensity) and density.metric != "euclidean":
            if density.metric == "poincare":
                return -density.rate * _in_the_ball(placed, density.centres[words])
            return np.asarray(-density.rate * cdist(placed, density.centres[words], "cityblock"))
        parts = [
            self._from_squares(
                cdist(self._mapped(placed, inverse), centres[words], "sqeuclidean"), words, part
            )
            for part, (inverse, centres) in enumerate(
                zip(self._inverses, self._centres, strict=True)
            )
        ]
        return np.asarray(_mixed(parts), dtype=np.float64)

    def untold(self, noisy: Floats, words: Ids) -> NDArray[np.bool_]:
        """Whether the density says nothing about vectors of some words, one word for each."""
        density = self._density
        if isinstance(density, GaussianDensity):
            return np.asarray(density.sigmas[words] == 0.0)  # released without noise
        if not density.in_ball:
            return np.zeros(len(noisy), dtype=np.bool_)
        far = 2.0 * np.arctanh(np.minimum(np.linalg.norm(noisy, axis=1), poincare.EDGE))
        return np.asarray(far >= poincare.REACH - _CUT)

    def _placed(self, noisy: Floats) -> Floats:
        """Return the vectors in the chart that the density is stated in."""
        density = self._density
        tangent = isinstance(density, ExponentialDensity) and density.in_ball
        return poincare.log0(noisy) if tangent and density.metric == "euclidean" else noisy  # type: ignore[union-attr]

    def _mapped(self, vectors: Floats, inverse: Floats | None) -> Floats:
        return vectors if inverse is None else np.asarray(vectors @ inverse)

    def _from_squares(self, squares: Any, words: Any, part: int) -> Any:
        """Turn squared distances to `words` into scores, for one part of a mixture."""
        density, kind = self._density, squares.dtype.type
        if isinstance(density, GaussianDensity):
            sigmas, bare = density.sigmas[words], density.sigmas[words] == 0.0
            wide = np.where(bare, 1.0, sigmas)
            squares *= (-0.5 / wide**2).astype(kind)
            squares -= (density.centres.shape[1] * np.log(wide)).astype(kind)
            squares[:, bare] = -np.inf  # such a word gives no other vector
            return squares
        scores = np.sqrt(squares, out=squares)
        scores *= kind(-density.rate)
        if density.chances is not None:
            scores += (density.chances[words, part] - self._shifts[part]).astype(kind)
        return scores


def vector_likelihoods(channel: Channel) -> VectorLikelihoods | None:
    """Return the likelihoods of a channel's vectors; None if they cannot be evaluated."""
    if type(channel) is not VectorChannel:  # a subclass may draw in another way
        return None
    density: Any = channel.noise.density(channel.lexicon)
    if isinstance(density, GaussianDensity):
        return VectorLikelihoods(density)
    if not isinstance(density, ExponentialDensity) or not density.is_sane:
        return None
    known = density.metric in ("euclidean", "manhattan")
    in_the_ball = density.metric == "poincare" and density.in_ball
    return VectorLikelihoods(density) if known or in_the_ball else None


def _mixed(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else np.logaddexp.reduce(parts, axis=0)


def _squares(noisy: Floats, centres: Floats) -> Scores:
    middle = centres.mean(axis=0)
    one, other = (noisy - middle).astype(np.float32), (centres - middle).astype(np.float32)
    squares: Scores = one @ (np.float32(-2.0) * other.T)
    squares += np.einsum("ij,ij->i", one, one)[:, None]
    squares += np.einsum("ij,ij->i", other, other)
    return np.maximum(squares, 0.0, out=squares)


def _in_the_ball(noisy: Floats, centres: Floats) -> Floats:
    """Return distances in the Poincaré ball; in float64, since much is cancelled at its edge."""
    squares = (noisy**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1) - 2.0 * noisy @ centres.T
    scale = poincare.conformal(noisy)[:, None] * poincare.conformal(centres)
    return np.asarray(2.0 * np.arcsinh(np.sqrt(np.maximum(squares, 0.0) / scale)))
