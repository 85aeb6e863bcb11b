"""The law of decoded words on a line, from the closed form of the noise.

The line is cut into pieces. Within a piece the decoder's probabilities are constant or, for
Vickrey's, between those at both ends. The probability that Laplace noise leads into a piece is
computed as a logarithm, without cancellation.
"""

import numpy as np

from malaprop.core.arrays import Floats, Ids


def piece_chances(centres: Floats, edges: Floats, rate: float) -> Floats:
    """Return ln of the probability that Laplace noise leads from each centre into each piece.

    >>> piece_chances(np.zeros(1), np.array([-np.inf, 0.0, np.inf]), 2.0).round(4).tolist()
    [[-0.6931, -0.6931]]
    """
    low, high = rate * (edges[:-1] - centres[:, None]), rate * (edges[1:] - centres[:, None])
    # A piece on one side of the centre: e^(−start)·(1 − e^(−length))/2, from its nearer end.
    start = np.maximum(np.maximum(low, -high), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        aside = -start + np.log(-np.expm1(low - high)) - np.log(2.0)
        around = np.log(-np.expm1(np.minimum(low, 0.0)) - np.expm1(-np.maximum(high, 0.0)))
    return np.asarray(np.where((low < 0.0) & (high > 0.0), around - np.log(2.0), aside))


def nearest_edges(sites: Floats) -> Floats:
    """Return the places where the nearest site changes."""
    places = np.unique(sites)
    return np.concatenate([[-np.inf], (places[:-1] + places[1:]) / 2.0, [np.inf]])


def vickrey_edges(sites: Floats, rate: float, finer: int) -> Floats:
    """Return the places where the two nearest sites or their sides change, and finer cuts."""
    places = np.unique(sites)
    middles = (places[:, None] + places).ravel() / 2.0  # the places themselves among them
    far = np.arange(1, 9) * (4.0 / rate)
    ends = np.concatenate([places[0] - far, places[-1] + far])
    edges = np.unique(np.concatenate([middles, ends]))
    shares = np.arange(finer) / finer
    inner = (edges[:-1, None] + np.diff(edges)[:, None] * shares).ravel()
    return np.concatenate([[-np.inf], inner, edges[-1:], [np.inf]])


def inside(edges: Floats) -> Floats:
    """Return a point within each piece."""
    ends = edges[1:-1]
    if len(ends) == 0:
        return np.zeros(1)
    out = 1.0 + np.abs(ends[[0, -1]])
    return np.concatenate([ends[:1] - out[:1], (ends[:-1] + ends[1:]) / 2.0, ends[-1:] + out[1:]])


def nearest_first(sites: Floats, points: Floats) -> Ids:
    """Sort the sites by their distance from each point, the nearest first, ties by number."""
    return np.argsort(np.abs(sites - points[:, None]), axis=1, kind="stable")


def vickrey_bounds(sites: Floats, edges: Floats, t: float) -> tuple[Floats, Floats]:
    """Return the least and the largest probability of each word in each piece.

    On a piece with neither site inside, the ratio of the distances from them is monotone. So is
    Pr[first] = (1 − t)·d₂/(t·d₁ + (1 − t)·d₂), which lies between its values at the ends.
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
    # At infinity both are equally far, as are two sites at one place. NaN occurs for t = 0 or 1.
    chance = np.where(np.isinf(ends) | (sites[first] == sites[second]), 1.0 - t, chance)
    chance = np.where(np.isnan(chance), 1.0 - t, chance)
    rows = np.arange(len(order))
    low[rows, first], high[rows, first] = chance.min(axis=0), chance.max(axis=0)
    low[rows, second], high[rows, second] = 1.0 - chance.max(axis=0), 1.0 - chance.min(axis=0)
    return low, high
