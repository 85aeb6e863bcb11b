"""Pieces of Markdown in which nothing of a name or a text is markup."""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote

from malaprop.core.errors import printable

# What Markdown or HTML would take for markup in a name.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>&#|~$])")


def text(plain: str) -> str:
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


def bullets(lines: Iterable[str]) -> str:
    """Return lines as a list."""
    return "\n".join(f"- {line}" for line in lines)


def table(head: tuple[str, str], rows: Sequence[tuple[str, str]], *, right: bool = False) -> str:
    """Return rows of two cells as a table; the second cell may stand to the right."""
    rule = ("---", "---:" if right else "---")
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))


def grid(
    head: Sequence[str], rows: Sequence[Sequence[str]], numbers: frozenset[int] = frozenset()
) -> str:
    """Return rows of any number of cells as a table; `numbers` are columns to the right."""
    rule = tuple("---:" if place in numbers else "---" for place in range(len(head)))
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))
