"""Channels on paths: numbers, years, dates and times in, and the same kind of value out."""

import math
from numbers import Real
from typing import Any

from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids
from malaprop.core.errors import ParameterError
from malaprop.core.guarantee import PUBLIC_ON_PATHS, Guarantee, Kind
from malaprop.core.metrics.path import Path
from malaprop.core.parameters import is_computable
from malaprop.core.paths.law import PathLaw
from malaprop.core.proofs import proved
from malaprop.core.randomness import for_a_call
from malaprop.core.statements import STEPS_OF

ANY_TWO_VALUES = "any two values of the grid"


@proved("docs/proofs/kinds.md")
class PathChannel:
    """Replaces a point of a path by one a few steps away, with a loss of exactly ε a step.

    Distribution: Pr[y|x] = ν(y)·e^(−ε·d(x, y)), ν being weights in closed form.

    Guarantee: ε·d(x, x') metric differential privacy in steps; without a cut-off.

    >>> from malaprop import seeded_rng
    >>> years = PathChannel(Path.even(300), epsilon=1.0, unit="1 year")
    >>> years.substitute([223, 223, 223, 0], seeded_rng(5))
    array([223, 223, 223,   1])
    >>> years.guarantee.loss(2.0)
    2.0
    """

    def __init__(
        self, path: Path, epsilon: float, unit: str, *, law: PathLaw | None = None
    ) -> None:
        """Draw with ε a step, which is so long: `unit`, in words, such as "1 week".

        Another `law` than the balanced one changes the draws, not the promise: see the audit.
        """
        if not isinstance(path, Path):
            raise ParameterError(f"A PathChannel needs a Path. Got {type(path).__name__}.")
        rate = _checked(epsilon)
        if law is not None and law.path != path:
            raise ParameterError("The law of a PathChannel must be on the same path.")
        self._law = PathLaw.balanced(path, rate) if law is None else law
        self._unit = unit
        self._guarantee = Guarantee(
            kind=Kind.METRIC,
            epsilon=rate,
            metric=STEPS_OF + unit,
            zcdp=rate**2 / 2.0,
            pairs=ANY_TWO_VALUES,
            public=PUBLIC_ON_PATHS,
            proof="docs/proofs/kinds.md",
            numerics=self._law.numerics,
        )

    @property
    def path(self) -> Path:
        """The path that the channel draws on."""
        return self._law.path

    @property
    def law(self) -> PathLaw:
        """The probability of each replacement, for each point."""
        return self._law

    @property
    def unit(self) -> str:
        """What a step is, in words."""
        return self._unit

    @property
    def guarantee(self) -> Guarantee:
        """What the channel promises for one value."""
        return self._guarantee

    @property
    def drawn_by(self) -> tuple[object, ...]:
        """What determines the law: if it differs between two channels, so does the law."""
        return self.path.digest, self._law.rate, self._unit

    def substitute(self, ids: Any, rng: Generator) -> Ids:
        """Return a private point for each of `ids`, each drawn independently."""
        return self._law.draw(self.path.checked(ids), for_a_call(rng))

    def log_probabilities(self, ids: Any) -> Floats:
        """Return ln Pr[y | x] for each point x of `ids` and each point y: (len(ids), points)."""
        return self._law.log_probabilities(ids)


def _checked(epsilon: Any) -> float:
    number = isinstance(epsilon, Real) and not isinstance(epsilon, bool)
    if not number or math.isnan(epsilon) or not is_computable(float(epsilon)):
        shown = repr(epsilon) if isinstance(epsilon, Real) else type(epsilon).__name__
        raise ParameterError(
            "The 'epsilon' parameter of PathChannel must be a number between 1e-30 and 1e+30. "
            f"Got {shown}."
        )
    return float(epsilon)
