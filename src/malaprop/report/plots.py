"""Plots as SVG, drawn by matplotlib: the extra `plots`.

One style for all: thin lines, marks that differ in shape as well as in grey, labelled axes.
"""

import io
import math
import re
from collections.abc import Callable, Sequence
from functools import wraps
from importlib.util import find_spec
from itertools import groupby
from typing import Any, Concatenate, ParamSpec

import numpy as np

from malaprop.measure.adversaries import Group
from malaprop.measure.audit_by_draws import PairLoss
from malaprop.measure.calibration import Calibration
from malaprop.measure.evaluation import Cell, Evaluation
from malaprop.measure.profile import Profile
from malaprop.privacy.errors import MissingExtraError
from malaprop.privacy.estimate import Estimate
from malaprop.report.page import Plot, Table

P = ParamSpec("P")

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
    "pdf.fonttype": 42,  # fonts that journals take
    "svg.fonttype": "none",  # text stays text: sharp, searchable, small
    "svg.hashsalt": "malaprop",  # the same plot is the same file
}
_MARKED: Any = {"color": "black", "linestyle": ":", "linewidth": 1.2}
INK, PALE = "#1f3b57", "#b9c7d6"


def require_plots() -> None:
    """Raise an error that names the extra, unless plots can be drawn."""
    if find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "plots", "A plot")


Paint = Callable[[Any], None]
"""What paints a plot; it gets matplotlib's axes."""


def drawn(paint: Paint) -> str:
    """Return a plot as an SVG element."""
    svg = _drawn(paint, "svg", {"Date": None, "Creator": None}).decode()
    svg = svg[svg.index("<svg") :]
    # Without a fixed size, it fits a phone.
    return re.sub(r'(<svg[^>]*?) height="[^"]*"([^>]*?) width="[^"]*"', r"\1\2", svg, count=1)


def drawn_as_pdf(paint: Paint) -> bytes:
    """Return a plot as PDF, for papers: with fonts inside."""
    return _drawn(paint, "pdf", {"CreationDate": None, "Creator": None, "Producer": None})


def _drawn(paint: Paint, form: str, metadata: dict[str, None]) -> bytes:
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plots", "A plot") from None
    with rc_context(_STYLE):
        figure = Figure(layout="constrained")
        paint(figure.add_subplot())
        buffer = io.BytesIO()
        figure.savefig(buffer, format=form, metadata=metadata)
    return buffer.getvalue()


def style() -> str:
    """Return the look of all plots as a style sheet of matplotlib: `plt.style.use(FILE)`."""
    rows = ((name, str(value).strip("()").lstrip("#")) for name, value in _STYLE.items())
    return "".join(f"{name}: {value}\n" for name, value in rows)


Painter = Callable[Concatenate[Any, P], None]


def _plot(paint: "Painter[P]") -> Callable[P, str]:
    """Turn what paints on axes into what returns an SVG element."""

    @wraps(paint)
    def draw(*args: P.args, **options: P.kwargs) -> str:
        return drawn(lambda axes: paint(axes, *args, **options))

    return draw


@_plot
def band_by_epsilon(axes: Any, profile: Profile, statistic: str, symbol: str, label: str) -> None:
    """Plot a statistic of words by ε: the mean, and the band of 90 % of words."""
    epsilons = [point.epsilon for point in profile.curve]
    bands = [getattr(point, statistic) for point in profile.curve]
    low, high = [each.low for each in bands], [each.high for each in bands]
    axes.fill_between(epsilons, low, high, color=PALE, linewidth=0, label="90 % of words")
    axes.plot(epsilons, [each.mean for each in bands], "o-", color=INK, label=f"mean of {symbol}")
    axes.axvline(profile.epsilon, **_MARKED)
    axes.set(xlabel="ε", ylabel=f"{label} ({symbol})")
    axes.set_ylim(bottom=0, top=1 if statistic == "kept" else None)
    axes.legend(loc="best")


@_plot
def success_by_epsilon(axes: Any, profile: Profile) -> None:
    points = [(p.epsilon, p.success.value, p.success.interval) for p in profile.curve]
    _line(axes, *zip(*points, strict=True))
    axes.axvline(profile.epsilon, **_MARKED)
    axes.set(xlabel="ε", ylabel="right guesses, no context", ylim=(0, 1))


