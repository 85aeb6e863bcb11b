"""The page of a study: what became of a paper's claims, and our figures beside its own."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from textwrap import fill
from typing import Any, Final, Literal, NamedTuple

from malaprop.lab.studies.study import Line, Paper, is_where, paper_of
from malaprop.privacy.estimate import LEVEL, chance_margin
from malaprop.report.page import Bullets, Link, Page, Piece, Plot, Section, Table, code, named
from malaprop.report.plots import Paint, drawn, drawn_as_pdf

Form = Literal["short", "full", "brief"]
QUICK: Final = (
    "A quick run is another, smaller experiment: fewer settings, words and repeats. It reaches no "
    "verdict."
)
_OWN = (
    "This run had data of the user's own, {}. They were in the place of what this page calls "
    "`english`, or of the data set of that name."
)
_READING = (
    "Each claim is judged on every figure that it is about. “Not decided” means that Welch's test "
    "cannot tell the figures apart at 5 % with so few repeats, “not measured” that we have no "
    "figure. Only what the paper says is its claim. Where it says it in words such as “similar”, a "
    "threshold is our reading, and what it did not run is our control: both stand in a table of "
    "their own. The tables below show our figure ± one standard error, and the paper's own in "
    "brackets where it prints one. In the plots, bars are 95 % intervals, and dashed lines the "
    "paper's. Of a hundred comparisons of equal figures, up to five count as different: trust "
    "a direction that many figures share more than a single one."
)
_SHORT_READING = (
    "Each claim is judged on every figure that it is about, by Welch's test at 5 %. “Not decided”: "
    "too few repeats to tell; “not measured”: we lack the data. Below, figures are ours ± one "
    "standard error where nothing else is said, the paper's in brackets, and dashed in plots."
)
_OURS = "Our readings and controls, which are not the paper's claims:"
_PRINTED = "The figures that the paper prints, in brackets beside ours:"
_WHOSE: Final = {"paper": "", "reading": "our reading: ", "control": "our control: "}
_VERDICTS: Final = {True: "confirmed", False: "not confirmed", None: "not decided"}
_OUTCOMES: Final = (*_VERDICTS.values(), "not measured")
_LONG_NAMES = {"fig": "Figure ", "table": "Table ", "lemma": "Lemma ", "theorem": "Theorem "}
_NO_DATA = "no data "
_NO_ERROR = 1e-9  # what rounding leaves of an error of 0
_BRIEF = 12  # figures of an item that a terminal shows
LONG: Final = 30
"""Rows of a table beyond which the rows with a figure of the paper are shown by themselves."""


def study_page(lines: Iterable[Line], *, form: Form = "short") -> Page:
    """Return the page of one study, or of several.

    The short one has each table and figure as the paper has it; the full one, every figure that was
    measured, with controls; the brief one, for terminals, has what became of the claims.
    """
    studies: dict[str, dict[str, list[Line]]] = {}
    own: dict[str, None] = {}
    for line in lines:
        studies.setdefault(line.study, {}).setdefault(line.item, []).append(line)
        own |= {line.given: None} if line.given else {}
    warnings = tuple(_OWN.format(given) for given in own)
    if len(studies) > 1:
        return Page(
            title="The papers' figures and ours",
            warnings=warnings,
            sections=tuple(
                Section(
                    name,
                    (f"{paper_of(name).paper}.", *_sections(name, items, form, f"{name}-")),
                )
                for name, items in studies.items()
            ),
        )
    ((name, items),) = studies.items()
    return Page(
        title=f"{name}: the paper's figures and ours",
        warnings=warnings,
        audience=f"{paper_of(name).paper}.",
        sections=_sections(name, items, form, ""),
    )


def _sections(
    study: str, items: Mapping[str, Sequence[Line]], form: Form, prefix: str
) -> tuple[Section, ...]:
    """Return what a page says about a study; `prefix` tells its anchors from those of others."""
    paper = paper_of(study)
    if form == "brief":
        quick = any(own[0].quick for own in items.values())
        note = (Section("A quick run", (QUICK,)),) if quick else ()
        entries = [(_title(name, study), own) for name, own in items.items()]
        return (*note, *(Section(title, _brief(own)) for title, own in entries))
    short = form == "short"
    facts = Bullets(tuple(f"{name}: {value}" for name, value in paper.setting.items()))
    deviations = Bullets(tuple(f"{one['what']} Why: {one['why']}" for one in paper.deviations))
    claims: tuple[Piece, ...] = (_summary(items, ("paper",), prefix, short=short),)
    if short:
        did = Section("What the paper did", (paper.did or facts,))
        claims = (*claims, f"{_SHORT_READING} {_bars_of(paper)}")
    else:
        did = Section("What the paper ran", (facts,))
        ours = _summary(items, ("reading", "control"), prefix)
        claims = (_how(study, items), *claims, _READING, *((_OURS, ours) if ours.rows else ()))
    parts = [
        Section(
            _title(name, study),
            tuple(
                _as_printed(own, paper.items.get(name, {}), f"{prefix}{name}", paper)
                if short
                else _pieces(own, paper.items.get(name, {}), f"{prefix}{name}")
            ),
            anchor=f"{prefix}{name}",
        )
        for name, own in items.items()
    ]
    stands, differs = Section("What stands and what does not", claims), "Where we deviate, and why"
    if not short:
        return (stands, did, Section(differs, (deviations,)), *parts)
    whole = f"malaprop reproduce {study} --from {study}.jsonl.gz --page full --report FILE"
    again = (_how(study, items), f"All figures, with controls, floors and errors: `{whole}`.")
    shown = (part for part in parts if part.pieces)
    missing = Section("Not measured", (_lacking(items),))
    ends = (missing, Section(differs, (deviations,)), Section("Run it", again))
    return (did, stands, *shown, *ends)


def _bars_of(paper: Paper) -> str:
    """Say what the bars of plots are: what the paper's are, where it has any."""
    shown = "one standard error" if paper.bars == "error" else "95 % intervals"
    return f"Bars in plots are {shown}{', as in the paper' if paper.bars else ''}."


