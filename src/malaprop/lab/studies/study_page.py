"""The page of a study."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from textwrap import fill
from typing import Any, Final

from malaprop.lab.studies.study import Line, Paper, Verdict, paper_of
from malaprop.privacy.errors import ParameterError, printable
from malaprop.report.page import code, document, grid, html_bullets, html_text, link
from malaprop.report.plots import drawn, require_plots

# What a page about a study says: verdicts, tables and plots, from the study's lines.


QUICK: Final = (
    "A quick run is another, smaller experiment: fewer settings, words and repeats. It reaches no "
    "verdict."
)
READING: Final = (
    "Each claim is judged on every figure that it is about. “Not decided” means that Welch's test "
    "cannot tell the figures apart at 5 % with so few repeats, “not measured” that we have no "
    "figure. Only what the paper says is its claim. Where it says it in words such as “similar”, a "
    "threshold is our reading, and what it did not run is our control: both stand in a table of "
    "their own."
)
TABLES: Final = (
    "The tables below show our figure ± one standard error, and the paper's own in brackets where "
    "it prints one."
)
TRUST: Final = (
    "Of a hundred comparisons of equal figures, up to five count as different: trust a direction "
    "that many figures share more than a single one."
)
OURS: Final = "Our readings and controls, which are not the paper's claims:"
_WHOSE = {"paper": "", "reading": "our reading: ", "control": "our control: "}
VERDICTS = {True: "confirmed", False: "not confirmed", None: "not decided"}
OUTCOMES: Final = (*VERDICTS.values(), "not measured")
"""What becomes of a claim on one figure."""
_LONG_NAMES = {"fig": "Figure ", "table": "Table ", "lemma": "Lemma ", "theorem": "Theorem "}
_NO_ERROR = 1e-9  # what rounding leaves of an error of 0
PRINTED: Final = "The figures that the paper prints, in brackets beside ours:"
ERRORS_OVER: Final = "errors over"
LONG: Final = 30
"""Rows of a table beyond which the rows with a figure of the paper are shown by themselves."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of texts."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Section:
    """An item of a study on its page."""

    name: str
    entry: Mapping[str, Any]
    lines: tuple[Line, ...]

    @property
    def short(self) -> str:
        """The item's name, as one says it."""
        return _spelled(self.name)

    @property
    def title(self) -> str:
        """The item's name, and what it shows."""
        return f"{self.short}: {self.entry.get('title', self.name)}"

    @property
    def about(self) -> str:
        """A few sentences about the item, and how to read it."""
        return str(self.entry.get("about", ""))

    @property
    def throughout(self) -> str:
        """What is the same for all figures, such as the lexicon, and what errors are over."""
        names = dict.fromkeys(name for line in self.lines for name in line.setting)
        varying = {*_varying(self.lines), str(self.entry.get("columns", ""))}
        same = [
            f"{_said(name)} {_shown(self.lines[0].setting[name])}"
            for name in names
            if name not in varying
        ]
        imported = dict.fromkeys(
            f"Imported as {line.setting.get('vectors', line.setting.get('lexicon'))}: "
            f"{line.vectors}."
            for line in self.lines
            if line.vectors
        )
        return " ".join([f"Throughout: {'; '.join(same)}."] * bool(same) + [*imported])

    @property
    def verdicts(self) -> Table | None:
        """Each claim of the paper, and on how many figures ours confirm it."""
        return self._outcomes(("paper",))

    @property
    def own_verdicts(self) -> Table | None:
        """The same of what we read into the paper, and of our controls."""
        return self._outcomes(("reading", "control"))

    def _outcomes(self, whose: Sequence[str]) -> Table | None:
        outcomes: dict[str, Counter[str]] = {}
        for kind in whose if not self.lines[0].quick else ():
            for line in self.lines:
                for each in line.claims:
                    if each.whose == kind:
                        counts = outcomes.setdefault(_WHOSE[kind] + each.claim, Counter())
                        counts[_outcome(line, each)] += 1
        rows = [(claim, *(str(own[name]) for name in OUTCOMES)) for claim, own in outcomes.items()]
        return Table(head=("claim", *OUTCOMES), rows=tuple(rows)) if rows else None

    @property
    def figures(self) -> Table:
        """Our figures beside the paper's, one column for each value of the item's main variable."""
        return self._table(self.lines)

    @property
    def printed(self) -> Table | None:
        """The figures that the paper prints, if they are few among many others."""
        lines = [line for line in self.lines if line.paper is not None]
        return self._table(lines) if lines and len(self.figures.rows) > LONG else None

    def _table(self, lines: Sequence[Line]) -> Table:
        across = str(self.entry.get("columns", ""))
        # Where neither we nor the paper have a figure, a row would say nothing.
        lines = [line for line in lines if (line.ours, line.paper) != (None, None)] or lines
        columns = _values(lines, across)
        names = [name for name in _varying(lines) if name != across]
        rows: dict[tuple[str, ...], dict[Any, str]] = {}
        for line in lines:
            row = (*(_shown(line.setting.get(name)) for name in names), line.measure)
            rows.setdefault(row, {})[line.setting.get(across)] = cell(line)
        head = (*map(_said, names), "measure", *(_column(across, value) for value in columns))
        body = tuple((*row, *(cells.get(v, "") for v in columns)) for row, cells in rows.items())
        return Table(head=head, rows=body)

    @property
    def missing(self) -> list[str]:
        """How to get the data that were missing: `run  COMMAND`, or what to do instead."""
        commands = dict.fromkeys(line.command for line in self.lines if line.command)
        return [f"run  {one}" if one.startswith("malaprop ") else one for one in commands]

    @property
    def plots(self) -> Sequence[Mapping[str, Any]]:
        """The plots that the study's file asks for."""
        return list(self.entry.get("plots", []))


