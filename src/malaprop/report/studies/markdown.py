"""A study as a page of Markdown, with its plots as files beside it."""

from malaprop.report.markup import bullets, code, grid, link, text
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


def as_markdown(page: StudyPage, stem: str) -> tuple[str, dict[str, str]]:
    """Return the page, and its plots by the names of their files, which begin with `stem`."""
    pictures: dict[str, str] = {}
    parts = [
        f"# {page.study}: the paper's figures and ours",
        text(page.paper.title) + ".",
        page.how,
    ]
    parts += ["## What became of the claims", _summary(page, page.summary)]
    parts.append(f"{READING} {TABLES} {TRUST}")
    if page.own_summary:
        parts += [OURS, _summary(page, page.own_summary)]
    parts += ["## What the paper ran", bullets(_facts(page)), "## Where we deviate"]
    parts.append(bullets(f"{one['what']} *Why:* {one['why']}" for one in page.paper.deviations))
    for section in page.sections:
        parts += _section(section, stem, pictures)
    return "\n\n".join(parts) + "\n", pictures


def _summary(page: StudyPage, summary: Summary) -> str:
    rows = (
        (f"[{text(section.short)}](#{section.name})", *map(text, row)) for section, row in summary
    )
    return grid(page.summary_head, tuple(rows), frozenset(range(2, len(page.summary_head))))


def _as_code(remedy: str) -> str:
    before, run, command = remedy.partition("run  ")
    if before or not run:
        return text(remedy)
    command, _, note = command.partition("  ")  # where the file is, which no shell should get
    return f"run {code(command)} {text(note)}".rstrip()


def _facts(page: StudyPage) -> list[str]:
    return [f"{name}: {text(str(value))}" for name, value in page.paper.setting.items()]


def _section(section: Section, stem: str, pictures: dict[str, str]) -> list[str]:
    parts = [
        f'<a id="{section.name}"></a>',
        f"## {text(section.title)}",
        section.about,
        text(section.throughout),
    ]
    parts += [_table(each) for each in (section.verdicts, section.own_verdicts) if each]
    drawn = [pair for spec in section.plots for pair in plots(spec, section.lines)]
    for number, (caption, svg) in enumerate(drawn, 1):
        name = f"{stem}-{section.name}-{number}.svg"
        pictures[name] = svg
        parts.append(f"![{text(caption)}]({link(name)})")
    parts += _figures(section)
    parts += [f"Data are missing: {_as_code(remedy)}." for remedy in section.missing]
    return [part for part in parts if part]


def _figures(section: Section) -> list[str]:
    """Show a long table folded, behind the rows that the paper prints."""
    everything = _table(section.figures)
    if len(section.figures.rows) <= LONG:
        return [everything]
    printed = [PRINTED, _table(section.printed)] if section.printed else []
    summary = f"<summary>All {len(section.figures.rows)} rows of figures</summary>"
    return [*printed, f"<details>\n{summary}", everything, "</details>"]


def _table(table: Table) -> str:
    rule = ("---",) * len(table.head)
    head = tuple(map(text, table.head))
    body = (tuple(map(text, row)) for row in table.rows)
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *body))
