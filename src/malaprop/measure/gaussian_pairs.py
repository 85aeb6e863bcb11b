"""The exact δ of pairs of words with Gaussian noise."""

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.core.channel import VectorChannel
from malaprop.core.errors import ParameterError
from malaprop.core.noise.calibration import spherical_delta
from malaprop.core.noise.noise import GaussianDensity, Noise
from malaprop.measure.vector_audit import UNPROVED, draws_its_noise


def unproved(channel: VectorChannel[Noise], sigmas: Floats, covers: Floats) -> str:
    """Say why the stated σ prove nothing about what is released; empty if they do."""
    if not draws_its_noise(channel):
        return UNPROVED
    # Rounding is post-processing only if both words are rounded alike. And for two different σ, δ
    # comes from noncentral χ² laws, for which no error bound is proved.
    if (np.isfinite(covers) & (sigmas[:, None] != sigmas)).any():
        return (
            "it covers words of different σ, whose grids differ: that may exceed the δ of the noise"
        )
    return ""


def worst_gaussians(density: GaussianDensity, covers: Floats) -> tuple[float, int, int] | None:
    """Return the largest δ of all covered pairs, and the pair.

    For words of the same σ, δ grows with the distance: the farthest pair stands for all of them.
    """
    centres, sigmas = density.centres, density.sigmas
    worst: tuple[float, int, int] | None = None
    for i, j in _candidates(centres, sigmas, covers):
        distance = float(np.linalg.norm(centres[i] - centres[j]))
        delta = _delta(covers[i, j], sigmas[i], sigmas[j], distance, centres.shape[1])
        if worst is None or delta > worst[0]:
            worst = (delta, i, j)
    return worst


def _candidates(centres: Floats, sigmas: Floats, covers: Floats) -> list[tuple[int, int]]:
    """Return pairs that include the worst: all of different σ, the farthest of each σ and ε."""
    farthest: dict[tuple[float, float], tuple[float, int, int]] = {}
    candidates = []
    for i in range(len(centres)):
        others = np.flatnonzero(np.isfinite(covers[i, :i]))
        distances = np.linalg.norm(centres[others] - centres[i], axis=1)
        same = sigmas[others] == sigmas[i]
        candidates += [(i, int(j)) for j in others[~same]]
        for epsilon in np.unique(covers[i, others[same]]):
            here = same & (covers[i, others] == epsilon)
            k = int(np.where(here, distances, -1.0).argmax())
            key, entry = (
                (float(sigmas[i]), float(epsilon)),
                (float(distances[k]), i, int(others[k])),
            )
            farthest[key] = max(farthest.get(key, entry), entry)
    return candidates + [(i, j) for _, i, j in farthest.values()]


def _delta(epsilon: float, sigma: float, other: float, distance: float, dimension: int) -> float:
    if sigma > 0.0 and other > 0.0:
        try:
            return spherical_delta(epsilon, sigma, other, distance, dimension)
        except ParameterError:  # the two σ are too close to compute with, so nothing is shown
            return 0.0
    return 0.0 if sigma == other and distance == 0.0 else 1.0