Summary = list[tuple[Section, tuple[str, ...]]]
"""Rows of a table of claims, each with the item that it is about."""


@dataclass(frozen=True, kw_only=True)
class StudyPage:
    """A page about one study."""

    study: str
    paper: Paper
    sections: tuple[Section, ...]

    @property
    def summary(self) -> Summary:
        """What became of the paper's claims, item by item: the section, and a row for each."""
        return [(each, row) for each in self.sections for row in self._rows(each)]

    def _rows(self, section: Section) -> tuple[tuple[str, ...], ...]:
        if section.verdicts:
            return section.verdicts.rows
        why = "only our readings and controls" if section.own_verdicts else "figures alone"
        told = "no verdict: a quick run" if section.lines[0].quick else f"no claim: {why}"
        return ((told, *("" for _ in OUTCOMES)),)

    @property
    def own_summary(self) -> Summary:
        """The same of our readings and controls."""
        return [
            (each, row)
            for each in self.sections
            for row in (each.own_verdicts.rows if each.own_verdicts else ())
        ]

    @property
    def summary_head(self) -> tuple[str, ...]:
        """The names of the summary's columns."""
        return ("item", "claim", *OUTCOMES)

    @property
    def how(self) -> str:
        """How the figures were made: quick or full, seed, versions."""
        line = self.sections[0].lines[0]
        versions = ", ".join(f"{name} {number}" for name, number in line.versions.items())
        quick = [each for each in self.sections if each.lines[0].quick]
        all_quick = len(quick) == len(self.sections)
        some = ", ".join(each.short for each in quick)
        return (
            f"Made by `malaprop reproduce {self.study}{' --quick' if all_quick else ''} --seed "
            f"{line.seed}` with {versions}."
            + (f" Of the quick run: {some}." if quick and not all_quick else "")
            + (f" {QUICK}" if quick else "")
        )


def pages(lines: Iterable[Line]) -> list[StudyPage]:
    """Return the pages of studies, in the order of their lines."""
    by_study: dict[str, dict[str, list[Line]]] = {}
    for line in lines:
        by_study.setdefault(line.study, {}).setdefault(line.item, []).append(line)
    return [_page(study, items) for study, items in by_study.items()]


