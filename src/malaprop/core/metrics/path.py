"""Paths: finitely many points on a line, whose distances are counted in steps.

Numbers, years, dates and times of day are paths: the values of a public grid, each at its place.
"""

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.errors import ParameterError
from malaprop.core.proofs import proved

UNITS = 1 << 20
"""How many units make a step: positions are whole multiples of a unit."""
_LONGEST = 1 << 52  # units from end to end; up to there, float64 holds distances exactly


@proved("docs/proofs/kinds.md")
@dataclass(frozen=True, eq=False, repr=False)
class Path:
    """Points on a line, in increasing order, at whole multiples of 2⁻²⁰ step.

    Two paths with the same positions are equal.

    >>> years = Path.even(5)
    >>> years, years.distances([1])
    (Path of 5 points, 4 steps long, array([[1., 0., 1., 2., 3.]]))
    """

    positions: Ids
    """Where the points are, in units of 2⁻²⁰ step; read-only."""

    def __post_init__(self) -> None:
        positions = _whole_numbers(self.positions)
        if not (positions[1:] > positions[:-1]).all():
            raise ParameterError(
                "The positions of a path must be strictly increasing: each point once, in order."
            )
        if int(positions[-1]) - int(positions[0]) > _LONGEST:
            raise ParameterError("A path must not be longer than 2³² steps.")
        positions.flags.writeable = False
        object.__setattr__(self, "positions", positions)

    @classmethod
    def of_steps(cls, places: Any) -> Self:
        """Make a path of points at these places, given in steps and rounded to 2⁻²⁰ step."""
        units = np.asarray(places, dtype=np.float64) * float(UNITS)
        if not (np.abs(units) <= _LONGEST).all():
            raise ParameterError("The places of a path must be numbers of steps between ±2³².")
        return cls(np.rint(units).astype(np.int64))

    @classmethod
    def even(cls, count: int, per_step: int = 1) -> Self:
        """Make a path of `count` points, `per_step` of them to a step."""
        if count < 1 or not 1 <= per_step <= UNITS:
            raise ParameterError("An even path has a point or more, and 1 to 2²⁰ of them a step.")
        return cls((np.arange(count, dtype=np.int64) * (2 * UNITS) + per_step) // (2 * per_step))

    def __len__(self) -> int:
        return len(self.positions)

    @cached_property
    def gaps(self) -> Floats:
        """The distance of each point from the next, in steps."""
        return np.diff(self.positions) / UNITS

    @property
    def length(self) -> float:
        """The distance from the first point to the last, in steps."""
        return float(self.positions[-1] - self.positions[0]) / UNITS

    def distances(self, ids: Any) -> Floats:
        """Return the distances from the points `ids` to all points, in steps: exact."""
        points = self.checked(ids)
        return np.asarray(np.abs(self.positions - self.positions[points][:, None]) / UNITS)

    def distances_between(self, ids: Any, others: Any) -> Floats:
        """Return the distance of each of `ids` from the one of `others` in the same place."""
        first, second = self.checked(ids), self.checked(others)
        return np.asarray(np.abs(self.positions[first] - self.positions[second]) / UNITS)

    def checked(self, ids: Any) -> Ids:
        """Return `ids` as an array of numbers of points; raise an error if one is none."""
        array = np.asarray(ids)
        if array.size == 0:
            return np.empty(0, dtype=np.int64)
        whole = array.ndim == 1 and array.dtype.kind in "iu"
        if not whole or int(array.min()) < 0 or int(array.max()) >= len(self):
            raise ParameterError(
                "Points of a path are given by a one-dimensional array of whole numbers between 0 "
                f"and {len(self) - 1}, the path's last point."
            )
        return array.astype(np.int64)

    @cached_property
    def digest(self) -> str:
        """A fingerprint of the positions."""
        return hashlib.sha256(self.positions.astype("<i8").tobytes()).hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Path):
            return NotImplemented
        return self is other or np.array_equal(self.positions, other.positions)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Path of {len(self):,} points, {self.length:g} steps long"

    def __reduce__(self) -> tuple[type["Path"], tuple[Ids]]:
        return type(self), (self.positions,)  # checked again, and read-only again


def _whole_numbers(positions: Any) -> Ids:
    """Return a copy as an array of int64; raise an error unless it is one."""
    array = np.asarray(positions)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        raise ParameterError(
            "The positions of a path must be a one-dimensional array of whole numbers, one or more."
        )
    if int(array.max()) >= 2**63:
        raise ParameterError("The positions of a path must be below 2⁶³.")
    return np.array(array, dtype=np.int64)


def lag(rate: float, gaps: Floats) -> Floats:
    """Return −ln((1 + q)/2) with q = e^(−rate·gap), without cancellation; between 0 and ln 2."""
    lags: Floats = -np.log1p(np.expm1(-rate * gaps) / 2.0)
    return np.minimum(lags, math.log(2.0))
