"""The balanced law on a path: in closed form, for any gaps and any ε."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids
from malaprop.core.errors import ParameterError
from malaprop.core.guarantee import rounded_up
from malaprop.core.metrics.path import Path, lag
from malaprop.core.proofs import proved
from malaprop.core.sampling.path import Cuts, cuts, draw

_SLACK = 1.0 + 1e-12  # relative rounding error of a lag that was computed elsewhere
_USUAL = 70.0  # nats; longer walks are rarer than 2⁻¹⁰⁰


class SideWeights(NamedTuple):
    """ln of the factors of e^(−t·d) in the law, for each output; equal if the law is balanced."""

    left: Floats
    """For outputs to the left of the input."""
    own: Floats
    """For the input itself: the chance to keep it."""
    right: Floats
    """For outputs to the right of the input."""


@proved("docs/proofs/kinds.md")
@dataclass(frozen=True, eq=False)
class PathLaw:
    """Laplace noise in nats on a path, rounded to its points at cuts that each gap's lag sets.

    With the lags −ln((1 + q)/2), q = e^(−t·gap), it is Pr[y|x] = ν(y)·e^(−t·d(x, y)), where
    ν = (1 − q_l·q_r)/((1 + q_l)(1 + q_r)) and q_l, q_r belong to the gaps beside y, 0 at an end.

    >>> law = PathLaw.balanced(Path.even(3), rate=1.0)
    >>> np.exp(law.log_probabilities([0])).round(4)
    array([[0.7311, 0.17  , 0.0989]])
    """

    path: Path
    rate: float
    """t, nats per step."""
    lags: Floats
    """For each gap, how many nats before its far end a walk already counts as arrived there."""

    def __post_init__(self) -> None:
        lags = np.array(self.lags, dtype=np.float64)
        bounds = np.minimum(math.log(2.0), self.rate * self.path.gaps / 2.0) * _SLACK
        if lags.shape != bounds.shape or not ((lags >= 0.0) & (lags <= bounds)).all():
            raise ParameterError(
                "The lags of a law on a path must lie between 0 and half of their gap, in nats."
            )
        lags.flags.writeable = False
        object.__setattr__(self, "lags", lags)

    @classmethod
    def balanced(cls, path: Path, rate: float) -> Self:
        """Make the law whose loss is exactly rate·d."""
        return cls(path, rate, lag(rate, path.gaps))

    @cached_property
    def side_weights(self) -> SideWeights:
        """The factors of e^(−t·d) that these lags give: what is drawn, not what should be."""
        nats = self.rate * self.path.gaps
        # From one cut to the next, in nats: to the right past points 0 … n − 2, to the left past
        # points 1 … n − 1; beyond the last cut all is left.
        outward = np.append(0.0, self.lags), np.append(self.lags, 0.0)
        end = math.inf
        to_right = np.append(nats - self.lags, end) + outward[0]
        to_left = np.append(end, nats - self.lags) + outward[1]
        stay_right, stay_left = np.append(nats - self.lags, end), np.append(end, nats - self.lags)
        own = (np.expm1(-stay_left) + np.expm1(-stay_right)) / -2.0
        half = math.log(2.0)
        return SideWeights(
            left=outward[1] - half + np.log(-np.expm1(-to_left)),
            own=np.log(own),
            right=outward[0] - half + np.log(-np.expm1(-to_right)),
        )

    def log_probabilities(self, ids: Any) -> Floats:
        """Return ln Pr[y | x] for each point x of `ids` and each point y: (len(ids), points)."""
        points = self.path.checked(ids)
        weights, every = self.side_weights, np.arange(len(self.path))
        rows = np.where(every < points[:, None], weights.left, weights.right)
        rows[np.arange(len(points)), points] = weights.own[points]
        rows -= self.rate * self.path.distances(points)
        return rows

    def draw(self, ids: Ids, rng: Generator) -> Ids:
        """Draw a point for each of `ids`, each on its own."""
        return draw(ids, self._cuts, self.rate, rng)

    @cached_property
    def _cuts(self) -> Cuts:
        return cuts(self.path, self.rate, self.lags)

    @property
    def numerics(self) -> str:
        """What floating-point numbers add to the loss of a value; see docs/proofs/kinds.md."""
        if len(self.path) == 1:
            return "nothing is drawn: there is one value only"
        return path_numerics(self.rate, self.path.length, float(self.path.gaps.min()))

    def __reduce__(self) -> tuple[type["PathLaw"], tuple[Path, float, Floats]]:
        return type(self), (self.path, self.rate, self.lags)  # without the cuts


def path_numerics(rate: float, length: float, gap: float) -> str:
    """Say what floating-point numbers add on paths up to so long, with gaps from `gap` steps on."""
    longest, least = rate * length, rate * gap
    added, rare = _added(longest, least), ""
    if longest > _USUAL and added > 1e-9:
        added, rare = _added(_USUAL, least), ", except with probability 2⁻¹⁰⁰"
    return f"float64; adds less than {rounded_up(added, digits=1)} to the loss of a value{rare}"


def _added(walked: float, least: float) -> float:
    """Bound what rounding adds to the loss, for walks of so many nats and a least gap in nats."""
    # 2·(1 + 2h·(1 + 2/(t·g)))·16·2⁻⁵³, and a hundredth for terms of second order
    return 2.02 * 16.0 * 2.0**-53 * (1.0 + 2.0 * walked + 4.0 * walked / least)
