"""The page of a study: what became of a paper's claims, and our figures beside its own."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from textwrap import fill
from typing import Any, Final

from malaprop.lab.studies.study import Line, is_where, paper_of
from malaprop.report.page import Bullets, Link, Page, Piece, Plot, Section, Table, code, named
from malaprop.report.plots import drawn

QUICK: Final = (
    "A quick run is another, smaller experiment: fewer settings, words and repeats. It reaches no "
    "verdict."
)
_READING = (
    "Each claim is judged on every figure that it is about. “Not decided” means that Welch's test "
    "cannot tell the figures apart at 5 % with so few repeats, “not measured” that we have no "
    "figure. Only what the paper says is its claim. Where it says it in words such as “similar”, a "
    "threshold is our reading, and what it did not run is our control: both stand in a table of "
    "their own. The tables below show our figure ± one standard error, and the paper's own in "
    "brackets where it prints one. In the plots, bars are two standard errors, and dashed lines "
    "the paper's. Of a hundred comparisons of equal figures, up to five count as different: trust "
    "a direction that many figures share more than a single one."
)
_OURS = "Our readings and controls, which are not the paper's claims:"
_PRINTED = "The figures that the paper prints, in brackets beside ours:"
_WHOSE: Final = {"paper": "", "reading": "our reading: ", "control": "our control: "}
_VERDICTS: Final = {True: "confirmed", False: "not confirmed", None: "not decided"}
_OUTCOMES: Final = (*_VERDICTS.values(), "not measured")
_LONG_NAMES = {"fig": "Figure ", "table": "Table ", "lemma": "Lemma ", "theorem": "Theorem "}
_NO_ERROR = 1e-9  # what rounding leaves of an error of 0
_BRIEF = 12  # figures of an item that a terminal shows
LONG: Final = 30
"""Rows of a table beyond which the rows with a figure of the paper are shown by themselves."""


def study_page(lines: Iterable[Line], *, brief: bool = False) -> Page:
    """Return the page of one study, or of several; a brief one, for terminals, has few figures."""
    studies: dict[str, dict[str, list[Line]]] = {}
    for line in lines:
        studies.setdefault(line.study, {}).setdefault(line.item, []).append(line)
    if len(studies) > 1:
        return Page(
            title="The papers' figures and ours",
            sections=tuple(
                Section(
                    name,
                    (f"{paper_of(name).paper}.", *_sections(name, items, brief, f"{name}-")),
                )
                for name, items in studies.items()
            ),
        )
    ((name, items),) = studies.items()
    return Page(
        title=f"{name}: the paper's figures and ours",
        audience=f"{paper_of(name).paper}.",
        sections=_sections(name, items, brief, ""),
    )


def _sections(
    study: str, items: Mapping[str, Sequence[Line]], brief: bool, prefix: str
) -> tuple[Section, ...]:
    """Return what a page says about a study; `prefix` tells its anchors from those of others."""
    paper = paper_of(study)
    if brief:
        quick = any(own[0].quick for own in items.values())
        note = (Section("A quick run", (QUICK,)),) if quick else ()
        entries = [(_title(name, paper.items.get(name, {})), own) for name, own in items.items()]
        return (*note, *(Section(title, _brief(own)) for title, own in entries))
    facts = [f"{name}: {value}" for name, value in paper.setting.items()]
    deviations = [f"{one['what']} Why: {one['why']}" for one in paper.deviations]
    ours = _summary(items, ("reading", "control"), prefix)
    claims = (_summary(items, ("paper",), prefix), _READING, *((_OURS, ours) if ours.rows else ()))
    return (
        Section("What became of the claims", (_how(study, items), *claims)),
        Section("What the paper ran", (Bullets(tuple(facts)),)),
        Section("Where we deviate", (Bullets(tuple(deviations)),)),
        *(
            Section(
                _title(name, paper.items.get(name, {})),
                tuple(_pieces(own, paper.items.get(name, {}), f"{prefix}{name}")),
                anchor=f"{prefix}{name}",
            )
            for name, own in items.items()
        ),
    )


def _how(study: str, items: Mapping[str, Sequence[Line]]) -> str:
    """Say how the figures were made, and which are those of a quick run."""
    line = next(iter(items.values()))[0]
    quick = [_spelled(name) for name, own in items.items() if own[0].quick]
    all_quick = len(quick) == len(items)
    return (
        made_by(f"malaprop reproduce {study}", line, all_quick)
        + (f" Of the quick run: {', '.join(quick)}." if quick and not all_quick else "")
        + (f" {QUICK}" if quick else "")
    )


def made_by(command: str, line: Line, quick: bool) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in line.versions.items())
    return f"Made by `{command}{' --quick' * quick} --seed {line.seed}` with {versions}."


def _spelled(item: str) -> str:
    """Turn `fig2` into `Figure 2`, `table3` into `Table 3`."""
    for short, long in _LONG_NAMES.items():
        if item.startswith(short) and item[len(short) :][:1].isdigit():
            return long + item[len(short) :]
    return item.replace("_", " ").capitalize()


def _title(name: str, entry: Mapping[str, Any]) -> str:
    return f"{_spelled(name)}: {entry.get('title', name)}"


# Claims, and on how many figures ours confirm them.


def _outcomes(lines: Sequence[Line], *whose: str) -> dict[str, Counter[str]]:
    """Count what became of each claim; a quick run reaches no verdict."""
    outcomes: dict[str, Counter[str]] = {}
    told = [(line, each) for line in lines if not line.quick for each in line.claims]
    for kind in whose:
        for line, each in told:
            if each.whose == kind:
                outcome = _OUTCOMES[-1] if line.ours is None else _VERDICTS[each.holds]
                outcomes.setdefault(_WHOSE[kind] + each.claim, Counter())[outcome] += 1
    return outcomes


def _rows(outcomes: Mapping[str, Counter[str]]) -> tuple[tuple[str, ...], ...]:
    rows = outcomes.items()
    return tuple((claim, *(str(own[name]) for name in _OUTCOMES)) for claim, own in rows)


def _summary(items: Mapping[str, Sequence[Line]], whose: Sequence[str], prefix: str) -> Table:
    """Return a row for each claim, item by item, or that there is none of the paper."""
    rows: list[tuple[str | Link, ...]] = []
    for name, lines in items.items():
        own = _rows(_outcomes(lines, *whose))
        if not own and whose == ("paper",):
            why = "only our readings and controls" if _outcomes(lines, *_WHOSE) else "figures alone"
            told = "no verdict: a quick run" if lines[0].quick else f"no claim: {why}"
            own = ((told, *("" for _ in _OUTCOMES)),)
        rows += [(Link(_spelled(name), f"{prefix}{name}"), *row) for row in own]
    return Table(("item", "claim", *_OUTCOMES), tuple(rows), names=2)


# An item: its claims, plots and figures.


def _pieces(lines: Sequence[Line], entry: Mapping[str, Any], stem: str) -> Iterator[Piece]:
    """Yield what stands under an item's heading. A long table is folded."""
    across = str(entry.get("columns", ""))
    yield str(entry.get("about", ""))
    yield _throughout(lines, across)
    for whose in (("paper",), ("reading", "control")):
        yield Table(("claim", *_OUTCOMES), _rows(_outcomes(lines, *whose)))
    drawings = [each for spec in entry.get("plots", []) for each in plots(spec, lines)]
    for number, (caption, draw) in enumerate(drawings, 1):
        yield Plot(draw, caption, f"{stem}-{number}")
    table = _figures(lines, across)
    if len(table.rows) <= LONG:
        yield table
    else:
        if printed := [line for line in lines if line.paper is not None]:
            yield _PRINTED
            yield _figures(printed, across)
        yield Section(f"All {len(table.rows)} rows of figures", (table,), folded=True)
    yield from _missing(lines)


