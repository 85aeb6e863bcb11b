"""The page of an evaluation."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from malaprop.measure.adversaries import attack_named
from malaprop.measure.classification import models
from malaprop.measure.evaluation import Cell, Evaluation
from malaprop.privacy.errors import MissingExtraError, ParameterError
from malaprop.privacy.estimate import Estimate
from malaprop.report.page import document, html_bullets, link
from malaprop.report.page import html_text as plain
from malaprop.report.plots import caption, frontier, has_frontier
from malaprop.report.run_report import as_bytes

# The one table of an evaluation, and the sentences around it, for all renderings.


OWNER = "For the owner of the texts: these figures depend on them. Do not publish them."
LOWER = (
    "What attacks recover is a lower bound: they are simple ones, and a better model of language "
    "recovers more. The guarantee holds whatever the attack."
)

STATIC = (
    "Attackers learn from clean text alone. Those who learn from private text, too, may do better: "
    "an evaluation with the option `adaptive` measures them."
)
ADAPTIVE = (
    "Attackers adapt: on labels, they train on private text; on words, they learn from it how "
    "frequent words are."
)
BOUNDS = (
    "Bounds of attacks: texts as they are; texts of random words, from which an attack on words "
    "can only guess the most frequent one; for attacks on labels, the most frequent label, and "
    "chance for membership."
)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure in the table, with its interval if it has one."""

    value: float | None = None
    interval: tuple[float, float] | None = None

    @property
    def margin(self) -> float | None:
        """Half of the interval."""
        return None if self.interval is None else (self.interval[1] - self.interval[0]) / 2.0


@dataclass(frozen=True, kw_only=True)
class Row:
    """A setting, or a bound."""

    name: str
    epsilon: str
    figures: tuple[Figure, ...]
    recommended: bool = False
    bound: bool = False


@dataclass(frozen=True, kw_only=True)
class Column:
    """The short name of a column, and what is in it."""

    name: str
    about: str


def columns_of(evaluation: Evaluation, model: str) -> tuple[Column, ...]:
    """Return the columns after mechanism and ε."""
    fixed = [
        Column(name="kept", about="share of words that come out unchanged"),
        Column(name="words", about="similarity of a word and what comes out for it"),
        Column(name="texts", about="similarity of a text and its private copy (centroids)"),
    ]
    if model:
        about = f"accuracy of {models[model].summary}, trained on private texts and tested on "
        fixed += [
            Column(name="clean", about=f"{about}clean ones"),
            Column(name="private", about=f"{about}private ones"),
        ]
    return (*fixed, *(_attack_column(name, evaluation) for name in attacks_of(evaluation)))


def _attack_column(name: str, evaluation: Evaluation) -> Column:
    figure = evaluation.cells[0].attacks[name]
    what = "share of words recovered" if figure.recovers_words else f"{figure.measured} reached"
    how = attack_named(name).summary().removesuffix(".")
    return Column(name=name, about=f"{what} by the attack {name}: {how[:1].lower()}{how[1:]}")


def attacks_of(evaluation: Evaluation) -> list[str]:
    """Return the names of the attacks that were run."""
    return list(evaluation.cells[0].attacks)


def rows_of(evaluation: Evaluation, model: str) -> Iterator[Row]:
    """Yield a row for each setting, then the bounds."""
    chosen = evaluation.recommendation.cell
    for cell in evaluation.cells:
        yield Row(
            name=cell.name,
            epsilon=f"{cell.epsilon:g}",
            figures=tuple(_figures(cell, model)),
            recommended=cell is chosen,
        )
    yield from _bounds(evaluation, model)


def _figures(cell: Cell, model: str) -> Iterator[Figure]:
    for estimate in (cell.kept, cell.similarity, cell.text_similarity):
        yield _figure(estimate)
    if model:
        yield from map(_figure, _both(cell.accuracy[model]))
    for attack in cell.attacks.values():
        yield Figure(value=attack.score, interval=attack.interval)


