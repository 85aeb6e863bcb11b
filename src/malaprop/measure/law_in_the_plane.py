"""The law of the nearest word in the plane, enclosed by sectors around each word's place.

Along a ray from where the noise starts, a word is the nearest on one interval, and how likely the
noise is to end in an interval of a ray is known in closed form. In a narrow sector of rays the ends
of that interval move a little: the widest and the narrowest interval that all its rays allow give
an upper and a lower bound. No integrand is sampled, so nothing can be missed between samples.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats
from malaprop.core.metrics.poincare import conformal, lift
from malaprop.core.noise.noise import ExponentialDensity

_UNIT = 2.0**-53
_FIRST, _MOST = 64, 1 << 12  # sectors for a site: to begin with, and about how many at most
_TINY = 1e-300  # what an upper bound is at least, where float64 has no smaller numbers


@dataclass(frozen=True)
class Sectors:
    """Sectors of rays, by their middle ray and half of their angle; none crosses an axis."""

    middle: Floats
    half: Floats

    @classmethod
    def all_around(cls) -> "Sectors":
        """All directions, in sectors of equal angles."""
        half = np.full(_FIRST, np.pi / _FIRST)
        return cls((2.0 * np.arange(_FIRST) + 1.0) * half, half)

    def halved(self, which: NDArray[np.bool_]) -> "Sectors":
        """Some of the sectors, each cut in two."""
        middle, half = self.middle[which], self.half[which] / 2.0
        return Sectors(np.concatenate([middle - half, middle + half]), np.tile(half, 2))

    def bounds(self, vectors: Floats) -> tuple[Floats, Floats]:
        """The least and the largest ⟨θ, v⟩ over the rays θ of each sector, for each vector v.

        At an angle s from the middle ray it is cos s·⟨θ, v⟩ + sin s·⟨θ turned by 90°, v⟩.
        """
        rays = np.stack([np.cos(self.middle), np.sin(self.middle)], axis=1)
        along, across = rays @ vectors.T, np.stack([-rays[:, 1], rays[:, 0]], axis=1) @ vectors.T
        aside = np.abs(across) * np.sin(self.half)[:, None]
        aside += 32.0 * _UNIT * np.linalg.norm(vectors, axis=1)
        inner = along * np.cos(self.half)[:, None]
        return np.minimum(along, inner) - aside, np.maximum(along, inner) + aside


@dataclass(frozen=True)
class Lead:
    """One site against the others: it is nearer at s on the ray θ where gap ≤ s·⟨θ, slope⟩."""

    gaps: Floats
    slopes: Floats
    errors: Floats
    """How far off either may be by rounding."""


@dataclass(frozen=True)
class Rays:
    """The sites along rays: at s on the ray θ, start − s·⟨θ, slope⟩ is least for the nearest.

    In Euclidean space that is the squared distance less s²; in the ball, with s = tanh r, the cosh
    of the distance over cosh r.
    """

    starts: Floats
    slopes: Floats
    errors: Floats

    def against(self, site: int, others: NDArray[np.bool_]) -> Lead:
        """One site, as against some others."""
        return Lead(
            (self.starts[site] - self.starts)[others],
            (self.slopes[site] - self.slopes)[others],
            (self.errors[site] + self.errors)[others],
        )

    @classmethod
    def of(cls, noise: ExponentialDensity, sites: Floats, word: int, root: Floats) -> "Rays":
        """Seen from a word's place, along rays that the root of its noise has bent."""
        own = noise.centres[word]
        offsets = sites - own
        squares = np.einsum("ij,ij->i", offsets, offsets)
        if noise.metric == "poincare":
            return cls._hyperbolic(own, sites, squares)
        slopes = 2.0 * offsets @ root.T
        sizes = squares + np.linalg.norm(offsets, axis=1) * np.linalg.norm(root)
        return cls(squares, slopes, 32.0 * _UNIT * sizes)

    @classmethod
    def _hyperbolic(cls, own: Floats, sites: Floats, squares: Floats) -> "Rays":
        """The sites on the hyperboloid, moved so that the word is at its foot."""
        points = np.concatenate([own[None], sites])
        room = conformal(points)  # right to a unit of rounding, of 1 and not of itself
        times, spaces = 2.0 / room - 1.0, lift(points)
        starts = 1.0 + 2.0 * squares / (room[0] * room[1:])
        along = spaces[1:] @ spaces[0] / (1.0 + times[0]) - times[1:]
        slopes = spaces[1:] + along[:, None] * spaces[0]
        errors = 64.0 * _UNIT / room.min() * (starts + times[0] * times[1:])
        return cls(starts, slopes, errors)


