"""Small pieces of HTML for notebooks: everything is escaped, nothing is loaded."""

from collections.abc import Iterable
from html import escape as _escape

from malaprop.privacy.errors import printable

_CELL = 'style="text-align:left;vertical-align:top"'


def escape(text: str) -> str:
    """Return a text in which nothing is markup, and all can be seen."""
    return _escape(printable(text, lines=True))


def paragraph(text: str, *, bold: bool = False) -> str:
    """Return a text as a paragraph; its line breaks and spaces show.

    >>> paragraph("a < b", bold=True)
    '<p style="white-space:pre-wrap"><b>a &lt; b</b></p>'
    """
    shown = f"<b>{escape(text)}</b>" if bold else escape(text)
    return f'<p style="white-space:pre-wrap">{shown}</p>'


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Return names and values as a table; facts without a value are left out.

    >>> facts([("ε", "1.5"), ("hint", "")]).count("<tr>")
    1
    """
    lines = (
        f"<tr><th {_CELL}>{escape(name)}</th><td {_CELL}>{escape(value)}</td></tr>"
        for name, value in rows
        if value
    )
    return f"<table>{''.join(lines)}</table>"
