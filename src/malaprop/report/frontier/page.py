"""The page of the frontier, as Markdown or HTML, and what the terminal shows."""

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Final, NamedTuple

from malaprop.core.errors import printable
from malaprop.report.frontier import prose, tables
from malaprop.report.frontier.advice import advice, missing
from malaprop.report.frontier.curves import NAMES, curves, floors
from malaprop.report.frontier.measured import HEAD as MEASURED
from malaprop.report.frontier.measured import MORE_HEAD, measured_rows, more_rows
from malaprop.report.frontier.plot import plot
from malaprop.report.markup import bullets, grid, link, text
from malaprop.report.page import document
from malaprop.report.page import table as html_table
from malaprop.studies import Line
from malaprop.studies.frontier.mechanisms import RECOMMENDED


def readable(lines: Sequence[Line]) -> str:
    """Return the frontier as text: mechanisms at equal success, and where others are better."""
    all_curves = curves(lines)
    better = (f"{row[0]}: better are {row[-1]}" for row in tables.compared(all_curves) if row[-1])
    shown = [
        *_columns([tables.HEAD, *tables.level_rows(all_curves)]),
        "",
        *better,
        "",
        *(each.replace("*", "") for each in _advice(lines)),
        *_columns([tables.CHOICE, *tables.choices(all_curves, lines)]),
    ]
    return "".join(f"{printable(line)}\n" for line in shown)


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def page_files(lines: Sequence[Line], path: Path) -> dict[Path, str]:
    """Return the page as files: HTML that holds everything, or Markdown with the plot beside."""
    picture = plot(curves(lines), floors(lines))
    if path.name.lower().endswith(".html"):
        parts = [f"<h1>{prose.TITLE}</h1>"]
        parts += [_html(piece, picture) for piece in _pieces(lines)]
        return {path: document(prose.TITLE, parts)}
    name = f"{path.stem}.svg"
    parts = [f"# {prose.TITLE}", *(_markdown(piece, name) for piece in _pieces(lines))]
    return {path: "\n\n".join(parts) + "\n", path.with_name(name): picture}


class _Table(NamedTuple):
    """A table; one with a title is folded where that can be done."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""


_PICTURE: Final = "the plot"
_HEADING: Final = "## "
_Piece = str | list[str] | _Table
"""A heading, a paragraph, a list or a table. Texts are Markdown."""


def _pieces(lines: Sequence[Line]) -> Iterator[_Piece]:
    """Yield what is on the page, whatever it is written in."""
    all_curves, quick = curves(lines), lines[0].quick
    yield _how(lines[0])
    yield f"{_HEADING}What to choose"
    yield _advice(lines)
    yield _Table(tables.CHOICE, tables.choices(all_curves, lines))
    yield _PICTURE
    yield prose.CAPTION
    yield f"{_HEADING}How to read it"
    yield prose.reading(quick)
    yield f"{_HEADING}At equal measured privacy"
    yield _Table(tables.HEAD, tables.level_rows(all_curves))
    yield from tables.unreached(all_curves)
    yield f"{_HEADING}Where `{RECOMMENDED}` is not the best"
    yield prose.UNDECIDED
    yield _Table(tables.COMPARED, tables.compared(all_curves))
    yield prose.BEST
    yield _Table(tables.BEST_HEAD, tables.best_rows(all_curves), "Who is best")
    yield f"{_HEADING}By ε"
    yield prose.BY_EPSILON
    yield _Table(MEASURED, measured_rows(all_curves), "All points")
    yield prose.marks(quick)
    yield _Table(MORE_HEAD, more_rows(all_curves), "With and without punctuation, and N_w")
    yield f"{_HEADING}Floors and ceiling"
    yield _Table(("", *NAMES.values()), tables.bounds_rows(lines))
    yield f"{_HEADING}Guarantees"
    yield [f"`{curve.mechanism}`: {text(curve.guarantee)}" for curve in all_curves]
    yield f"{_HEADING}Limits"
    yield prose.limits(quick)


def _advice(lines: Sequence[Line]) -> list[str]:
    """Say what data are missing, and what to choose, unless the run was a quick one."""
    return [*missing(lines), *([prose.QUICK] if lines[0].quick else advice(curves(lines)))]


def _how(line: Line) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in line.versions.items())
    command = "malaprop bench frontier --quick" if line.quick else "malaprop bench frontier"
    return f"Made by `{command} --seed {line.seed}` with {versions}."


def _markdown(piece: _Piece, picture: str) -> str:
    if isinstance(piece, list):
        return bullets(piece)
    if isinstance(piece, str):
        shown = f"![utility against ε and against the share of words recovered]({link(picture)})"
        return shown if piece == _PICTURE else piece
    table = grid(piece.head, piece.rows).replace("_", r"\_")
    if not piece.title:
        return table
    summary = f"<summary>{piece.title}: {len(piece.rows)} rows</summary>"
    return f"<details>\n{summary}\n\n{table}\n\n</details>"


def _html(piece: _Piece, picture: str) -> str:
    if isinstance(piece, list):
        return f"<ul>{''.join(f'<li>{_inline(row)}</li>' for row in piece)}</ul>"
    if not isinstance(piece, str):
        return html_table(piece.head, piece.rows)
    if piece == _PICTURE:
        return f"<figure>{picture}</figure>"
    if piece.startswith(_HEADING):
        return f"<h2>{_inline(piece.removeprefix(_HEADING))}</h2>"
    return f"<p>{_inline(piece)}</p>"


def _inline(sentence: str) -> str:
    """Escape a sentence, and turn its Markdown for bold, code and plain signs into HTML."""
    bold = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(sentence), flags=re.DOTALL)
    return re.sub(r"\\(\W|_)", r"\1", re.sub(r"`(.+?)`", r"<code>\1</code>", bold))
