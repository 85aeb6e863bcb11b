"""The picture of an evaluation: utility over what attacks recover."""

from itertools import groupby
from typing import Any

from malaprop.measure.evaluating.cells import Cell
from malaprop.measure.evaluating.evaluation import Evaluation
from malaprop.measure.tasks.result import Estimate
from malaprop.report.plots import INK, drawn

_MARKS = "osD^vP*X"
_INKS = (INK, "#a4521b", "#4d7c3a", "#7a4a8a", "#66707a", "#b08a1e", "#2a7f86", "#93304d")

CAPTION = (
    "Each point is a setting; up and to the left is better. Across: the share of words that the "
    "strongest attack recovers. Up: {utility}. Bars are 95 % intervals. The dotted line is the "
    "share that no attack may exceed; the dashed lines are what clean texts reach, and what "
    "useless ones do. A ring marks the recommendation."
)


def frontier(evaluation: Evaluation) -> str:
    """Return the picture as an SVG element; needs the extra `plots`."""
    return drawn(lambda axes: _paint(axes, evaluation))


def caption(evaluation: Evaluation) -> str:
    """Return what the picture shows."""
    return CAPTION.format(utility=evaluation.utility.name)


def has_frontier(evaluation: Evaluation) -> bool:
    """Return whether there is anything to draw: an attack on words was run."""
    return all(cell.strongest is not None for cell in evaluation.cells)


def _paint(axes: Any, evaluation: Evaluation) -> None:
    utility = evaluation.utility
    ordered = sorted(evaluation.cells, key=lambda cell: (cell.name, cell.epsilon))
    for number, (name, cells) in enumerate(groupby(ordered, key=lambda cell: cell.name)):
        _line(axes, name, list(cells), evaluation, number)
    for value, what in ((utility.ceiling, "clean texts"), (utility.floor, "useless texts")):
        axes.axhline(value, color="#777777", linestyle="--", linewidth=1.0)
        axes.annotate(what, (0.0, value), (2, 3), textcoords="offset points", fontsize=8)
    axes.axvline(evaluation.most, color="black", linestyle=":", linewidth=1.2)
    chosen = evaluation.recommendation.cell
    if chosen is not None:
        x, y = _place(chosen, evaluation)
        axes.plot([x], [y.value], "o", markersize=15, markerfacecolor="none", color="black")
    axes.set(xlabel="words recovered by the strongest attack", ylabel=utility.name, xlim=(0, 1.03))
    axes.margins(y=0.12)
    axes.legend(loc="best", frameon=True, framealpha=0.9, edgecolor="none")


def _line(axes: Any, name: str, cells: list[Cell], evaluation: Evaluation, number: int) -> None:
    colour, mark = _INKS[number % len(_INKS)], _MARKS[number % len(_MARKS)]
    points = [_place(cell, evaluation) for cell in cells]
    x, y = [place for place, _ in points], [each.value for _, each in points]
    across = [_strongest(cell).interval for cell in cells]
    axes.errorbar(
        x,
        y,
        xerr=_bars(x, across),
        yerr=_bars(y, [each.interval for _, each in points]),
        fmt=f"{mark}-",
        color=colour,
        elinewidth=0.8,
        capsize=2,
        label=name,
    )
    for cell, place, height in zip(cells, x, y, strict=True):
        axes.annotate(
            f"{cell.epsilon:g}",
            (place, height),
            (5, 5 if number % 2 == 0 else -11),  # two lines may meet: one above, one below
            textcoords="offset points",
            fontsize=8,
            color=colour,
        )


def _bars(values: list[float], intervals: list[tuple[float, float]]) -> list[list[float]]:
    pairs = list(zip(values, intervals, strict=True))
    return [
        [max(0.0, value - low) for value, (low, _) in pairs],
        [max(0.0, high - value) for value, (_, high) in pairs],
    ]


def _place(cell: Cell, evaluation: Evaluation) -> tuple[float, Estimate]:
    return _strongest(cell).score, evaluation.utility.of(cell)


def _strongest(cell: Cell) -> Any:
    pair = cell.strongest
    if pair is None:
        raise ValueError("no attack on words was run")
    return pair[1]