def _page(study: str, items: Mapping[str, list[Line]]) -> StudyPage:
    paper = paper_of(study)
    sections = tuple(
        Section(name=name, entry=paper.item(name), lines=tuple(lines))
        for name, lines in items.items()
    )
    return StudyPage(study=study, paper=paper, sections=sections)


def cell(line: Line) -> str:
    """Return our figure with its error, and the paper's in brackets."""
    if line.ours is None:
        own = "no data" if line.command else "–"
    else:
        own = _with_error(line.ours, line.error)
    return own if line.paper is None else f"{own} ({_with_error(line.paper, line.paper_error)})"


def _said(name: str) -> str:
    """Return what a page calls a name of the setting."""
    return ERRORS_OVER if name == "spread" else name


def _column(name: str, value: Any) -> str:
    """Return the head of a column: the main variable's value, or that it has none."""
    if not name:
        return "figure"
    return f"no {name}" if value is None else f"{name} {_shown(value)}"


def _with_error(value: float | str, error: float | None) -> str:
    if error is None:
        return _shown(value)
    if isinstance(value, str) or error < _NO_ERROR:
        return f"{_shown(value)} ± 0" if error < _NO_ERROR else f"{value} ± {error:.2g}"
    decimals = max(0, 1 - math.floor(math.log10(error)))  # two digits of the error
    return f"{value:.{decimals}f} ± {error:.{decimals}f}"


def _outcome(line: Line, verdict: Verdict) -> str:
    return OUTCOMES[-1] if line.ours is None else VERDICTS[verdict.holds]


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _varying(lines: Sequence[Line]) -> list[str]:
    """Return the names of settings that differ between lines, in order of appearance."""
    names = list(dict.fromkeys(name for line in lines for name in line.setting))
    return [name for name in names if len({_shown(li.setting.get(name)) for li in lines}) > 1]


def _values(lines: Sequence[Line], name: str) -> list[Any]:
    return list(dict.fromkeys(line.setting.get(name) for line in lines))


def _spelled(item: str) -> str:
    """Turn `fig2` into `Figure 2`, `table3` into `Table 3`."""
    for short, long in _LONG_NAMES.items():
        if item.startswith(short) and item[len(short) :][:1].isdigit():
            return long + item[len(short) :]
    return item.replace("_", " ").capitalize()


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


# Studies as one page of HTML that holds everything it shows: no script, nothing from elsewhere.


_PLOTS = "In the plots, bars are two standard errors, and dashed lines the paper's."


def as_html(studies: Sequence[StudyPage]) -> str:
    """Return one page about some studies."""
    parts = ["<h1>The papers' figures and ours</h1>", f"<p>{READING} {TABLES} {_PLOTS} {TRUST}</p>"]
    for page in studies:
        parts += _study(page)
    return document("The papers' figures and ours", parts)


def _study(page: StudyPage) -> list[str]:
    facts = [f"{name}: {value}" for name, value in page.paper.setting.items()]
    deviations = [f"{one['what']} Why: {one['why']}" for one in page.paper.deviations]
    parts = [f"<h2>{escape(page.study)}</h2>", f"<p>{escape(page.paper.title)}.</p>"]
    parts += [f"<p>{escape(page.how)}</p>", "<h3>What became of the claims</h3>"]
    parts.append(_summary(page, page.summary))
    if page.own_summary:
        parts += [f"<p>{OURS}</p>", _summary(page, page.own_summary)]
    parts += ["<h3>What the paper ran</h3>", _list(facts)]
    parts += ["<h3>Where we deviate</h3>", _list(deviations)]
    return parts + [part for each in page.sections for part in _section(each, page.study)]


