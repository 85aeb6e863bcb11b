"""Fills templates that hold public pieces: what was declared public stands among the slots.

Public pieces are shown exactly as they are, and so are the gaps beside them: no space is added, so
`<b>word</b>` stays closed up. All else is shown as `fill` does it, and escaped for the markup that
it stands in. Capitals and articles are made for the whole text, as if it had no tags.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, cast

from malaprop.text.public.html_tags import INLINE
from malaprop.text.public.segments import Segment
from malaprop.text.template import (
    BLOCK_MARK,
    PUBLIC_MARK,
    SLOT_MARKS,
    TAG_MARK,
    Punctuation,
    Template,
    between,
    ends_sentence,
    fill,
    merged,
    with_articles,
)

_PUBLIC = frozenset({TAG_MARK, BLOCK_MARK, PUBLIC_MARK})
_STRETCHES = re.compile(r"[mbq]|[^mbq]++")
_SOLID = re.compile(r"[wvk](?:.*[wvk])?", re.DOTALL)
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_LONGEST_TAIL = 64  # signs behind a word that may still end its sentence


class Style(NamedTuple):
    """How a text is written: what becomes of punctuation and articles, and what is escaped."""

    punctuation: Punctuation
    articles: bool
    escape: Callable[[str], str] = str


def mark_of(segment: Segment) -> str:
    """Return the mark of a public segment.

    >>> [mark_of(Segment(tag, True, "markup")) for tag in ("<b>", "</li>")]
    ['m', 'b']
    """
    if segment.origin != "markup":
        return PUBLIC_MARK
    return TAG_MARK if segment.text.strip("</>") in INLINE else BLOCK_MARK


def has_pieces(marks: str) -> bool:
    """Tell whether a template with these marks holds public pieces."""
    return PUBLIC_MARK in marks or TAG_MARK in marks or BLOCK_MARK in marks


def compose(template: Template, words: Sequence[str], marks: str, style: Style) -> str:
    """Put words and written values into the slots of a template with public pieces.

    >>> style = Style("keep", articles=False)
    >>> compose([None, " ", "<b>", None, "</b>", "!"], ["cold", "rain"], "wsmwmp", style)
    'Cold <b>rain</b>!'
    """
    if style.articles:
        words = with_articles(marks, words, style.punctuation)
    filling = _Filling(words, style)
    for stretch in _STRETCHES.finditer(marks):
        start, end = stretch.span()
        if marks[start] in _PUBLIC:
            filling.show(cast(str, template[start]), marks[start])
        else:
            edges = start == 0, end == len(marks)
            filling.add(template[start:end], marks[start:end], edges)
    return "".join(filling.shown)


class _Filling:
    """A text in the making."""

    def __init__(self, words: Sequence[str], style: Style) -> None:
        self.shown: list[str] = []
        self._words: Iterator[str] = iter(words)
        self._style = style
        # What stands behind the last word so far; None where a sentence starts anyway.
        self._tail: str | None = None

    def show(self, piece: str, mark: str) -> None:
        """Show a public piece."""
        self.shown.append(piece)
        if mark == BLOCK_MARK:
            self._tail = None
        elif mark == PUBLIC_MARK:
            *before, last = _LETTER_OR_DIGIT.split(piece)
            self._go_on(last, after_word=bool(before))

    def add(self, part: Template, marks: str, edges: tuple[bool, bool]) -> None:
        """Fill and show a stretch between public pieces, or between one and an edge of the text."""
        solid = _SOLID.search(marks)
        if solid is None:
            self._gap(part, at_edge=any(edges))
            return
        first, after = solid.span()
        self._gap(part[:first], at_edge=edges[0])
        slots = sum(map(SLOT_MARKS.__contains__, marks))
        filled = fill(
            part[first:after],
            list(islice(self._words, slots)),
            punctuation=self._style.punctuation,
            marks=marks[first:after],
            starts=self._tail is None or ends_sentence(self._tail),
        )
        self.shown.append(self._style.escape(filled))
        self._tail = ""
        self._gap(part[after:], at_edge=edges[1])

    def _gap(self, gap: Template, *, at_edge: bool) -> None:
        """Show a gap beside a public piece: nothing is added to it."""
        text = merged(gap)
        if self._style.punctuation == "drop" and text:
            text = "" if at_edge else between(gap, "drop")
        self.shown.append(self._style.escape(text))
        self._go_on(text)

    def _go_on(self, signs: str, *, after_word: bool = False) -> None:
        if after_word:
            self._tail = signs[-_LONGEST_TAIL:]
        elif self._tail is not None:
            self._tail = (self._tail + signs)[-_LONGEST_TAIL:]
