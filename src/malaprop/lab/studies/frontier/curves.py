"""Curves of mechanisms: figures at each ε, and between them at an equal success of attacks."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np

from malaprop.lab.studies.frontier import RECOMMENDED
from malaprop.lab.studies.study import SPLITS, Line
from malaprop.privacy.estimate import chance_margin, joint_error

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


# What a newcomer takes from the frontier: which mechanism, which ε, and what speaks against it.


_START = 0.4  # the share recovered that a newcomer starts with


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


def missing(lines: Iterable[Line]) -> Iterator[str]:
    """Name the commands that get missing data, and the figures that are left out without them."""
    absent: dict[str, dict[str, None]] = {}
    for line in lines:
        if line.command:
            absent.setdefault(line.command, {})[line.measure.replace("_", " ")] = None
    for command, measures in absent.items():
        yield f"**Data are missing:** run `{command}`. Left out: {', '.join(measures)}."


def advice(all_curves: Sequence[Curve]) -> Iterator[str]:
    """Say what speaks for the recommended mechanism, what against it, and which ε to take.

    There is none if nothing was measured.
    """
    best = next((curve for curve in all_curves if curve.mechanism == RECOMMENDED), None)
    if best is None or not best.points:
        return
    yield f"**Take `{RECOMMENDED}`, unless your task is one where it is worse.**"
    yield from _guaranteed(best, [curve for curve in all_curves if curve is not best])
    counts = tallies(all_curves)
    for verb, sign in (("better", 1), ("worse", -1)):
        leads = {name: each for name, each in counts.items() if each.lead * sign > 0}
        if leads:
            shown = "; ".join(f"{NAMES[name]} ({_counted(each)})" for name, each in leads.items())
            yield f"At an equal share recovered it is more often {verb} in {shown}."
    even = [name for name, each in counts.items() if each.lead == 0 and any(each)]
    if even:
        shown = "; ".join(f"{NAMES[name]} ({_counted(counts[name])})" for name in even)
        yield f"No difference is established in {shown}."
    yield from _instead(all_curves)
    yield (
        f"**Which ε:** choose the share of words that an observer may recover, and take the ε of "
        f"`{RECOMMENDED}` in its row. The other columns say what is left."
    )
    if start := best.at(_START):
        yield (
            f"To begin with, try ε = {start.epsilon:.3g}, where {_START:.0%} are recovered. Then "
            f"attack your own texts: `malaprop attack context FILE --epsilon {start.epsilon:.3g}`."
        )


def _counted(tally: Tally) -> str:
    return f"better {tally.better}, worse {tally.worse}, not decided {tally.undecided}"


def _guaranteed(best: Curve, others: Sequence[Curve]) -> Iterator[str]:
    """Compare the guarantees between near words, wherever both are known."""
    pairs = [
        (own.figures[LOSS].value, point.figures[LOSS].value)
        for level in LEVELS
        if (own := best.at(level))
        for other in others
        if (point := other.at(level)) and LOSS in point.figures and LOSS in own.figures
    ]
    if pairs:
        stronger = sum(own < theirs for own, theirs in pairs)
        yield (
            f"At an equal share of words recovered, `{RECOMMENDED}` has the stronger guarantee "
            f"between a word and its nearest word in {stronger} of {len(pairs)} comparisons: "
            f"{min(own for own, _ in pairs):.1f} to {max(own for own, _ in pairs):.1f} nats, the "
            f"others {min(theirs for _, theirs in pairs):.1f} and more."
        )


def _instead(all_curves: Sequence[Curve]) -> Iterator[str]:
    """Name the best mechanism where the recommended one loses more often than it wins.

    Of those that bound the loss between any two words, it is the one that wins at most levels.
    """
    bounded = [curve for curve in all_curves if any(LOSS in p.figures for p in curve.points)]
    for measure, tally in tallies(all_curves).items():
        winners = [row for row in champions(bounded, measure) if row.decided]
        if tally.lead >= 0 or not winners:
            continue
        names = [row.mechanism for row in winners]
        chosen = max(dict.fromkeys(names), key=names.count)
        own = [row for row in winners if row.mechanism == chosen]
        losses = [row.point.figures[LOSS].value for row in own]
        yield (
            f"If {NAMES[measure]} is what you need, take `{chosen}`: it has the best figure at "
            f"{', '.join(f'{row.level:.0%}' for row in own)} recovered, of the mechanisms that "
            f"bound the loss between any two words. (Its lead over `{RECOMMENDED}` is decided; "
            f"that over the others may be luck.) Its guarantee is far weaker there: "
            f"{min(losses):.0f} to {max(losses):.0f} nats to the nearest word."
        )


class Champion(NamedTuple):
    """The mechanism that is best in a measure where the same share of words is recovered."""

    level: float
    mechanism: str
    point: Point
    recommended: Point
    decided: bool
    """Whether it differs from the recommended one by more than the errors."""


def champions(all_curves: Sequence[Curve], measure: str) -> Iterator[Champion]:
    """Yield the best mechanism of a measure at each level."""
    by_name = {curve.mechanism: curve for curve in all_curves}
    decided = {(v.success, v.mechanism): v for v in verdicts(all_curves) if v.measure == measure}
    for level in LEVELS:
        there = {
            name: point
            for name, curve in by_name.items()
            if (point := curve.at(level)) and measure in point.figures
        }
        if RECOMMENDED not in there:
            continue
        sign = BETTER[measure]
        name = max(there, key=lambda each: sign * there[each].figures[measure].value)
        verdict: Verdict | None = decided.get((level, name))
        is_ahead = verdict is not None and verdict.better is True
        yield Champion(level, name, there[name], there[RECOMMENDED], is_ahead)


# All points of the frontier as they were measured, by mechanism and ε: nothing interpolated.


HEAD: Final = (
    *("mechanism", "ε", "Euclidean ε", "word alone", "with context", "kept"),
    *NAMES.values(),
)
_SHARES = ("success_alone", "success_context", "kept")
_AUTHORS = {
    "attribution": "attribution",
    "attribution_no_marks": "without punctuation",
    "attribution_adaptive": "adaptive attribution",
    "attribution_adaptive_no_marks": "adaptive, without punctuation",
}
_WORDS = ("kept_of_lexicon", "kept_of_lexicon_p95", "kept_of_lexicon_max")
MORE_HEAD: Final = ("mechanism", "ε", *_AUTHORS.values(), "N_w", "N_w p95", "N_w max")


def measured_rows(all_curves: Sequence[Curve]) -> list[tuple[str, ...]]:
    """Return a row for each mechanism and ε: what attacks recover, what is kept, and utility."""
    return [
        (
            name,
            f"{point.epsilon:.3g}",
            _short(point.figures.get("euclidean_epsilon")),
            *(share(point.figures.get(each)) for each in _SHARES),
            *(figure(point.figures.get(each)) for each in BETTER),
        )
        for name, point in _points(all_curves)
    ]


def more_rows(all_curves: Sequence[Curve]) -> list[tuple[str, ...]]:
    """Return attribution with and without punctuation, and N_w, for each mechanism and ε."""
    return [
        (
            name,
            f"{point.epsilon:.3g}",
            *(figure(point.figures.get(each)) for each in _AUTHORS),
            *(share(point.figures.get(each)) for each in _WORDS),
        )
        for name, point in _points(all_curves)
    ]


def _points(all_curves: Sequence[Curve]) -> list[tuple[str, Point]]:
    return [
        (curve.mechanism, point)
        for curve in all_curves
        for point in sorted(curve.points, key=lambda each: each.epsilon)
    ]


def _short(value: Value | None) -> str:
    return "" if value is None else f"{value.value:.3g}"


def share(value: Value | None) -> str:
    """Return a share in per cent, and nothing for none."""
    return "" if value is None else f"{value.value:.0%}"


def figure(value: Value | None) -> str:
    """Return a figure with its error, and nothing for none."""
    return "" if value is None else str(value)
