"""An evaluation as a page of Markdown; its picture is a file of its own beside it."""

from malaprop.measure.evaluating.evaluation import Evaluation
from malaprop.report.evaluation.frontier import caption
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
from malaprop.report.markup import bullets, link
from malaprop.report.markup import text as plain


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
        sections.append(bullets(plain(opened(note)) for note in evaluation.notes))
    if picture is not None:
        sections += ["## The frontier", f"![The frontier]({link(picture)})", caption(evaluation)]
    sections += ["## All settings", *_models(evaluation)]
    sections += ["## How it was measured", bullets(map(plain, (*about_lines(evaluation), LOWER)))]
    return "\n\n".join(sections) + "\n"


def _models(evaluation: Evaluation) -> list[str]:
    chosen = evaluation.utility.model
    columns = columns_of(evaluation, chosen)
    parts = [
        _table(evaluation, chosen),
        bullets(f"{plain(c.name)}: {plain(c.about)}" for c in columns),
    ]
    for model in evaluation.bounds.unprotected:
        if model != chosen:
            parts += [f"### The same with the model {plain(model)}", _table(evaluation, model)]
    return parts


def _table(evaluation: Evaluation, model: str) -> str:
    names = ["mechanism", "ε", *(column.name for column in columns_of(evaluation, model))]
    lines = [names, ["---", *(["---:"] * (len(names) - 1))]]
    for row in rows_of(evaluation, model):
        name = f"**{plain(row.name)}**" if row.recommended else plain(row.name)
        lines.append([name, row.epsilon, *map(_cell, row.figures)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(figure: Figure) -> str:
    if figure.value is None:
        return "–"
    if figure.interval is None:
        return rounded(figure.value)
    low, high = map(rounded, figure.interval)
    return f"{rounded(figure.value)} ({low}–{high})"
