"""Exact draws on a path: a fair coin for the side, then an exponential number of nats to walk.

To the right of x_i, the walk passes the cut of a point x_j if E ≥ t·(x_j − x_i) − s, where s is the
lag of the gap before x_j. To the left it is the same with the path mirrored. Comparisons are made
in whole units of position and a fraction, so that nothing cancels on a long path. E has no largest
value and no smallest one. docs/proofs/kinds.md bounds what rounding adds.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.metrics.path import UNITS, Path

_LN2 = math.log(2.0)
_WORD = 64


@dataclass(frozen=True, eq=False)
class Cuts:
    """Where walks pass on to each point: the path, and behind it the path mirrored.

    A walk to the left from point i is one to the right from point 2n − 1 − i.
    """

    positions: Ids
    """Where the points are, in units, the first at 0."""
    whole: Ids
    """Where each point's cut is, in units,"""
    fraction: Floats
    """and the rest of a unit, from 0 to 1."""
    reach: float
    """The longest walk in units that makes a difference: from end to end, and one more."""

    def walk(self, ids: Ids, units: Floats, right: NDArray[np.bool_]) -> Ids:
        """Return the last point whose cut is passed by a walk of `units` from each of `ids`."""
        mirror = len(self.positions) - 1
        starts = np.where(right, ids, mirror - ids)
        walked = np.minimum(units, self.reach)  # whoever gets beyond the last point stays there
        whole = np.floor(walked)
        goals = self.positions[starts] + whole.astype(np.int64)
        points = np.searchsorted(self.whole, goals, side="right") - 1
        rest = walked - whole
        while (back := (self.whole[points] == goals) & (self.fraction[points] > rest)).any():
            points = points - back
        return np.where(right, points, mirror - points)


def cuts(path: Path, rate: float, lags: Floats) -> Cuts:
    """Compute the cuts of a path; `lags` has one for each gap, in nats."""
    length = int(path.positions[-1] - path.positions[0])
    gaps = np.diff(path.positions)
    right = path.positions - path.positions[0]
    left = (path.positions[-1] - path.positions)[::-1] + 4 * (length + 1)  # out of any walk's reach
    # A cut lies between the middle of its gap and the point itself: this keeps their order.
    before = np.minimum(lags * (UNITS / rate), gaps / 2.0)
    both = np.concatenate([[0.0], before, [0.0], before[::-1]])
    up = np.ceil(both)
    positions = np.concatenate([right, left])
    return Cuts(positions, positions - up.astype(np.int64), up - both, float(length + 1))


def draw(ids: Ids, cuts: Cuts, rate: float, rng: Generator) -> Ids:
    """Draw a point for each of `ids`, each on its own."""
    nats, right = exponentials(len(ids), rng)
    return cuts.walk(ids, nats * (UNITS / rate), right)


def exponentials(count: int, rng: Generator) -> tuple[Floats, NDArray[np.bool_]]:
    """Draw numbers of density e^(−x), x > 0, and fair coins.

    A number is K·ln 2 − ln(1 − V/2): K counts the zeros before the first 1 in a stream of bits that
    does not end, and V is uniform in (0, 1). V comes from such a count, too, so that small numbers
    keep the precision of a float.
    """
    words = _words(3 * count, rng)
    bits = words[2 * count :]
    zeros = leading_zeros(words[: 2 * count], rng)
    mantissa = 1.0 + (bits >> np.uint64(12)) * 2.0**-52
    half = np.ldexp(mantissa, -np.minimum(zeros[count:] + 2, 2000).astype(np.int32))  # V/2
    return zeros[:count] * _LN2 - np.log1p(-half), (bits & np.uint64(1)).astype(np.bool_)


def leading_zeros(words: NDArray[np.uint64], rng: Generator) -> Ids:
    """Count the zeros before the first 1 in streams of fair bits that begin with these words."""
    zeros = _WORD - _bit_lengths(words)
    unfinished = np.flatnonzero(words == 0)
    while unfinished.size:
        words = _words(len(unfinished), rng)
        zeros[unfinished] += _WORD - _bit_lengths(words)
        unfinished = unfinished[words == 0]
    return zeros


def _bit_lengths(words: NDArray[np.uint64]) -> Ids:
    # The bit below the highest is cleared, so that rounding to a float cannot carry.
    rounded = (words & ~(words >> np.uint64(1))).astype(np.float64)
    return np.frexp(rounded)[1].astype(np.int64)


def _words(count: int, rng: Generator) -> NDArray[np.uint64]:
    return rng.integers(1 << _WORD, size=count, dtype=np.uint64)
