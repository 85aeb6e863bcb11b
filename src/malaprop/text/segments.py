"""Segments: a text cut into what was declared public, and the rest.

Public segments are shown as they are. All others are private. Each is cut into words by
itself, and the words of all of them are drawn as those of one text.
"""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple


class Segment(NamedTuple):
    """A part of a text, whether it was declared public, and what made it public."""

    text: str
    public: bool
    origin: str = ""


def cut_at(text: str, pieces: Iterable[tuple[int, int]]) -> list[Segment]:
    """Cut a text into the public pieces between the given places, and the private rest.

    The pieces are in order and do not overlap.

    >>> [segment.text for segment in cut_at("to [NAME], now", [(3, 9)])]
    ['to ', '[NAME]', ', now']
    """
    segments: list[Segment] = []
    end = 0
    for first, after in pieces:
        if end < first:
            segments.append(Segment(text[end:first], False))
        segments.append(Segment(text[first:after], True))
        end = after
    if end < len(text):
        segments.append(Segment(text[end:], False))
    return segments


# Placeholders that a de-identifier left in a text: `[NAME]`, `<PERSON>`, `{{date}}`, `__ID__`.
#
# The list is closed: the entity names of Presidio, scrubadub and the i2b2 challenge of 2014, in
# four kinds of brackets. A pattern such as `\\[[A-Z]+\\]` would show “[HIV]” as well.
#
# - Names are in capitals. Only `{{…}}` may be in small letters: people write “[doctor]” in prose,
#   and that word is theirs, but nobody writes “{{doctor}}”.
# - A name may carry the number that a de-identifier gave to the person or thing: `[NAME_1]`,
#   `<PERSON_2>`, `{{NAME-0}}`, `[DATE3]`. At most three digits, without leading zeros. Names whose
#   own values are that short (`unnumbered`) have no number: `[AGE_47]` is not a placeholder.
# - Hashes (`{{NAME-7358BF44}}`), joined names (`{{NAME+EMAIL}}`) and the free text in `[**…**]` are
#   not on the list, because what they hold is made from the text that was removed.


@cache
def placeholder_names() -> dict[str, tuple[str, ...]]:
    """Return the names by who gives them, and those that are `unnumbered`."""
    content = Path(__file__).with_name("placeholders.toml").read_text("utf-8")
    return {source: tuple(names.split()) for source, names in tomllib.loads(content).items()}


def cut_placeholders(text: str) -> list[Segment]:
    """Cut a text into placeholders, which are public, and the rest.

    >>> [each.text for each in cut_placeholders("[NAME_1], [HIV], seen {{date}}.") if each.public]
    ['[NAME_1]', '{{date}}']
    """
    return cut_at(text, (match.span() for match in _pattern().finditer(text)))


def is_placeholder(text: str) -> bool:
    """Tell whether a text is exactly one placeholder.

    >>> is_placeholder("<PERSON>"), is_placeholder("<person>"), is_placeholder("[AGE_47]")
    (True, False, False)
    """
    return _pattern().fullmatch(text) is not None


@cache
def _pattern() -> re.Pattern[str]:
    lists = placeholder_names().values()
    large = _names(set(chain.from_iterable(lists)), placeholder_names()["unnumbered"])
    small = large.lower()
    # Underscores join what they touch: "a__ID__" and "__ID___" are other names.
    return re.compile(
        rf"\[{large}\]|<{large}>|\{{\{{(?:{large}|{small})\}}\}}|(?<!\w)__{large}__(?!\w)"
    )


def _names(names: Iterable[str], unnumbered: Iterable[str]) -> str:
    """Return a pattern for the names; the bracket behind it decides how far it reaches."""
    plain = sorted(set(names) - set(unnumbered), key=len, reverse=True)
    number = r"(?:[_-]?(?:0|[1-9][0-9]{0,2}))?"
    return f"(?:(?:{'|'.join(plain)}){number}|{'|'.join(sorted(unnumbered))})"