def _how(study: str, items: Mapping[str, Sequence[Line]]) -> str:
    """Say how the figures were made, and which are those of a quick run."""
    line = next(iter(items.values()))[0]
    quick = [_spelled(name, study) for name, own in items.items() if own[0].quick]
    all_quick = len(quick) == len(items)
    return (
        made_by(f"malaprop reproduce {study}", line, all_quick)
        + (f" Of the quick run: {', '.join(quick)}." if quick and not all_quick else "")
        + (f" {QUICK}" if quick else "")
    )


def made_by(command: str, line: Line, quick: bool) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in line.versions.items())
    return f"Made by `{command}{' --quick' * quick} --seed {line.seed}` with {versions}."


def _spelled(item: str, study: str) -> str:
    """Return an item's name in the paper; unless that says so, `Figure 2` for `fig2`."""
    if item in (labels := paper_of(study).labels):
        return labels[item]
    for short, long in _LONG_NAMES.items():
        if item.startswith(short) and item[len(short) :][:1].isdigit():
            return long + item[len(short) :]
    return item.replace("_", " ").capitalize()


def _title(name: str, study: str) -> str:
    return f"{_spelled(name, study)}: {paper_of(study).items.get(name, {}).get('title', name)}"


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


def _summary(
    items: Mapping[str, Sequence[Line]], whose: Sequence[str], prefix: str, *, short: bool = False
) -> Table:
    """Return a row for each claim, item by item, or that there is none of the paper."""
    rows: list[tuple[str | Link, ...]] = []
    for name, lines in items.items():
        own = _rows(_outcomes(lines, *whose))
        if not own and whose == ("paper",):
            why = "only our readings and controls" if _outcomes(lines, *_WHOSE) else "figures alone"
            told = "no verdict: a quick run" if lines[0].quick else f"no claim: {why}"
            own = ((told, *("" for _ in _OUTCOMES)),)
        title = _spelled(name, lines[0].study)
        there = _is_measured(lines) or not short
        rows += [(Link(title, f"{prefix}{name}") if there else title, *row) for row in own]
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
    for number, (caption, paint) in enumerate(drawings, 1):
        yield plotted(paint, caption, f"{stem}-{number}")
    table = _figures(lines, across)
    if len(table.rows) <= LONG:
        yield table
    else:
        if printed := [line for line in lines if line.paper is not None]:
            yield _PRINTED
            yield _figures(printed, across)
        yield Section(f"All {len(table.rows)} rows of figures", (table,), folded=True)
    yield from _missing(lines)