def _summary(page: StudyPage, summary: Summary) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in page.summary_head)
    rows = (
        f'<tr><td><a href="#{escape(page.study)}-{escape(section.name)}">{escape(section.short)}'
        f"</a></td>{''.join(f'<td>{escape(value)}</td>' for value in row)}</tr>"
        for section, row in summary
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _section(section: Section, study: str) -> list[str]:
    anchor = f"{escape(study)}-{escape(section.name)}"
    parts = [f'<h3 id="{anchor}">{escape(section.title)}</h3>', f"<p>{escape(section.about)}</p>"]
    parts.append(f"<p>{escape(section.throughout)}</p>")
    parts += [_table(each) for each in (section.verdicts, section.own_verdicts) if each]
    drawn = [pair for spec in section.plots for pair in plots(spec, section.lines)]
    if drawn:
        figures = (f"<figure>{s}<figcaption>{escape(c)}</figcaption></figure>" for c, s in drawn)
        parts.append(f'<div class="plots">{"".join(figures)}</div>')
    parts += _figures(section)
    parts += [f"<p>Data are missing: {escape(remedy)}</p>" for remedy in section.missing]
    return parts


def _figures(section: Section) -> list[str]:
    """Show a long table folded, behind the rows that the paper prints."""
    everything = _table(section.figures)
    if len(section.figures.rows) <= LONG:
        return [everything]
    summary = f"<summary>All {len(section.figures.rows)} rows of figures</summary>"
    printed = [f"<p>{PRINTED}</p>", _table(section.printed)] if section.printed else []
    return [*printed, f"<details>{summary}{everything}</details>"]


def _list(rows: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(row)}</li>' for row in rows)}</ul>"


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.head)
    rows = (
        "<tr>" + "".join(f"<td>{escape(value)}</td>" for value in row) + "</tr>"
        for row in table.rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


# A study as a page of Markdown, with its plots as files beside it.


def as_markdown(page: StudyPage, stem: str) -> tuple[str, dict[str, str]]:
    """Return the page, and its plots by the names of their files, which begin with `stem`."""
    pictures: dict[str, str] = {}
    parts = [
        f"# {page.study}: the paper's figures and ours",
        html_text(page.paper.title) + ".",
        page.how,
    ]
    parts += ["## What became of the claims", _markdown_summary(page, page.summary)]
    parts.append(f"{READING} {TABLES} {TRUST}")
    if page.own_summary:
        parts += [OURS, _markdown_summary(page, page.own_summary)]
    parts += ["## What the paper ran", html_bullets(_facts(page)), "## Where we deviate"]
    parts.append(
        html_bullets(f"{one['what']} *Why:* {one['why']}" for one in page.paper.deviations)
    )
    for section in page.sections:
        parts += _markdown_section(section, stem, pictures)
    return "\n\n".join(parts) + "\n", pictures


def _markdown_summary(page: StudyPage, summary: Summary) -> str:
    rows = (
        (f"[{html_text(section.short)}](#{section.name})", *map(html_text, row))
        for section, row in summary
    )
    return grid(page.summary_head, tuple(rows), frozenset(range(2, len(page.summary_head))))


def _as_code(remedy: str) -> str:
    before, run, command = remedy.partition("run  ")
    if before or not run:
        return html_text(remedy)
    command, _, note = command.partition("  ")  # where the file is, which no shell should get
    return f"run {code(command)} {html_text(note)}".rstrip()


def _facts(page: StudyPage) -> list[str]:
    return [f"{name}: {html_text(str(value))}" for name, value in page.paper.setting.items()]


def _markdown_section(section: Section, stem: str, pictures: dict[str, str]) -> list[str]:
    parts = [
        f'<a id="{section.name}"></a>',
        f"## {html_text(section.title)}",
        section.about,
        html_text(section.throughout),
    ]
    parts += [_markdown_table(each) for each in (section.verdicts, section.own_verdicts) if each]
    drawn = [pair for spec in section.plots for pair in plots(spec, section.lines)]
    for number, (caption, svg) in enumerate(drawn, 1):
        name = f"{stem}-{section.name}-{number}.svg"
        pictures[name] = svg
        parts.append(f"![{html_text(caption)}]({link(name)})")
    parts += _markdown_figures(section)
    parts += [f"Data are missing: {_as_code(remedy)}." for remedy in section.missing]
    return [part for part in parts if part]


def _markdown_figures(section: Section) -> list[str]:
    """Show a long table folded, behind the rows that the paper prints."""
    everything = _markdown_table(section.figures)
    if len(section.figures.rows) <= LONG:
        return [everything]
    printed = [PRINTED, _markdown_table(section.printed)] if section.printed else []
    summary = f"<summary>All {len(section.figures.rows)} rows of figures</summary>"
    return [*printed, f"<details>\n{summary}", everything, "</details>"]


def _markdown_table(table: Table) -> str:
    rule = ("---",) * len(table.head)
    head = tuple(map(html_text, table.head))
    body = (tuple(map(html_text, row)) for row in table.rows)
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *body))