def _brief(lines: Sequence[Line]) -> tuple[Piece, ...]:
    """Return what became of the claims, and the figures that the paper prints, or some."""
    claims = [
        f"{claim}: {', '.join(f'{name} on {own[name]}' for name in _OUTCOMES if own[name])}"
        for claim, own in _outcomes(lines, *_WHOSE).items()
    ]
    measured = [line for line in lines if line.ours is not None]
    shown = ([line for line in lines if line.paper is not None] or measured)[:_BRIEF]
    more = len(lines) - len(shown)
    rest = f"{more} more figures: `malaprop reproduce --json` or `--report` writes all of them."
    figures = tuple(map(_one_line, shown))
    return Bullets(tuple(claims)), Bullets(figures), rest if more else "", *_missing(lines)


def _one_line(line: Line) -> str:
    setting = {k: v for k, v in line.setting.items() if k not in ("lexicon", "spread")}
    where = " ".join(f"{name}={value}" for name, value in setting.items())
    spread = line.setting.get("spread")
    over = f"; errors over {spread}" if line.error is not None and spread else ""
    return f"{where} {line.measure}: {cell(line)}{over}"


def _missing(lines: Sequence[Line]) -> Iterator[str]:
    for command in dict.fromkeys(line.command for line in lines if line.command):
        if command.startswith("malaprop "):
            command, _, note = command.partition("  ")  # which no shell should get
            yield f"Data are missing: run {code(command)}{f' {named(note)}' if note else ''}."
        else:
            yield f"Data are missing: {named(command)}."