def _as_printed(
    lines: Sequence[Line], entry: Mapping[str, Any], stem: str, paper: Paper
) -> Iterator[Piece]:
    """Yield an item as the paper has it: the same plots, the same rows and columns.

    `view` says how: a `note`, `plots`, and `tables`, each with its measures, columns and
    conditions. Without it, the figures that the paper prints stand beside ours. An item of which
    nothing was measured has no section.
    """
    if not _is_measured(lines):
        return
    view, labels, bars = entry.get("view", {}), paper.labels, paper.bars or "interval"
    yield str(view.get("note", ""))
    for spec in view.get("tables", ()):
        chosen = list(_in_papers_words(lines, spec))
        across = spec.get("columns", entry.get("columns", ""))
        yield _labelled(_figures(chosen, across, spec.get("hide", ()), plain=True), labels)
    if "tables" not in view:
        measured = [line for line in lines if line.ours is not None]
        printed = [line for line in measured if line.paper is not None] or measured[:_BRIEF]
        yield _labelled(_figures(printed, str(entry.get("columns", ""))), labels)
    common = {"labels": labels, "bars": bars}
    specs = [{**common, **spec} for spec in view.get("plots", ())]
    drawings = [each for spec in specs for each in plots(spec, lines)]
    for number, (caption, paint) in enumerate(drawings, 1):
        yield plotted(paint, caption, f"{stem}-{number}")


def _is_measured(lines: Sequence[Line]) -> bool:
    return any(line.ours is not None for line in lines)


def _lacking(items: Mapping[str, Sequence[Line]]) -> Bullets:
    """Return how to get the data that are missing, and what lacks them."""
    lacking: dict[str, list[str]] = {}
    for name, lines in items.items():
        for remedy in dict.fromkeys(_remedies(lines)):
            title = _spelled(name, lines[0].study)
            part = f"parts of {title}" if _is_measured(lines) else title
            lacking.setdefault(remedy, []).append(part)
    return Bullets(tuple(f"{', '.join(own)}: {remedy}." for remedy, own in lacking.items()))


def plotted(paint: Paint, caption: str, name: str = "") -> Plot:
    """Return a plot that is drawn as a small SVG, or as PDF."""
    return Plot(partial(_svg, paint), caption, name, partial(drawn_as_pdf, paint))


def _svg(paint: Paint) -> str:
    return smaller(drawn(paint))


def _in_papers_words(lines: Sequence[Line], spec: Mapping[str, Any]) -> list[Line]:
    """Return the lines of a table: floors by their names, and means ± what the paper has there.

    `deviations` names, for a measure, the one that stands behind ± in its place; `order` has a name
    and the order of its values.
    """
    where, deviations = spec.get("where", {}), spec.get("deviations", {})
    known = {line.key: line for line in lines}
    chosen = []
    for line in lines:
        conditions = where if isinstance(where, list) else [where]
        told = {**line.setting, "measure": line.measure}
        if line.measure not in spec["measures"] or not any(is_where(c, told) for c in conditions):
            continue
        setting = dict(line.setting)
        if "mechanism" not in setting and "control" in setting:
            setting["mechanism"] = setting.pop("control")
        beside = replace(line, measure=deviations.get(line.measure, "")).key
        if spread := known.get(beside):
            line = replace(line, error=_number(spread.ours), paper_error=_number(spread.paper))
        chosen.append(replace(line, setting=setting))
    for name, values in spec.get("order", {}).items():
        chosen.sort(key=lambda each: values.index({"measure": each.measure, **each.setting}[name]))
    return chosen


def _number(value: float | str | None) -> float | None:
    return value if isinstance(value, int | float) else None


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
    yield from (f"Data are missing: {remedy}." for remedy in _remedies(lines))


def _remedies(lines: Sequence[Line]) -> Iterator[str]:
    for command in dict.fromkeys(line.command for line in lines if line.command):
        if command.startswith("malaprop "):
            command, _, note = command.partition("  ")  # which no shell should get
            yield f"run {code(command)}{f' {named(note)}' if note else ''}"
        else:
            yield named(command)


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