# Studies on the terminal: the paper's figures beside ours, and what became of its claims.


_MOST = 12  # figures of an item that are shown; the file of lines has all


def readable(studies: Sequence[StudyPage]) -> str:
    """Return studies as text: claims with their verdicts, and figures beside the paper's."""
    return "".join(f"{printable(line)}\n" for page in studies for line in _terminal_study(page))


def _terminal_study(page: StudyPage) -> Iterator[str]:
    yield page.paper.title
    if page.sections[0].lines[0].quick:
        yield QUICK
    for section in page.sections:
        yield ""
        yield section.title
        for claim, *counts in _claims(section):
            verdicts = ", ".join(
                f"{name} on {count}"
                for name, count in zip(OUTCOMES, counts, strict=True)
                if count != "0"
            )
            yield f"  {claim}"
            yield f"    {verdicts}"
        yield from _terminal_figures(section)
        for remedy in section.missing:
            yield f"  data are missing: {remedy}"
    yield ""


def _claims(section: Section) -> Iterator[tuple[str, ...]]:
    for claim, *counts in section.verdicts.rows if section.verdicts else ():
        yield (f"claim: {claim}", *counts)
    yield from section.own_verdicts.rows if section.own_verdicts else ()


def _terminal_figures(section: Section) -> Iterator[str]:
    lines = section.lines
    measured = [line for line in lines if line.ours is not None]
    printed = [line for line in lines if line.paper is not None] or measured
    for line in printed[:_MOST]:
        yield f"  {_where(line)}  {line.measure}: {cell(line)}{_over(line)}"
    if more := len(lines) - len(printed[:_MOST]):
        yield f"  {more} more figures: malaprop reproduce --json or --report writes all of them"


def _where(line: Line) -> str:
    shown = {name: value for name, value in line.setting.items() if name not in _OBVIOUS}
    return " ".join(f"{name}={value}" for name, value in shown.items())


_OBVIOUS = ("lexicon", "spread")  # the latter stands beside the error


def _over(line: Line) -> str:
    spread = line.setting.get("spread")
    return f"; {ERRORS_OVER} {spread}" if line.error is not None and spread else ""


# A page about studies as files: HTML that holds everything, or Markdown with plots beside it.


_ENDINGS = (".html", ".md")


def checked_page(path: Path) -> Path:
    """Return the path of a page; refuse one whose ending says nothing that a page can be.

    It has plots, so the extra `plots` is needed, too.
    """
    if not path.name.lower().endswith(_ENDINGS):
        raise ParameterError(
            f"The page of a study is a web page or Markdown: {path} ends in none of "
            f"{', '.join(_ENDINGS)}."
        )
    require_plots()  # before hours of measuring, not after
    return path


def page_files(lines: Iterable[Line], path: Path) -> dict[Path, str]:
    """Return the files of a page by their paths: the page itself, and the plots of Markdown."""
    studies = pages(lines)
    if checked_page(path).name.lower().endswith(".html"):
        return {path: as_html(studies)}
    texts: list[str] = []
    files: dict[Path, str] = {}
    for study in studies:
        stem = path.stem if len(studies) == 1 else f"{path.stem}-{study.study}"
        text, pictures = as_markdown(study, stem)
        texts.append(text)
        files |= {path.with_name(name): svg for name, svg in pictures.items()}
    return {path: "\n".join(texts), **files}
