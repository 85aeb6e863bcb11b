"""The page of the frontier: what to choose, mechanisms at equal success, and what was measured."""

import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib.resources import files
from itertools import chain
from operator import attrgetter
from typing import Any, Final

from malaprop.lab.studies.frontier import RECOMMENDED, SIZES, size_of
from malaprop.lab.studies.frontier.curves import (
    ATTACKS,
    BETTER,
    LOSS,
    ON_CONTENT,
    Curve,
    Figures,
    Levels,
    Point,
    Tally,
    Verdict,
    Verdicts,
    at_levels,
    champion,
    curves,
    floors,
    tally,
    verdicts,
)
from malaprop.lab.studies.reproduction import Run
from malaprop.lab.studies.study import Line
from malaprop.lab.studies.study_page import COLOURS, made_by, plotted
from malaprop.report.page import Bullets, Page, Piece, Section, Table, code

TEXTS: Final = tomllib.loads(
    (files("malaprop.lab.studies.frontier") / "page.toml").read_text("utf-8")
)
"""What the page says in words."""
_START = 0.4  # the share recovered that a newcomer starts with
_COARSE = 0.005  # below this error, a figure has a third digit


def frontier_page(lines: Sequence[Line], *, brief: bool = False) -> Page:
    """Return the page of the frontier; a brief one, for terminals, says what to choose."""
    own, run, bounds = curves(lines), Run(quick=lines[0].quick), floors(lines)
    levels = at_levels(own)
    judged = verdicts(levels)
    numbers = {name: size_of(run, name) for name in SIZES}
    title = "utility against ε and against the share of words recovered"
    picture = (plotted(partial(_paint, own, bounds), title), TEXTS["caption"])
    advice = Bullets(
        (*_missing(lines), *([TEXTS["quick"]] if run.quick else _advice(own, levels, judged)))
    )
    choice = (advice, _choices(levels, bounds))
    made = made_by("malaprop bench frontier", lines[0], run.quick)
    choose = Section("What to choose", choice if brief else (made, *choice, *picture))
    equal = Section("At equal measured privacy", _at_levels(own, levels))
    readable = Section("Readable text at equal measured privacy", tuple(_readable(lines, own)))
    others = (TEXTS["undecided"], _compared(judged), TEXTS["best"], _best(judged))
    compared = Section(f"Where `{RECOMMENDED}` is not the best", others[:2] if brief else others)
    if brief:
        return Page(title=TEXTS["title"], sections=(equal, readable, compared, choose))
    filled = {
        name: Bullets(tuple(text.format(**numbers) for text in TEXTS[name]))
        for name in ("reading", "limits")
    }
    left_out = tuple(f"{code(name)} is left out: {why}." for name, why in TEXTS["left_out"].items())
    rows = (((name,), figures) for name, figures in bounds.items())
    promised = tuple(f"{code(curve.mechanism)}: {curve.guarantee}" for curve in own)
    return Page(
        title=TEXTS["title"],
        sections=(
            choose,
            Section("How to read it", (filled["reading"],)),
            equal,
            readable,
            compared,
            Section("By ε", tuple(_by_epsilon(own, TEXTS["marks"].format(**numbers)))),
            Section("Floors and ceiling", (_table(("",), BETTER, rows),)),
            Section("Guarantees", (Bullets(promised),)),
            Section("Limits", (filled["limits"], Bullets(left_out))),
        ),
    )


# Tables: rows with names and figures, a column for each measure.

Row = tuple[tuple[str, ...], Figures]
_READ = ("similarity", "sentences", "sts")  # what is compared as drawn, and smoothed
_FORMS: Final = {
    LOSS: ".1f",
    "euclidean_epsilon": ".3g",
    **dict.fromkeys((*ATTACKS, "kept"), ".0%"),
    **dict.fromkeys(("kept_of_lexicon", "kept_of_lexicon_p95", "kept_of_lexicon_max"), ".0%"),
}
"""How measures are written that are shown without an error."""


