"""Tables of the page."""

from collections.abc import Iterable, Sequence


def grid(headings: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """A table whose first columns are aligned left, and all others, being figures, right.

    >>> print(grid(["a", "b"], [["x", "1"]]), end="")
    | a | b |
    |---|--:|
    | x | 1 |
    """
    rule = "".join("|---" if at < left else "|--:" for at in range(len(headings))) + "|"
    lines = [_line(headings), rule, *map(_line, rows)]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
