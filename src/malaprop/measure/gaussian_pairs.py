"""The exact δ of pairs of words with Gaussian noise."""

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.core.channel import VectorChannel
from malaprop.core.errors import ParameterError
from malaprop.core.noise.calibration import spherical_delta
from malaprop.core.noise.noise import GaussianDensity, Noise
from malaprop.measure.vector_audit import UNPROVED, draws_its_noise


def unproved(channel: VectorChannel[Noise], sigmas: Floats, covers: Floats) -> str:
    """Say why the stated σ do not prove what is released; empty if they do."""
    if not draws_its_noise(channel):
        return UNPROVED
    # Rounding is post-processing only where both are rounded alike; and with two σ, δ is computed
    # from noncentral χ² laws, whose error nobody has proved.
    if (np.isfinite(covers) & (sigmas[:, None] != sigmas)).any():
        return "it covers words of different σ, which grids tell apart beyond the δ of the noise"
    return ""


def worst_gaussians(density: GaussianDensity, covers: Floats) -> tuple[float, int, int] | None:
    """Return the largest δ of all covered pairs, and the pair.

    Where both have the same σ, δ grows with the distance: the farthest pair of them stands for all.
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
    """Pairs among which the worst is: all of different σ, and the farthest of each σ and ε."""
    farthest: dict[tuple[float, float], tuple[float, int, int]] = {}
    found = []
    for i in range(len(centres)):
        others = np.flatnonzero(np.isfinite(covers[i, :i]))
        distances = np.linalg.norm(centres[others] - centres[i], axis=1)
        same = sigmas[others] == sigmas[i]
        found += [(i, int(j)) for j in others[~same]]
        for epsilon in np.unique(covers[i, others[same]]):
            here = same & (covers[i, others] == epsilon)
            k = int(np.where(here, distances, -1.0).argmax())
            key, entry = (
                (float(sigmas[i]), float(epsilon)),
                (float(distances[k]), i, int(others[k])),
            )
            farthest[key] = max(farthest.get(key, entry), entry)
    return found + [(i, j) for _, i, j in farthest.values()]


def _delta(epsilon: float, sigma: float, other: float, distance: float, dimension: int) -> float:
    if sigma > 0.0 and other > 0.0:
        try:
            return spherical_delta(epsilon, sigma, other, distance, dimension)
        except ParameterError:  # two σ that are too close to each other: nothing is shown
            return 0.0
    return 0.0 if sigma == other and distance == 0.0 else 1.0
