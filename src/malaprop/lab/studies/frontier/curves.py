"""Curves of mechanisms: figures at each ε, and between them at an equal success of attacks."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from malaprop.lab.studies.frontier import RECOMMENDED
from malaprop.lab.studies.study import SPLITS, Line, compare
from malaprop.privacy.estimate import Error, Estimate, joint_error

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
ATTACKS: Final = ("success_alone", "success_context")
"""What the best attack is chosen of."""
ON_CONTENT: Final = tuple(f"{attack}_content" for attack in ATTACKS)
"""The same, on content words."""

Figures = Mapping[str, Estimate]
"""Figures by measure, each with two errors: over draws of the noise, and over splits of the texts,
which all mechanisms share. Without degrees of freedom, as in a quick run, an error decides nothing.
"""


class Point(NamedTuple):
    """A mechanism at one ε, or between two of them."""

    epsilon: float
    success: Estimate
    """The share of words that the better of both attacks recovers."""
    figures: Figures


class Curve(NamedTuple):
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


def curves(lines: Iterable[Line], attacks: Sequence[str] = ATTACKS) -> list[Curve]:
    """Return the curve of each mechanism, by the success of the best of some attacks."""
    lines = [line for line in lines if "epsilon" in line.setting]
    splits = {_place(line): line for line in lines if line.setting.get("spread") == SPLITS}
    measured = [line for line in lines if line.setting.get("spread") != SPLITS]
    least = _pooled(measured)
    cells: dict[str, dict[float, dict[str, Estimate]]] = {}
    promised: dict[str, str] = {}
    for line in measured:
        mechanism, epsilon, measure = _place(line)
        figures = cells.setdefault(mechanism, {}).setdefault(epsilon, {})
        if measure == "guarantee":
            promised[mechanism] = str(line.ours)
        if isinstance(line.ours, int | float):
            error = None if line.error is None else max(line.error, least.get(measure, 0.0))
            own = (error, None if line.quick else line.freedom)
            split = splits.get(_place(line))
            over_splits = (0.0, None) if split is None else (split.error or 0.0, split.freedom)
            figures[measure] = Estimate.of_errors(float(line.ours), own, over_splits)
    made = []
    for mechanism, by_epsilon in cells.items():
        points = []
        for epsilon, figures in by_epsilon.items():
            if tried := [figures[each] for each in attacks if each in figures]:
                best = max(tried, key=lambda one: one.value)
                points.append(Point(epsilon=epsilon, success=best, figures=figures))
        points.sort(key=lambda point: point.success.value)
        made.append(Curve(mechanism, promised.get(mechanism, ""), tuple(points)))
    return made


def _place(line: Line) -> tuple[str, float, str]:
    return str(line.setting["mechanism"]), float(line.setting["epsilon"]), line.measure


def _pooled(lines: Iterable[Line]) -> dict[str, float]:
    """Return the root mean square of each measure's errors, the least that an error counts for.

    Few draws that happen to agree have no spread, and would decide a comparison by luck.
    """
    squares: dict[str, list[float]] = {}
    for line in lines:
        if line.measure in BETTER and line.error is not None:
            squares.setdefault(line.measure, []).append(line.error**2)
    return {measure: math.sqrt(sum(own) / len(own)) for measure, own in squares.items()}


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
    mechanism: str
    point: Point
    recommended: Point
    better: bool | None
    """Whether it is better than the recommended one; None if Welch's test cannot tell."""


Levels = Mapping[float, Mapping[str, Point]]
"""The points of mechanisms where an equal share is recovered."""
Verdicts = Mapping[str, Sequence[Sequence[Verdict]]]
"""For each measure and each level that the recommended mechanism reaches, on all that do."""


def at_levels(all_curves: Sequence[Curve]) -> Levels:
    """Return the point of each mechanism at each level, of those that were measured up to it."""
    return {
        level: {curve.mechanism: at for curve in all_curves if (at := curve.at(level))}
        for level in LEVELS
    }


def verdicts(levels: Levels) -> Verdicts:
    return {
        measure: [
            [
                Verdict(level, name, point, best, is_better(measure, point, best))
                for name, point in points.items()
                if measure in point.figures
            ]
            for level, points in levels.items()
            if (best := points.get(RECOMMENDED)) and measure in best.figures
        ]
        for measure in BETTER
    }


def is_better(measure: str, point: Point, than: Point) -> bool | None:
    """Whether a mechanism has a better figure than another; None if Welch's test cannot tell.

    Errors over splits count in full, although both have the same splits: this is cautious.
    """
    own, other = both = point.figures[measure], than.figures[measure]
    if any(None in each.errors[0] for each in both):
        return None
    return compare("above" if BETTER[measure] > 0 else "below", own, other)


def champion(measure: str, level: Sequence[Verdict]) -> Verdict:
    """Return the verdict on the best mechanism of a measure at a level."""
    return max(level, key=lambda one: BETTER[measure] * one.point.figures[measure].value)


class Tally(NamedTuple):
    """How many comparisons say that the recommended mechanism is better, worse, or neither."""

    better: int
    worse: int
    undecided: int

    @property
    def lead(self) -> int:
        """How much more often it is better than worse."""
        return self.better - self.worse


def tally(verdicts: Sequence[Sequence[Verdict]]) -> Tally:
    told = [each.better for level in verdicts for each in level if each.mechanism != RECOMMENDED]
    return Tally(told.count(False), told.count(True), told.count(None))
