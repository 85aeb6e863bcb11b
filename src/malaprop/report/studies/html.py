"""Studies as one page of HTML that holds everything it shows: no script, nothing from elsewhere."""

from collections.abc import Sequence
from html import escape

from malaprop.report.page import document
from malaprop.report.studies.page import (
    LONG,
    OURS,
    PRINTED,
    READING,
    TABLES,
    TRUST,
    Section,
    StudyPage,
    Summary,
    Table,
)
from malaprop.report.studies.plots import plots

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