def _bounds(evaluation: Evaluation, model: str) -> Iterator[Row]:
    bounds, attacks = evaluation.bounds, evaluation.cells[0].attacks
    in_clear = tuple(_over_cells(evaluation, name, "unprotected") for name in attacks)
    useless = tuple(_over_cells(evaluation, name, "floor") for name in attacks)
    all_kept = (Figure(value=1.0),) * 3
    words = tuple(
        Figure(value=value) for value in (bounds.kept, bounds.similarity, bounds.text_similarity)
    )
    unprotected: tuple[Figure, ...] = ()
    random: tuple[Figure, ...] = ()
    if model:
        unprotected = (_figure(bounds.unprotected[model]),) * 2
        random = tuple(map(_figure, _both(bounds.random_words[model])))
    yield Row(name="unprotected", epsilon="", figures=all_kept + unprotected + in_clear, bound=True)
    yield Row(name="random words", epsilon="", figures=words + random + useless, bound=True)
    if model and bounds.majority is not None:
        most = (_figure(bounds.majority),) * 2
        nothing = (Figure(),) * 3
        guessed = tuple(
            Figure() if attacks[name].recovers_words else _over_cells(evaluation, name, "baseline")
            for name in attacks
        )
        yield Row(name="majority class", epsilon="", figures=nothing + most + guessed, bound=True)


def _over_cells(evaluation: Evaluation, attack: str, bound: str) -> Figure:
    """Return a bound of an attack, the mean of what each setting was measured with."""
    values = [getattr(cell.attacks[attack], bound) for cell in evaluation.cells]
    return Figure(value=sum(values) / len(values))


def _both(tested: Mapping[str, Estimate]) -> tuple[Estimate, Estimate]:
    return tested["clean"], tested["private"]


def _figure(estimate: Estimate) -> Figure:
    low, high = estimate.interval
    return Figure(value=estimate.value, interval=None if low == high else (low, high))


def rounded(value: float, digits: int = 3) -> str:
    """Return a figure with some digits; what rounds to 0 has no sign.

    >>> rounded(-0.0001)
    '0.000'
    """
    return f"{round(value, digits) + 0.0:.{digits}f}"


def about_lines(evaluation: Evaluation) -> list[str]:
    """Return what was measured, on what, and how sure it is."""
    texts = evaluation.texts
    attacked = f"{texts['attacked_words']:,} words of {texts['attacked']:,} texts"
    drawn = ", drawn at random," if texts["sampled"] < texts["given"] else ""
    number = f"{texts['sampled']:,} of {texts['given']:,} texts" if drawn else "All texts"
    sampled = f"{number}{drawn} with {texts['words']:,} words"
    name, runs = evaluation.lexicon["name"] or "of your own", evaluation.settings["runs"]
    mark = f"fingerprint {evaluation.lexicon['fingerprint'][:12]}…"
    draws = "one noise draw" if runs == 1 else f"{runs} noise draws"
    lines = [f"{sampled}; attacks on {attacked}.", f"Lexicon {name}, {mark}; {draws}."]
    if evaluation.runs:
        lines.append(f"Classifiers: {evaluation.classes} classes; {evaluation.runs}.")
    if evaluation.cells[0].attacks:
        lines.append(_known(str(evaluation.settings.get("model", ""))))
        lines += [ADAPTIVE if evaluation.settings.get("adaptive") else STATIC, BOUNDS]
    return [*lines, f"Intervals: {evaluation.about_intervals}."]


def _known(model: str) -> str:
    """Say what all attacks on words know beforehand, with context or without."""
    if not model:
        return "To attacks on words, all words are equally likely beforehand."
    return (
        "Attacks on words, with context or without, know words and bigrams of the same public "
        f"text: the model with the fingerprint {model[:12]}…."
    )


