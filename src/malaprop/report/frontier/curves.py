"""Curves of mechanisms: figures at each ε, and between them at an equal success of attacks."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from malaprop.measure.intervals import chance_margin, joint_error
from malaprop.studies import Line
from malaprop.studies.framework.spreads import SPLITS
from malaprop.studies.frontier.mechanisms import RECOMMENDED

LEVELS: Final = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
"""Shares of words that the best attack recovers, at which mechanisms are compared."""
BETTER: Final[Mapping[str, int]] = {
    "similarity": 1,
    "word_similarity": 1,
    "accuracy": 1,
    "sts": 1,
    "attribution": -1,
    "attribution_adaptive": -1,
}
"""What is compared, and whether more of it is better."""
NAMES: Final[Mapping[str, str]] = {measure: measure.replace("_", " ") for measure in BETTER} | {
    "sts": "STS",
    "attribution_adaptive": "adaptive attribution",
}
"""What pages call it."""
LOSS: Final = "loss_of_nearest"
"""The guarantee between a word and its nearest one."""
_ATTACKS: Final = ("success_alone", "success_context")
_COARSE = 0.005  # below this error, a figure has a third digit


Parts = tuple[tuple[float | None, float | None], ...]
"""Standard errors with their degrees of freedom."""


@dataclass(frozen=True)
class Value:
    """A figure with one standard error over draws of the noise, if that is known."""

    value: float
    error: float | None = None
    splits: float = 0.0
    """One standard error over splits of the texts, which all mechanisms share."""
    freedom: float | None = None
    """The degrees of freedom of `error`; None if they are not known, or the run is a quick one."""
    splits_freedom: float | None = None

    @property
    def parts(self) -> Parts:
        """Both errors with their degrees of freedom."""
        return (self.error, self.freedom), (self.splits, self.splits_freedom)

    def __str__(self) -> str:
        if self.error is None:
            return f"{self.value:.2f}"
        digits = 2 if self.error >= _COARSE else 3
        return f"{self.value:.{digits}f} ± {self.error:.{digits}f}"


@dataclass(frozen=True, kw_only=True)
class Point:
    """A mechanism at one ε, or between two of them."""

    epsilon: float
    success: Value
    """The share of words that the better of both attacks recovers."""
    figures: Mapping[str, Value]


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A mechanism at several ε, in the order of the attacks' success."""

    mechanism: str
    guarantee: str
    points: tuple[Point, ...]

    def at(self, success: float) -> Point | None:
        """Return the point of this success, interpolated; None beyond what was measured."""
        for low, high in zip(self.points, self.points[1:], strict=False):
            if low.success.value <= success <= high.success.value:
                return _between(low, high, success)
        return None


def curves(lines: Iterable[Line]) -> list[Curve]:
    """Return the curve of each mechanism, in the order of the lines."""
    cells: dict[str, dict[float, dict[str, Line]]] = {}
    lines = [line for line in lines if "epsilon" in line.setting]
    measured = [line for line in lines if not _is_of_splits(line)]
    for line in measured:
        own = cells.setdefault(str(line.setting["mechanism"]), {})
        own.setdefault(float(line.setting["epsilon"]), {})[line.measure] = line
    errors = _Errors(_pooled(measured), {_place(line): line for line in split_lines(lines)})
    return [_curve(name, own, errors) for name, own in cells.items()]


def split_lines(lines: Iterable[Line]) -> list[Line]:
    """Return the lines whose errors are over splits of the texts."""
    return [line for line in lines if _is_of_splits(line)]


def _is_of_splits(line: Line) -> bool:
    return line.setting.get("spread") == SPLITS


def _place(line: Line) -> tuple[Any, ...]:
    return line.setting["mechanism"], line.setting["epsilon"], line.measure


@dataclass(frozen=True)
class _Errors:
    """What belongs to a figure beside its own error."""

    least: Mapping[str, float]
    """The least that the error of a measure counts for."""
    splits: Mapping[tuple[Any, ...], Line]

    def added_to(self, line: Line) -> Value:
        """Return a line's figure with its errors. A quick run's decide nothing."""
        least = self.least.get(line.measure, 0.0)
        error = None if line.error is None else max(line.error, least)
        value = Value(float(line.ours or 0.0), error, freedom=None if line.quick else line.freedom)
        split = self.splits.get(_place(line))
        if split is None:
            return value
        return replace(value, splits=split.error or 0.0, splits_freedom=split.freedom)


