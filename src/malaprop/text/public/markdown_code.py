"""Code in Markdown: where fenced blocks and spans in backticks begin and end."""

import re
from typing import NamedTuple

# What may stand before a block: quotes, indentation, and one list marker.
_FENCE = re.compile(
    r"(?P<prefix>[ \t>]*+)(?P<marker>(?:[-*+]|[0-9]{1,9}+[.)])[ \t]++)?+"
    r"(?:(?P<ticks>`{3,}+)[^`\r\n]*+|(?P<tildes>~{3,}+)[^\r\n]*+)(?=[\r\n]|\Z)"
)
_FENCE_END = re.compile(r"[ \t>]*+(`{3,}+|~{3,}+)[ \t]*+(?=[\r\n]|\Z)")
_QUOTED = re.compile(r"[ \t]*+>")
_LINE_BREAK = re.compile(r"\r\n?|\n")
_RUN_OR_BREAK = re.compile(r"`++|[\r\n]")


class Fence(NamedTuple):
    """A fenced block of code: where its opening ticks stand, where it ends, what precedes lines."""

    ticks: int
    end: int
    indent: str


def fence_at(text: str, place: int) -> Fence | None:
    """Return the fenced block that starts at the start of a line, or None.

    A block without an end goes on to the end of the text, or of the quotation that it stands in.
    """
    opening = _FENCE.match(text, place)
    if opening is None:
        return None
    kind = "ticks" if opening["ticks"] else "tildes"
    indent = opening["prefix"] + " " * len(opening["marker"] or "")
    return Fence(opening.start(kind), _fence_end(text, opening, opening[kind]), indent)


def _fence_end(text: str, opening: re.Match[str], ticks: str) -> int:
    quoted = ">" in opening["prefix"]
    end = opening.end()
    while line_break := _LINE_BREAK.match(text, end):
        place = line_break.end()
        if quoted and not _QUOTED.match(text, place):
            return end
        closing = _FENCE_END.match(text, place)
        if closing and closing[1].startswith(ticks):
            return closing.end()
        following = _LINE_BREAK.search(text, place)
        end = following.start() if following else len(text)
    return end


def code_spans(text: str) -> dict[int, int]:
    """Return where each possible span of code begins and ends, backticks included.

    A span ends at the next run of as many backticks on the same line. A run may also begin at its
    second backtick, if the first one is escaped.

    >>> code_spans("`a` ``b")
    {0: 3}
    """
    spans: dict[int, int] = {}
    later: dict[int, int] = {}
    for run in reversed(list(_RUN_OR_BREAK.finditer(text))):
        start, end = run.span()
        if text[start] != "`":
            later.clear()
            continue
        for first in (start, start + 1):
            if end - first in later:
                spans[first] = later[end - first] + end - first
        later[end - start] = start
    return dict(sorted(spans.items()))
