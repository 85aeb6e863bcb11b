"""The public grammar of values: where they are in a text, and how each is read.

What a token is depends on its own characters and the signs beside it: on the kinds of characters
and how many there are, never on which digits they are, but for a zero in front. The exceptions are
the names of months, and am or pm, beside numbers, and groups of digits with single spaces between
them. Letters joined to digits make an identifier if they are capitals. Every quantifier is bounded
or possessive: the time is linear.
"""

import re
from collections.abc import Callable, Collection
from functools import cache
from itertools import compress

from malaprop.text import english
from malaprop.text.kinds import KINDS, Conventions, DateOrder, Decimals, Read
from malaprop.text.kinds.addresses import PATH_START
from malaprop.text.kinds.identifiers import write_measured
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

GRAMMAR_VERSION = 2
"""Changes whenever a text is cut into other words or values, or a value is read as another one."""

VALUES = re.compile(r"[\d#/\\]")
"""What a text must have for this grammar to cut it in another way than `tokenize`."""


# What no other pattern begins with, and what most tokens are: it spares them the other patterns.
_PLAIN_WORD = "[a-z]++(?= )"
_MAY_BE_VALUE = re.compile(r"[\d@/\\]|[Ww]{3}\.")


def split_values(text: str, decimals: Decimals = "point") -> list[str]:
    """Cut a text into tokens, among them values. Joined, they give the text again.

    >>> split_values("On March 3, 2023 at 10:30 pm: $5 for 500mg")[2:10]
    ['March 3, 2023', ' ', 'at', ' ', '10:30 pm', ':', ' ', '$5']
    """
    if VALUES.search(text) is None:
        return tokenize(text)
    return _cutter(has_addresses(text), scope_of(text), decimals)(text)


def cut_values(text: str, decimals: Decimals = "point") -> list[str]:
    """Cut a text into tokens to be read one by one: without its unit, 45000mg would be a label.

    >>> cut_values("45000mg, 45000")
    ['45,000', 'mg', ',', ' ', '45000']
    """
    if VALUES.search(text) is None:
        return tokenize(text)
    return write_measured(text, split_values(text, decimals), decimals)


def read_value(token: str, order: DateOrder, decimals: Decimals = "point") -> Read | None:
    """Read a token as `cut_values` gives it; None if it is not a value.

    >>> read_value("$12", "mdy")
    Read(form=NumberForm(kind_of_number='money', decimals=0, before='$', after='', comma=False), \
secret=12)
    """
    if _MAY_BE_VALUE.search(token) is None:
        return None
    match = _kinds(scope_of(token), decimals).fullmatch(token)
    kind = KINDS.get(str(match.lastgroup)) if match is not None else None
    return None if kind is None else kind.read(token, Conventions(order, decimals))


@cache
def _cutter(
    addresses: bool, scope: Scope, decimals: Decimals = "point"
) -> Callable[[str], list[str]]:
    # Rare texts are not worth one more pattern: it takes as long to compile as a thousand of them.
    if addresses or scope is not Scope.ASCII:
        search = _kinds(scope, decimals).finditer
        return lambda text: [match[0] for match in search(text)]
    skipped = (TokenKind.URL, TokenKind.EMAIL)
    every = _patterns(scope, decimals).items()
    patterns = [pattern for kind, pattern in every if kind not in skipped]
    return re.compile("|".join((_PLAIN_WORD, *patterns))).findall


@cache
def _kinds(scope: Scope, decimals: Decimals = "point") -> re.Pattern[str]:
    every = _patterns(scope, decimals).items()
    return re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in every))


@cache
def _patterns(scope: Scope, decimals: Decimals) -> dict[str, str]:
    """Return the pattern of each kind, in the order in which they are tried."""
    plain = {str(kind): pattern for kind, pattern in token_patterns(scope).items()}
    classes = character_classes(scope)
    if decimals == "comma":
        classes = classes._replace(decimal=",٫", thousands=".٬")
    sign = rf"(?:[{classes.punctuation}]|\*(?!{AS_EMOJI}))"
    # A run of signs ends before one that begins a value.
    begins = rf"[{classes.currency}+(]\d|{PATH_START}"
    kinds = sorted(KINDS.values(), key=lambda kind: kind.rank)
    return {
        **{kind: plain[kind] for kind in ("space", "url", "email")},
        **{kind.name: kind.pattern(classes) for kind in kinds if kind.pattern is not None},
        **{kind: plain[kind] for kind in ("word", "mention")},
        "punctuation": rf"@|#(?!{AS_EMOJI})|{sign}(?:(?!{begins}){sign})*+",
        **{kind: plain[kind] for kind in ("emoji", "invisible")},
    }


# Which strings between two spaces could be parts of one value, such as "3" and "May".
#
# This may say so too often: then a text is parsed in the slower way, with the same result.

Joins = tuple[int, int]
"""How a chunk may continue the one before it, and how it may be continued; 0 for not at all."""

_AFTER_NUMBER, _AFTER_MONTH = 1, 2
_NARROW = r"[\xa0\u202f]"  # spaces inside a chunk
_STARTS = (
    (re.compile(r"\(?\d"), _AFTER_NUMBER | _AFTER_MONTH),
    (
        re.compile(rf"{english.MONTH}|{english.HALF}|{english.BEFORE_MONTH}(?:$|{_NARROW})"),
        _AFTER_NUMBER,
    ),
)
_STOPS = (
    (
        re.compile(rf"\d(?:\)|{english.ORDINAL}?(?:{_NARROW}{english.BEFORE_MONTH})?)$|\+$"),
        _AFTER_NUMBER,
    ),
    (
        re.compile(rf"{english.MONTH}(?:\.?{_NARROW}\d{{1,2}}{english.ORDINAL}?)?[.,]{{0,2}}$"),
        _AFTER_MONTH,
    ),
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
    return frozenset(compress(words, map(english.PARTS_OF_VALUES.__contains__, small)))


def joining(chunk: str) -> Joins:
    """Tell how a chunk may be joined to its neighbours, if `stops & starts` is not 0.

    >>> joining("3"), joining("May"), joining("pm."), joining("word")
    ((3, 1), (1, 2), (1, 0), (0, 0))
    """
    starts = sum(ends for pattern, ends in _STARTS if pattern.match(chunk))
    return starts, sum(ends for pattern, ends in _STOPS if pattern.search(chunk))
