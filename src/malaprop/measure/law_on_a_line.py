"""The law of decoded words on a line, from the closed form of the noise.

The line is cut into pieces in which the decoder does the same, or (Vickrey's, whose chances change
with the noisy vector) something between what it does at both ends. Laplace noise falls into a
piece with a probability that is known without cancellation, as a logarithm.
"""

import numpy as np

from malaprop.core.arrays import Floats, Ids


def piece_chances(centres: Floats, edges: Floats, rate: float) -> Floats:
    """ln of the probability that Laplace noise leads from each centre into each piece.

    >>> piece_chances(np.zeros(1), np.array([-np.inf, 0.0, np.inf]), 2.0).round(4).tolist()
    [[-0.6931, -0.6931]]
    """
    low, high = rate * (edges[:-1] - centres[:, None]), rate * (edges[1:] - centres[:, None])
    # Beyond the centre on one side: e^(−near)·(1 − e^(−length))/2, near the end that is nearer.
    near = np.maximum(np.maximum(low, -high), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        aside = -near + np.log(-np.expm1(low - high)) - np.log(2.0)
        around = np.log(-np.expm1(np.minimum(low, 0.0)) - np.expm1(-np.maximum(high, 0.0)))
    return np.asarray(np.where((low < 0.0) & (high > 0.0), around - np.log(2.0), aside))


def nearest_edges(sites: Floats) -> Floats:
    """Where the nearest site changes."""
    places = np.unique(sites)
    return np.concatenate([[-np.inf], (places[:-1] + places[1:]) / 2.0, [np.inf]])


def vickrey_edges(sites: Floats, rate: float, finer: int) -> Floats:
    """Where the two nearest sites, or the side that they are seen from, change; and in between."""
    places = np.unique(sites)
    middles = (places[:, None] + places).ravel() / 2.0  # the places themselves among them
    far = np.arange(1, 9) * (4.0 / rate)
    ends = np.concatenate([places[0] - far, places[-1] + far])
    edges = np.unique(np.concatenate([middles, ends]))
    shares = np.arange(finer) / finer
    inner = (edges[:-1, None] + np.diff(edges)[:, None] * shares).ravel()
    return np.concatenate([[-np.inf], inner, edges[-1:], [np.inf]])


def inside(edges: Floats) -> Floats:
    """A point within each piece."""
    ends = edges[1:-1]
    if len(ends) == 0:
        return np.zeros(1)
    out = 1.0 + np.abs(ends[[0, -1]])
    return np.concatenate([ends[:1] - out[:1], (ends[:-1] + ends[1:]) / 2.0, ends[-1:] + out[1:]])


def nearest_first(sites: Floats, points: Floats) -> Ids:
    """The sites by their distance from each point, the nearest first, ties by their number."""
    return np.argsort(np.abs(sites - points[:, None]), axis=1, kind="stable")


def vickrey_bounds(sites: Floats, edges: Floats, t: float) -> tuple[Floats, Floats]:
    """The least and the largest probability of each word in each piece.

    Between two places where neither site is, the ratio of the distances from them is monotone; so
    is Pr[first] = (1 − t)·d₂/(t·d₁ + (1 − t)·d₂), which is between its values at the ends.
    """
    order = nearest_first(sites, inside(edges))
    low, high = np.zeros((2, len(order), len(sites)))
    if len(sites) == 1:
        return low + 1.0, high + 1.0
    first, second = order[:, 0], order[:, 1]
    ends = np.stack([edges[:-1], edges[1:]])
    with np.errstate(invalid="ignore"):
        d1, d2 = np.abs(ends - sites[first]), np.abs(ends - sites[second])
        chance = (1.0 - t) * d2 / (t * d1 + (1.0 - t) * d2)
    # Far out both are equally far; so are two sites of one place. Without a value: t is 0 or 1.
    chance = np.where(np.isinf(ends) | (sites[first] == sites[second]), 1.0 - t, chance)
    chance = np.where(np.isnan(chance), 1.0 - t, chance)
    rows = np.arange(len(order))
    low[rows, first], high[rows, first] = chance.min(axis=0), chance.max(axis=0)
    low[rows, second], high[rows, second] = 1.0 - chance.max(axis=0), 1.0 - chance.min(axis=0)
    return low, high
