"""Markdown's HTML: the first of two passes, which writes the source in a form of its own.

Afterwards the source holds no HTML outside code except tags on the closed list, written as
`<name>`. A “<” or “&” that is text is `&lt;` or `&amp;`. Other character references are decoded,
except those of characters with a meaning in Markdown: `&#42;` is not `*`. Addresses in angle
brackets lose the brackets. Code is left as it is, because the second pass masks it.

Writing the source a second time changes nothing.
"""

import re

from malaprop.text.public.entities import REFERENCE, decoded
from malaprop.text.public.html_tags import HtmlReader, append_run
from malaprop.text.public.markdown_code import code_spans, fence_at

_SPECIAL = re.compile(r"[\r\n]|\\[<&`\\]?|`++|<")
_AUTOLINK = re.compile(
    r"<([A-Za-z][A-Za-z0-9+.-]{1,31}+:[^\s<>\\`]*+|[^\s<>\\`@]++@[^\s<>\\`@]++)>"
)
WITH_MEANING = "\\`*_[]()#+-!>|~"
"""Characters that have a meaning in Markdown: their references stay references."""
_ESCAPED = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def written_source(text: str, *, placeholders: bool = False) -> str:
    """Return Markdown with its HTML in the form described above.

    >>> written_source('a < b <B class="x">&eacute;&#42;</B><!-- Ann --> <https://x.y>')
    'a &lt; b <b>é&#42;</b> https://x.y'
    """
    return "".join(_Writer(text, placeholders=placeholders).written())


class _Writer:
    def __init__(self, text: str, *, placeholders: bool) -> None:
        self._text = text
        self._html = HtmlReader(text, placeholders=placeholders)
        self._spans = code_spans(text)
        self._runs: list[str] = []
        self._end = 0  # of what is written

    def written(self) -> list[str]:
        place = self._line_start(0)
        while special := _SPECIAL.search(self._text, place):
            place = self._step(special)
        self._text_until(len(self._text))
        return self._runs

    def _step(self, special: re.Match[str]) -> int:
        """Write what a special character begins, and return where to go on."""
        place, sign = special.start(), special[0]
        if sign in "\r\n":
            return self._line_start(special.end())
        if sign == "<":
            return self._angle(place)
        if sign[0] == "`":
            return self._copy(place, self._spans.get(place, special.end()))
        if sign in ("\\<", "\\&"):  # the escape is written in HTML's way
            return self._replace(place, special.end(), _ESCAPED[sign[1]])
        return special.end() if sign != "\\`" else self._escaped_tick(place)

    def _escaped_tick(self, place: int) -> int:
        """Copy an escaped backtick; a span may begin right after it."""
        end = place + 2
        if self._text.startswith("`", end):
            return self._copy(place, self._spans.get(end, end + 1))
        return end

    def _line_start(self, place: int) -> int:
        fence = fence_at(self._text, place)
        return place if fence is None else self._copy(place, fence.end)

    def _angle(self, place: int) -> int:
        piece = self._html.markup_at(place)
        if piece is not None:
            return self._replace(place, *piece)
        link = _AUTOLINK.match(self._text, place)
        if link is not None:
            return self._replace(place, link.end(), _text(link[1]))
        return place + 1

    def _copy(self, place: int, end: int) -> int:
        self._text_until(place)
        self._runs.append(self._text[place:end])
        self._end = end
        return end

    def _replace(self, place: int, end: int, shown: str) -> int:
        self._text_until(place)
        if shown:
            self._runs.append(shown)
        self._end = end
        return end

    def _text_until(self, place: int) -> None:
        append_run(self._runs, _text(self._text[self._end : place]))


def _text(run: str) -> str:
    """Write a run of text: references decoded where that is harmless, “<” and “&” escaped."""
    if "&" not in run and "<" not in run:
        return run
    parts: list[str] = []
    end = 0
    for reference in REFERENCE.finditer(run):
        parts += _escaped(run[end : reference.start()]), _reference(reference[0])
        end = reference.end()
    return "".join([*parts, _escaped(run[end:])])


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _reference(reference: str) -> str:
    characters = decoded(reference)
    if characters == reference:
        return _escaped(reference)
    return "".join(map(_character, characters))


def _character(character: str) -> str:
    """Write a decoded character."""
    if character in _ESCAPED:
        return _ESCAPED[character]
    if character in " \t\r\n":
        return "&#32;"
    if character < " " or character == "\x7f":
        return ""
    return f"&#{ord(character)};" if character in WITH_MEANING else character
