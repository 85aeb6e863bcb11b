"""Which strings between two spaces could be parts of one value, such as "3" and "May".

This may say so too often: then a text is parsed in the slower way, with the same result.
"""

import re
from collections.abc import Collection
from itertools import compress

from malaprop.text.forms.dates import MONTH_NAMES
from malaprop.text.forms.grammar import MONTH, ORDINAL

Joins = tuple[int, int]
"""How a chunk may continue the one before it, and how it may be continued; 0 for not at all."""

_AFTER_NUMBER, _AFTER_MONTH = 1, 2
_NARROW = r"[\xa0\u202f]"  # spaces inside a chunk
_STARTS = (
    (re.compile(r"\(?\d"), _AFTER_NUMBER | _AFTER_MONTH),
    (re.compile(rf"{MONTH}|(?i:[ap]\.?m)(?![^\W_])|of(?:$|{_NARROW})"), _AFTER_NUMBER),
)
_STOPS = (
    (re.compile(rf"\d(?:\)|{ORDINAL}?(?:{_NARROW}of)?)$|\+$"), _AFTER_NUMBER),
    (re.compile(rf"{MONTH}(?:\.?{_NARROW}\d{{1,2}}{ORDINAL}?)?[.,]{{0,2}}$"), _AFTER_MONTH),
)


_MONTHS = [name.lower() for name in MONTH_NAMES]
_PARTS_OF_VALUES = frozenset(
    {*_MONTHS, *(name[:3] for name in _MONTHS), "sept", "a", "p", "am", "pm", "m", "of"}
)
_CLITIC = re.compile("'[^ ]*+")


def parts_of_values(words: Collection[str]) -> frozenset[str]:
    """Return the words that may be part of a value beside a number.

    The words are plain: without spaces, with letters of ASCII.

    >>> sorted(parts_of_values({"May", "may's", "mayor", "it's"}))
    ['May', "may's"]
    """
    # All at once: two loops in C.
    small = _CLITIC.sub("", " ".join(words).lower()).split(" ")
    return frozenset(compress(words, map(_PARTS_OF_VALUES.__contains__, small)))


def joining(chunk: str) -> Joins:
    """Tell how a chunk may be joined to its neighbours, if `stops & starts` is not 0.

    >>> joining("3"), joining("May"), joining("pm."), joining("word")
    ((3, 1), (1, 2), (1, 0), (0, 0))
    """
    starts = sum(ends for pattern, ends in _STARTS if pattern.match(chunk))
    stops = sum(ends for pattern, ends in _STOPS if pattern.search(chunk))
    return starts, stops
