"""The law of decoded words, enclosed between two bounds.

It is known on a line for all decoders, and in the plane for the nearest word and ranks around it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.core.channel import Cells, VectorChannel
from malaprop.core.metrics.poincare import log0
from malaprop.core.noise.noise import ExponentialDensity, Noise
from malaprop.core.progress import Progress, report
from malaprop.measure import law_on_a_line
from malaprop.measure.law_in_the_plane import nearest_bounds

_FINER = (4, 16, 64)  # parts to cut each piece of a line into, for Vickrey's changing chances
_SHARES = (1e-2, 2e-3)  # relative widths of the bounds of a probability in the plane
_SUMMED = 2.0**-40  # relative rounding error of a sum of probabilities
_REACH = 6.0  # the largest distance from which float64 can move points to the ball's centre


@dataclass(frozen=True)
class Enclosure:
    """Lower and upper bounds on ln Pr[y|w], in rows."""

    low: Floats
    high: Floats


def enclosures(
    channel: VectorChannel[Noise], noise: ExponentialDensity, progress: Progress | None = None
) -> Iterator[Enclosure]:
    """Yield ever narrower enclosures of the law of a channel's words; none if none is known."""
    cells = channel.decoder.cells()
    if cells is None or not _match(cells, noise):
        return
    # The cells of tangent noise in the plane have curved edges.
    straight = not cells.hyperbolic or (noise.metric == "poincare" and _are_central(cells.sites))
    if noise.dimension == 1:
        yield from _on_a_line(noise, cells)
    elif noise.dimension == 2 and straight and cells.given_nearest is not None:
        yield from _in_the_plane(noise, cells.sites, cells.given_nearest, progress)


def _match(cells: Cells, noise: ExponentialDensity) -> bool:
    """Whether the decoder is made for the space that the noise is in."""
    return cells.hyperbolic == noise.in_ball and cells.sites.shape == noise.centres.shape


def _are_central(points: Floats) -> bool:
    """Whether float64 can move points of the ball to its centre."""
    return bool(np.linalg.norm(log0(points), axis=1).max() <= _REACH)


def _on_a_line(noise: ExponentialDensity, cells: Cells) -> Iterator[Enclosure]:
    # In one dimension, log₀ maps the ball to a line and keeps distances.
    sites = (log0(cells.sites) if cells.hyperbolic else cells.sites)[:, 0]
    centres = (log0(noise.centres) if noise.metric == "poincare" else noise.centres)[:, 0]
    # Edges are accurate to their last bits; those of the ball have lost 20 bits.
    reach = float(np.abs(np.concatenate([centres, sites])).max())
    rounding = 2.0**-40 + noise.rate * reach * 2.0**-30
    for finer in _FINER:
        if cells.vickrey is not None:
            edges = law_on_a_line.vickrey_edges(sites, noise.rate, finer)
            bounds = law_on_a_line.vickrey_bounds(sites, edges, cells.vickrey)
        elif cells.given_nearest is not None:
            edges = law_on_a_line.nearest_edges(sites)
            pivots = law_on_a_line.nearest_first(sites, law_on_a_line.inside(edges))[:, 0]
            bounds = (cells.given_nearest[pivots],) * 2
        else:
            return
        pieces = _pieces(noise, centres, edges)
        low, high = (_through(pieces, given) for given in bounds)
        yield Enclosure(low - rounding, high + rounding)
        if bounds[0] is bounds[1]:
            return


def _pieces(noise: ExponentialDensity, centres: Floats, edges: Floats) -> Floats:
    """Return ln of the probability that noise leads from each word into each piece."""
    if noise.chances is None:
        return law_on_a_line.piece_chances(centres, edges, noise.rate)
    parts = [
        chance[:, None]
        + law_on_a_line.piece_chances(centres, edges, noise.rate / abs(float(root[0, 0])))
        for root, chance in zip(noise.roots, noise.chances.T, strict=True)
    ]
    return np.asarray(np.logaddexp.reduce(parts))


def _in_the_plane(
    noise: ExponentialDensity, sites: Floats, given: Floats, progress: Progress | None
) -> Iterator[Enclosure]:
    size = len(noise.centres)
    for step, share in enumerate(_SHARES):
        low, high = np.empty((2, size, len(sites)))
        for word in range(size):
            low[word], high[word] = nearest_bounds(noise, sites, word, share)
            report(progress, step * size + word + 1, len(_SHARES) * size)
        with np.errstate(divide="ignore"):
            low, high = np.log(low), np.log(high)
        yield Enclosure(_through(low, given) - _SUMMED, _through(high, given) + _SUMMED)


def _through(law: Floats, given: Floats) -> Floats:
    """Return ln Σ_k e^law(w, k)·given(k, y)."""
    with np.errstate(divide="ignore"):
        logs = np.log(given)
    return np.array([np.logaddexp.reduce(row[:, None] + logs, axis=0) for row in law])