def _table(
    names: tuple[str, ...], measures: Iterable[str], rows: Iterable[Row], form: str = ""
) -> Table:
    measures = tuple(measures)
    return Table(
        (*names, *(TEXTS["columns"][measure] for measure in measures)),
        tuple(
            (*own, *(_shown(figures, measure, form) for measure in measures))
            for own, figures in rows
        ),
        names=len(names),
    )


def _shown(figures: Figures, measure: str, form: str = "") -> str:
    """Return a figure with its error, or as its measure is written; nothing for none."""
    if measure not in figures:
        return ""
    figure, error = figures[measure], figures[measure].errors[0][0]
    if form := _FORMS.get(measure, form):
        return f"{figure.value:{form}}"
    if error is None:
        return f"{figure.value:.2f}"
    digits = 2 if error >= _COARSE else 3
    return f"{figure.value:.{digits}f} ± {error:.{digits}f}"


def _choices(levels: Levels, bounds: Mapping[str, Figures]) -> Table:
    """Return the recommended mechanism's ε for each share recovered, with what remains.

    The first row is the text without noise, and the last one random words.
    """
    points = [points[RECOMMENDED] for points in levels.values() if RECOMMENDED in points]
    rows: list[Row] = [
        ((f"{point.success.value:.0%}", f"{point.epsilon:.2f}"), point.figures)
        for point in reversed(points)
    ]
    ends = [
        [((name, ""), {measure: bounds[name][measure] for measure in BETTER & bounds[name].keys()})]
        if name in bounds
        else []
        for name in ("no noise", "random words")
    ]
    measures = (*ATTACKS, "kept", *BETTER)
    return _table(("recovered", "ε"), measures, [*ends[0], *rows, *ends[1]], ".2f")


def _at_levels(all_curves: Sequence[Curve], levels: Levels) -> tuple[Piece, ...]:
    """Return all mechanisms at equal shares recovered; name those not measured up to a share."""
    rows = (
        ((f"{level:.0%}", mechanism, f"{point.epsilon:.3g}"), point.figures)
        for level, points in levels.items()
        for mechanism, point in points.items()
    )
    unreached = (
        f"Not measured at {level:.0%} recovered: {', '.join(absent)}."
        for level, points in levels.items()
        if (absent := [code(one.mechanism) for one in all_curves if one.mechanism not in points])
    )
    measures = (*ATTACKS, LOSS, "kept", *BETTER)
    return _table(("recovered", "mechanism", "ε"), measures, rows), *unreached


def _readable(lines: Sequence[Line], by_words: Sequence[Curve]) -> Iterator[Piece]:
    """Yield all mechanisms as drawn and smoothed: by content words recovered, then by all words."""
    sides = (("content", curves(lines, ON_CONTENT)), ("all", by_words))
    tables = []
    for name, own in sides:
        rows: list[Row] = [
            ((f"{level:.0%}", mechanism, f"{point.epsilon:.3g}"), point.figures)
            for level, points in at_levels(own).items()
            for mechanism, point in points.items()
            if "similarity_smoothed" in point.figures
        ]
        if rows:
            measures = [f"{measure}{end}" for measure in _READ for end in ("", "_smoothed")]
            share = f"{name} words recovered"
            tables += [TEXTS["readable"][name], _table((share, "mechanism", "ε"), measures, rows)]
    if tables:
        yield from (*tables, TEXTS["readable"]["why"])


def _compared(judged: Verdicts) -> Table:
    """Return, for each measure, how often the recommended one is better, and where it is not."""
    rows = []
    for measure, by_level in judged.items():
        rivals: dict[str, list[str]] = {}
        for verdict in chain.from_iterable(by_level):
            if verdict.better:
                rivals.setdefault(verdict.mechanism, []).append(f"{verdict.level:.0%}")
        where = "; ".join(f"{each} at {', '.join(at)}" for each, at in rivals.items())
        rows.append((TEXTS["columns"][measure], *map(str, tally(by_level)), where))
    head = ("measure", "better", "worse", "not decided", "who is better, at which share recovered")
    return Table(head, tuple(rows))


