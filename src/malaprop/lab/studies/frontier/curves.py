"""Curves of mechanisms: figures at each ε, and between them at an equal success of attacks."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from malaprop.lab.studies.frontier import RECOMMENDED
from malaprop.lab.studies.study import SPLITS, Line
from malaprop.privacy.estimate import Error, Estimate, chance_margin, joint_error

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
LOSS: Final = "loss_of_nearest"
"""The guarantee between a word and its nearest one."""
_ATTACKS: Final = ("success_alone", "success_context")

Figures = Mapping[str, Estimate]
"""Figures by measure, each with two errors: over draws of the noise, and over splits of the texts,
which all mechanisms share. Without degrees of freedom, as in a quick run, an error decides nothing.
"""


@dataclass(frozen=True, kw_only=True)
class Point:
    """A mechanism at one ε, or between two of them."""

    epsilon: float
    success: Estimate
    """The share of words that the better of both attacks recovers."""
    figures: Figures


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
    splits = {_place(line): line for line in lines if line.setting.get("spread") == SPLITS}
    measured = [line for line in lines if line.setting.get("spread") != SPLITS]
    least = _pooled(measured)
    for line in measured:
        own = cells.setdefault(str(line.setting["mechanism"]), {})
        own.setdefault(float(line.setting["epsilon"]), {})[line.measure] = line
    return [_curve(name, own, least, splits) for name, own in cells.items()]


def _place(line: Line) -> tuple[Any, ...]:
    return line.setting["mechanism"], line.setting["epsilon"], line.measure


def _pooled(lines: Iterable[Line]) -> dict[str, float]:
    """Return the root mean square of each measure's errors, the least that an error counts for.

    Few draws that happen to agree have no spread, and would decide a comparison by luck.
    """
    squares: dict[str, list[float]] = {}
    for line in lines:
        if line.measure in BETTER and line.error is not None:
            squares.setdefault(line.measure, []).append(line.error**2)
    return {measure: math.sqrt(sum(own) / len(own)) for measure, own in squares.items()}


def _curve(
    name: str,
    cells: Mapping[float, Mapping[str, Line]],
    least: Mapping[str, float],
    splits: Mapping[tuple[Any, ...], Line],
) -> Curve:
    def with_errors(line: Line) -> Estimate:
        error = None if line.error is None else max(line.error, least.get(line.measure, 0.0))
        split = splits.get(_place(line))
        over_splits = (0.0, None) if split is None else (split.error or 0.0, split.freedom)
        own = (error, None if line.quick else line.freedom)
        return Estimate.of_errors(float(line.ours or 0.0), own, over_splits)

    points, guarantee = [], ""
    for epsilon, own in cells.items():
        figures = {
            measure: with_errors(line)
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


def floors(lines: Iterable[Line]) -> dict[str, dict[str, Estimate]]:
    """Return the figures without noise, and with random words."""
    values: dict[str, dict[str, Estimate]] = {}
    for line in lines:
        if "epsilon" not in line.setting and (estimate := line.estimate):
            own = values.setdefault(str(line.setting["mechanism"]), {})
            own.setdefault(line.measure, estimate)  # the errors over splits come second
    return values


def _between(low: Point, high: Point, success: float) -> Point:
    """Interpolate; an error of the success moves the place on the curve, and so the figures."""
    span = high.success.value - low.success.value
    part = (success - low.success.value) / span if span else 0.0
    _, (moved, freedom) = _mixed(low.success, high.success, part)

    def figure(name: str) -> Estimate:
        below, above = low.figures[name], high.figures[name]
        value, over_noise = _mixed(below, above, part)
        if over_noise[0] is None:
            return Estimate.of_errors(value, over_noise, (0.0, None))
        slope = abs(above.value - below.value) / span if span else 0.0
        error = joint_error([over_noise, (slope * (moved or 0.0), freedom)])
        # Both have the same splits.
        (one, first), (other, second) = below.errors[1], above.errors[1]
        splits = (1 - part) * (one or 0.0) + part * (other or 0.0)
        least = min((each for each in (first, second) if each), default=None)
        return Estimate.of_errors(value, error, (splits, least))

    logs = (1 - part) * math.log(low.epsilon) + part * math.log(high.epsilon)
    return Point(
        epsilon=math.exp(logs),
        success=Estimate.of_errors(success, (moved, freedom)),
        figures={name: figure(name) for name in low.figures if name in high.figures},
    )


def _mixed(low: Estimate, high: Estimate, part: float) -> tuple[float, Error]:
    """Return a figure between two, and its error over draws of the noise."""
    value = (1 - part) * low.value + part * high.value
    (below, first), (above, second) = low.errors[0], high.errors[0]
    if below is None or above is None:
        return value, (None, None)
    return value, joint_error([((1 - part) * below, first), (part * above, second)])


# Comparisons with the recommended mechanism.


class Verdict(NamedTuple):
    """How a mechanism compares with the recommended one at an equal share recovered."""

    level: float
    measure: str
    mechanism: str
    point: Point
    recommended: Point

    @property
    def better(self) -> bool | None:
        """Whether it is better than the recommended one; None if Welch's test cannot tell.

        Errors over splits count in full, although both have the same splits: this is cautious.
        """
        own, other = both = [each.figures[self.measure] for each in (self.point, self.recommended)]
        if any(None in each.errors[0] for each in both):
            return None
        gain = BETTER[self.measure] * (own.value - other.value)
        noise = chance_margin(part for each in both for part in each.errors)
        return None if abs(gain) <= noise else gain > 0.0


def compared(all_curves: Sequence[Curve], measure: str) -> Iterator[list[Verdict]]:
    """Yield the verdicts of each level that the recommended mechanism reaches, its own too."""
    for level in LEVELS:
        there = {
            curve.mechanism: point
            for curve in all_curves
            if (point := curve.at(level)) and measure in point.figures
        }
        if best := there.get(RECOMMENDED):
            yield [Verdict(level, measure, name, point, best) for name, point in there.items()]


def verdicts(all_curves: Sequence[Curve]) -> list[Verdict]:
    """Compare each mechanism with the recommended one, wherever both were measured."""
    return [
        verdict
        for measure in BETTER
        for level in compared(all_curves, measure)
        for verdict in level
        if verdict.mechanism != RECOMMENDED
    ]


def champions(all_curves: Sequence[Curve], measure: str) -> Iterator[Verdict]:
    """Yield the verdict on the best mechanism of a measure at each level."""

    def merit(verdict: Verdict) -> float:
        return BETTER[measure] * verdict.point.figures[measure].value

    return (max(level, key=merit) for level in compared(all_curves, measure))


class Tally(NamedTuple):
    """How many comparisons say that the recommended mechanism is better, worse, or neither."""

    better: int
    worse: int
    undecided: int

    @property
    def lead(self) -> int:
        """How much more often it is better than worse."""
        return self.better - self.worse


def tallies(all_curves: Sequence[Curve]) -> dict[str, Tally]:
    """Return the tally of each measure."""
    judged: dict[str, list[bool | None]] = {measure: [] for measure in BETTER}
    for verdict in verdicts(all_curves):
        judged[verdict.measure].append(verdict.better)  # the other one, that is
    return {
        measure: Tally(values.count(False), values.count(True), values.count(None))
        for measure, values in judged.items()
    }
