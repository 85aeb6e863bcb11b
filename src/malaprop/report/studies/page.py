"""What a page about a study says: verdicts, tables and plots, from the study's lines."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from malaprop.studies import Line, Paper, Verdict, paper_of

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
