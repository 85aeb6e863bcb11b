"""Plots of a study, as SVG: our figures with error bars, the paper's as dashed lines."""

import re
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

from malaprop.report.plots import drawn
from malaprop.studies import Line

_UNSEEN = (
    (re.compile(r"(\d\.\d\d)\d+(?![\d<])"), r"\1"),  # but not in what a label says
    (re.compile(r"\n\s+"), "\n"),
    (re.compile(r"font-family: [^;\"]*"), "font-family: sans-serif"),
)
_WIDE = (7.2, 3.2)  # inches, where names of series stand beside the plot
_LABEL = 34  # characters in a line of a series' name
_INSIDE = 4  # series whose names fit into the plot
_MARKS = "os^DvP*X<>hd"
_DASHES = ("-", "-.")  # where there are more series than colours
_COLOURS = (
    "#1f3b57",
    "#b3541e",
    "#4a7c59",
    "#7b4b94",
    "#8a8f98",
    "#c9a227",
    "#2a9d8f",
    "#d1495b",
    "#6b8e23",
    "#5e60ce",
    "#a0522d",
    "#457b9d",
)


def plots(spec: Mapping[str, Any], lines: Sequence[Line]) -> list[tuple[str, str]]:
    """Return the plots that a specification asks for: pairs of a caption and an SVG.

    `x` is a name of the setting and `y` a measure; `series` are the names whose values tell lines
    apart; `panels`, if given, is a name with a plot for each of its values; `where` restricts.
    """
    where: Mapping[str, Any] = spec.get("where", {})
    usable = [
        line
        for line in lines
        if line.measure == spec["y"]
        and isinstance(line.ours, int | float)
        and isinstance(line.setting.get(spec["x"]), int | float)
        and all(line.setting.get(name) in _listed(value) for name, value in where.items())
    ]
    panel = spec.get("panels", "")
    values = list(dict.fromkeys(line.setting.get(panel) for line in usable))
    return [
        (
            f"{spec['y']} by {spec['x']}" + (f", {value}" if panel else ""),
            _plot(spec, [line for line in usable if line.setting.get(panel) == value]),
        )
        for value in values
    ]


def _plot(spec: Mapping[str, Any], lines: Sequence[Line]) -> str:
    def paint(axes: Any) -> None:
        for place, (label, own) in enumerate(_series(spec, lines).items()):
            own = sorted(own, key=lambda line: float(line.setting[spec["x"]]))
            x = [line.setting[spec["x"]] for line in own]
            look = _look(place)
            dashes = _DASHES[place // len(_COLOURS) % 2]
            errors = [2.0 * (line.error or 0.0) for line in own]
            ours = [line.ours for line in own]
            axes.errorbar(x, ours, yerr=errors, label=label, ms=4, ls=dashes, **look)
            printed = [(at, li.paper) for at, li in zip(x, own, strict=True) if _is_number(li)]
            if printed:
                axes.plot(*zip(*printed, strict=True), "--", mfc="none", lw=1, **look)
        axes.set(xlabel=spec["x"], ylabel=spec["y"], xscale=spec.get("scale", "linear"))
        if spec.get("scale") == "log":
            _mark(axes, sorted({float(line.setting[spec["x"]]) for line in lines}))
        _name_series(axes)

    return _smaller(drawn(paint))


def _look(place: int) -> dict[str, str]:
    """Return the colour and the mark of a series; beyond the colours, other pairs of both."""
    again = place // len(_COLOURS)
    colour, mark = _COLOURS[place % len(_COLOURS)], _MARKS[(place + again) % len(_MARKS)]
    return {"color": colour, "marker": mark}


def _mark(axes: Any, values: Sequence[float]) -> None:
    """Mark the values themselves on a logarithmic axis: names of its powers would overlap."""
    axes.set_xticks(values, labels=[f"{value:g}" for value in values])
    axes.set_xticks([], minor=True)


def _name_series(axes: Any) -> None:
    """Show the names of the series: in the plot, or beside it if there are many."""
    if len(axes.containers) <= _INSIDE:
        axes.legend(fontsize=7)
        return
    axes.figure.set_size_inches(_WIDE)
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.01, 0.5))


def _smaller(svg: str) -> str:
    """Leave out what nobody sees: digits, indentation, and the names of fonts."""
    for pattern, shown in _UNSEEN:
        svg = pattern.sub(shown, svg)
    return svg


def _is_number(line: Line) -> bool:
    return isinstance(line.paper, int | float)


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]


def _series(spec: Mapping[str, Any], lines: Sequence[Line]) -> dict[str, list[Line]]:
    series: dict[str, list[Line]] = {}
    for line in lines:
        label = ", ".join(
            _label(name, line.setting[name]) for name in spec["series"] if name in line.setting
        )
        series.setdefault(fill(label, _LABEL), []).append(line)
    return series


def _label(name: str, value: Any) -> str:
    if name == "published":
        return "as published" if value else "sound"
    return f"{name} {value:g}" if isinstance(value, float | int) else str(value)