def _throughout(lines: Sequence[Line], across: str) -> str:
    """Say what is the same for all figures, such as the lexicon, and what errors are over."""
    names = dict.fromkeys(name for line in lines for name in line.setting)
    varying = {*_varying(lines), across}
    same = [
        f"{_said(name)} {_shown(lines[0].setting[name])}" for name in names if name not in varying
    ]
    imported = dict.fromkeys(
        f"Imported as {line.setting.get('vectors', line.setting.get('lexicon'))}: {line.vectors}."
        for line in lines
        if line.vectors
    )
    return " ".join([f"Throughout: {'; '.join(same)}."] * bool(same) + [*imported])


def _figures(lines: Sequence[Line], across: str) -> Table:
    """Return our figures beside the paper's: a column for each value of the main variable."""
    # Where neither we nor the paper have a figure, a row would say nothing.
    lines = [line for line in lines if (line.ours, line.paper) != (None, None)] or lines
    columns = list(dict.fromkeys(line.setting.get(across) for line in lines))
    names = [name for name in _varying(lines) if name != across]
    rows: dict[tuple[str, ...], dict[Any, str]] = {}
    for line in lines:
        row = (*(_shown(line.setting.get(name)) for name in names), line.measure)
        rows.setdefault(row, {})[line.setting.get(across)] = cell(line)
    heads = (f"no {across}" if value is None else f"{across} {_shown(value)}" for value in columns)
    return Table(
        (*map(_said, names), "measure", *(heads if across else ("figure",))),
        tuple((*row, *(cells.get(value, "") for value in columns)) for row, cells in rows.items()),
        names=len(names) + 1,
    )


def cell(line: Line) -> str:
    """Return our figure with its error, and the paper's in brackets."""
    if line.ours is None:
        own = "no data" if line.command else "–"
    else:
        own = _with_error(line.ours, line.error)
    return own if line.paper is None else f"{own} ({_with_error(line.paper, line.paper_error)})"


def _said(name: str) -> str:
    return "errors over" if name == "spread" else name


