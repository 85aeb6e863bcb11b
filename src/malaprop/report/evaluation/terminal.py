"""An evaluation for a terminal."""

import textwrap

from rich.console import Console
from rich.table import Table
from rich.text import Text

from malaprop.measure.evaluating.evaluation import Evaluation
from malaprop.report.evaluation.tables import (
    LOWER,
    OWNER,
    Column,
    Figure,
    about_lines,
    advice,
    columns_of,
    opened,
    rows_of,
)

_PLAIN = ("kept", "words", "texts")  # their intervals are narrow: the reports have them


def print_evaluation(evaluation: Evaluation, console: Console) -> None:
    """Print the table, the recommendation, and what they rest on."""
    model = evaluation.utility.model
    columns = columns_of(evaluation, model)
    console.print(_table(evaluation, columns, model))
    console.print()
    for column in columns:
        _say(console, f"{column.name:<10}{column.about}")
    console.print()
    _say(console, f"{advice(evaluation)}.", style="bold")
    _say(console, evaluation.recommendation.reason)
    _say(console, opened(f"The rule: {evaluation.recommendation.rule}"))
    console.print()
    for line in (*about_lines(evaluation), *map(opened, evaluation.notes), LOWER, OWNER):
        _say(console, line)


def _table(evaluation: Evaluation, columns: tuple[Column, ...], model: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("mechanism", no_wrap=True)
    table.add_column("ε", justify="right", no_wrap=True)
    for column in columns:
        table.add_column(column.name, justify="right", no_wrap=True)
    for row in rows_of(evaluation, model):
        name = f"{row.name} *" if row.recommended else row.name
        cells = [_shown(each, column) for each, column in zip(row.figures, columns, strict=True)]
        style = "bold" if row.recommended else "dim" if row.bound else ""
        table.add_row(*(Text(cell) for cell in (name, row.epsilon, *cells)), style=style)
    return table


def _shown(figure: Figure, column: Column) -> str:
    if figure.value is None:
        return ""
    margin = None if column.name in _PLAIN else figure.margin
    if margin is None:
        return f"{figure.value:.2f}"
    return f"{figure.value:.2f}±{f'{margin:.2f}'.removeprefix('0')}"


def _say(console: Console, line: str, style: str = "") -> None:
    width = min(96, console.width)
    indent = " " * 10 if line[9:10] == " " else ""
    filled = textwrap.fill(line, width, subsequent_indent=indent, break_on_hyphens=False)
    console.print(Text(filled, style=style))