def _best(judged: Verdicts) -> Section:
    """Return the best mechanism of each measure at each level, beside the recommended one."""
    rows = tuple(
        (
            TEXTS["columns"][measure],
            f"{row.level:.0%}",
            row.mechanism,
            _shown(row.point.figures, measure),
            _shown(row.point.figures, LOSS),
            _shown(row.recommended.figures, measure),
            "" if row.mechanism == RECOMMENDED else ("yes" if row.better else "no"),
        )
        for measure, by_level in judged.items()
        for row in (champion(measure, level) for level in by_level)
    )
    head = ("measure", "recovered", "best", "its figure", "its nats", RECOMMENDED, "decided")
    return Section(f"Who is best: {len(rows)} rows", (Table(head, rows),), folded=True)


def _by_epsilon(all_curves: Sequence[Curve], marks: str) -> Iterator[Piece]:
    """Yield all points as they were measured: nothing interpolated."""
    rows = [
        ((curve.mechanism, f"{point.epsilon:.3g}"), point.figures)
        for curve in all_curves
        for point in sorted(curve.points, key=lambda each: each.epsilon)
    ]
    names = ("mechanism", "ε")
    points = _table(names, ("euclidean_epsilon", *ATTACKS, "kept", *BETTER), rows)
    authors = [name + end for name in list(BETTER)[-2:] for end in ("", "_no_marks")]
    words = (name for name in _FORMS if name.startswith("kept_of_lexicon"))
    more = _table(names, (*authors, *words), rows)
    yield TEXTS["by_epsilon"]
    yield Section(f"All points: {len(rows)} rows", (points,), folded=True)
    yield marks
    yield Section(f"With and without punctuation, and N_w: {len(rows)} rows", (more,), folded=True)


# What a newcomer takes from the frontier: which mechanism, which ε, and what speaks against it.


def _missing(lines: Iterable[Line]) -> Iterator[str]:
    """Name the commands that get missing data, and the figures that are left out without them."""
    absent: dict[str, dict[str, None]] = {}
    for line in lines:
        if line.command:
            absent.setdefault(line.command, {})[line.measure.replace("_", " ")] = None
    for command, measures in absent.items():
        yield f"Data are missing: run {code(command)}. Left out: {', '.join(measures)}."


def _advice(all_curves: Sequence[Curve], levels: Levels, judged: Verdicts) -> Iterator[str]:
    """Say what speaks for the recommended mechanism, what against it, and which ε to take.

    There is none if nothing was measured.
    """
    best = next((curve for curve in all_curves if curve.mechanism == RECOMMENDED), None)
    if best is None or not best.points:
        return
    yield f"Take `{RECOMMENDED}`, unless your task is one where it is worse."
    yield from _guaranteed(levels)
    counts = {measure: tally(by_level) for measure, by_level in judged.items()}
    for verb, sign in (("better", 1), ("worse", -1)):
        if leads := {name: each for name, each in counts.items() if each.lead * sign > 0}:
            yield f"At an equal share recovered it is more often {verb} in {_counted(leads)}."
    if even := {name: each for name, each in counts.items() if each.lead == 0 and any(each)}:
        yield f"No difference is established in {_counted(even)}."
    bounded = {
        curve.mechanism for curve in all_curves if any(LOSS in p.figures for p in curve.points)
    }
    for measure, by_level in judged.items():
        if counts[measure].lead < 0 and RECOMMENDED in bounded:
            yield from _instead(measure, by_level, bounded)
    yield (
        "Which ε: choose the share of words that an observer may recover, and take the ε of "
        f"`{RECOMMENDED}` in its row. The other columns say what is left."
    )
    if start := best.at(_START):
        yield (
            f"To begin with, try ε = {start.epsilon:.3g}, where {_START:.0%} are recovered. Then "
            f"attack your own texts: `malaprop attack context FILE --epsilon {start.epsilon:.3g}`."
        )


def _counted(counts: Mapping[str, Tally]) -> str:
    return "; ".join(
        f"{TEXTS['columns'][name]} (better {each.better}, worse {each.worse}, not decided "
        f"{each.undecided})"
        for name, each in counts.items()
    )


