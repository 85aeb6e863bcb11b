"""The plot of the frontier: utility against what attacks recover, a line for each mechanism."""

import re
from collections.abc import Sequence
from typing import Any, Final

from malaprop.report.frontier.curves import RECOMMENDED, Curve
from malaprop.report.plots import drawn

SHOWN: Final = {
    "similarity": "similarity of words",
    "accuracy": "accuracy (film reviews)",
    "sts": "STS benchmark (Pearson)",
    "attribution": "authors identified",
}
_DIGITS = re.compile(r"(\d\.\d\d)\d+")
_MARKS = "os^DvP*X<>hd"
_COLOURS = ("#b3541e", "#4a7c59", "#7b4b94", "#8a8f98", "#c9a227", "#2a9d8f", "#d1495b", "#5c677d")


def plot(all_curves: Sequence[Curve]) -> str:
    """Return four panels as one SVG."""

    def paint(axes: Any) -> None:
        figure = axes.figure
        axes.remove()
        figure.set_size_inches(8.4, 6.4)
        panels = figure.subplots(2, 2).ravel()
        for panel, (measure, title) in zip(panels, SHOWN.items(), strict=True):
            _panel(panel, measure, title, all_curves)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)

    return _DIGITS.sub(r"\1", drawn(paint))


def _panel(panel: Any, measure: str, title: str, all_curves: Sequence[Curve]) -> None:
    for place, curve in enumerate(all_curves):
        own = [point for point in curve.points if measure in point.figures]
        first = curve.mechanism == RECOMMENDED
        panel.errorbar(
            [point.success.value for point in own],
            [point.figures[measure].value for point in own],
            yerr=[2.0 * (point.figures[measure].error or 0.0) for point in own],
            label=curve.mechanism,
            color="#1f3b57" if first else _COLOURS[place % len(_COLOURS)],
            marker=_MARKS[place % len(_MARKS)],
            lw=2.4 if first else 1.0,
            ms=4,
            capsize=2,
            zorder=3 if first else 2,
        )
    panel.set(xlabel="share of words recovered", ylabel=title)
