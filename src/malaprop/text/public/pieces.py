"""All that a user declares public about texts: markup, placeholders, and words to keep."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, get_args

from malaprop.core.errors import ParameterError
from malaprop.text.public.html_tags import cut_html, escape_html
from malaprop.text.public.kept_words import KeptWords, checked_entries
from malaprop.text.public.placeholders import cut_placeholders
from malaprop.text.public.segments import Cut, Segment

Markup = Literal["html"]

PLACEHOLDERS = "placeholders"
"""The value of `keep` that stands for the closed list of placeholders."""

_SIGNS = re.compile(r"[<>&]")  # of tags and references


def entries_of(keep: str | Iterable[str]) -> tuple[str, ...]:
    """Return the entries of `keep`, each once; refuse what cannot be kept.

    >>> entries_of("placeholders"), entries_of(["flu", "placeholders", "flu"])
    (('placeholders',), ('flu', 'placeholders'))
    """
    return checked_entries((PLACEHOLDERS,) if keep == PLACEHOLDERS else keep)


def checked_markup(markup: Markup | None) -> Markup | None:
    """Return the language of markup, if there is one of that name."""
    if markup is not None and markup not in get_args(Markup):
        raise ParameterError(
            "The `markup` parameter must be 'html' or None. Render Markdown to HTML first."
        )
    return markup


class PublicPieces:
    """Cuts texts into the pieces that were declared public, and the private rest.

    `keep` is a list of words and phrases, or `"placeholders"`. The list may have `"placeholders"`
    as an entry, which stands for the closed list and not for that word. Markup is cut first, then
    placeholders, then words: each in what the step before left private.

    >>> pieces = PublicPieces(keep=["placeholders", "aspirin"], markup="html")
    >>> pieces.rewritten("<p class='x'><PERSON> took Aspirin &amp; slept", str.upper)
    '<p>&lt;PERSON&gt; TOOK Aspirin &amp; SLEPT'
    """

    def __init__(self, keep: str | Iterable[str] = (), markup: Markup | None = None) -> None:
        self.keep, self.markup = entries_of(keep), checked_markup(markup)
        words = [entry for entry in self.keep if entry != PLACEHOLDERS]
        self._words = KeptWords(words) if words else None
        self._cuts = dict(self._kept(PLACEHOLDERS in self.keep))

    def _kept(self, placeholders: bool) -> Iterator[tuple[str, Cut]]:
        """Return how to find what is kept, by the name under which it is counted."""
        if placeholders:
            yield PLACEHOLDERS, cut_placeholders
        if self._words:
            yield "words", self._words.cut

    def may_concern(self, chunk: str) -> bool:
        """Tell whether a string between two spaces may be part of a piece, or must be escaped.

        A text without such a string is one private segment, shown without escapes. This may say
        so too often.
        """
        if self.markup is not None and _SIGNS.search(chunk):
            return True
        if PLACEHOLDERS in self._cuts and any(each.public for each in cut_placeholders(chunk)):
            return True
        return self._words is not None and self._words.may_hold(chunk)

    def cut(self, text: str) -> list[Segment]:
        """Cut a text into segments.

        The text of a public segment is shown as it is, and its `origin` says what made it public:
        markup, placeholders or words. The text of a private segment is to be privatized, and
        then escaped by `escape`.
        """
        segments = self._cut_markup(text)
        for origin, cut in self._cuts.items():
            segments = [part for each in segments for part in self._refined(each, cut, origin)]
        return segments

    def _cut_markup(self, text: str) -> list[Segment]:
        if self.markup is None:
            return [Segment(text, False)] if text else []
        segments = cut_html(text, placeholders=PLACEHOLDERS in self._cuts)
        return [each._replace(origin="markup") if each.public else each for each in segments]

    def _refined(self, segment: Segment, cut: Cut, origin: str) -> Iterator[Segment]:
        """Cut a private segment further. What is kept was text, so it is escaped like text."""
        if segment.public:
            yield segment
            return
        for part in cut(segment.text):
            yield Segment(self.escape(part.text), True, origin) if part.public else part

    def escape(self, text: str) -> str:
        """Escape private text for the markup that it stands in.

        Every character is escaped by itself, so parts of a text may be escaped one by one.
        """
        return text if self.markup is None else escape_html(text)

    def rewritten(self, text: str, privatize: Callable[[str], str]) -> str:
        """Return a text whose private segments are replaced, each by itself."""
        return "".join(
            each.text if each.public else self.escape(privatize(each.text))
            for each in self.cut(text)
        )
