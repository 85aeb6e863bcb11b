"""An evaluation for a terminal."""

import textwrap
from collections.abc import Iterator, Sequence

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
    rounded,
    rows_of,
)

_WIDEST = 96
_NARROW = ("kept", "words", "texts")  # their intervals are narrow: the reports have them
_GAPS = (2, 1)  # between columns; the smaller one on a narrow terminal


def readable(evaluation: Evaluation, width: int = _WIDEST) -> str:
    """Return the table, the recommendation, and what they rest on, for a width."""
    width, model = min(width, _WIDEST), evaluation.utility.model
    columns = columns_of(evaluation, model)
    recommendation = evaluation.recommendation
    lines = [*_table(evaluation, columns, model, width), ""]
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


def _table(
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
