"""The search for the ε at which a figure meets a target, and its result."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from malaprop.core.errors import MalapropError, ParameterError
from malaprop.core.mechanism import Mechanism
from malaprop.core.progress import Progress, report
from malaprop.pipeline.choosing import mechanism_of_name

SURE = 1.6448536269514722
"""One-sided 95 % of a normal law, in standard deviations."""
_LEAST, _MOST = 1e-3, 1e3  # the range of ε that is searched, as multiples of the first one
_STEPS = 24  # the most channels that are tried
_CLOSE = 0.002  # relative width of the last interval of ε


@dataclass(frozen=True)
class Figure:
    """A figure at some ε: its value, and the value on the unsafe side of its error."""

    value: float
    unsafe: float

    @property
    def is_exact(self) -> bool:
        """Whether it has no error."""
        return self.unsafe == self.value

    def __str__(self) -> str:
        error = "" if self.is_exact else f" ({_shown(self.unsafe)} with its error)"
        return f"{_shown(self.value)}{error}"


def _shown(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """The largest ε that keeps to a target, or the smallest that reaches one."""

    epsilon: float
    """ε; a channel with it does not exceed the target."""
    target: str
    """What was asked for."""
    value: float
    """The figure at this ε."""
    curve: tuple[tuple[float, float], ...]
    """ε and the figure, for each ε that was tried, in ascending order."""
    bounds: tuple[float, ...]
    """For each point of the curve, the figure on the unsafe side of its error: that must keep to
    the target. It is the figure itself if that is exact."""
    normalised: Mapping[str, float]
    """Figures that can be compared between lexicons and metrics."""
    exact: bool
    """Whether the figure was computed from a law, for all words or all that were listed."""

    @classmethod
    def of_search(
        cls,
        epsilon: float,
        tried: Mapping[float, Figure],
        *,
        target: str,
        normalised: Mapping[str, float],
        exact: bool = False,
    ) -> Self:
        """Return the result of a search that chose an ε among those that were tried."""
        figures = [(each, tried[each]) for each in sorted(tried)]
        return cls(
            epsilon=epsilon,
            target=target,
            value=tried[epsilon].value,
            curve=tuple((each, figure.value) for each, figure in figures),
            bounds=tuple(figure.unsafe for _, figure in figures),
            normalised=normalised,
            exact=exact,
        )

    @property
    def figure(self) -> Figure:
        """The figure at this ε, with its error."""
        at = [epsilon for epsilon, _ in self.curve].index(self.epsilon)
        return Figure(self.value, self.bounds[at])

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values for JSON."""
        return {
            "epsilon": self.epsilon,
            "target": self.target,
            "value": self.value,
            "exact": self.exact,
            "normalised": dict(self.normalised),
            "curve": [
                {"epsilon": epsilon, "value": value, "bound": bound}
                for (epsilon, value), bound in zip(self.curve, self.bounds, strict=True)
            ],
        }


def maker_of(mechanism: Any) -> Callable[[float], Mechanism]:
    """Return what makes the mechanism with a given ε."""
    if isinstance(mechanism, str):
        mechanism = mechanism_of_name(mechanism)
    if isinstance(mechanism, Mechanism):
        given = mechanism
        return lambda epsilon: replace(given, epsilon=epsilon)
    if isinstance(mechanism, type) and issubclass(mechanism, Mechanism):
        cls = mechanism
        return lambda epsilon: cls(epsilon=epsilon)
    raise ParameterError(
        "The 'mechanism' to calibrate must be a mechanism, its class or its name. "
        f"Got {type(mechanism).__name__}."
    )


def share_of(name: str, value: Any) -> float:
    """Return a target between 0 and 1; refuse anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < 1.0:
        raise ParameterError(
            f"The target '{name}' must lie between 0 and 1, both excluded. Got {value!r}."
        )
    return float(value)


def largest_epsilon(
    figure: Callable[[float], Figure],
    met: Callable[[Figure], bool],
    target: str,
    *,
    start: float = 1.0,
    progress: Progress | None = None,
) -> tuple[float, dict[float, Figure]]:
    """Return the largest ε that keeps to a target, and the figures of all that were tried."""
    search = _Bisection(figure, met, target, progress)
    low, high = search.bracket(start)
    low, _ = search.narrow(low, high)
    return low, search.tried


def smallest_epsilon(
    figure: Callable[[float], Figure],
    met: Callable[[Figure], bool],
    target: str,
    *,
    start: float = 1.0,
    progress: Progress | None = None,
) -> tuple[float, dict[float, Figure]]:
    """Return the smallest ε that reaches a target, and the figures of all that were tried."""
    search = _Bisection(figure, lambda value: not met(value), target, progress, reaches=True)
    low, high = search.bracket(start)
    _, high = search.narrow(low, high)
    return high, search.tried


class _Bisection:
    """Looks for the ε up to which something is true of a figure."""

    def __init__(
        self,
        figure: Callable[[float], Figure],
        below: Callable[[Figure], bool],
        target: str,
        progress: Progress | None,
        *,
        reaches: bool = False,
    ) -> None:
        self._figure, self._below, self._target = figure, below, target
        self._progress, self._reaches = progress, reaches
        self.tried: dict[float, Figure] = {}

    def is_below(self, epsilon: float) -> bool:
        self.tried[epsilon] = self._figure(epsilon)
        report(self._progress, min(len(self.tried), _STEPS - 1), _STEPS)
        return self._below(self.tried[epsilon])

    def narrow(self, low: float, high: float) -> tuple[float, float]:
        """Bisect until both ends are close."""
        while high > low * (1.0 + _CLOSE) and len(self.tried) < _STEPS:
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self.is_below(middle) else (low, middle)
        report(self._progress, _STEPS, _STEPS)
        return low, high

    def bracket(self, start: float) -> tuple[float, float]:
        """Return an ε of which it is true, and one twice as large of which it is not."""
        epsilon = start
        if self.is_below(epsilon):
            while epsilon < _MOST * start:
                if not self.is_below(2.0 * epsilon):
                    return epsilon, 2.0 * epsilon
                epsilon *= 2.0
            raise self._too_high(epsilon)
        while epsilon > _LEAST * start:
            epsilon /= 2.0
            try:
                if self.is_below(epsilon):
                    return epsilon, 2.0 * epsilon
            except MalapropError:
                break  # the mechanism serves no smaller ε
        raise self._too_low(min(self.tried))

    def _too_high(self, epsilon: float) -> ParameterError:
        value = f"the figure is {self.tried[epsilon]} there"
        if self._reaches:
            return ParameterError(
                f"The target ({self._target}) is out of reach: up to ε = {epsilon:.4g}, the "
                f"largest that is searched, nothing meets it; {value}."
            )
        return ParameterError(
            f"Every ε up to {epsilon:.4g}, the largest that is searched, meets the target "
            f"({self._target}): {value}."
        )

    def _too_low(self, epsilon: float) -> ParameterError:
        value = f"{self.tried[epsilon]}"
        if self._reaches:
            return ParameterError(
                f"Every ε down to {epsilon:.4g}, the smallest that is searched, meets the target "
                f"({self._target}): the figure is {value} there."
            )
        return ParameterError(
            f"The target ({self._target}) is out of reach: the figure is {value} at "
            f"ε = {epsilon:.4g}, the smallest that is searched."
        )