def _with_error(value: float | str, error: float | None) -> str:
    if error is None:
        return _shown(value)
    if isinstance(value, str) or error < _NO_ERROR:
        return f"{_shown(value)} ± 0" if error < _NO_ERROR else f"{value} ± {error:.2g}"
    decimals = max(0, 1 - math.floor(math.log10(error)))  # two digits of the error
    return f"{value:.{decimals}f} ± {error:.{decimals}f}"


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _varying(lines: Sequence[Line]) -> list[str]:
    """Return the names of settings that differ between lines, in order of appearance."""
    names = list(dict.fromkeys(name for line in lines for name in line.setting))
    return [name for name in names if len({_shown(li.setting.get(name)) for li in lines}) > 1]


# Plots of a study, as SVG: our figures with error bars, the paper's as dashed lines.

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
COLOURS = (
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


def plots(spec: Mapping[str, Any], lines: Sequence[Line]) -> list[tuple[str, Callable[[], str]]]:
    """Return the plots that a specification asks for: pairs of a caption and what draws an SVG.

    `x` is a name of the setting and `y` a measure; `series` are the names whose values tell lines
    apart; `panels`, if given, is a name with a plot for each of its values; `where` restricts.
    """
    x, panel = spec["x"], spec.get("panels", "")
    usable = [
        line
        for line in lines
        if line.measure == spec["y"]
        and isinstance(line.ours, int | float)
        and isinstance(line.setting.get(x), int | float)
        and is_where(spec.get("where", {}), line.setting)
    ]
    return [
        (
            f"{spec['y']} by {x}" + (f", {value}" if panel else ""),
            partial(_plot, spec, [line for line in usable if line.setting.get(panel) == value]),
        )
        for value in dict.fromkeys(line.setting.get(panel) for line in usable)
    ]


def _plot(spec: Mapping[str, Any], lines: Sequence[Line]) -> str:
    x, scale = spec["x"], spec.get("scale", "linear")
    series: dict[str, list[Line]] = {}
    for line in lines:
        names = (name for name in spec["series"] if name in line.setting)
        label = ", ".join(_label(name, line.setting[name]) for name in names)
        series.setdefault(fill(label, _LABEL), []).append(line)

    def paint(axes: Any) -> None:
        for place, (label, own) in enumerate(series.items()):
            own = sorted(own, key=lambda line: float(line.setting[x]))
            # Beyond the colours, other pairs of a colour and a mark.
            again, colour = divmod(place, len(COLOURS))
            look = {"color": COLOURS[colour], "marker": _MARKS[(place + again) % len(_MARKS)]}
            places, ours = [line.setting[x] for line in own], [line.ours for line in own]
            errors = [2.0 * (line.error or 0.0) for line in own]
            axes.errorbar(
                places, ours, yerr=errors, label=label, ms=4, ls=_DASHES[again % 2], **look
            )
            numbers = [line for line in own if isinstance(line.paper, int | float)]
            printed = [(line.setting[x], line.paper) for line in numbers]
            if printed:
                axes.plot(*zip(*printed, strict=True), "--", mfc="none", lw=1, **look)
        axes.set(xlabel=x, ylabel=spec["y"], xscale=scale)
        if scale == "log":  # the values themselves: names of the axis' powers would overlap
            values = sorted({float(line.setting[x]) for line in lines})
            axes.set_xticks(values, labels=[f"{value:g}" for value in values])
            axes.set_xticks([], minor=True)
        if len(axes.containers) <= _INSIDE:
            axes.legend(fontsize=7)
        else:
            axes.figure.set_size_inches(_WIDE)
            axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.01, 0.5))

    return smaller(drawn(paint))


def smaller(svg: str) -> str:
    """Leave out what nobody sees: digits, indentation, and the names of fonts."""
    for pattern, shown in _UNSEEN:
        svg = pattern.sub(shown, svg)
    return svg


def _label(name: str, value: Any) -> str:
    if name == "published":
        return "as published" if value else "sound"
    return f"{name} {value:g}" if isinstance(value, float | int) else str(value)