def _figures(
    lines: Sequence[Line],
    across: str | Sequence[str],
    hide: Sequence[str] = (),
    *,
    plain: bool = False,
) -> Table:
    """Return our figures beside the paper's: a column for each value of the main variable.

    `across` may be several names, `measure` among them, whose values together tell columns apart;
    `hide` are names that no row needs to show. A `plain` table does not name its only measure.
    """
    across, several = (across, ()) if isinstance(across, str) else ("", tuple(across))

    def column(line: Line, name: str = across) -> Any:
        if not several:
            return line.setting.get(name)
        values = {**line.setting, "measure": line.measure}
        return tuple(values[name] for name in several if name in values)

    # Where neither we nor the paper have a figure, a row would say nothing.
    lines = [line for line in lines if (line.ours, line.paper) != (None, None)] or lines
    columns = list(dict.fromkeys(map(column, lines)))
    names = [name for name in _varying(lines) if name not in (across, *several, *hide)]
    alone = plain and len({line.measure for line in lines}) == 1 and bool(names)
    measured = not (alone or "measure" in (*several, *hide))
    rows: dict[tuple[str, ...], dict[Any, str]] = {}
    for line in lines:
        row = (*(_shown(line.setting.get(name)) for name in names), *[line.measure] * measured)
        shown = cell(line).removeprefix(_NO_DATA) if plain else cell(line)
        rows.setdefault(row, {})[column(line)] = shown
    heads = [f"no {across}" if value is None else f"{across} {_shown(value)}" for value in columns]
    if several:
        heads = [", ".join(map(_shown, value)) for value in columns]
    ends = heads if across or several else ("figure",)
    return Table(
        (*map(_said, names), *["measure"] * measured, *ends),
        tuple((*row, *(cells.get(value, "") for value in columns)) for row, cells in rows.items()),
        names=len(names) + measured,
    )


def _labelled(table: Table, labels: Mapping[str, str]) -> Table:
    """Return a table in the paper's own words."""

    def said(text: str) -> str:
        if text in labels:
            return labels[text]
        parts = text.split(", ")
        if len(parts) > 1 and parts[0] in labels:  # a column of several values
            return ", ".join(labels.get(part, part) for part in parts)
        name, _, value = text.partition(" ")
        told = labels.get(value, value) if name == "no" else value
        sign = " = " if value.replace(".", "", 1).isdecimal() else " "
        return f"{labels.get(name, name)}{sign}{told}".rstrip()

    rows = [
        (*(labels.get(str(name), name) for name in row[: table.names]), *row[table.names :])
        for row in table.rows
    ]
    return replace(table, head=tuple(map(said, table.head)), rows=tuple(rows))


def cell(line: Line) -> str:
    """Return our figure with its error, and the paper's in brackets."""
    if line.ours is None:
        own = _NO_DATA.strip() if line.command else "–"
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
_FEW = 6  # values of x that are all named on the axis
_LABEL = 34  # characters in a line of a series' name
_INSIDE = 4  # series whose names fit into the plot
_PANEL = (2.5, 2.1)  # inches of one of several
_SMALL = (1.4, 1.2)  # where more than _COLUMNS stand beside each other
_COLUMNS = 4
_ENTRY = 1.6  # inches of an entry of a legend
_ROW = 3  # panels beside each other, where there are few
_DENSE = 50  # points of a curve without marks
_MARKS = "os^DvP*X<>hd"
_LEVELS = (":", (0, (1, 4)), (0, (8, 4)))
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


class _Panel(NamedTuple):
    """One pair of axes: a measure, of the lines of one value of the panels' setting."""

    title: str
    y: str
    lines: Sequence[Line]
    levels: Sequence[tuple[str, float]]


