"""The tables of the frontier's page: mechanisms at equal success, and who is best."""

from collections.abc import Iterator, Sequence
from typing import Final

from malaprop.report.frontier.advice import champions, tallies
from malaprop.report.frontier.curves import (
    BETTER,
    LEVELS,
    LOSS,
    NAMES,
    Curve,
    Value,
    floors,
    verdicts,
)
from malaprop.report.frontier.measured import figure, share
from malaprop.studies import Line
from malaprop.studies.frontier.mechanisms import RECOMMENDED

ALONE, CONTEXT = "success_alone", "success_context"
HEAD: Final = (
    "recovered",
    "mechanism",
    "ε",
    "word alone",
    "with context",
    "nats to the nearest word",
    "kept",
    *NAMES.values(),
)
CHOICE: Final = ("recovered", "ε", "word alone", "with context", "words that stay", *NAMES.values())
COMPARED: Final = (
    *("measure", "better", "worse", "not decided", "who is better, at which share recovered"),
)
BEST_HEAD: Final = (
    *("measure", "recovered", "best", "its figure", "its nats", RECOMMENDED, "decided"),
)

Rows = list[tuple[str, ...]]


def choices(all_curves: Sequence[Curve], lines: Sequence[Line]) -> Rows:
    """Return the recommended mechanism's ε for each share recovered, with what remains.

    The first row is the text without noise, and the last one random words.
    """
    points = [
        point
        for curve in all_curves
        if curve.mechanism == RECOMMENDED
        for point in map(curve.at, reversed(LEVELS))
        if point
    ]
    rows = [
        (
            f"{point.success.value:.0%}",
            f"{point.epsilon:.2f}",
            *(share(point.figures.get(name)) for name in (ALONE, CONTEXT, "kept")),
            *(_plain(point.figures.get(name)) for name in BETTER),
        )
        for point in points
    ]
    bounds = floors(lines)
    top, bottom = (
        [(name, "", "", "", "", *(_plain(bounds[name].get(measure)) for measure in BETTER))]
        if name in bounds
        else []
        for name in ("no noise", "random words")
    )
    return [*top, *rows, *bottom]


def _plain(value: Value | None) -> str:
    return "" if value is None else f"{value.value:.2f}"


def unreached(all_curves: Sequence[Curve]) -> Iterator[str]:
    """Name the mechanisms that were not measured up to a level, so that nobody misses their row."""
    for level in LEVELS:
        absent = [f"`{curve.mechanism}`" for curve in all_curves if curve.at(level) is None]
        if absent:
            yield f"Not measured at {level:.0%} recovered: {', '.join(absent)}."


def compared(all_curves: Sequence[Curve]) -> Rows:
    """Return, for each measure, how often the recommended one is better, and where it is not."""
    rivals: dict[str, dict[str, list[str]]] = {}
    for verdict in verdicts(all_curves):
        if verdict.better:
            own = rivals.setdefault(verdict.measure, {})
            own.setdefault(verdict.mechanism, []).append(f"{verdict.success:.0%}")
    return [
        (
            NAMES[measure],
            *map(str, tally),
            "; ".join(f"{name} at {', '.join(at)}" for name, at in rivals.get(measure, {}).items()),
        )
        for measure, tally in tallies(all_curves).items()
    ]


def best_rows(all_curves: Sequence[Curve]) -> Rows:
    """Return the best mechanism of each measure at each level, beside the recommended one."""
    return [
        (
            NAMES[measure],
            f"{row.level:.0%}",
            row.mechanism,
            figure(row.point.figures[measure]),
            nats(row.point.figures.get(LOSS)),
            figure(row.recommended.figures[measure]),
            "" if row.mechanism == RECOMMENDED else ("yes" if row.decided else "no"),
        )
        for measure in BETTER
        for row in champions(all_curves, measure)
    ]


def level_rows(all_curves: Sequence[Curve]) -> Rows:
    """Return all mechanisms at equal shares recovered."""
    return [
        (
            f"{level:.0%}",
            curve.mechanism,
            f"{point.epsilon:.3g}",
            share(point.figures.get(ALONE)),
            share(point.figures.get(CONTEXT)),
            nats(point.figures.get(LOSS)),
            share(point.figures.get("kept")),
            *(figure(point.figures.get(name)) for name in BETTER),
        )
        for level in LEVELS
        for curve in all_curves
        if (point := curve.at(level))
    ]


def nats(value: Value | None) -> str:
    """Return a bound on a log-ratio."""
    return "" if value is None else f"{value.value:.1f}"


def bounds_rows(lines: Sequence[Line]) -> Rows:
    """Return what is reached without noise, and without any meaning."""
    return [
        (name, *(figure(own.get(measure)) for measure in BETTER))
        for name, own in floors(lines).items()
    ]