def _pooled(lines: Iterable[Line]) -> dict[str, float]:
    """Return the root mean square of each measure's errors, the least that an error counts for.

    Few draws that happen to agree have no spread, and would decide a comparison by luck.
    """
    squares: dict[str, list[float]] = {}
    for line in lines:
        if line.measure in BETTER and line.error is not None:
            squares.setdefault(line.measure, []).append(line.error**2)
    return {measure: math.sqrt(sum(own) / len(own)) for measure, own in squares.items()}


def floors(lines: Iterable[Line]) -> dict[str, dict[str, Value]]:
    """Return the figures without noise, and with random words."""
    values: dict[str, dict[str, Value]] = {}
    for line in lines:
        if "epsilon" not in line.setting and isinstance(line.ours, int | float):
            own = values.setdefault(str(line.setting["mechanism"]), {})
            if line.measure not in own:  # the errors over splits come second
                own[line.measure] = Value(float(line.ours), line.error)
    return values


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """How a mechanism compares with the recommended one at an equal success."""

    success: float
    measure: str
    mechanism: str
    own: Value
    recommended: Value

    @property
    def better(self) -> bool | None:
        """Whether it is better than the recommended one; None if Welch's test cannot tell.

        Errors over splits count in full, although both have the same splits: this is cautious.
        """
        both = (self.own, self.recommended)
        if any(each.error is None or each.freedom is None for each in both):
            return None
        gain = BETTER[self.measure] * (self.own.value - self.recommended.value)
        noise = chance_margin(part for each in both for part in each.parts)
        return None if abs(gain) <= noise else gain > 0.0


def verdicts(all_curves: Iterable[Curve]) -> Iterator[Verdict]:
    """Compare each mechanism with the recommended one, wherever both were measured."""
    by_name = {curve.mechanism: curve for curve in all_curves}
    best = by_name.pop(RECOMMENDED, None)
    for success in LEVELS if best else ():
        there = best.at(success) if best else None
        for name, curve in by_name.items():
            here = curve.at(success)
            if here is None or there is None:
                continue
            for measure in BETTER:
                if measure in here.figures and measure in there.figures:
                    yield Verdict(
                        success=success,
                        measure=measure,
                        mechanism=name,
                        own=here.figures[measure],
                        recommended=there.figures[measure],
                    )


def _curve(name: str, cells: Mapping[float, Mapping[str, Line]], errors: _Errors) -> Curve:
    points, guarantee = [], ""
    for epsilon, own in cells.items():
        figures = {
            measure: errors.added_to(line)
            for measure, line in own.items()
            if isinstance(line.ours, int | float)
        }
        if "guarantee" in own:
            guarantee = str(own["guarantee"].ours)
        attacks = [figures[each] for each in _ATTACKS if each in figures]
        if attacks:
            best = max(attacks, key=lambda one: one.value)
            points.append(Point(epsilon=epsilon, success=best, figures=figures))
    points.sort(key=lambda point: point.success.value)
    return Curve(mechanism=name, guarantee=guarantee, points=tuple(points))


def _between(low: Point, high: Point, success: float) -> Point:
    span = high.success.value - low.success.value
    part = (success - low.success.value) / span if span else 0.0
    there = _mixed(low.success, high.success, part)
    return Point(
        epsilon=float(np.exp((1 - part) * math.log(low.epsilon) + part * math.log(high.epsilon))),
        success=replace(there, value=success),
        figures={
            name: _value(low.figures[name], high.figures[name], part, span, there)
            for name in low.figures
            if name in high.figures
        },
    )


def _value(low: Value, high: Value, part: float, span: float, success: Value) -> Value:
    """Interpolate; an error of the success moves the place on the curve, and so the figure."""
    mixed = _mixed(low, high, part)
    if mixed.error is None:
        return mixed
    slope = abs(high.value - low.value) / span if span else 0.0
    moved = (slope * (success.error or 0.0), success.freedom)
    error, freedom = joint_error([(mixed.error, mixed.freedom), moved])
    splits = (1 - part) * low.splits + part * high.splits  # both have the same splits
    both = [each.splits_freedom for each in (low, high) if each.splits_freedom]
    least = min(both, default=None)
    return Value(mixed.value, error, splits, freedom=freedom, splits_freedom=least)


def _mixed(low: Value, high: Value, part: float) -> Value:
    """Return a figure between two, with the error over draws of the noise."""
    value = (1 - part) * low.value + part * high.value
    if low.error is None or high.error is None:
        return Value(value)
    shares = ((1 - part) * low.error, low.freedom), (part * high.error, high.freedom)
    error, freedom = joint_error(shares)
    return Value(value, error, freedom=freedom)
