"""The law of noise-then-nearest in one and two dimensions, by quadrature along rays.

From a word's vector a ray runs through the cells of the nearest words. At r on the ray, the squared
distance to a word less r² is linear in r in Euclidean space; in hyperbolic space the cosh of the
distance over cosh r is linear in tanh r. So each cell is one interval of the ray, known exactly.
The density of the noise is integrated over that interval, and the result over all directions: two
in one dimension, in the plane by the double-exponential rule between those in which a cell begins
or ends.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from malaprop.core.additive import log_sphere
from malaprop.core.poincare import conformal, lift, log0, mobius_add
from malaprop.core.space import Floats, Ids

Density = Callable[[Floats, int], Floats]
"""ln of the density of a word's noise by volume, for each row: a vector from where it starts."""

_STEPS = (0.2, 0.13)  # of the rule between two directions; the laws by both tell the error
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_PANELS = np.array([0.0, 1 / 64, 1 / 16, 1 / 4, 1.0])
_AROUND = np.concatenate([-(0.25 ** np.arange(10.0)), [0.0], 0.25 ** np.arange(10.0)])
_DEEP = 90.0  # nats below its peak the density has vanished


@dataclass(frozen=True)
class Noise:
    """The noise of every word: its density, where it starts, and the words that may come out."""

    log_density: Density
    centres: Floats
    """Where the noise of each word starts."""
    sites: Floats
    """The places of the words, the nearest of which comes out."""
    geometry: Literal["euclidean", "hyperbolic", "tangent"] = "euclidean"
    """Both in Euclidean space; both in the Poincaré ball; or noise in the tangent space at the
    ball's origin, and words in the ball. There rays run from the origin, not from the word."""

    @property
    def dimension(self) -> int:
        """Of the space that the noise is in."""
        return int(self.centres.shape[1])

    def lines(self, word: int) -> tuple[Floats, Floats]:
        """Each site's start and slope: start − s·⟨θ, slope⟩ is least for the nearest at s on θ."""
        own = self.centres[word]
        if self.geometry == "euclidean":
            offsets = self.sites - own
            return np.einsum("ij,ij->i", offsets, offsets), 2.0 * offsets
        moved = self.sites
        if self.geometry == "hyperbolic":
            moved = mobius_add(np.broadcast_to(-own, moved.shape), moved)
        return 2.0 / conformal(moved) - 1.0, lift(moved)

    def radius(self, s: Floats) -> Floats:
        """How far out a place on the ray is."""
        if self.geometry == "euclidean":
            return s
        with np.errstate(divide="ignore"):
            return np.asarray(np.arctanh(np.minimum(s, 1.0)))

    def log_shell(self, r: Floats) -> Floats:
        """ln of the surface of a sphere of that radius, but for a constant."""
        curved = self.geometry == "hyperbolic"
        width = r + np.log(-np.expm1(-2.0 * r) / 2.0) if curved else np.log(r)
        return np.asarray((self.dimension - 1) * width)

    def start(self, word: int) -> Floats:
        """Where the noise starts, as seen from where the rays start."""
        if self.geometry == "tangent":
            return np.asarray(log0(self.centres[[word]])[0])
        return np.zeros(self.dimension)

    def reach(self, word: int) -> float:
        """How far from its start there is nothing left, along the axes."""
        axes = np.concatenate([np.eye(self.dimension), -np.eye(self.dimension)])
        reach, top = 1e-6, -np.inf
        while True:
            shell = self.log_shell(np.array([reach])) if self.geometry == "hyperbolic" else 0.0
            here = float((self.log_density(reach * axes, word) + shell).max())
            if here < top - _DEEP:
                return reach
            reach, top = 1.5 * reach, max(top, here)

    def at_centres(self) -> Floats:
        """ln of the density of each word's noise, in rows, at all places where noise starts."""
        found = np.empty((len(self.centres), len(self.centres)))
        for word, own in enumerate(self.centres):
            offsets = self.centres - own
            if self.geometry == "hyperbolic":
                offsets = log0(mobius_add(np.broadcast_to(-own, offsets.shape), self.centres))
            elif self.geometry == "tangent":
                offsets = log0(self.centres) - self.start(word)
            found[word] = self.log_density(offsets, word)
        return found

    def radial(self, word: int) -> tuple[Floats, Floats]:
        """Lengths of the noise, and how likely it is at most so long: to about 10⁻³."""
        r = self.reach(word) * np.linspace(0.0, 1.0, 501)[1:] ** 3
        angles = np.arange(128) * (np.pi / 64.0)
        rays = np.array([[1.0], [-1.0]])
        if self.dimension == 2:
            rays = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        points = (r[:, None, None] * rays).reshape(-1, self.dimension)
        logs = self.log_density(points, word).reshape(len(r), -1) + self.log_shell(r)[:, None]
        shells = np.exp(logs).mean(axis=1) * np.exp(log_sphere(self.dimension))
        parts = np.diff(r, prepend=0.0) * (shells + np.append(shells[0], shells[:-1])) / 2.0
        return r, parts.cumsum()