def plots(spec: Mapping[str, Any], lines: Sequence[Line]) -> list[tuple[str, Paint]]:
    """Return the plot that a specification asks for, if there are figures for it: its caption, and
    what paints it.

    `x` is a name of the setting and `y` a measure, or several with a panel each; `series` are the
    names whose values tell lines apart; `panels`, if given, is a name with a panel for each of its
    values; `where` restricts. `levels` are lines across, each of the figure `where` it is, with a
    `label`; `told` are figures that a panel's title has, by measure, with what to call them;
    `labels` are the paper's names of values; `kind` is `line`, `bars`, or `disk`, where x
    is an angle and y a radius; `xlabel` and `ylabel` name the axes; `bars` is what bars of an error
    show: an `error`, or by default a 95 % `interval`.
    """
    x, across, named_so = spec["x"], spec.get("panels", ""), spec.get("labels", {})
    measures = [spec["y"]] if isinstance(spec["y"], str) else spec["y"]
    panels: list[_Panel] = []
    for y in measures:
        known = [li for li in lines if li.measure == y and isinstance(li.ours, int | float)]
        usable = [
            line
            for line in known
            if isinstance(line.setting.get(x), int | float)
            and is_where(spec.get("where", {}), line.setting)
        ]
        for value in dict.fromkeys(line.setting.get(across) for line in usable):
            levels = [
                (str(level["label"]), float(line.ours or 0.0))
                for level in spec.get("levels", ())
                for line in known
                if line.setting.get(across) == value and is_where(level["where"], line.setting)
            ]
            place = [_label(across, value, named_so)] if across else []
            place += [
                f"{told} {line.ours:.2f}"
                for measure, told in spec.get("told", {}).items()
                for line in lines
                if line.measure == measure and line.setting.get(across) == value
                if isinstance(line.ours, int | float)
            ]
            title = ", ".join([*[named_so.get(y, y)] * (len(measures) > 1 or not across), *place])
            own = [line for line in usable if line.setting.get(across) == value]
            panels.append(_Panel(title, y, own, levels))
    caption = spec.get("caption") or f"{', '.join(measures)} by {x}"
    return [(caption, partial(_painted, spec, panels))] if panels else []


def _painted(spec: Mapping[str, Any], panels: Sequence[_Panel], axes: Any) -> None:
    if len(panels) > 1:
        figure = axes.figure
        axes.remove()
        _paint_several(figure, spec, panels)
        return
    _paint(axes, spec, panels[0])
    if len(axes.get_legend_handles_labels()[0]) > _INSIDE:
        axes.figure.set_size_inches(_WIDE)
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.01, 0.5))
    elif spec["series"]:
        axes.legend(fontsize=7)


def _paint_several(figure: Any, spec: Mapping[str, Any], panels: Sequence[_Panel]) -> None:
    """Draw panels beside and below each other, with one legend."""
    columns = spec.get("columns") or min(len(panels), 4 if len(panels) > _ROW else _ROW)
    rows = math.ceil(len(panels) / columns)
    wide, high = _SMALL if columns > _COLUMNS else _PANEL
    same = {"sharex": True, "sharey": spec.get("sharey", "ylim" in spec)}
    grid = figure.subplots(rows, columns, squeeze=False, **same).ravel()
    legend: dict[str, Any] = {}
    for number, (axes, own) in enumerate(zip(grid, panels, strict=False)):
        _paint(axes, spec, own)
        axes.set_title(own.title, fontsize=8)
        axes.tick_params(labelsize=7)
        for label in (axes.xaxis.label, axes.yaxis.label):
            label.set_fontsize(8)
        if number % columns:
            axes.set_ylabel("")
        if number + columns < len(panels):
            axes.set_xlabel("")
        marks, names = axes.get_legend_handles_labels()
        legend |= dict(zip(names, marks, strict=True))
    for axes in grid[len(panels) :]:
        axes.remove()
    across = max(1, int(columns * wide / _ENTRY))
    lines = math.ceil(len(legend) / across)
    figure.set_size_inches(wide * columns, high * rows + 0.2 * lines + 0.2)
    if len(legend) > 1:
        where = {"loc": "outside lower center", "ncols": math.ceil(len(legend) / lines)}
        figure.legend(legend.values(), legend, fontsize=7, **where)


def _paint(axes: Any, spec: Mapping[str, Any], panel: _Panel) -> None:
    """Draw a panel: our figures with bars of their errors, the paper's dashed, and levels."""
    x, scale, named_so = spec["x"], spec.get("scale", "linear"), spec.get("labels", {})
    if spec.get("kind") == "disk":
        _disk(axes, panel.lines, x)
        return
    for place, (label, own) in enumerate(_series(spec, panel.lines)):
        if spec.get("kind") == "bars":
            heights = [line.ours for line in own]
            at = [line.setting[x] for line in own]
            axes.bar(at, heights, width=spec["width"], align="edge", label=label, color=COLOURS[0])
        else:
            _curve(axes, own, x, label, place, spec.get("bars", "interval"))
    for place, (label, height) in enumerate(panel.levels):
        axes.axhline(height, label=label, color="#555", lw=1, ls=_LEVELS[place % len(_LEVELS)])
    several = not isinstance(spec["y"], str)  # whose panels have the measure above them
    shown = "" if several else named_so.get(panel.y, panel.y)
    axes.set(xlabel=spec.get("xlabel", x), ylabel=spec.get("ylabel", shown), xscale=scale)
    axes.set_axisbelow(True)
    if "ylim" in spec:
        axes.set_ylim(*spec["ylim"])
    values = sorted({float(line.setting[x]) for line in panel.lines})
    if scale == "log" or len(values) <= _FEW:  # the values themselves, which were measured
        axes.set_xticks(values, labels=[f"{value:g}" for value in values])
        axes.set_xticks([], minor=True)