def opened(sentence: str) -> str:
    """Return a sentence that begins with a capital and ends with a stop."""
    return sentence[:1].upper() + sentence[1:].removesuffix(".") + "."


def advice(evaluation: Evaluation) -> str:
    """Return the recommendation in a few words."""
    cell = evaluation.recommendation.cell
    return "No setting is recommended" if cell is None else f"Recommended: {cell.title}"


# An evaluation as one page of HTML that holds everything it shows.


_TITLE = "Privacy and utility on your own texts"
# The table is wider than a phone: it scrolls by itself, and the page does not.
_STYLE = """<style>
.wide { overflow-x: auto; }
.wide table { min-width: 44rem; }
.wide td, .wide th { overflow-wrap: normal; padding-right: .35rem; }
figure svg { max-width: 40rem; }
.wide small { display: block; color: #5a6a7a; font-size: .78rem; }
tr.chosen td { background: #eef4ea; font-weight: 600; }
tr.bound td { color: #5a6a7a; }
</style>"""


def as_html(evaluation: Evaluation) -> str:
    """Return the evaluation as a page."""
    parts = [
        _STYLE,
        f"<h1>{_TITLE}</h1>",
        f'<p class="audience">{escape(OWNER)}</p>',
        _key_figures(evaluation),
        f"<h2>{escape(advice(evaluation))}</h2>",
        f"<p>{escape(evaluation.recommendation.reason)}</p>",
        f"<p>{escape(opened('The rule: ' + evaluation.recommendation.rule))}</p>",
        *(f'<p class="warning">{escape(opened(note))}</p>' for note in evaluation.notes),
        *_picture(evaluation),
        "<h2>All settings</h2>",
        _table(evaluation, evaluation.utility.model),
        _legend(evaluation),
        *_other_models(evaluation),
        "<h2>How it was measured</h2>",
        "<ul>",
        *(f"<li>{escape(line)}</li>" for line in (*about_lines(evaluation), LOWER)),
        "</ul>",
    ]
    return document(_TITLE, parts)


def _key_figures(evaluation: Evaluation) -> str:
    cell, utility = evaluation.recommendation.cell, evaluation.utility
    if cell is None:
        figures = [("none", f"of {len(evaluation.cells)} settings is recommended")]
    else:
        figures = [(f"{cell.name}, ε = {cell.epsilon:g}", "recommended setting")]
        if cell.strongest is not None:
            name, attack = cell.strongest
            figures.append((f"{attack.score:.0%}", f"of words recovered by {name}, the strongest"))
        figures.append((f"{cell.kept.value:.0%}", "of words come out unchanged"))
        figures.append((f"{utility.of(cell).value:.3f}", utility.name))
        figures.append((f"{utility.ceiling:.3f}", "the same with clean texts"))
    cells = (f"<div><b>{escape(value)}</b>{escape(what)}</div>" for value, what in figures)
    return f'<div class="key">{"".join(cells)}</div>'


def _picture(evaluation: Evaluation) -> list[str]:
    if not has_frontier(evaluation):
        return []
    try:
        svg = frontier(evaluation)
    except MissingExtraError as error:
        return [f"<p>Without a picture: {escape(str(error))}</p>"]
    text = escape(caption(evaluation))
    return ["<h2>The frontier</h2>", f"<figure>{svg}<figcaption>{text}</figcaption></figure>"]


def _table(evaluation: Evaluation, model: str) -> str:
    names = ["mechanism", "ε", *(column.name for column in columns_of(evaluation, model))]
    head = "".join(
        f"<th{' class=number' if place else ''}>{escape(name)}</th>"
        for place, name in enumerate(names)
    )
    rows = []
    for row in rows_of(evaluation, model):
        kind = ' class="chosen"' if row.recommended else ' class="bound"' if row.bound else ""
        cells = "".join(f'<td class="number">{_cell(figure)}</td>' for figure in row.figures)
        name, epsilon = escape(row.name), escape(row.epsilon)
        rows.append(f'<tr{kind}><td>{name}</td><td class="number">{epsilon}</td>{cells}</tr>')
    body = "".join(rows)
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        "</div>"
    )


