"""A page for people, and the one place that renders it: for a terminal, as Markdown, as HTML.

Reports, evaluations, studies, audits and explanations each build a `Page` from a few values:

    Page(title="Audit of a guarantee", figures=(("holds", "is the verdict"),), sections=(
        Section("The worst case", (Facts((("worst pair", "hot and cold"),)), Plot(draw, "Losses"))),
    ))

`render` returns a page as text, and `page_files` as the files that a path asks for. In all texts of
a page, what stands between backticks is code, and nothing else is markup: whatever Markdown or HTML
would take for it is escaped. Names from outside go through `named` or `code`.

A page of HTML holds everything that it shows: no script, no font, no picture from elsewhere. It
reads on a phone and prints on paper.
"""

import json
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, Protocol
from unicodedata import east_asian_width
from urllib.parse import quote

from malaprop.privacy.errors import MissingExtraError, ParameterError, printable
from malaprop.privacy.estimate import Estimate
from malaprop.private_files import without_passwords


@dataclass(frozen=True)
class Link:
    """A text in a table that leads to the section with this anchor."""

    text: str
    anchor: str


Cell = str | Estimate | Link


@dataclass(frozen=True)
class Bullets:
    """A list."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """Names and values; facts without a value are left out."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Table:
    """A table. Columns of numbers stand to the right."""

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    spec: str = ".3f"
    """How figures with an interval are written, as in `format`."""
    chosen: frozenset[int] = frozenset()
    """Rows that stand out."""
    pale: frozenset[int] = frozenset()
    """Rows that stand back, such as bounds."""
    bars: tuple[float, ...] = ()
    """For each row the length of a bar beside it, at most 1; none if there are fewer."""
    names: int = 1
    """The first columns, which name a row: where a terminal is too narrow, they are repeated."""
    most: int = 0
    """How many rows a terminal shows; 0 is all of them."""


@dataclass(frozen=True)
class Plot:
    """A plot: what draws its SVG, a caption, the end of its file's name beside Markdown, and what
    draws it as PDF, if anything does.
    """

    draw: Callable[[], str]
    caption: str
    name: str = ""
    pdf: Callable[[], bytes] | None = None


@dataclass(frozen=True)
class Section:
    """A heading, and what stands under it. One without content is left out."""

    title: str
    pieces: "tuple[Piece, ...]"
    folded: bool = False
    """Whether only the title shows until one asks for more; on paper and terminals, all shows."""
    on_terminal: bool = True
    anchor: str = ""


Piece = str | Bullets | Facts | Table | Plot | Section
"""What stands under a heading. A text is a paragraph, a section in it has a smaller heading."""


@dataclass(frozen=True, kw_only=True)
class Page:
    """What a page says, whatever it is written in."""

    title: str
    audience: str = ""
    figures: tuple[tuple[str, str], ...] = ()
    """The most important numbers, and what each is."""
    warnings: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()


def named(name: str) -> str:
    """Return a name from outside as a page shows it: it can be seen, and none of it is markup.

    >>> print(named("notes`\\n.csv"), named(" "))
    notes\\u0060\\n.csv ' '
    """
    name = without_passwords(name)
    return printable(name).replace("`", r"\u0060") if name.strip() else ascii(name)


def code(text: str) -> str:
    """Return a text as code; an empty one stays empty."""
    return f"`{named(text)}`" if text else ""


def opened(sentence: str) -> str:
    """Return a sentence with a capital at its start and a stop at its end.

    >>> opened("all is well")
    'All is well.'
    """
    return sentence[:1].upper() + sentence[1:].removesuffix(".") + "."