@_plot
def success_by_occurrences(axes: Any, profile: Profile) -> None:
    """Plot how often an observer guesses right who sees a word several times.

    Where only bounds are known, the band lies between them, and the line is an attack.
    """
    shares = dict(profile.occurrences)
    if 1 in shares and not profile.bounded:  # the figure that the page has elsewhere
        shares[1] = profile.chosen.success
    times, values = list(shares), [share.value for share in shares.values()]
    intervals = [share.interval for share in shares.values()]
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


@_plot
def over_words(axes: Any, values: Sequence[float], label: str) -> None:
    low, high = np.percentile(values, [5, 95])
    axes.axvspan(low, high, color=PALE, linewidth=0, label="90 % of words")
    axes.hist(values, bins=min(40, max(5, len(values) // 20)), color=INK, alpha=0.85)
    axes.axvline(float(np.mean(values)), color="black", linestyle=":", label="mean")
    axes.set(xlabel=label, ylabel="words")
    axes.legend(loc="best", frameon=True)


@_plot
def calibration_curve(axes: Any, calibration: Calibration, label: str) -> None:
    epsilons, values = zip(*calibration.curve, strict=True)
    intervals = [sorted(pair) for pair in zip(values, calibration.bounds, strict=True)]
    _line(axes, epsilons, values, intervals)
    axes.axvline(calibration.epsilon, **_MARKED)
    axes.axhline(calibration.value, **_MARKED)
    axes.set(xlabel="ε", ylabel=label)


@_plot
def losses_of_pairs(axes: Any, pairs: Sequence[PairLoss]) -> None:
    shown = [pair for pair in pairs if math.isfinite(pair.allowed)]
    most = max((pair.allowed for pair in shown), default=1.0)
    axes.plot([0, most], [0, most], color="black", linestyle=":", label="the guarantee")
    allowed, losses = [pair.allowed for pair in shown], [pair.loss for pair in shown]
    axes.plot(allowed, losses, "s", color=INK, label="at least")
    axes.set(xlabel="loss allowed for a pair, in nats", ylabel="loss shown by draws")
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper left")


@_plot
def recovered_by_occurrences(axes: Any, groups: Sequence[Group]) -> None:
    places = np.arange(len(groups))
    axes.bar(places - 0.2, [g.kept for g in groups], 0.4, color=PALE, label="kept")
    axes.bar(places + 0.2, [g.score for g in groups], 0.4, color=INK, label="recovered")
    axes.set(ylabel="share of words", ylim=(0, 1))
    axes.set_xticks(places, [group.name for group in groups])
    axes.legend(loc="upper left")


def _line(
    axes: Any, x: Sequence[Any], y: Sequence[float], intervals: Sequence[Sequence[float]]
) -> None:
    axes.errorbar(x, y, yerr=_bars(y, intervals), fmt="s-", color=INK, capsize=3)


def _bars(values: Sequence[float], intervals: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return how far the ends of intervals lie below and above their values."""
    pairs = list(zip(values, intervals, strict=True))
    return [
        [max(0.0, value - low) for value, (low, _) in pairs],
        [max(0.0, high - value) for value, (_, high) in pairs],
    ]


_UNIFORM = "All words are equally likely."
_BOUNDED = (
    "Right guesses, by occurrences of a word. The best guess lies in the band: it reaches from "
    "what an attack on drawn words achieves to the most that is possible for an observer of the "
    "noisy vectors themselves, which tell more than words."
)


def profile_plots(profile: Profile | None) -> tuple[Plot, ...]:
    """Return the plots of a profile; none without one."""
    if profile is None:
        return ()
    least = ", at least" if profile.chosen.success.bound else ""
    plots = [
        Plot(
            lambda: band_by_epsilon(profile, "kept", "N_w", "chance that a word stays"),
            "Words that stay, by ε (N_w). The dotted line is the ε of this page.",
        ),
        Plot(
            lambda: band_by_epsilon(profile, "distinct", "S_w", "different outputs in 100 runs"),
            "Different outputs of a word, by ε (S_w).",
        ),
        Plot(
            lambda: success_by_epsilon(profile),
            f"Right guesses without context{least}, by ε. {_UNIFORM}",
        ),
    ]
    if profile.occurrences:
        least = ", at least" if any(s.bound for s in profile.occurrences.values()) else ""
        told = _BOUNDED if profile.bounded else f"Right guesses{least}, by occurrences of a word."
        plots.append(Plot(lambda: success_by_occurrences(profile), f"{told} {_UNIFORM}"))
    return tuple(plots)


def occurrence_table(profile: Profile, once: str) -> Table:
    """Return the shares guessed right by occurrences of a word.

    `once` is the share for a single one, which the page has already: no estimate of it from other
    draws should stand beside that.
    """
    known = not profile.bounded
    head = ("guessed right", "95 % interval") if known else ("by an attack", "95 % bounds")
    rows = []
    for times, success in profile.occurrences.items():
        least = "at least " if success.bound and known else ""
        share, interval = f"{least}{success.value:.0%}", f"{success.low:.0%}–{success.high:.0%}"
        if times == 1:
            share, interval = once, "" if known else interval
        rows.append((str(times), share, interval))
    return Table(("a word occurs, with as many draws", *head), tuple(rows))


_MARKS = "osD^vP*X"
_INKS = (INK, "#a4521b", "#4d7c3a", "#7a4a8a", "#66707a", "#b08a1e", "#2a7f86", "#93304d")

_CAPTION = (
    "Each point is a setting; up and to the left is better. Across: the share of words that the "
    "strongest attack recovers. Up: {utility}. Bars are 95 % intervals. The dotted line is the "
    "share that no attack may exceed; the dashed lines are what clean texts reach, and what "
    "useless ones do. A ring marks the recommendation."
)


def frontier_plot(evaluation: Evaluation) -> tuple[Plot, ...]:
    """Return the picture of an evaluation; none if no attack on words was run."""
    if any(cell.strongest is None for cell in evaluation.cells):
        return ()
    return (Plot(lambda: frontier(evaluation), _CAPTION.format(utility=evaluation.utility.name)),)


@_plot
def frontier(axes: Any, evaluation: Evaluation) -> None:
    utility, chosen = evaluation.utility, evaluation.recommendation.cell
    ordered = sorted(evaluation.cells, key=lambda cell: (cell.name, cell.epsilon))
    for number, (name, cells) in enumerate(groupby(ordered, key=lambda cell: cell.name)):
        places = [(cell, *_place(cell, evaluation)) for cell in cells]
        x, y = [across.value for _, across, _ in places], [up.value for _, _, up in places]
        colour, mark = _INKS[number % len(_INKS)], _MARKS[number % len(_MARKS)]
        axes.errorbar(
            x,
            y,
            xerr=_bars(x, [across.interval for _, across, _ in places]),
            yerr=_bars(y, [up.interval for _, _, up in places]),
            fmt=f"{mark}-",
            color=colour,
            elinewidth=0.8,
            capsize=2,
            label=name,
        )
        beside = {"textcoords": "offset points", "fontsize": 8, "color": colour}
        for cell, across, up in places:  # two lines may meet: one is named above, one below
            at = (5, 5 if number % 2 == 0 else -11)
            axes.annotate(f"{cell.epsilon:g}", (across.value, up.value), at, **beside)
    for bound, what in ((utility.ceiling, "clean texts"), (utility.floor, "useless texts")):
        axes.axhline(bound.value, color="#777777", linestyle="--", linewidth=1.0)
        axes.annotate(what, (0.0, bound.value), (2, 3), textcoords="offset points", fontsize=8)
    axes.axvline(evaluation.most, **_MARKED)
    if chosen is not None:
        across, up = _place(chosen, evaluation)
        ring: Any = {"markersize": 15, "markerfacecolor": "none", "color": "black"}
        axes.plot([across.value], [up.value], "o", **ring)
    axes.set(xlabel="words recovered by the strongest attack", ylabel=utility.name, xlim=(0, 1.03))
    axes.margins(y=0.12)
    axes.legend(loc="best", frameon=True, framealpha=0.9, edgecolor="none")


def _place(cell: Cell, evaluation: Evaluation) -> tuple[Any, Estimate]:
    _, attack = cell.strongest or ("", None)
    return attack, evaluation.utility.of(cell)