def _cell(figure: Figure) -> str:
    if figure.value is None:
        return "–"
    if figure.interval is None:
        return rounded(figure.value)
    low, high = figure.interval
    return f"{rounded(figure.value)}<small>{_short(low)}–{_short(high)}</small>"


def _short(share: float) -> str:
    return rounded(share).replace("0.", ".", 1) if abs(share) < 0.9995 else f"{share:.2f}"


def _legend(evaluation: Evaluation) -> str:
    columns = columns_of(evaluation, evaluation.utility.model)
    items = (f"<li><b>{escape(c.name)}</b>: {escape(c.about)}</li>" for c in columns)
    return f"<ul>{''.join(items)}</ul>"


def _other_models(evaluation: Evaluation) -> list[str]:
    parts = []
    for model in evaluation.bounds.unprotected:
        if model != evaluation.utility.model:
            parts.append(f"<h3>The same with the model {escape(model)}</h3>")
            parts.append(_table(evaluation, model))
    return parts


# An evaluation as a page of Markdown; its picture is a file of its own beside it.


def as_markdown(evaluation: Evaluation, picture: str | None) -> str:
    """Return the evaluation as Markdown; `picture` is the name of the file that has it."""
    recommendation = evaluation.recommendation
    sections = [
        "# Privacy and utility on your own texts",
        f"*{OWNER}*",
        f"**{plain(advice(evaluation))}.** {plain(recommendation.reason)}",
        plain(opened(f"The rule: {recommendation.rule}")),
    ]
    if evaluation.notes:
        sections.append(html_bullets(plain(opened(note)) for note in evaluation.notes))
    if picture is not None:
        sections += ["## The frontier", f"![The frontier]({link(picture)})", caption(evaluation)]
    sections += ["## All settings", *_models(evaluation)]
    sections += [
        "## How it was measured",
        html_bullets(map(plain, (*about_lines(evaluation), LOWER))),
    ]
    return "\n\n".join(sections) + "\n"


def _models(evaluation: Evaluation) -> list[str]:
    chosen = evaluation.utility.model
    columns = columns_of(evaluation, chosen)
    parts = [
        _markdown_table(evaluation, chosen),
        html_bullets(f"{plain(c.name)}: {plain(c.about)}" for c in columns),
    ]
    for model in evaluation.bounds.unprotected:
        if model != chosen:
            parts += [
                f"### The same with the model {plain(model)}",
                _markdown_table(evaluation, model),
            ]
    return parts


