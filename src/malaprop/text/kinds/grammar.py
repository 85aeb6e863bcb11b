"""The public grammar of values: where they are in a text, and how each is read.

What a token is depends on its own characters and the signs beside it: on the kinds of characters
and how many there are, never on which digits they are. The exceptions are the names of months, and
am or pm, beside numbers, and groups of digits with single spaces between them. Letters joined to
digits make an identifier if they are capitals. Every quantifier is bounded or possessive: the time
is linear.
"""

import re
from collections.abc import Callable, Collection
from functools import cache
from itertools import compress
from typing import NamedTuple

from malaprop.text.kinds import Form
from malaprop.text.kinds.dates import MONTH_NAMES, DateOrder, read_date, read_named_date, read_time
from malaprop.text.kinds.identifiers import (
    EMAIL,
    END,
    GAP,
    MENTION,
    URL,
    IdentifierForm,
    grouped_patterns,
    identifier_patterns,
    secret_of,
    shape_of,
)
from malaprop.text.kinds.numbers import read_number, read_scientific
from malaprop.text.tokens import (
    AS_EMOJI,
    Scope,
    TokenKind,
    character_classes,
    has_addresses,
    scope_of,
    token_patterns,
    tokenize,
)

_IDENTIFIERS = frozenset({"grouped", "identifier", "long_number"})
_ADDRESSES = {TokenKind.EMAIL: EMAIL, TokenKind.URL: URL, TokenKind.MENTION: MENTION}

_FULL_MONTH = "|".join(sorted(MONTH_NAMES, key=len, reverse=True))
_SHORT_MONTH = "Sept|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
# A month begins with a capital: "may" and "march" are also verbs.
MONTH = rf"(?=[A-Z])(?i:{_FULL_MONTH}|{_SHORT_MONTH})(?![^\W_])"
ORDINAL = r"(?i:st|nd|rd|th)"
_HALF = rf"{GAP}?(?i:[ap]\.m\.?|[ap]m)(?![^\W_])"
_WHOLE = r"(?>\d{1,3}(?:[,٬]\d{3}(?!\d))++|\d++)"
_SMALL = r"(?>\d{1,3}(?:[,٬]\d{3}(?!\d))++|\d{1,6}(?!\d))"
_DECIMALS = r"(?:[.٫]\d{1,6}(?!\d))?+"
_PERCENT = "[%٪％]"

VALUES = re.compile(r"[\d#]")
"""What a text must have for this grammar to cut it in another way than `tokenize`."""


_MAY_BE_VALUE = re.compile(r"[\d@]|://|[Ww]{3}\.")


class Read(NamedTuple):
    """What a token holds: its public form, and its secret number."""

    form: Form
    secret: int


def split_values(text: str) -> list[str]:
    """Cut a text into tokens, among them values. Joined, they give the text again.

    >>> split_values("On March 3, 2023 at 10:30 pm: $5 for 500mg")[2:10]
    ['March 3, 2023', ' ', 'at', ' ', '10:30 pm', ':', ' ', '$5']
    """
    if VALUES.search(text) is None:
        return tokenize(text)
    return _cutter(has_addresses(text), scope_of(text))(text)


def read_value(token: str, order: DateOrder) -> Read | None:
    """Read a token as `split_values` gives it; None if it is not a value.

    >>> read_value("$12", "mdy")
    Read(form=NumberForm(kind_of_number='money', decimals=0, before='$', after=''), secret=12)
    """
    if _MAY_BE_VALUE.search(token) is None:
        return None
    match = _kinds(scope_of(token)).fullmatch(token)
    kind = None if match is None else match.lastgroup
    if kind in _ADDRESSES:
        return Read(_ADDRESSES[TokenKind(kind)], secret_of(token))
    if kind in _IDENTIFIERS:
        return Read(IdentifierForm(shape_of(token)), secret_of(token))
    if kind == "date":
        return Read(*read_date(token, order))
    return Read(*_READERS[kind](token)) if kind in _READERS else None


