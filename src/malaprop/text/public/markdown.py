"""Markdown: code, targets and markers are told from the text, which is private.

Most of Markdown's markup is punctuation, which a private text shows anyway: headings, emphasis,
bullets, quotes and tables need no rule. The rules for the rest:

- A fenced block of code becomes one mask, without the language. A block without an end goes on to
  the end of the text. Code in backticks on one line becomes one mask. Indented code is text.
- Dropped: targets and titles of links and images (`[text]()` stays, and the text is private), and
  the definitions of reference links. A reference that is defined nowhere is text.
- The number of a list item is public if it is 1, or follows the last one with the same indentation:
  then it says nothing that the order does not say. Other numbers are private, like all numbers.
- Boxes of task lists are shown empty, because a tick may be the secret.
- HTML in Markdown follows the rules of `html_tags`. Addresses in angle brackets are text.

The time is linear in the length of the text.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from malaprop.text.public.html_tags import TAGS, VOID
from malaprop.text.public.markdown_code import code_spans, fence_at
from malaprop.text.public.markdown_source import WITH_MEANING, written_source
from malaprop.text.public.placeholders import is_placeholder
from malaprop.text.public.segments import Segment, tidied

MASK = "[code]"
"""What is shown in place of code."""

_SHOWN_TAGS = {f"<{name}>" for name in TAGS} | {f"</{name}>" for name in TAGS - VOID}
_TITLE = "|".join(
    rf"{opening}(?:[^{opening}{closing}\\`\r\n]|\\[^`\r\n])*+{closing}"
    for opening, closing in ('""', "''", (r"\(", r"\)"))
)
_LINE_BREAK = re.compile(r"\r\n|[\r\n]")
# Without backticks and brackets behind the label: what is dropped from other lines, code and
# targets, must not turn them into definitions.
_DEFINITION = re.compile(
    r"[ \t>]*+(?P<name>\[(?!\^)(?P<label>(?:[^\[\]\\\r\n]|\\.){1,999}+)\]):[ \t]*+"
    r"(?:&lt;[^>`\[\]\r\n]*+>|[^\s`\[\]]++)"
    r"(?:[ \t]++(?:\"[^\"`\[\]\r\n]*+\"|'[^'`\[\]\r\n]*+'|\([^()`\[\]\r\n]*+\)))?+"
    r"[ \t]*+(?:\r\n|[\r\n]|\Z)"
)
_ITEM = re.compile(
    r"(?P<prefix>[ \t>]*+)(?P<marker>[-*+]|(?P<number>[0-9]{1,9}+)[.)])(?=[ \t])"
    r"(?P<box>[ \t]++\[[ xX]\](?=[ \t]))?+"
)
# In brackets it has no "<", so that a search stops where the next one may start. It has no
# backtick, because that keeps a line from being the start of a block of code.
_DESTINATION = (
    r"(?:&lt;(?:[^>&`\r\n]|&(?!lt;))*+>|(?:[^\s()\\`]|\\[^`\s]|\((?:[^\s()\\`]|\\[^`\s])*+\))*+)"
)
_REFERENCES = "|".join(str(ord(character)) for character in WITH_MEANING + " ")
_INLINE = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~])|(?P<code>`++)|(?P<tag></?[a-z][a-z0-9]*+>)"
    rf"|(?P<link>\]\([ \t]*+{_DESTINATION}(?:[ \t]++(?:{_TITLE}))?+[ \t]*+\))"
    r"|\](?P<reference>\[(?!\^)(?P<label>(?:[^\[\]\\\r\n]|\\.)++)\])"
    rf"|(?P<decode>&(?:amp|lt);)|(?P<show>&(?:gt|#(?:{_REFERENCES}));)"
)
_DECODED = {"&amp;": "&", "&lt;": "<"}


def cut_markdown(text: str, *, placeholders: bool = False) -> list[Segment]:
    """Cut Markdown into the markup that needs a rule, which is public, and the rest.

    With `placeholders`, a tag such as `<PERSON>` is text, and `[DOCTOR]: Hello` no definition.

    >>> text = "1. See [Ann](https://ann.example) run `ls`"
    >>> [each.text for each in cut_markdown(text) if each.public]
    ['1.', ']()', '`[code]`']
    """
    source = written_source(text, placeholders=placeholders)
    return tidied(_Cutter(source, placeholders=placeholders).segments())


def escape_markdown(text: str) -> str:
    """Escape private text, so that none of it is taken for HTML.

    >>> escape_markdown("a < b & *c*")
    'a &lt; b &amp; *c*'
    """
    return text.replace("&", "&amp;").replace("<", "&lt;")


class _Line(NamedTuple):
    """A line, or the start of one up to a block of code, and how that block is shown."""

    start: int
    end: int
    code: str = ""


class _Cutter:
    def __init__(self, source: str, *, placeholders: bool) -> None:
        self._source, self._placeholders = source, placeholders
        self._spans = code_spans(source)
        self._labels: set[str] = set()
        self._numbers: dict[str, int] = {}

    def segments(self) -> Iterator[Segment]:
        # All definitions must be known before the first reference is read.
        for line in list(self._lines()):
            start = line.start
            if item := _ITEM.match(self._source, start, line.end):
                yield from self._item(item)
                start = item.end()
            yield from self._inline(start, line.end)
            yield Segment(line.code, True)

    def _lines(self) -> Iterator[_Line]:
        """Return the lines, with blocks of code as one, and remember and skip definitions."""
        place = 0
        while place < len(self._source):
            if fence := fence_at(self._source, place):
                shown = f"```\n{fence.indent}{MASK}\n{fence.indent}```"
                yield _Line(place, fence.ticks, shown)
                place = fence.end
                line_break = _LINE_BREAK.match(self._source, place)
                end = line_break.end() if line_break else place
            elif definition := self._definition(place):
                self._labels.add(_normal(definition["label"]))
                place = end = definition.end()
            else:
                end = self._line_end(place)
            yield _Line(place, end)
            place = end

    def _line_end(self, place: int) -> int:
        line_break = _LINE_BREAK.search(self._source, place)
        return line_break.end() if line_break else len(self._source)

    def _definition(self, place: int) -> re.Match[str] | None:
        match = _DEFINITION.match(self._source, place)
        if match and self._placeholders and is_placeholder(match["name"]):
            return None
        return match

    def _item(self, item: re.Match[str]) -> Iterator[Segment]:
        """Cut the marker of a list item: its number, if that is public, and its box."""
        prefix, marker, box = item["prefix"], item["marker"], item["box"]
        yield Segment(prefix, False)
        yield Segment(marker, item["number"] is not None and self._follows(prefix, item["number"]))
        if box:
            yield Segment(box[:-3], False)
            yield Segment("[ ]", True)

    def _follows(self, prefix: str, digits: str) -> bool:
        if digits != "1" and digits != str(self._numbers.get(prefix, 0) + 1):
            return False
        self._numbers[prefix] = int(digits)
        return True

    def _inline(self, start: int, end: int) -> Iterator[Segment]:
        place = start
        while match := _INLINE.search(self._source, place, end):
            after, shown, public = self._piece(match)
            yield Segment(self._source[place : match.start()], False)
            yield Segment(shown, public)
            place = after
        yield Segment(self._source[place:end], False)

    def _piece(self, match: re.Match[str]) -> tuple[int, str, bool]:
        """Return where a piece of markup ends, what is shown, and whether that is public."""
        if match["code"] and (end := self._spans.get(match.start())):
            # As many backticks as before: fewer could pair with others on the line.
            return end, f"{match[0]}{MASK}{match[0]}", True
        if match["link"] or self._is_reference(match):
            return match.end(), "]()", True
        if match["tag"] in _SHOWN_TAGS or match["show"]:
            return match.end(), match[0], True
        if match["decode"]:
            return match.end(), _DECODED[match[0]], False
        end = match.start() + 1 if match["reference"] else match.end()
        return end, self._source[match.start() : end], False

    def _is_reference(self, match: re.Match[str]) -> bool:
        return bool(match["reference"]) and _normal(match["label"]) in self._labels


def _normal(label: str) -> str:
    return " ".join(label.split()).casefold()
