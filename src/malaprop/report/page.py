"""A page for people: title, figures, warnings, sections. Rendered as HTML and as Markdown.

A page of HTML holds everything that it shows: no script, no font, no picture from elsewhere. It
reads on a phone and prints on paper.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from urllib.parse import quote

from malaprop.draws import Repetition
from malaprop.privacy.best_guess import UNIFORM, BestGuess
from malaprop.privacy.errors import MissingExtraError, printable
from malaprop.privacy.word_graph import Steps

# Pieces of Markdown in which nothing of a name or a text is markup.


# What Markdown or HTML would take for markup in a name.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>&#|~$])")


def html_text(plain: str) -> str:
    """Return a text on one line, in which nothing is markup."""
    return printable(_MARKUP.sub(r"\\\1", plain))


def code(plain: str) -> str:
    """Return a text on one line, as code: nothing in it is markup."""
    if not plain:
        return ""
    plain = printable(plain)
    fence = "`" * (1 + max(map(len, re.findall("`+", plain)), default=0))
    space = " " if "`" in plain else ""
    return f"{fence}{space}{plain}{space}{fence}".replace("|", "\\|")


def link(file: str) -> str:
    """Return the name of a file beside the page as the target of a link."""
    return quote(file, errors="surrogateescape")


def html_bullets(lines: Iterable[str]) -> str:
    """Return lines as a list."""
    return "\n".join(f"- {line}" for line in lines)


def html_table(
    head: tuple[str, str], rows: Sequence[tuple[str, str]], *, right: bool = False
) -> str:
    """Return rows of two cells as a table; the second cell may stand to the right."""
    rule = ("---", "---:" if right else "---")
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))


def grid(
    head: Sequence[str], rows: Sequence[Sequence[str]], numbers: frozenset[int] = frozenset()
) -> str:
    """Return rows of any number of cells as a table; `numbers` are columns to the right."""
    rule = tuple("---:" if place in numbers else "---" for place in range(len(head)))
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))


_STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1c2733; background: #fff;
  max-width: 54rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; border-bottom: 1px solid #d7dee6; }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; overflow-wrap: anywhere; }
p, li { max-width: 44rem; }
.audience { color: #5a6a7a; margin-top: 0; }
.key { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .7rem;
  margin: 1.2rem 0; }
@media (min-width: 45rem) {
  .key:has(> div:nth-child(6):last-child) { grid-template-columns: repeat(3, 1fr); } }
.key div { border: 1px solid #d7dee6; border-radius: .4rem; padding: .6rem .8rem; }
.key b { display: block; font-size: 1.35rem; line-height: 1.2; overflow-wrap: anywhere; }
.warning { border-left: .3rem solid #8a1c1c; background: #fbf1f1; padding: .5rem .9rem;
  margin: .6rem 0; font-weight: 600; }
.wide { overflow-x: auto; }
.wide td:first-child:not(.number) { min-width: 9rem; }
table { border-collapse: collapse; width: 100%; margin: .6rem 0; font-size: .95rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0;
  border-bottom: 1px solid #e6ebf0; overflow-wrap: break-word; }
table.facts td { overflow-wrap: anywhere; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
table.facts td:first-child { width: 28%; min-width: 6.5rem; color: #44525f;
  overflow-wrap: break-word; }
code { font-size: .88em; overflow-wrap: anywhere; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: 1rem; }
figure { margin: 0; max-width: 32rem; break-inside: avoid; }
figure svg { width: 100%; height: auto; }
figcaption { font-size: .88rem; color: #44525f; }
@media (max-width: 30rem) { .key b { font-size: 1.1rem; } .key div { padding: .6rem; } }
@media screen and (max-width: 36rem) {
  .wide thead { display: none; }
  .wide tr { display: block; padding: .4rem 0; border-bottom: 1px solid #e6ebf0; }
  .wide td { display: flex; justify-content: space-between; gap: 1rem; padding: 0; border: 0; }
  .wide td:first-child { font-weight: 600; }
  .wide td[data-name]::before { content: attr(data-name); color: #44525f; } }
@media print { body { font-size: 11pt; max-width: none; padding: 0; }
  .key b { font-size: 1.1rem; } .wide { overflow: visible; }
  h2, h3 { break-after: avoid; } tr, li, p, .key { break-inside: avoid; } }
"""


