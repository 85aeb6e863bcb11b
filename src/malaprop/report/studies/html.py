"""Studies as one page of HTML that holds everything it shows: no script, nothing from elsewhere."""

from collections.abc import Sequence
from html import escape

from malaprop.report.page import document
from malaprop.report.studies.page import Section, StudyPage, Table
from malaprop.report.studies.plots import plots

_READING = (
    "Each cell shows our figure ± one standard error, and the paper's own in brackets where it "
    "prints one. “Not decided” means that the difference is within two standard errors, or that "
    "data are missing. In the plots, bars are two standard errors, and dashed lines the paper's."
)


def as_html(studies: Sequence[StudyPage]) -> str:
    """Return one page about some studies."""
    parts = ["<h1>The papers' figures and ours</h1>", f"<p>{_READING}</p>"]
    for page in studies:
        parts += _study(page)
    return document("The papers' figures and ours", parts)


def _study(page: StudyPage) -> list[str]:
    facts = [f"{name}: {value}" for name, value in page.paper.setting.items()]
    deviations = [f"{one['what']} Why: {one['why']}" for one in page.paper.deviations]
    parts = [f"<h2>{escape(page.study)}</h2>", f"<p>{escape(page.paper.title)}.</p>"]
    parts += [f"<p>{escape(page.how)}</p>", "<h3>What the paper ran</h3>", _list(facts)]
    parts += ["<h3>Where we deviate</h3>", _list(deviations)]
    return parts + [part for section in page.sections for part in _section(section)]


def _section(section: Section) -> list[str]:
    parts = [f"<h3>{escape(section.title)}</h3>", f"<p>{escape(section.about)}</p>"]
    if section.verdicts:
        parts.append(_table(section.verdicts))
    drawn = [pair for spec in section.plots for pair in plots(spec, section.lines)]
    if drawn:
        figures = (f"<figure>{s}<figcaption>{escape(c)}</figcaption></figure>" for c, s in drawn)
        parts.append(f'<div class="plots">{"".join(figures)}</div>')
    parts.append(_table(section.figures))
    parts += [f"<p>Data are missing: run <code>{escape(c)}</code>.</p>" for c in section.missing]
    return parts


def _list(rows: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(row)}</li>' for row in rows)}</ul>"


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.head)
    rows = (
        "<tr>" + "".join(f"<td>{escape(value)}</td>" for value in row) + "</tr>"
        for row in table.rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