def nearest_bounds(
    noise: ExponentialDensity, sites: Floats, word: int, share: float
) -> tuple[Floats, Floats]:
    """Bounds on how likely each site is the nearest to a word's place with noise.

    Sectors are cut until the bounds are within that share of the probability, or too many.
    """
    low, high = np.zeros(len(sites)), np.zeros(len(sites))
    roots = noise.roots or (np.eye(2),)
    chances = np.zeros(1) if noise.chances is None else noise.chances[word]
    for root, chance in zip(roots, np.exp(chances), strict=True):
        rays = Rays.of(noise, sites, word, root)
        for site in range(len(sites)):
            others = (sites != sites[site]).any(axis=1)
            if not others[:site].all():
                continue  # a word of the same vector and a lower number comes out instead
            least, most = _site_bounds(noise, rays.against(site, others), share)
            low[site] += chance * least
            high[site] += chance * most
    # The sums of up to 10⁵ terms, the chances and the tails are right to 10⁻¹⁰ of themselves.
    return low * (1.0 - 1e-10), high * (1.0 + 1e-10) + _TINY


def _site_bounds(noise: ExponentialDensity, lead: Lead, share: float) -> tuple[float, float]:
    """Bounds on how likely one site is the nearest: sectors that matter are cut in two."""
    sectors, low, high, count = Sectors.all_around(), 0.0, 0.0, 0
    while True:
        least, most = _sector_bounds(noise, sectors, lead)
        count += len(least)
        cut = (most - least) * (2 * count) > share * (low + least.sum())
        if count > _MOST:
            cut[:] = False
        low, high = low + float(least[~cut].sum()), high + float(most[~cut].sum())
        if not cut.any():
            return low, high
        sectors = sectors.halved(cut)


def _sector_bounds(
    noise: ExponentialDensity, sectors: Sectors, lead: Lead
) -> tuple[Floats, Floats]:
    """Bounds on how likely noise ends where one site is the nearest, in each sector."""
    least, most = sectors.bounds(lead.slopes)
    wide = _interval(lead.gaps - lead.errors, most + lead.errors)
    narrow = _interval(lead.gaps + lead.errors, least - lead.errors)
    flat, steep = _steepness(noise, sectors)
    angles = sectors.half / np.pi
    low, high = _mass(noise, *narrow, steep, -1.0), _mass(noise, *wide, flat, 1.0)
    return low * angles, high * angles


def _interval(gaps: Floats, slopes: Floats) -> tuple[Floats, Floats]:
    """From where to where on each ray gap ≤ s·slope, for all other sites."""
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = gaps / slopes
    low = np.where(slopes > 0.0, meet, 0.0).max(axis=1, initial=0.0)
    high = np.where(slopes < 0.0, meet, np.inf).min(axis=1, initial=np.inf)
    never = ((slopes == 0.0) & (gaps > 0.0)).any(axis=1)
    return low, np.where(never, 0.0, high)


def _steepness(noise: ExponentialDensity, sectors: Sectors) -> tuple[Floats, Floats]:
    """The least and the largest length, by the noise's norm, of a ray in each sector."""
    if noise.metric != "manhattan":
        return np.ones(len(sectors.half)), np.ones(len(sectors.half))
    # In each quadrant |cos| + |sin| is ⟨θ, (±1, ±1)⟩.
    least, most = sectors.bounds(np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]))
    quadrant = (sectors.middle / (np.pi / 2.0)).astype(np.int64)
    rows = np.arange(len(quadrant))
    return least[rows, quadrant], most[rows, quadrant]


def _mass(
    noise: ExponentialDensity, low: Floats, high: Floats, steep: Floats, way: float
) -> Floats:
    """How likely noise along a ray ends between low and high: rounded down or up by `way`."""
    near, beyond = _tail(noise, low, steep), _tail(noise, np.maximum(low, high), steep)
    masses = near - beyond + way * 32.0 * _UNIT * near
    return np.where(high > low, np.maximum(masses, 0.0), 0.0)


def _tail(noise: ExponentialDensity, s: Floats, steep: Floats) -> Floats:
    """How likely the noise leads beyond s on a ray, times the density of the ray's direction."""
    if noise.metric == "poincare":
        with np.errstate(divide="ignore"):
            r = np.arctanh(np.minimum(s, 1.0))
        slow, fast = noise.rate - 1.0, noise.rate + 1.0
        return np.asarray(np.exp(-slow * r) * (fast - slow * np.exp(-2.0 * r)) / 2.0)
    x = np.minimum(noise.rate * steep * s, 1e4)
    found = (1.0 + x) * np.exp(-x)
    return np.asarray(found / steep**2 * (np.pi / 2.0) if noise.metric == "manhattan" else found)
