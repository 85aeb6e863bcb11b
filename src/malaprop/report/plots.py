"""Plots as SVG, drawn by matplotlib: the extra `plots`.

One style for all: thin lines, marks that differ in shape as well as in grey, labelled axes.
"""

import io
import math
import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import groupby
from typing import Any

from malaprop.measure.adversaries import Group
from malaprop.measure.audit_by_draws import PairLoss
from malaprop.measure.calibration import Calibration
from malaprop.measure.evaluation import Cell, Evaluation
from malaprop.measure.profile import Profile
from malaprop.privacy.errors import MissingExtraError
from malaprop.privacy.estimate import Estimate

_STYLE: Any = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.figsize": (5.2, 3.2),
    "font.size": 10,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "svg.fonttype": "none",  # text stays text: sharp, searchable, small
    "svg.hashsalt": "malaprop",  # the same plot is the same file
}
INK, PALE = "#1f3b57", "#b9c7d6"


def require_plots() -> None:
    """Raise an error that names the extra, unless plots can be drawn."""
    if find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "plots", "A plot")


def drawn(paint: Callable[[Any], None]) -> str:
    """Return a plot as an SVG element; `paint` gets matplotlib's axes."""
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plots", "A plot") from None
    with rc_context(_STYLE):
        figure = Figure(layout="constrained")
        paint(figure.add_subplot())
        buffer = io.StringIO()
        canvas: Any = FigureCanvasSVG(figure)
        canvas.print_svg(buffer, metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    # Without a fixed size, it fits a phone.
    return re.sub(r'(<svg[^>]*?) height="[^"]*"([^>]*?) width="[^"]*"', r"\1\2", svg, count=1)


def kept_by_epsilon(profile: Profile) -> str:
    """Plot how often words stay, by ε: the mean, and the band of 90 % of words."""

    def paint(axes: Any) -> None:
        _band(axes, profile, "kept", "mean of N_w", "90 % of words")
        _mark(axes, profile)
        axes.set(xlabel="ε", ylabel="chance that a word stays (N_w)", ylim=(0, 1))
        axes.legend(loc="upper left")

    return drawn(paint)


def distinct_by_epsilon(profile: Profile) -> str:
    """Plot how many different words come out in 100 runs, by ε."""

    def paint(axes: Any) -> None:
        _band(axes, profile, "distinct", "mean of S_w", "90 % of words")
        _mark(axes, profile)
        axes.set(xlabel="ε", ylabel="different outputs in 100 runs (S_w)")
        axes.set_ylim(bottom=0)
        axes.legend(loc="upper right")

    return drawn(paint)


def success_by_epsilon(profile: Profile) -> str:
    """Plot how often an observer guesses right, by ε."""

    def paint(axes: Any) -> None:
        points = [(p.epsilon, p.success.value, p.success.interval) for p in profile.curve]
        _line(axes, *zip(*points, strict=True))
        _mark(axes, profile)
        axes.set(xlabel="ε", ylabel="right guesses, no context", ylim=(0, 1))

    return drawn(paint)


def success_by_occurrences(profile: Profile) -> str:
    """Plot how often an observer guesses right who sees a word several times.

    Where only bounds are known, the band lies between them, and the line is an attack.
    """

    def paint(axes: Any) -> None:
        times, points = list(profile.occurrences), profile.occurrences.values()
        values, intervals = [p.value for p in points], [p.interval for p in points]
        if profile.bounded:
            low, high = zip(*intervals, strict=True)
            between = "the best guess lies here (95 %)"
            axes.fill_between(times, low, high, color=PALE, linewidth=0, label=between)
            axes.plot(times, values, "s-", color=INK, label="what an attack achieves")
            axes.legend(loc="lower right", frameon=True)
        else:
            _line(axes, times, values, intervals)
        axes.set(xlabel="occurrences, each with its own draw", ylabel="right guesses", ylim=(0, 1))
        axes.set_xticks(times)

    return drawn(paint)


def over_words(values: Sequence[float], label: str) -> str:
    """Plot how a statistic is spread over words, with the mean and the middle 90 %."""

    def paint(axes: Any) -> None:
        import numpy as np

        low, high = np.percentile(values, [5, 95])
        axes.axvspan(low, high, color=PALE, linewidth=0, label="90 % of words")
        axes.hist(values, bins=min(40, max(5, len(values) // 20)), color=INK, alpha=0.85)
        axes.axvline(float(np.mean(values)), color="black", linestyle=":", label="mean")
        axes.set(xlabel=label, ylabel="words")
        axes.legend(loc="best", frameon=True)

    return drawn(paint)


def calibration_curve(calibration: Calibration, label: str) -> str:
    """Plot the figure behind a target by ε, with its error, and the ε that was chosen."""

    def paint(axes: Any) -> None:
        epsilons, values = zip(*calibration.curve, strict=True)
        intervals = [
            (min(value, bound), max(value, bound))
            for value, bound in zip(values, calibration.bounds, strict=True)
        ]
        _line(axes, epsilons, values, intervals)
        axes.axvline(calibration.epsilon, color="black", linestyle=":", linewidth=1.2)
        axes.axhline(calibration.value, color="black", linestyle=":", linewidth=0.8)
        axes.set(xlabel="ε", ylabel=label)

    return drawn(paint)


def losses_of_pairs(pairs: Sequence[PairLoss]) -> str:
    """Plot what draws show about pairs of words, against what the guarantee allows."""

    def paint(axes: Any) -> None:
        shown = [pair for pair in pairs if math.isfinite(pair.allowed)]
        most = max((pair.allowed for pair in shown), default=1.0)
        axes.plot([0, most], [0, most], color="black", linestyle=":", label="the guarantee")
        allowed, losses = [pair.allowed for pair in shown], [pair.loss for pair in shown]
        axes.plot(allowed, losses, "s", color=INK, label="at least")
        axes.set(xlabel="loss allowed for a pair, in nats", ylabel="loss shown by draws")
        axes.set_ylim(bottom=0)
        axes.legend(loc="upper left")

    return drawn(paint)


def recovered_by_occurrences(groups: Sequence[Group]) -> str:
    """Plot the shares of words that were kept and recovered, by occurrences in a text."""

    def paint(axes: Any) -> None:
        places = range(len(groups))
        names = [group.name for group in groups]
        axes.bar([p - 0.2 for p in places], [g.kept for g in groups], 0.4, color=PALE, label="kept")
        shares = [group.score for group in groups]
        axes.bar([p + 0.2 for p in places], shares, 0.4, color=INK, label="recovered")
        axes.set(ylabel="share of words", ylim=(0, 1))
        axes.set_xticks(list(places), names)
        axes.legend(loc="upper left")

    return drawn(paint)


def _band(axes: Any, profile: Profile, name: str, mean: str, band: str) -> None:
    epsilons = [point.epsilon for point in profile.curve]
    bands = [getattr(point, name) for point in profile.curve]
    low, high = [each.low for each in bands], [each.high for each in bands]
    axes.fill_between(epsilons, low, high, color=PALE, linewidth=0, label=band)
    axes.plot(epsilons, [each.mean for each in bands], "o-", color=INK, label=mean)


def _line(
    axes: Any, x: Sequence[Any], y: Sequence[Any], intervals: Sequence[tuple[float, float]]
) -> None:
    below = [max(0.0, value - low) for value, (low, _) in zip(y, intervals, strict=True)]
    above = [max(0.0, high - value) for value, (_, high) in zip(y, intervals, strict=True)]
    axes.errorbar(x, y, yerr=[below, above], fmt="s-", color=INK, capsize=3)


def _mark(axes: Any, profile: Profile) -> None:
    axes.axvline(profile.epsilon, color="black", linestyle=":", linewidth=1.2)


# What pages show of a mechanism's profile: plots by ε and by occurrences, and a table.


_UNIFORM = "All words are equally likely."
HEAD = "a word occurs, with as many draws"
_BOUNDED = (
    "Right guesses, by occurrences of a word. The best guess lies in the band: it reaches from "
    "what an attack on drawn words achieves to the most that is possible for an observer of the "
    "noisy vectors themselves, which tell more than words. All words are equally likely."
)


def profile_plots(profile: Profile) -> list[tuple[Callable[[], str], str]]:
    """Return what draws each plot, and its caption."""

    least = ", at least" if profile.chosen.success.bound else ""
    figures: list[tuple[Callable[[], str], str]] = [
        (
            lambda: kept_by_epsilon(profile),
            "Words that stay, by ε (N_w). The dotted line is the ε of this page.",
        ),
        (
            lambda: distinct_by_epsilon(profile),
            "Different outputs of a word, by ε (S_w).",
        ),
        (
            lambda: success_by_epsilon(profile),
            f"Right guesses without context{least}, by ε. {_UNIFORM}",
        ),
    ]
    if profile.occurrences:
        caption = _occurrence_caption(profile)
        figures.append((lambda: success_by_occurrences(profile), caption))
    return figures


def _occurrence_caption(profile: Profile) -> str:
    if profile.bounded:
        return _BOUNDED
    bound = any(success.bound for success in profile.occurrences.values())
    least = ", at least" if bound else ""
    return f"Right guesses{least}, by occurrences of a word. {_UNIFORM}"


def occurrence_table(profile: Profile) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the head and the rows of the table by occurrences."""
    known = not profile.bounded
    head = ("guessed right", "95 % interval") if known else ("by an attack", "95 % bounds")
    rows: list[tuple[str, ...]] = [
        (
            str(times),
            f"{'at least ' if success.bound and known else ''}{success.value:.0%}",
            f"{success.low:.0%}–{success.high:.0%}",
        )
        for times, success in profile.occurrences.items()
    ]
    return (HEAD, *head), rows


# The picture of an evaluation: utility over what attacks recover.


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
        _frontier_line(axes, name, list(cells), evaluation, number)
    for bound, what in ((utility.ceiling, "clean texts"), (utility.floor, "useless texts")):
        axes.axhline(bound.value, color="#777777", linestyle="--", linewidth=1.0)
        axes.annotate(what, (0.0, bound.value), (2, 3), textcoords="offset points", fontsize=8)
    axes.axvline(evaluation.most, color="black", linestyle=":", linewidth=1.2)
    chosen = evaluation.recommendation.cell
    if chosen is not None:
        x, y = _place(chosen, evaluation)
        axes.plot([x], [y.value], "o", markersize=15, markerfacecolor="none", color="black")
    axes.set(xlabel="words recovered by the strongest attack", ylabel=utility.name, xlim=(0, 1.03))
    axes.margins(y=0.12)
    axes.legend(loc="best", frameon=True, framealpha=0.9, edgecolor="none")


def _frontier_line(
    axes: Any, name: str, cells: list[Cell], evaluation: Evaluation, number: int
) -> None:
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
