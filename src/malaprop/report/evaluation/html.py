"""An evaluation as one page of HTML that holds everything it shows."""

from html import escape

from malaprop.core.errors import MissingExtraError
from malaprop.measure.evaluating.evaluation import Evaluation
from malaprop.report.evaluation.frontier import caption, frontier, has_frontier
from malaprop.report.evaluation.tables import (
    LOWER,
    OWNER,
    Figure,
    about_lines,
    advice,
    columns_of,
    opened,
    rounded,
    rows_of,
)
from malaprop.report.page import document

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