_READERS: dict[str | None, Callable[[str], tuple[Form, int]]] = {
    "named_date": read_named_date,
    "time": read_time,
    "scientific": read_scientific,
    "number": read_number,
}


@cache
def _cutter(addresses: bool, scope: Scope) -> Callable[[str], list[str]]:
    # Rare texts are not worth one more pattern: it takes as long to compile as a thousand of them.
    if addresses or scope is not Scope.ASCII:
        search = _kinds(scope).finditer
        return lambda text: [match[0] for match in search(text)]
    skipped = (TokenKind.URL, TokenKind.EMAIL)
    patterns = [pattern for kind, pattern in _patterns(scope).items() if kind not in skipped]
    return re.compile("|".join(patterns)).findall


@cache
def _kinds(scope: Scope) -> re.Pattern[str]:
    every = _patterns(scope).items()
    return re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in every))


@cache
def _patterns(scope: Scope) -> dict[str, str]:
    """Return the pattern of each kind, in the order in which they are tried."""
    plain = {str(kind): pattern for kind, pattern in token_patterns(scope).items()}
    mark, punctuation, currency, _ = character_classes(scope)
    sign = rf"(?:[{punctuation}]|\*(?!{AS_EMOJI}))"
    # A run of signs ends before one that begins a value.
    begins = rf"[{currency}+(]\d"
    return {
        **{kind: plain[kind] for kind in ("space", "url", "email")},
        "grouped": grouped_patterns(),
        "named_date": _named_dates(),
        "date": _dates(),
        "time": _times(),
        "identifier": identifier_patterns(mark),
        "scientific": r"\d{1,6}(?:[.٫]\d{1,15}+[eE][+\-−]?|[eE][+\-−])\d{1,4}(?![^\W_])",
        "number": _numbers(currency),
        "long_number": r"\d{7,}+(?:[.٫]\d++)?+",
        **{kind: plain[kind] for kind in ("word", "mention")},
        "punctuation": rf"@|#(?!{AS_EMOJI})|{sign}(?:(?!{begins}){sign})*+",
        **{kind: plain[kind] for kind in ("emoji", "invisible")},
    }


def _named_dates() -> str:
    year = rf"(?:\.?(?:,{GAP}?|{GAP})\d{{4}}{END})"
    day = rf"\d{{1,2}}{ORDINAL}?"
    day_first = rf"{day}{GAP}(?:of{GAP})?{MONTH}{year}?"
    month_first = rf"{MONTH}\.?{GAP}{day}(?:{year}|{END})"
    return rf"{day_first}|{month_first}|{MONTH}{year}"


def _dates() -> str:
    def joined(first: str, last: str, month: str = r"\d{1,2}") -> str:
        return "|".join(rf"{first}{sep}{month}{sep}{last}" for sep in ("-", "/", r"\."))

    day, year = r"\d{1,2}", r"(?:\d{4}|\d{2})"
    dates = joined(r"\d{4}", day), joined(day, year), joined(day, year, MONTH)
    return rf"(?:{'|'.join(dates)})(?!\d|[-/.]\d)"


def _times() -> str:
    clock = r"\d{1,2}:\d{2}(?::\d{2})?(?!\d|:\d)"
    return rf"T{clock}Z?(?![^\W_])|{clock}(?:{_HALF})?|\d{{1,2}}{_HALF}"


def _numbers(currency: str) -> str:
    return "|".join(
        (
            rf"[{currency}]{_WHOLE}{_DECIMALS}",
            rf"{_WHOLE}{_DECIMALS}(?:{_PERCENT}|[{currency}](?!\d))",
            rf"{_SMALL}{ORDINAL}(?![^\W_])",
            r"(?:\d{4}|\d{2})['’]?s(?![^\W_])",
            rf"{_SMALL}{_DECIMALS}",
        )
    )


# Which strings between two spaces could be parts of one value, such as "3" and "May".
#
# This may say so too often: then a text is parsed in the slower way, with the same result.


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
