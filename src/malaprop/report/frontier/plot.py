"""The plot of the frontier: utility against ε, and against what attacks recover."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from malaprop.report.frontier.curves import LOSS, Curve, Point, Value
from malaprop.report.plots import drawn
from malaprop.studies.frontier.mechanisms import RECOMMENDED

SHOWN: Final = {
    "similarity": "similarity of words",
    "accuracy": "accuracy (film reviews)",
    "sts": "STS benchmark (Pearson)",
    "attribution": "authors identified",
}
_UNSEEN = (
    (re.compile(r"(\d\.\d\d)\d+"), r"\1"),
    (re.compile(r"\n\s+"), "\n"),
    (re.compile(r"font-family: [^;\"]*"), "font-family: sans-serif"),
)
_SIZE = (8.4, 12.4)  # inches
_TICKS = (1, 2, 5, 10, 20, 50, 100, 200)
_INK = "#111111"
# Shapes, dashes and lightness differ, so that grey paper tells the mechanisms apart.
_LOOKS = (
    ("s", "-", "#b3541e"),
    ("^", "--", "#4a7c59"),
    ("D", "-.", "#7b4b94"),
    ("v", ":", "#8a8f98"),
    ("P", "-", "#c9a227"),
    ("X", "--", "#2a9d8f"),
    ("*", "-.", "#d1495b"),
    ("<", ":", "#5c677d"),
)


def plot(all_curves: Sequence[Curve], floors: Mapping[str, Mapping[str, Value]]) -> str:
    """Return ten panels as one SVG: against ε on the left, against success on the right."""

    def paint(axes: Any) -> None:
        figure = axes.figure
        axes.remove()
        figure.set_size_inches(*_SIZE)
        panels = figure.subplots(len(SHOWN) + 1, 2, sharex="col")
        _privacy(panels[0], all_curves)
        for row, (measure, title) in zip(panels[1:], SHOWN.items(), strict=True):
            for panel, x in zip(row, (_epsilon, _success), strict=True):
                _lines(panel, all_curves, x, measure)
                _bounds(panel, measure, floors)
                panel.set_ylabel(title)
        panels[-1][0].set(xlabel="ε, each in its own unit (logarithmic)", xscale="log")
        panels[-1][0].set_xticks(_TICKS, [f"{tick:g}" for tick in _TICKS], minor=False)
        panels[-1][0].minorticks_off()
        panels[-1][1].set(xlabel="share of words recovered")
        legend: dict[str, Any] = {}
        for panel in panels.ravel():
            marks, names = panel.get_legend_handles_labels()
            legend |= dict(zip(names, marks, strict=True))
        figure.legend(legend.values(), legend, loc="outside lower center", ncols=5, fontsize=8)

    svg = drawn(paint)
    for pattern, shown in _UNSEEN:
        svg = pattern.sub(shown, svg)
    return svg


def _privacy(panels: Sequence[Any], all_curves: Sequence[Curve]) -> None:
    """Plot what attacks recover by ε, and what is guaranteed where they recover it."""
    _lines(panels[0], all_curves, _epsilon, "success_context")
    _lines(panels[0], all_curves, _epsilon, "success_alone", mfc="white", lw=0.5)
    panels[0].set(ylabel="words recovered")
    panels[0].set_title("filled: with context; hollow: word alone", fontsize=8)
    _lines(panels[1], all_curves, _success, LOSS)
    panels[1].set(ylabel="nats to the nearest word", yscale="log")
    panels[1].set_yticks(_TICKS[:-1], [f"{tick:g}" for tick in _TICKS[:-1]])
    panels[1].minorticks_off()
    panels[1].set_title("guarantee: lower is stronger", fontsize=8)


def _epsilon(point: Point) -> float:
    return point.epsilon


def _success(point: Point) -> float:
    return point.success.value


def _lines(
    panel: Any, all_curves: Sequence[Curve], x: Callable[[Point], float], measure: str, **more: Any
) -> None:
    for place, curve in enumerate(all_curves):
        own = [point for point in curve.points if measure in point.figures]
        if not own:
            continue
        first = curve.mechanism == RECOMMENDED
        mark, dashes, colour = ("o", "-", _INK) if first else _LOOKS[(place - 1) % len(_LOOKS)]
        look = {"lw": 2.4 if first else 1.1, "zorder": 3 if first else 2, **more}
        panel.errorbar(
            [x(point) for point in own],
            [point.figures[measure].value for point in own],
            yerr=[2.0 * (point.figures[measure].error or 0.0) for point in own],
            label=curve.mechanism,
            color=colour,
            marker=mark,
            ls=dashes,
            ms=4.5,
            capsize=2,
            **look,
        )


def _bounds(panel: Any, measure: str, floors: Mapping[str, Mapping[str, Value]]) -> None:
    """Mark what there is without noise, and with random words."""
    for name, dashes in (("no noise", (0, (1, 1))), ("random words", (0, (4, 4)))):
        value = floors.get(name, {}).get(measure)
        if value is not None:
            panel.axhline(value.value, color="#666666", lw=0.9, ls=dashes, label=name, zorder=1)
