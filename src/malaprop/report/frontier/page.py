"""The page of the frontier, as Markdown or HTML, and what the terminal shows."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from malaprop.report.frontier import prose, tables
from malaprop.report.frontier.advice import advice, missing
from malaprop.report.frontier.curves import NAMES, RECOMMENDED, Curve, curves, floors
from malaprop.report.frontier.measured import HEAD as MEASURED
from malaprop.report.frontier.measured import MORE_HEAD, measured_rows, more_rows
from malaprop.report.frontier.plot import plot
from malaprop.report.markup import bullets, text
from malaprop.report.page import document
from malaprop.studies import Line


def readable(lines: Sequence[Line]) -> str:
    """Return the frontier as text: mechanisms at equal success, and where others are better."""
    all_curves = curves(lines)
    better = (f"{row[0]}: better are {row[-1]}" for row in tables.compared(all_curves) if row[-1])
    return (
        "\n".join(
            [
                *_columns([tables.HEAD, *tables.level_rows(all_curves)]),
                "",
                *better,
                "",
                *(each.replace("*", "") for each in (*missing(lines), *advice(all_curves))),
                *_columns([tables.CHOICE, *tables.choices(all_curves, lines)]),
            ]
        )
        + "\n"
    )


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def page_files(lines: Sequence[Line], path: Path) -> dict[Path, str]:
    """Return the page as files: HTML that holds everything, or Markdown with the plot beside."""
    all_curves = curves(lines)
    picture = plot(all_curves, floors(lines))
    if path.name.lower().endswith(".html"):
        return {path: _html(lines, all_curves, picture)}
    name = f"{path.stem}.svg"
    return {path: _markdown(lines, all_curves, name), path.with_name(name): picture}


def _markdown(lines: Sequence[Line], all_curves: Sequence[Curve], picture: str) -> str:
    quick = lines[0].quick
    parts = [
        f"# {prose.TITLE}",
        _how(lines[0]),
        "## What to choose",
        bullets((*missing(lines), *advice(all_curves))),
        _table(tables.CHOICE, tables.choices(all_curves, lines)),
        f"![utility against ε and against the share of words recovered]({picture})",
        prose.CAPTION,
        "## How to read it",
        bullets(prose.reading(quick)),
        "## At equal measured privacy",
        _table(tables.HEAD, tables.level_rows(all_curves)),
        *tables.unreached(all_curves),
        f"## Where `{RECOMMENDED}` is not the best",
        prose.UNDECIDED,
        _table(tables.COMPARED, tables.compared(all_curves)),
        prose.BEST,
        *_folded("Who is best", tables.BEST_HEAD, tables.best_rows(all_curves)),
        "## By ε",
        prose.BY_EPSILON,
        *_folded("All points", MEASURED, measured_rows(all_curves)),
        prose.marks(quick),
        *_folded("With and without punctuation, and N_w", MORE_HEAD, more_rows(all_curves)),
        "## Floors and ceiling",
        _table(("", *NAMES.values()), tables.bounds_rows(lines)),
        "## Guarantees",
        bullets(f"`{curve.mechanism}`: {text(curve.guarantee)}" for curve in all_curves),
        "## Limits",
        bullets(prose.limits(quick)),
    ]
    return "\n\n".join(parts) + "\n"


def _html(lines: Sequence[Line], all_curves: Sequence[Curve], picture: str) -> str:
    quick = lines[0].quick
    parts = [f"<h1>{prose.TITLE}</h1>", _said(_how(lines[0])), "<h2>What to choose</h2>"]
    parts += [_list((*missing(lines), *advice(all_curves)))]
    parts += [_html_table(tables.CHOICE, tables.choices(all_curves, lines))]
    parts += [f"<figure>{picture}</figure>", _said(prose.CAPTION)]
    parts += ["<h2>How to read it</h2>", _list(prose.reading(quick))]
    parts += ["<h2>At equal measured privacy</h2>"]
    parts += [_html_table(tables.HEAD, tables.level_rows(all_curves))]
    parts += [_said(each) for each in tables.unreached(all_curves)]
    parts += [f"<h2>Where {RECOMMENDED} is not the best</h2>", _said(prose.UNDECIDED)]
    parts += [_html_table(tables.COMPARED, tables.compared(all_curves)), _said(prose.BEST)]
    parts += [_html_table(tables.BEST_HEAD, tables.best_rows(all_curves)), "<h2>By ε</h2>"]
    parts += [_said(prose.BY_EPSILON), _html_table(MEASURED, measured_rows(all_curves))]
    parts += [_said(prose.marks(quick)), _html_table(MORE_HEAD, more_rows(all_curves))]
    parts += ["<h2>Floors and ceiling</h2>"]
    parts += [_html_table(("", *NAMES.values()), tables.bounds_rows(lines)), "<h2>Guarantees</h2>"]
    parts += [_list(f"{curve.mechanism}: {curve.guarantee}" for curve in all_curves)]
    return document(prose.TITLE, [*parts, "<h2>Limits</h2>", _list(prose.limits(quick))])


def _how(line: Line) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in line.versions.items())
    command = "malaprop bench frontier --quick" if line.quick else "malaprop bench frontier"
    return f"Made by `{command} --seed {line.seed}` with {versions}."


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    shown = (head, ("---",) * len(head), *rows)
    return "\n".join(f"| {' | '.join(row)} |" for row in shown).replace("_", r"\_")


def _folded(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    summary = f"<summary>{title}: {len(rows)} rows</summary>"
    return [f"<details>\n{summary}", _table(head, rows), "</details>"]


def _said(sentence: str) -> str:
    return f"<p>{_inline(sentence)}</p>"


def _list(rows: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{_inline(row)}</li>' for row in rows)}</ul>"


def _inline(sentence: str) -> str:
    """Escape a sentence, and turn its Markdown for bold and code into HTML."""
    bold = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(sentence), flags=re.DOTALL)
    return re.sub(r"`(.+?)`", r"<code>\1</code>", bold)


def _html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    body = "".join(f"<tr>{''.join(f'<td>{escape(c)}</td>' for c in row)}</tr>" for row in rows)
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