@dataclass(frozen=True)
class Paragraph:
    """A few sentences."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """A list."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """Names and values; facts without a value are left out."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Grid:
    """A table of text; the columns in `numbers` are aligned to the right."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Plot:
    """A plot, which only HTML shows: what draws its SVG, and a caption."""

    draw: Callable[[], str]
    caption: str


Piece = Paragraph | Bullets | Facts | Grid | Plot


@dataclass(frozen=True)
class Section:
    """A heading, and what stands under it."""

    title: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, kw_only=True)
class Page:
    """What a page says, whatever it is written in."""

    title: str
    audience: str
    figures: tuple[tuple[str, str], ...] = ()
    """The most important numbers, and what each is."""
    warnings: tuple[str, ...] = ()
    sections: tuple[Section, ...] = field(default=())


def page_html(page: Page) -> str:
    """Return a page as HTML."""
    parts = [
        f"<h1>{escape(page.title)}</h1>",
        f'<p class="audience">{escape(page.audience)}</p>',
        key_figures(page.figures) if page.figures else "",
        *(f'<p class="warning">{escape(opened(w))}.</p>' for w in page.warnings),
    ]
    for section in page.sections:
        parts.append(f"<h2>{escape(section.title)}</h2>")
        for plots, run in groupby(section.pieces, lambda piece: isinstance(piece, Plot)):
            pieces = list(run)
            parts += [_plots(pieces)] if plots else [_html(piece) for piece in pieces]
    return document(page.title, parts)


def page_markdown(page: Page) -> str:
    """Return a page as Markdown, without its plots."""
    parts = [f"# {html_text(page.title)}", f"*{html_text(page.audience)}*"]
    figures = [f"**{html_text(value)}** {html_text(what)}" for value, what in page.figures]
    parts += [html_bullets(figures)] if figures else []
    if page.warnings:
        warned = (f"**{html_text(opened(warning))}.**" for warning in page.warnings)
        parts += ["## Warnings", html_bullets(warned)]
    for section in page.sections:
        parts.append(f"## {html_text(section.title)}")
        parts += filter(None, map(_markdown, section.pieces))
    return "\n\n".join(parts) + "\n"


def document(title: str, parts: Iterable[str]) -> str:
    """Return a whole document of HTML; the parts are HTML themselves."""
    body = "\n".join(filter(None, parts))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def key_figures(figures: Iterable[tuple[str, str]]) -> str:
    """Return the most important numbers as boxes."""
    cells = (f"<div><b>{escape(value)}</b>{escape(what)}</div>" for value, what in figures)
    return f'<div class="key">{"".join(cells)}</div>'


def bullets(lines: Iterable[str]) -> str:
    """Return lines as a list of HTML."""
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], numbers: frozenset[int] = frozenset()
) -> str:
    """Return a table of HTML; the columns in `numbers` are aligned to the right.

    A row of a table of many columns becomes a list on a narrow screen, with the names of columns.
    """
    wide = len(head) > 3

    def mark(place: int, kind: str) -> str:
        number = ' class="number"' if place in numbers else ""
        named = wide and kind == "td" and place > 0
        return number + (f' data-name="{escape(head[place])}"' if named else "")

    def cells(kind: str, row: Sequence[str]) -> str:
        return "".join(
            f"<{kind}{mark(place, kind)}>{escape(cell)}</{kind}>" for place, cell in enumerate(row)
        )

    top = f"<thead><tr>{cells('th', head)}</tr></thead>" if head else ""
    sort = "" if head else ' class="facts"'
    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    whole = f"<table{sort}>{top}<tbody>{body}</tbody></table>"
    return f'<div class="wide">{whole}</div>' if wide else whole


def opened(sentence: str) -> str:
    """Return a sentence with a capital at its start."""
    return sentence[:1].upper() + sentence[1:]


def _html(piece: Piece) -> str:
    match piece:
        case Paragraph(text):
            return f"<p>{escape(text)}</p>"
        case Bullets(lines):
            return bullets(lines)
        case Facts(rows):
            return table((), [row for row in rows if row[1]])
        case Grid(head, rows, numbers):
            return table(head, rows, numbers)
        case _:
            return ""


def _plots(pieces: Iterable[Piece]) -> str:
    plots = [piece for piece in pieces if isinstance(piece, Plot)]
    try:
        drawn = [(plot.draw(), plot.caption) for plot in plots]
    except MissingExtraError as error:
        return f"<p>Without plots: {escape(str(error))}</p>"
    cells = (
        f"<figure>{svg}<figcaption>{escape(text)}</figcaption></figure>" for svg, text in drawn
    )
    return f'<div class="plots">{"".join(cells)}</div>'


def _markdown(piece: Piece) -> str:
    match piece:
        case Paragraph(text):
            return html_text(text)
        case Bullets(lines):
            return html_bullets(map(html_text, lines))
        case Facts(rows):
            shown = [tuple(map(html_text, row)) for row in rows if row[1]]
            return grid(("", ""), shown)
        case Grid(head, rows, numbers):
            escaped = [tuple(map(html_text, row)) for row in rows]
            return grid(tuple(map(html_text, head)), escaped, numbers)
        case _:
            return ""


# Phrases that all renderings of a report share.


PROTECTED = {
    "in_lexicon": "in the lexicon",
    "mapped": "mapped to words of it",
    "numbers": "as numbers",
    "urls": "as web addresses",
    "emails": "as e-mail addresses",
    "mentions": "as mentions",
    "hashtags": "as hashtags",
    "emoji": "as emoji or symbols",
    "dates": "as dates",
    "times": "as times",
    "money": "as amounts of money",
    "percentages": "as percentages",
    "ordinals": "as ordinals",
    "identifiers": "as identifiers",
}
OTHERWISE = {
    "masked": "masked",
    "dropped": "dropped",
    "kept": "KEPT AS THEY ARE, without protection",
    "removed": "invisible characters removed",
    "public_markup": "pieces of markup shown as they are, declared public",
    "public_placeholders": "placeholders shown as they are, declared public",
    "public_words": "words shown as they are, declared public",
    "public_spans": "passages outside the spans shown as they are, declared public",
}


def best_guess(guessed: BestGuess) -> str:
    """Say how often an observer without context guesses a word right.

    >>> print(best_guess(BestGuess(0.342))[:75])
    about 34% of single words are guessed right by an observer without context,
    """
    return f"{guessed} of single words are guessed right by {UNIFORM}"


def repetition(facts: Repetition, repeat: str) -> list[str]:
    """Say how often content words occur in a text, and what an observer makes of it."""
    if not facts.most:
        return []
    texts = f"{facts.texts:,} text{' has' if facts.texts == 1 else 's have'}"
    often = f"a content word occurs up to {facts.most:,} times in one text"
    lines = [f"{often}, and {texts} one that occurs 5 times or more"]
    if repeat == "document":
        lines.append("all its places share one draw, and which places are equal can be seen")
    elif facts.recovered:
        shares = ", ".join(f"{k} draws {share:.0%}" for k, share in facts.recovered)
        lines.append(
            f"each place is a draw of its own: of public words, an observer without context "
            f"recovers from {shares}, about; one draw for all is repeat = document"
        )
    return lines


def content_words(facts: Repetition) -> str:
    """Say what counts as a content word."""
    return f"Content words are all but the first {facts.common:,} of the lexicon."


def fingerprint_of(metric: object) -> str:
    """Name the fingerprint of a lexicon under a metric, as `malaprop lexicon info` does.

    >>> fingerprint_of("graph")
    'fingerprint with graph'
    """
    return "fingerprint with graph" if str(metric) == Steps.name else "fingerprint"


def parameters(mechanism: Mapping[str, object]) -> str:
    """Return a mechanism as it is written in Python."""
    values = [f"{k}={v}" for k, v in mechanism.items() if k != "name" and v is not None]
    return f"{mechanism['name']}({', '.join(values)})"


def setting(value: object) -> str:
    """Return the value of a setting, which may be several by name."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {each}" for name, each in value.items())
    return str(value)


def listed(names: Mapping[str, str], counts: Mapping[str, int]) -> list[str]:
    """List the counts that are not 0, each with what it counts."""
    return [f"{counts[tag]:,} {text}" for tag, text in names.items() if counts.get(tag)]


def named(name: str) -> str:
    """Return a name that can be seen: an empty one in quotes, control characters as escapes."""
    return printable(name) if name.strip() else ascii(name)