def _series(spec: Mapping[str, Any], lines: Iterable[Line]) -> list[tuple[str, list[Line]]]:
    """Return the curves of a panel with their names, in order: numbers by size, names as they are.

    A name beyond `series` that is the same for a curve tells nothing.
    """
    named_so, names = spec.get("labels", {}), spec["series"]
    curves: dict[tuple[Any, ...], list[Line]] = {}
    for line in lines:
        curves.setdefault(tuple(line.setting.get(name) for name in names), []).append(line)
    seen = [list(dict.fromkeys(key[place] for key in curves)) for place in range(len(names))]

    def order(key: tuple[Any, ...]) -> tuple[float, ...]:
        return tuple(
            float(value) if isinstance(value, int | float) else seen[place].index(value)
            for place, value in enumerate(key)
        )

    return [
        (
            fill(
                ", ".join(
                    _label(name, value, named_so)
                    for name, value in zip(names, key, strict=True)
                    if value is not None
                ),
                _LABEL,
            ),
            sorted(curves[key], key=lambda line: float(line.setting[spec["x"]])),
        )
        for key in sorted(curves, key=order)
    ]


def _curve(axes: Any, lines: Sequence[Line], x: str, label: str, place: int, bars: str) -> None:
    """Draw a curve; where it has many points, without marks."""
    # Beyond the colours, other pairs of a colour and a mark.
    again, colour = divmod(place, len(COLOURS))
    look = {"color": COLOURS[colour], "marker": _MARKS[(place + again) % len(_MARKS)]}
    places, ours = [line.setting[x] for line in lines], [line.ours for line in lines]
    if len(lines) > _DENSE:
        axes.plot(places, ours, label=label, color=COLOURS[colour])
        return
    errors = [_bar(line, bars) for line in lines]
    axes.errorbar(places, ours, yerr=errors, label=label, ms=4, ls=_DASHES[again % 2], **look)
    numbers = [line for line in lines if isinstance(line.paper, int | float)]
    if printed := [(line.setting[x], line.paper) for line in numbers]:
        axes.plot(*zip(*printed, strict=True), "--", mfc="none", lw=1, **look)


def _bar(line: Line, bars: str) -> float:
    """Return half the length of the bar of a figure: its error, or half of its interval."""
    if line.error is None or line.freedom is None or bars == "error":
        return line.error or 0.0
    return chance_margin(((line.error, line.freedom),), LEVEL)


def _disk(axes: Any, lines: Sequence[Line], angle: str) -> None:
    """Draw words in the unit disk, each at its angle and radius, with their names."""
    edge = [math.tau * i / 180 for i in range(181)]
    axes.plot([math.cos(a) for a in edge], [math.sin(a) for a in edge], color="#999", lw=0.8)
    for line in lines:
        at = float(line.setting[angle])
        place = float(line.ours or 0.0) * math.cos(at), float(line.ours or 0.0) * math.sin(at)
        axes.plot(*place, "o", ms=2, color=COLOURS[0])
        look: dict[str, Any] = {"fontsize": 6, "xytext": (2, 2), "textcoords": "offset points"}
        axes.annotate(line.setting["word"], place, **look)
    axes.figure.set_size_inches(6.0, 6.0)
    axes.set(aspect="equal", xticks=[], yticks=[])
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def smaller(svg: str) -> str:
    """Leave out what nobody sees: digits, indentation, and the names of fonts."""
    for pattern, shown in _UNSEEN:
        svg = pattern.sub(shown, svg)
    return svg


def _label(name: str, value: Any, named_so: Mapping[str, str]) -> str:
    if str(value) in named_so:
        return named_so[str(value)]
    if name == "published":
        return "as published" if value else "sound"
    plain = isinstance(value, float | int)
    return f"{named_so.get(name, name)} = {value:g}" if plain else str(value)