def nearest_law(noise: Noise) -> tuple[Floats, float]:
    """ln Pr[y | w] of the word nearest to a word's vector with noise, and the error of it.

    The error is the largest difference in the logarithm between two steps of the rule.
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # a word may be nearest to nothing
        coarse, fine = (np.log(_law(noise, step)) for step in _STEPS)
        return fine, float(np.nan_to_num(np.abs(fine - coarse), nan=0.0).max()) + 1e-12


def _law(noise: Noise, step: float) -> Floats:
    found = np.empty((len(noise.centres), len(noise.sites)))
    for word in range(len(noise.centres)):
        starts, slopes = noise.lines(word)
        start, reach = noise.start(word), noise.reach(word)
        rays, weights = _rays(starts, slopes, step, noise.geometry != "euclidean", start)
        low, high = (noise.radius(s) for s in _cells(starts, slopes, rays))
        peak = np.maximum(rays @ start, 0.0)[:, None]
        high = np.minimum(high, np.maximum(low, peak) + reach)
        low = np.maximum(low, np.minimum(high, peak) - reach)
        ray, cell = np.nonzero(high > low)
        edges = _edges(low[ray, cell], high[ray, cell], peak[ray, 0], reach)
        masses = _radial(noise, word, rays[ray], edges)
        found[word] = np.bincount(cell, weights=masses * weights[ray], minlength=len(noise.sites))
    return found


def _rays(
    starts: Floats, slopes: Floats, step: float, disc: bool, start: Floats
) -> tuple[Floats, Floats]:
    """Directions all around and their weights, in panels between which cells begin or end.

    Towards the end of a panel a cell may open or close within a tiny angle: the rule's nodes lie
    ever closer there. The axes, where a density may have its edges, end panels, too, and so does
    the direction in which the noise starts.
    """
    if slopes.shape[1] == 1:
        return np.array([[1.0], [-1.0]]), np.ones(2)
    corners = np.concatenate([_vertices(starts, slopes), _ends(starts, slopes, disc)])
    corners = np.concatenate([corners, [start, -start]])
    axes = np.arange(-4, 5) * (np.pi / 4.0)
    angles = np.unique(np.append(np.arctan2(corners[:, 1], corners[:, 0]), axes).round(12))
    s = np.arange(-3.1, 3.1 + step / 2.0, step)
    nodes = np.tanh(np.pi / 2.0 * np.sinh(s))
    weights = step * np.pi / 2.0 * np.cosh(s) / np.cosh(np.pi / 2.0 * np.sinh(s)) ** 2
    half = np.diff(angles)[:, None] / 2.0
    theta = (angles[:-1, None] + half * (1.0 + nodes)).ravel()
    return np.stack([np.cos(theta), np.sin(theta)], axis=1), (half * weights).ravel()


def _vertices(starts: Floats, slopes: Floats) -> Floats:
    """Where three cells meet: points that are equally far from three words, and from none less."""
    triples = np.array(list(combinations(range(len(starts)), 3)), dtype=np.int64).reshape(-1, 3)
    a, b, c = triples.T
    u, v = slopes[b] - slopes[a], slopes[c] - slopes[a]
    p, q = starts[b] - starts[a], starts[c] - starts[a]
    with np.errstate(divide="ignore", invalid="ignore"):  # of three words on a line there is none
        cross = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
        x, y = (p * v[:, 1] - q * u[:, 1]) / cross, (q * u[:, 0] - p * v[:, 0]) / cross
    return _nearest_only(np.stack([x, y], axis=1), a, starts, slopes)


def _ends(starts: Floats, slopes: Floats, disc: bool) -> Floats:
    """Directions in which two cells stay neighbours for ever."""
    pairs = np.array(list(combinations(range(len(starts)), 2)), dtype=np.int64).reshape(-1, 2)
    a, b = pairs.T
    u, p = slopes[b] - slopes[a], starts[b] - starts[a]
    across = np.stack([-u[:, 1], u[:, 0]], axis=1)
    if not disc:  # far out only slopes count
        found = np.concatenate([across, -across])
        return _nearest_only(found, np.tile(a, 2), np.zeros(len(starts)), slopes)
    # On the rim of the disc: ⟨k, u⟩ = p with ‖k‖ = 1.
    with np.errstate(divide="ignore", invalid="ignore"):
        square = np.einsum("ij,ij->i", u, u)[:, None]
        middle = u * p[:, None] / square
        side = across * np.sqrt(square - p[:, None] ** 2) / square
    found = np.concatenate([middle + side, middle - side])
    return _nearest_only(found, np.tile(a, 2), starts, slopes)


def _nearest_only(points: Floats, words: Ids, starts: Floats, slopes: Floats) -> Floats:
    """The points, of those that are finite, that have no word nearer than the given one."""
    good = np.isfinite(points).all(axis=1)
    points, words = points[good], words[good]
    heights = starts - points @ slopes.T
    own = heights[np.arange(len(points)), words]
    slack = 1e-9 * np.abs(heights).max(axis=1, initial=0.0)
    return np.asarray(points[own <= heights.min(axis=1, initial=np.inf) + slack])


def _cells(starts: Floats, slopes: Floats, rays: Floats) -> tuple[Floats, Floats]:
    """From where to where on each ray each word is the nearest; ties go to the lowest id."""
    slope = rays @ slopes.T
    gap = starts[:, None] - starts  # how far a word is behind another at the start
    ids = np.arange(len(starts))
    behind = (gap > 0) | ((gap == 0) & (ids[:, None] > ids))
    low, high = np.zeros(slope.shape), np.full(slope.shape, np.inf)
    for other in ids:
        rises = slope - slope[:, [other]]  # of the lead over the other, along the ray
        with np.errstate(divide="ignore", invalid="ignore"):
            meet = gap[:, other] / rises
        low = np.where(rises > 0, np.maximum(low, meet), low)
        high = np.where(rises < 0, np.minimum(high, meet), high)
        high[(rises == 0) & behind[:, other]] = 0.0
    return low, high


def _edges(low: Floats, high: Floats, peak: Floats, reach: float) -> Floats:
    """Panels on each ray that grow from low on; where the noise starts elsewhere, from there, too.

    The density has a corner where the noise starts, and falls off on both sides.
    """
    edges = low[:, None] + reach * _PANELS
    if peak.any():
        around = peak[:, None] + reach * _AROUND
        edges = np.concatenate([edges, high[:, None] - reach * _PANELS, around], axis=1)
    return np.sort(np.clip(edges, low[:, None], high[:, None]), axis=1)


def _radial(noise: Noise, word: int, rays: Floats, edges: Floats) -> Floats:
    """∫ density·surface dr over the panels of each ray."""
    half = np.diff(edges, axis=1) / 2.0
    ray, panel = np.nonzero(half > 0.0)
    half = half[ray, panel, None]
    r = edges[ray, panel, None] + half * (1.0 + _NODES)
    points = r[:, :, None] * rays[ray, None, :] - noise.start(word)
    logs = noise.log_density(points.reshape(-1, noise.dimension), word).reshape(r.shape)
    masses = (np.exp(logs + noise.log_shell(r)) * half * _WEIGHTS).sum(axis=1)
    return np.bincount(ray, weights=masses, minlength=len(rays)).astype(np.float64)
