"""The law of the nearest word in the plane, enclosed by sectors around each word's place.

Along a ray from the word's place, another word is the nearest on one interval. The probability that
the noise ends in an interval of a ray is known in closed form. Within a narrow sector of rays the
ends of that interval move a little: the widest and the narrowest interval over its rays give an
upper and a lower bound. No integrand is sampled, so nothing is missed between samples.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats
from malaprop.core.metrics.poincare import conformal, lift
from malaprop.core.noise.noise import ExponentialDensity

_UNIT = 2.0**-53
_FIRST, _MOST = 64, 1 << 12  # sectors of a site: at first, and at most, about
_TINY = 1e-300  # the least upper bound, since float64 has hardly any smaller numbers


@dataclass(frozen=True)
class Sectors:
    """Sectors of rays, by middle ray and half their angle; no sector crosses an axis."""

    middle: Floats
    half: Floats

    @classmethod
    def all_around(cls) -> "Sectors":
        """Return sectors of equal angles that cover all directions."""
        half = np.full(_FIRST, np.pi / _FIRST)
        return cls((2.0 * np.arange(_FIRST) + 1.0) * half, half)

    def halved(self, which: NDArray[np.bool_]) -> "Sectors":
        """Return the chosen sectors, each cut in two."""
        middle, half = self.middle[which], self.half[which] / 2.0
        return Sectors(np.concatenate([middle - half, middle + half]), np.tile(half, 2))

    def bounds(self, vectors: Floats) -> tuple[Floats, Floats]:
        """Return the least and the largest ⟨θ, v⟩ over the rays θ of each sector, for each v.

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
    """One site against others: at s on the ray θ it is nearer if gap ≤ s·⟨θ, slope⟩."""

    gaps: Floats
    slopes: Floats
    errors: Floats
    """Bounds on the rounding errors of both."""


@dataclass(frozen=True)
class Rays:
    """The sites along rays: at s on the ray θ, start − s·⟨θ, slope⟩ is least for the nearest.

    In Euclidean space that is the squared distance minus s². In the ball, with s = tanh r, it is
    the cosh of the distance over cosh r.
    """

    starts: Floats
    slopes: Floats
    errors: Floats

    def against(self, site: int, others: NDArray[np.bool_]) -> Lead:
        """Compare one site with the others."""
        return Lead(
            (self.starts[site] - self.starts)[others],
            (self.slopes[site] - self.slopes)[others],
            (self.errors[site] + self.errors)[others],
        )

    @classmethod
    def of(cls, noise: ExponentialDensity, sites: Floats, word: int, root: Floats) -> "Rays":
        """See the sites from a word's place, along rays transformed by the root of its noise."""
        centre = noise.centres[word]
        offsets = sites - centre
        squares = np.einsum("ij,ij->i", offsets, offsets)
        if noise.metric == "poincare":
            return cls._hyperbolic(centre, sites, squares)
        slopes = 2.0 * offsets @ root.T
        sizes = squares + np.linalg.norm(offsets, axis=1) * np.linalg.norm(root)
        return cls(squares, slopes, 32.0 * _UNIT * sizes)

    @classmethod
    def _hyperbolic(cls, centre: Floats, sites: Floats, squares: Floats) -> "Rays":
        """Put the sites on the hyperboloid, moved so that the word is at its lowest point."""
        points = np.concatenate([centre[None], sites])
        room = conformal(points)  # absolute error: a unit of rounding of 1
        times, spaces = 2.0 / room - 1.0, lift(points)
        starts = 1.0 + 2.0 * squares / (room[0] * room[1:])
        along = spaces[1:] @ spaces[0] / (1.0 + times[0]) - times[1:]
        slopes = spaces[1:] + along[:, None] * spaces[0]
        errors = 64.0 * _UNIT / room.min() * (starts + times[0] * times[1:])
        return cls(starts, slopes, errors)


def nearest_bounds(
    noise: ExponentialDensity, sites: Floats, word: int, share: float
) -> tuple[Floats, Floats]:
    """Bound the probability of each site being the nearest to a word's noisy place.

    Sectors are cut until the bounds are within `share` of the probability, or sectors too many.
    """
    low, high = np.zeros(len(sites)), np.zeros(len(sites))
    roots = noise.roots or (np.eye(2),)
    chances = np.zeros(1) if noise.chances is None else noise.chances[word]
    for root, chance in zip(roots, np.exp(chances), strict=True):
        rays = Rays.of(noise, sites, word, root)
        for site in range(len(sites)):
            others = (sites != sites[site]).any(axis=1)
            if not others[:site].all():
                continue  # an earlier word with the same vector comes out instead
            least, most = _site_bounds(noise, rays.against(site, others), share)
            low[site] += chance * least
            high[site] += chance * most
    # Sums of up to 10⁵ terms, chances and tails have relative errors below 10⁻¹⁰.
    return low * (1.0 - 1e-10), high * (1.0 + 1e-10) + _TINY


def _site_bounds(noise: ExponentialDensity, lead: Lead, share: float) -> tuple[float, float]:
    """Bound the probability of one site being the nearest; cut sectors that matter in two."""
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
    """Bound the probability that noise ends where one site is the nearest, in each sector."""
    least, most = sectors.bounds(lead.slopes)
    wide = _interval(lead.gaps - lead.errors, most + lead.errors)
    narrow = _interval(lead.gaps + lead.errors, least - lead.errors)
    flat, steep = _steepness(noise, sectors)
    angles = sectors.half / np.pi
    low, high = _mass(noise, *narrow, steep, -1.0), _mass(noise, *wide, flat, 1.0)
    return low * angles, high * angles


def _interval(gaps: Floats, slopes: Floats) -> tuple[Floats, Floats]:
    """Return the interval of s on each ray with gap ≤ s·slope for all other sites."""
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = gaps / slopes
    low = np.where(slopes > 0.0, meet, 0.0).max(axis=1, initial=0.0)
    high = np.where(slopes < 0.0, meet, np.inf).min(axis=1, initial=np.inf)
    never = ((slopes == 0.0) & (gaps > 0.0)).any(axis=1)
    return low, np.where(never, 0.0, high)


def _steepness(noise: ExponentialDensity, sectors: Sectors) -> tuple[Floats, Floats]:
    """Return the least and the largest norm, by the noise, of a unit ray in each sector."""
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
    """Return the probability of noise along a ray between low and high.

    It is rounded down if `way` is −1, up if it is 1.
    """
    from_low, from_high = _tail(noise, low, steep), _tail(noise, np.maximum(low, high), steep)
    masses = from_low - from_high + way * 32.0 * _UNIT * from_low
    return np.where(high > low, np.maximum(masses, 0.0), 0.0)


def _tail(noise: ExponentialDensity, s: Floats, steep: Floats) -> Floats:
    """Return the probability of noise beyond s on a ray, times the density of its direction."""
    if noise.metric == "poincare":
        with np.errstate(divide="ignore"):
            r = np.arctanh(np.minimum(s, 1.0))
        slow, fast = noise.rate - 1.0, noise.rate + 1.0
        return np.asarray(np.exp(-slow * r) * (fast - slow * np.exp(-2.0 * r)) / 2.0)
    x = np.minimum(noise.rate * steep * s, 1e4)
    tails = (1.0 + x) * np.exp(-x)
    return np.asarray(tails / steep**2 * (np.pi / 2.0) if noise.metric == "manhattan" else tails)