def _guaranteed(levels: Levels) -> Iterator[str]:
    """Compare the guarantees between near words, wherever both are known."""
    known = [
        {name: point.figures[LOSS].value for name, point in points.items() if LOSS in point.figures}
        for points in levels.values()
    ]
    pairs = [
        (losses[RECOMMENDED], theirs)
        for losses in known
        if RECOMMENDED in losses
        for name, theirs in losses.items()
        if name != RECOMMENDED
    ]
    if pairs:
        stronger = sum(own < theirs for own, theirs in pairs)
        yield (
            f"At an equal share of words recovered, `{RECOMMENDED}` has the stronger guarantee "
            f"between a word and its nearest word in {stronger} of {len(pairs)} comparisons: "
            f"{min(own for own, _ in pairs):.1f} to {max(own for own, _ in pairs):.1f} nats, the "
            f"others {min(theirs for _, theirs in pairs):.1f} and more."
        )


def _instead(
    measure: str, by_level: Sequence[Sequence[Verdict]], bounded: Collection[str]
) -> Iterator[str]:
    """Name the best mechanism where the recommended one loses more often than it wins.

    Of those that bound the loss between any two words, it is the one that wins at most levels.
    """
    known = [[each for each in level if each.mechanism in bounded] for level in by_level]
    winners = [row for level in known if level and (row := champion(measure, level)).better]
    if winners:
        names = [row.mechanism for row in winners]
        chosen = max(dict.fromkeys(names), key=names.count)
        own = [row for row in winners if row.mechanism == chosen]
        losses = [row.point.figures[LOSS].value for row in own]
        need = TEXTS["columns"][measure]
        yield (
            f"If {need} is what you need, take `{chosen}`: it has the best figure at "
            f"{', '.join(f'{row.level:.0%}' for row in own)} recovered, of the mechanisms that "
            f"bound the loss between any two words. (Its lead over `{RECOMMENDED}` is decided; "
            f"that over the others may be luck.) Its guarantee is far weaker there: "
            f"{min(losses):.0f} to {max(losses):.0f} nats to the nearest word."
        )


# The plot: utility against ε, and against what attacks recover.

_SIZE = (8.4, 12.4)  # inches
_TICKS = (1, 2, 5, 10, 20, 50, 100, 200)
_INK = "#111111"
_epsilon: Final = attrgetter("epsilon")
_success: Final = attrgetter("success.value")
# Shapes, dashes and lightness differ, so that grey paper tells the mechanisms apart.
_LOOKS = tuple(zip("s^DvPX*<>hp", ("-", "--", "-.", ":") * 3, COLOURS[1:], strict=False))


def _paint(all_curves: Sequence[Curve], bounds: Mapping[str, Figures], axes: Any) -> None:
    """Paint ten panels: against ε on the left, against success on the right."""
    figure = axes.figure
    axes.remove()
    figure.set_size_inches(*_SIZE)
    panels = figure.subplots(len(TEXTS["panels"]) + 1, 2, sharex="col")
    _privacy(panels[0], all_curves)
    for row, (measure, title) in zip(panels[1:], TEXTS["panels"].items(), strict=True):
        for panel, x in zip(row, (_epsilon, _success), strict=True):
            _lines(panel, all_curves, x, measure)
            _bounds(panel, measure, bounds)
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
            yerr=[2.0 * (point.figures[measure].errors[0][0] or 0.0) for point in own],
            label=curve.mechanism,
            color=colour,
            marker=mark,
            ls=dashes,
            ms=4.5,
            capsize=2,
            **look,
        )


def _bounds(panel: Any, measure: str, bounds: Mapping[str, Figures]) -> None:
    """Mark what there is without noise, and with random words."""
    for name, dashes in (("no noise", (0, (1, 1))), ("random words", (0, (4, 4)))):
        value = bounds.get(name, {}).get(measure)
        if value is not None:
            panel.axhline(value.value, color="#666666", lw=0.9, ls=dashes, label=name, zorder=1)