def _markdown_table(evaluation: Evaluation, model: str) -> str:
    names = ["mechanism", "ε", *(column.name for column in columns_of(evaluation, model))]
    lines = [names, ["---", *(["---:"] * (len(names) - 1))]]
    for row in rows_of(evaluation, model):
        name = f"**{plain(row.name)}**" if row.recommended else plain(row.name)
        lines.append([name, row.epsilon, *map(_markdown_cell, row.figures)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _markdown_cell(figure: Figure) -> str:
    if figure.value is None:
        return "–"
    if figure.interval is None:
        return rounded(figure.value)
    low, high = map(rounded, figure.interval)
    return f"{rounded(figure.value)} ({low}–{high})"


# An evaluation for a terminal.


_WIDEST = 96
_NARROW = ("kept", "words", "texts")  # their intervals are narrow: the reports have them
_GAPS = (2, 1)  # between columns; the smaller one on a narrow terminal


def readable(evaluation: Evaluation, width: int = _WIDEST) -> str:
    """Return the table, the recommendation, and what they rest on, for a width."""
    width, model = min(width, _WIDEST), evaluation.utility.model
    columns = columns_of(evaluation, model)
    recommendation = evaluation.recommendation
    lines = [*_terminal_table(evaluation, columns, model, width), ""]
    margin = 2 + max(len(column.name) for column in columns)
    lines += [_filled(f"{each.name:<{margin}}{each.about}", width, margin) for each in columns]
    lines += ["", f"{advice(evaluation)}.", _filled(recommendation.reason, width)]
    lines += [_filled(opened(f"The rule: {recommendation.rule}"), width), ""]
    about = (*about_lines(evaluation), *map(opened, evaluation.notes), LOWER, OWNER)
    lines += [_filled(line, width) for line in about]
    return "".join(f"{line}\n" for line in lines)


def _filled(line: str, width: int, indent: int = 0) -> str:
    return textwrap.fill(
        line, width, subsequent_indent=" " * indent, break_on_hyphens=False, break_long_words=False
    )


def _terminal_table(
    evaluation: Evaluation, columns: Sequence[Column], model: str, width: int
) -> Iterator[str]:
    """Yield the lines of the table; what is too wide for the terminal continues below."""
    rows = list(rows_of(evaluation, model))
    names = ["", *(f"{row.name}{'*' if row.recommended else ''}" for row in rows)]
    epsilons = ["ε", *(row.epsilon for row in rows)]
    margin = max(map(len, names))
    heads = [
        f"{name:<{margin}} {epsilon:>{max(map(len, epsilons))}}"
        for name, epsilon in zip(names, epsilons, strict=True)
    ]
    cells = [
        [column.name, *(_shown(row.figures[place], column) for row in rows)]
        for place, column in enumerate(columns)
    ]
    room = width - len(heads[0])
    gap = next((gap for gap in _GAPS if sum(_size(cell) + gap for cell in cells) <= room), 1)
    for number, part in enumerate(_parts(cells, room, gap)):
        if number:
            yield ""
        for line, head in enumerate(heads):
            shown = (f"{cell[line]:>{_size(cell)}}" for cell in part)
            yield (" " * gap).join([head, *shown]).rstrip()


def _parts(cells: list[list[str]], width: int, gap: int) -> Iterator[list[list[str]]]:
    """Split columns into groups that fit a width."""
    part: list[list[str]] = []
    used = 0
    for cell in cells:
        size = _size(cell) + gap
        if part and used + size > width:
            yield part
            part, used = [], 0
        part.append(cell)
        used += size
    yield part


def _size(cell: Sequence[str]) -> int:
    return max(map(len, cell))


def _shown(figure: Figure, column: Column) -> str:
    if figure.value is None:
        return ""
    margin = None if column.name in _NARROW else figure.margin
    if margin is None:
        return rounded(figure.value, 2)
    return f"{rounded(figure.value, 2)}±{f'{margin:.2f}'.removeprefix('0')}"


# An evaluation as files: Markdown with its picture, or one web page.


_ENDINGS = (".md", ".html")


def files_of(report: Path) -> tuple[Path, ...]:
    """Return the files that a report consists of; refuse a name that says nothing of its form."""
    name = report.name.lower()
    if not name.endswith(_ENDINGS):
        raise ParameterError(
            f"the report of an evaluation is Markdown or a web page: {report} ends in none of "
            f"{', '.join(_ENDINGS)}"
        )
    return (report,) if name.endswith(".html") else (report, report.with_suffix(".svg"))


def rendered(evaluation: Evaluation, report: Path) -> dict[Path, bytes]:
    """Return the bytes of each file of a report; Markdown goes without a picture if need be."""
    files = files_of(report)
    if len(files) == 1:
        return {report: as_bytes(as_html(evaluation))}
    picture = None
    if has_frontier(evaluation):
        try:
            picture = frontier(evaluation)
        except MissingExtraError:
            picture = None
    text = as_markdown(evaluation, None if picture is None else files[1].name)
    pages = {report: as_bytes(text)}
    return pages if picture is None else pages | {files[1]: picture.encode()}