def counted(number: int, noun: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "record"), counted(2000, "record")
    ('1 record', '2,000 records')
    """
    return f"{number:,} {noun}" + "s" * (number != 1)


_ENDINGS = {".json": "JSON", ".md": "Markdown", ".html": "a web page"}
Form = Literal["terminal", "markdown", "html", "notebook", "latex"]


def render(page: Page, to: Form = "terminal", width: int = 96) -> str:
    """Return a page as text: Markdown goes without plots, a notebook gets the body of HTML.

    LaTeX has the tables alone, to be included where `booktabs` is loaded.
    """
    if to == "notebook":
        return _Html().body(page)
    renderers: dict[str, _Renderer] = {
        "terminal": _Terminal(width),
        "markdown": _Markdown(),
        "html": _Html(),
        "latex": _Latex(),
    }
    return renderers[to].page(page)


def report_path(path: Path, *endings: str) -> Path:
    """Return the path of a report; refuse one whose ending says nothing that it can be."""
    endings = endings or tuple(_ENDINGS)
    if not path.name.lower().endswith(endings):
        forms = " or ".join(", ".join(f"as {_ENDINGS[e]}" for e in endings).rsplit(", ", 1))
        raise ParameterError(
            f"a report is written {forms}: {path} ends in none of {', '.join(endings)}"
        )
    return path


def is_web_page(path: Path | None) -> bool:
    return path is not None and path.name.lower().endswith(".html")


def page_files(page: Page, path: Path) -> dict[Path, bytes]:
    """Return the files of a page by their paths, in the form that the ending says.

    HTML holds its plots; beside Markdown they are files, whose names begin as its own does.
    """
    if is_web_page(report_path(path, ".md", ".html")):
        return {path: page_file(page, path)}
    writer = _Markdown(path.stem, _count_plots(page.sections))
    written = {path: _bytes(writer.page(page))}
    return written | {path.with_name(name): _bytes(svg) for name, svg in writer.pictures.items()}


def plot_files(page: Page) -> dict[str, bytes]:
    """Return the plots of a page by the names of their files, as SVG and as PDF."""
    drawings: dict[str, bytes] = {}
    for number, plot in enumerate(_plots_of(page.sections), 1):
        name = plot.name or f"plot-{number}"
        drawings[f"{name}.svg"] = _bytes(plot.draw())
        if plot.pdf:
            drawings[f"{name}.pdf"] = plot.pdf()
    return drawings


def _plots_of(pieces: Iterable[Piece]) -> Iterator[Plot]:
    for piece in pieces:
        if isinstance(piece, Plot):
            yield piece
        elif isinstance(piece, Section):
            yield from _plots_of(piece.pieces)


def page_file(page: Page, path: Path, value: Mapping[str, Any] | None = None) -> bytes:
    """Return a page as one file, in the form that the ending says; `value` is what JSON has.

    Markdown goes without plots.
    """
    if report_path(path).name.lower().endswith(".json"):
        return json_text(value or {}).encode()
    return _bytes(render(page, "html" if is_web_page(path) else "markdown"))


def json_text(value: Mapping[str, Any], indent: int = 2) -> str:
    """Return a value as JSON, in which all that cannot be seen is escaped."""
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    return printable(text, lines=True) + "\n"


def _bytes(text: str) -> bytes:
    return printable(text, lines=True).encode()


def _count_plots(pieces: Iterable[Piece]) -> int:
    return sum(not plot.name for plot in _plots_of(pieces))


_CODE = re.compile(r"`([^`]+)`")
_NUMBER = re.compile(r"(at (least|most) )?[-+−<]?\.?\d|[–-]$|exact$")
_EIGHTHS = " ▏▎▍▌▋▊▉"
_BAR = 30  # characters of the longest bar


class _Renderer(Protocol):
    """Puts the pieces of a page one after the other; each medium says how each looks."""

    join: str = "\n\n"

    def page(self, page: Page) -> str: ...
    def code(self, text: str) -> str: ...
    def escaped(self, text: str) -> str: ...
    def paragraph(self, text: str) -> str: ...
    def bullets(self, lines: Sequence[str]) -> str: ...
    def facts(self, rows: Sequence[tuple[str, str]]) -> str: ...
    def table(self, table: Table) -> str: ...
    def plots(self, plots: Sequence[Plot]) -> str: ...
    def section(self, section: Section, content: str, depth: int) -> str: ...

    def text(self, plain: str) -> str:
        """Return a text of a page, its code as such and all else escaped."""
        parts = _CODE.split(printable(plain))
        return "".join(
            self.code(part) if place % 2 else self.escaped(part) for place, part in enumerate(parts)
        )

    def sections(self, pieces: Iterable[Piece], depth: int) -> str:
        """Return pieces one after the other; plots that follow each other stand together."""
        parts = []
        for plots, run in groupby(pieces, lambda piece: isinstance(piece, Plot)):
            if plots:
                parts.append(self.plots([piece for piece in run if isinstance(piece, Plot)]))
            else:
                parts += [self._piece(piece, depth) for piece in run]
        return self.joined(parts)

    def _piece(self, piece: Piece, depth: int) -> str:
        match piece:
            case str():
                return self.paragraph(piece) if piece else ""
            case Bullets(lines):
                return self.bullets(lines) if lines else ""
            case Facts(rows):
                shown = [(name, value) for name, value in rows if value]
                return self.facts(shown) if shown else ""
            case Table():
                return self.table(piece) if piece.rows else ""
            case Section():
                content = self.sections(piece.pieces, depth + 1)
                return self.section(piece, content, depth) if content else ""
            case _:
                return ""

    def joined(self, parts: Iterable[str]) -> str:
        return self.join.join(filter(None, parts))

    def drawn(self, plots: Sequence[Plot], show: Callable[[Plot, str], str]) -> str:
        """Return plots, or that they cannot be drawn here."""
        try:
            return self.join.join([show(plot, plot.draw()) for plot in plots])
        except MissingExtraError as error:
            return self.paragraph(f"Without plots: {error}")

    def cell(self, cell: Cell, spec: str) -> str:
        match cell:
            case str():
                return self.text(cell)
            case Link():
                return self.link(cell)
            case _ if cell.bound or cell.is_exact:
                return self.text(format(cell, spec))
            case _:
                return self.estimate(cell, spec)

    def link(self, link: Link) -> str:
        return self.text(link.text)

    def estimate(self, figure: Estimate, spec: str) -> str:
        return self.text(format(figure, spec))


def _numeric(table: Table) -> list[bool]:
    def is_number(cell: Cell) -> bool:
        if isinstance(cell, str):
            return not cell or _NUMBER.match(cell) is not None
        return isinstance(cell, Estimate)

    return [any(cells) and all(map(is_number, cells)) for cells in zip(*table.rows, strict=True)]


def _bar(share: float, longest: int = _BAR) -> str:
    """Draw a bar with this share of the longest one, to an eighth of a character."""
    full, eighths = divmod(round(8 * longest * share), 8)
    return ("█" * full + _EIGHTHS[eighths]).rstrip()


# For a terminal: plain text, wrapped to a width.


_LABEL = 12  # columns of a terminal that names of facts have at least
_NARROWEST = 24  # columns of a terminal that a column of texts needs
_Column = list[list[str]]
"""For each row of a table, the lines of one cell, all as wide."""


class _Terminal(_Renderer):
    def __init__(self, width: int) -> None:
        self._width = width

    def page(self, page: Page) -> str:
        parts = [
            self.paragraph(page.title),
            self.paragraph(page.audience),
            self.facts(page.figures) if page.figures else "",
            *(self.paragraph(f"WARNING: {opened(warning)}") for warning in page.warnings),
            self.sections(page.sections, 0),
        ]
        return self.joined(parts) + "\n"

    def code(self, text: str) -> str:
        return text

    def escaped(self, text: str) -> str:
        return text

    def paragraph(self, text: str) -> str:
        return "\n".join(_wrapped(self.text(text), self._width))

    def bullets(self, lines: Sequence[str]) -> str:
        return "\n".join(
            line for each in lines for line in _wrapped(f"- {self.text(each)}", self._width, 2)
        )

    def facts(self, rows: Sequence[tuple[str, str]]) -> str:
        shown = [(self.text(name), self.text(value)) for name, value in rows]
        margin = max(_LABEL, 2 + max(_columns(name) for name, _ in shown))
        margin = min(margin, self._width // 2)
        return "\n".join(
            line
            for name, value in shown
            for line in _wrapped(f"{_padded(name, margin - 1)} {value}", self._width, margin)
        )

    def plots(self, plots: Sequence[Plot]) -> str:
        return ""

    def section(self, section: Section, content: str, depth: int) -> str:
        if not section.on_terminal:
            return ""
        return f"{self.paragraph(section.title)}\n{content}" if section.title else content

    def estimate(self, figure: Estimate, spec: str) -> str:
        # The interval may be lopsided: the wider side covers it.
        margin = f"{max(figure.high - figure.value, figure.value - figure.low):{spec}}"
        return f"{figure.value:{spec}}({margin.removeprefix('0')})"

    def table(self, table: Table) -> str:
        """Return a table; what is too wide for the terminal continues below."""
        if 0 < table.most < len(table.rows):
            rest = len(table.rows) - table.most
            shown = replace(
                table,
                rows=table.rows[: table.most],
                bars=table.bars[: table.most],
                chosen=frozenset(row for row in table.chosen if row < table.most),
            )
            more = f"and {counted(rest, 'more row')}: a report and JSON have them"
            return f"{self.table(shown)}\n{self.paragraph(more)}"
        rows = [[self.cell(cell, table.spec) for cell in row] for row in table.rows]
        for place in table.chosen:
            rows[place][0] += "*"
        grid = [[self.text(name) for name in table.head], *rows]
        texts = list(zip(*grid, strict=True))
        fits = sum(2 + max(map(_columns, cells)) for cells in texts) - 2 <= self._width
        most = self._width if fits else max(_NARROWEST, self._width // 2)
        columns = [
            _column(cells, most, number=number)
            for cells, number in zip(texts, _numeric(table), strict=True)
        ]
        if table.bars:
            room = max(0, self._width - sum(_size(column) + 2 for column in columns))
            bars = [[""], *([_bar(share, min(_BAR, room))] for share in table.bars)]
            return "\n".join(_lines([*columns, bars + [[""]] * (len(grid) - len(bars))]))
        first = columns[: table.names]
        room = self._width - sum(map(_size, first)) - 2 * len(first)
        parts = _parts(columns[table.names :], room)
        return "\n\n".join("\n".join(_lines(first + part)) for part in parts)


def _column(cells: Iterable[str], most: int, *, number: bool) -> _Column:
    """Return the lines of each cell of a column; texts longer than that are wrapped."""
    column = [[cell] if number else _wrapped(cell, most) for cell in cells]
    width = max(_columns(line) for cell in column for line in cell)
    return [[_padded(line, width, right=number) for line in cell] for cell in column]


def _wrapped(line: str, width: int, indent: int = 0) -> list[str]:
    return textwrap.wrap(
        line,
        width,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
        break_long_words=False,
    ) or [""]


def _columns(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def _padded(text: str, width: int, *, right: bool = False) -> str:
    space = " " * (width - _columns(text))
    return space + text if right else text + space


def _size(column: _Column) -> int:
    return _columns(column[0][0])


def _parts(columns: Sequence[_Column], width: int) -> Iterator[list[_Column]]:
    part: list[_Column] = []
    for column in columns:
        if part and sum(_size(each) + 2 for each in part) + _size(column) > width:
            yield part
            part = []
        part.append(column)
    yield part


def _lines(columns: Sequence[_Column]) -> Iterator[str]:
    for row in zip(*columns, strict=True):
        for number in range(max(map(len, row))):
            cells = (
                cell[number] if number < len(cell) else " " * _columns(cell[0]) for cell in row
            )
            yield "  ".join(cells).rstrip()


# As Markdown, with plots as files beside it.


# What Markdown or HTML would take for markup in a text.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>&#|~$])")
_PIPE, _ESCAPED = re.compile(r"(?<!\\)\|"), r"\\|"


class _Markdown(_Renderer):
    def __init__(self, stem: str = "", unnamed: int = 0) -> None:
        self._stem, self._unnamed = stem, unnamed
        self.pictures: dict[str, str] = {}

    def page(self, page: Page) -> str:
        figures = [f"**{self.text(value)}** {self.text(what)}" for value, what in page.figures]
        warned = [f"**{self.text(opened(warning))}**" for warning in page.warnings]
        parts = [
            f"# {self.text(page.title)}",
            f"*{self.text(page.audience)}*" if page.audience else "",
            self._list(figures),
            "## Warnings" if warned else "",
            self._list(warned),
            self.sections(page.sections, 2),
        ]
        return self.joined(parts) + "\n"

    def code(self, text: str) -> str:
        return f"`{text}`"

    def escaped(self, text: str) -> str:
        return _MARKUP.sub(r"\\\1", text)

    def paragraph(self, text: str) -> str:
        return self.text(text)

    def bullets(self, lines: Sequence[str]) -> str:
        return self._list(map(self.text, lines))

    def _list(self, lines: Iterable[str]) -> str:
        return "\n".join(f"- {line}" for line in lines)

    def facts(self, rows: Sequence[tuple[str, str]]) -> str:
        return self._grid(["", ""], [[self.text(name), self.text(value)] for name, value in rows])

    def table(self, table: Table) -> str:
        rows = [[self.cell(cell, table.spec) for cell in row] for row in table.rows]
        for place in table.chosen:
            rows[place][0] = f"**{rows[place][0]}**"
        head, numeric = [self.text(name) for name in table.head], _numeric(table)
        if table.bars:
            head, numeric = [*head, ""], [*numeric, False]
            lengths = [*table.bars, *[0.0] * (len(rows) - len(table.bars))]
            rows = [[*row, _bar(share)] for row, share in zip(rows, lengths, strict=True)]
        return self._grid(head, rows, numeric)

    def _grid(
        self, head: list[str], rows: Iterable[list[str]], numeric: Sequence[bool] = (False, False)
    ) -> str:
        rule = ["---:" if number else "---" for number in numeric]
        return "\n".join(
            f"| {' | '.join(_PIPE.sub(_ESCAPED, cell) for cell in row)} |"
            for row in (head, rule, *rows)
        )

    def link(self, link: Link) -> str:
        return f"[{self.text(link.text)}](#{quote(link.anchor)})"

    def plots(self, plots: Sequence[Plot]) -> str:
        return self.drawn(plots, self._picture) if self._stem else ""

    def _picture(self, plot: Plot, svg: str) -> str:
        number = f"-{1 + len(self.pictures)}" if self._unnamed > 1 else ""
        name = f"{self._stem}{f'-{plot.name}' if plot.name else number}.svg"
        self.pictures[name] = svg
        return f"![{self.text(plot.caption)}]({quote(name, errors='surrogateescape')})"

    def section(self, section: Section, content: str, depth: int) -> str:
        if section.folded:
            summary = f"<summary>{_Html().text(section.title)}</summary>"
            return f"<details>\n{summary}\n\n{content}\n\n</details>"
        anchor = f'<a id="{escape(section.anchor)}"></a>\n\n' if section.anchor else ""
        return f"{anchor}{'#' * depth} {self.text(section.title)}\n\n{content}"


# As the tables of a paper.

_MATHS = {"±": "pm", "ε": "varepsilon", "γ": "gamma", "β": "beta", "λ": "lambda", "τ": "tau"}
_MATHS |= {"σ": "sigma", "Δ": "Delta", "≤": "le", "≥": "ge", "×": "times", "−": "-"}
_MATHS |= {"<": "<", ">": ">"}
_TEX = {
    **{each: rf"\{each}" for each in "&%$#_{}"},
    **{each: f"${name if len(name) < 2 else chr(92) + name}$" for each, name in _MATHS.items()},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


class _Latex(_Renderer):
    def page(self, page: Page) -> str:
        return f"% {self.text(page.title)}\n{self.sections(page.sections, 2)}\n"

    def code(self, text: str) -> str:
        return rf"\texttt{{{self.escaped(text)}}}"

    def escaped(self, text: str) -> str:
        return "".join(_TEX.get(each, each) for each in text)

    def paragraph(self, text: str) -> str:
        return ""

    def bullets(self, lines: Sequence[str]) -> str:
        return ""

    def facts(self, rows: Sequence[tuple[str, str]]) -> str:
        return ""

    def plots(self, plots: Sequence[Plot]) -> str:
        return ""

    def table(self, table: Table) -> str:
        rows = [[self.cell(cell, table.spec) for cell in row] for row in table.rows]
        head = " & ".join(map(self.text, table.head))
        sides = "".join("r" if number else "l" for number in _numeric(table))
        body = "\n".join(rf"{' & '.join(row)} \\" for row in rows)
        return (
            f"\\begin{{tabular}}{{{sides}}}\n\\toprule\n{head} \\\\\n\\midrule\n{body}\n"
            "\\bottomrule\n\\end{tabular}"
        )

    def section(self, section: Section, content: str, depth: int) -> str:
        return f"% {self.text(section.title)}\n{content}"


# As one page of HTML.


_WIDE = 3  # columns beyond which a row becomes a list on a narrow screen


class _Html(_Renderer):
    join = "\n"

    def page(self, page: Page) -> str:
        style = files("malaprop.report").joinpath("page.css").read_text("utf-8")
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
            "style-src 'unsafe-inline'\">\n"
            f"<title>{escape(printable(page.title))}</title>\n<style>\n{style}</style>\n</head>\n"
            f"<body>\n{self.body(page)}\n</body>\n</html>\n"
        )

    def body(self, page: Page) -> str:
        figures = (
            f"<div><b>{self.text(value)}</b> {self.text(what)}</div>"
            for value, what in page.figures
        )
        parts = [
            f"<h1>{self.text(page.title)}</h1>",
            f'<p class="audience">{self.text(page.audience)}</p>' if page.audience else "",
            f'<div class="key">{"".join(figures)}</div>' if page.figures else "",
            *(f'<p class="warning">{self.text(opened(each))}</p>' for each in page.warnings),
            self.sections(page.sections, 2),
        ]
        return self.joined(parts)

    def code(self, text: str) -> str:
        return f"<code>{escape(text)}</code>"

    def escaped(self, text: str) -> str:
        return escape(text)

    def paragraph(self, text: str) -> str:
        return f"<p>{self.text(text)}</p>"

    def bullets(self, lines: Sequence[str]) -> str:
        return f"<ul>{''.join(f'<li>{self.text(line)}</li>' for line in lines)}</ul>"

    def facts(self, rows: Sequence[tuple[str, str]]) -> str:
        lines = (f"<tr><td>{self.text(a)}</td><td>{self.text(b)}</td></tr>" for a, b in rows)
        return f'<table class="facts"><tbody>{"".join(lines)}</tbody></table>'

    def table(self, table: Table) -> str:
        """Return a table. On a narrow screen, a row of many columns becomes a list with names."""
        wide = len(table.head) > _WIDE
        marks = [' class="number"' if number else "" for number in _numeric(table)]
        head = "".join(
            f"<th{mark}>{self.text(name)}</th>"
            for mark, name in zip(marks, table.head, strict=True)
        )
        if wide:
            marks = [
                f'{mark} data-name="{escape(printable(name))}"' if place else mark
                for place, (mark, name) in enumerate(zip(marks, table.head, strict=True))
            ]
        body = ""
        for place, row in enumerate(table.rows):
            cells = "".join(
                f"<td{mark}>{self.cell(cell, table.spec)}</td>"
                for mark, cell in zip(marks, row, strict=True)
            )
            if table.bars:
                share = table.bars[place] if place < len(table.bars) else 0.0
                cells += f'<td class="bar"><div style="width:{100 * share:.1f}%"></div></td>'
            kind = "chosen" if place in table.chosen else "pale" if place in table.pale else ""
            body += f"<tr{f' class={kind}' if kind else ''}>{cells}</tr>"
        extra = "<th></th>" if table.bars else ""
        whole = f"<table><thead><tr>{head}{extra}</tr></thead><tbody>{body}</tbody></table>"
        return f'<div class="wide">{whole}</div>' if wide else whole

    def link(self, link: Link) -> str:
        return f'<a href="#{escape(link.anchor)}">{self.text(link.text)}</a>'

    def estimate(self, figure: Estimate, spec: str) -> str:
        return f"{figure.value:{spec}}<small>{figure.low:{spec}}–{figure.high:{spec}}</small>"

    def plots(self, plots: Sequence[Plot]) -> str:
        figures = self.drawn(
            plots,
            lambda plot, svg: (
                f"<figure>{svg}<figcaption>{self.text(plot.caption)}</figcaption></figure>"
            ),
        )
        return f'<div class="plots">{figures}</div>'

    def section(self, section: Section, content: str, depth: int) -> str:
        anchor = f' id="{escape(section.anchor)}"' if section.anchor else ""
        title = self.text(section.title)
        if section.folded:
            return f"<details{anchor}><summary>{title}</summary>\n{content}\n</details>"
        return f"<h{depth}{anchor}>{title}</h{depth}>\n{content}"
