"""Figure 3: the density of Eq. 7, its mass in n dimensions, and what the random walk draws."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats
from malaprop.core.metrics import poincare
from malaprop.studies.framework.claims import Claim
from malaprop.studies.framework.items import Figure, Item, crossed
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.run import Run

EPSILONS = (0.5, 1.0, 2.0, 8.0)
PLACES = (0.0, 0.25, 0.5, 0.75, 0.9)
_GRID = 20_001
_STEPS = 1000


def density(x: Floats | float, epsilon: float) -> Floats:
    """Return the density of Eq. 7, with the paper's constant (1 + ε)/(2·₂F₁(1, ε; 2 + ε; −1))."""
    from scipy.special import hyp2f1

    constant = 2.0 * float(hyp2f1(1.0, epsilon, 2.0 + epsilon, -1.0)) / (1.0 + epsilon)
    norms = np.abs(np.asarray(x, dtype=np.float64))
    return ((1.0 - norms) / (1.0 + norms)) ** epsilon / constant


def fig3(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
    """Compute the density, its mass, and the distance of the walk's places from it."""
    epsilon, dimension = setting["epsilon"], setting["dimension"]
    radii = np.linspace(0.0, 1.0, _GRID)
    # The surface of the unit sphere: 2 in one dimension.
    surface = 2.0 * math.pi ** (dimension / 2.0) / math.gamma(dimension / 2.0)
    weights = surface * radii ** (dimension - 1) * density(radii, epsilon)
    sums = np.concatenate([[0.0], np.cumsum((weights[1:] + weights[:-1]) / 2.0 * radii[1])])
    if dimension == 1:
        for place in PLACES:
            yield Figure("density", float(density(place, epsilon)), None, {"x": place})
    yield Figure("mass", float(sums[-1]))
    walks = run.pick(quick=200, full=1000)
    drawn = np.sort(np.linalg.norm(_walk(walks, dimension, setting["sigma"], epsilon, rng), axis=1))
    expected = np.interp(drawn, radii, sums / sums[-1])
    empirical = np.arange(1, walks + 1) / walks
    apart = np.maximum(np.abs(empirical - expected), np.abs(empirical - 1.0 / walks - expected))
    error = 0.5 / math.sqrt(walks)
    yield Figure("ks_distance", float(apart.max()), error, freedom=walks - 1)
    yield Figure("never_moved", float(np.mean(drawn == 0.0)))


def _walk(rows: int, dimension: int, sigma: float, epsilon: float, rng: Generator) -> Floats:
    """Return the places of Algorithm 2's walk, in any dimension."""
    places, scores = np.zeros((rows, dimension)), np.zeros(rows)
    for _ in range(_STEPS):
        proposed = poincare.lower(places + sigma * rng.standard_normal(places.shape))
        norms = np.minimum(np.linalg.norm(proposed, axis=1), poincare.EDGE)
        reached = -2.0 * epsilon * np.arctanh(norms)
        accepted = np.log(rng.random(rows)) <= reached - scores
        places[accepted], scores[accepted] = proposed[accepted], reached[accepted]
    return places


FIG3 = Item(
    name="fig3",
    grid=lambda run: crossed(
        dimension=(1, 10, 100), epsilon=EPSILONS, sigma=(0.3, 1.0), spread=["walks"]
    ),
    cell=fig3,
    key="fig3",
    measures=("density", "mass", "ks_distance", "never_moved"),
    claims=(
        Claim(
            text="Eq. 7 is a probability density: its mass is 1 (Z does not depend on n)",
            measure="mass",
            about=lambda setting: True,
            holds=lambda line, results: abs(float(line.ours or 0.0) - 1.0) < 1e-3,
        ),
        Claim(
            text="the walk of Algorithm 2 samples from Eq. 7 (Kolmogorov–Smirnov, 4 errors)",
            measure="ks_distance",
            about=lambda setting: True,
            holds=lambda line, results: float(line.ours or 0.0) < 4.0 * (line.error or 0.0),
        ),
    ),
)
