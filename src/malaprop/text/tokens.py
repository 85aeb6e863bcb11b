"""Cuts any text into tokens without losing a character, and tells the kind of each token.

One regular expression does both, so a token and its kind cannot disagree. Every quantifier is
bounded or possessive: the time is linear in the length of the text, whatever the text holds.

Only `TokenKind.PUNCTUATION` and `TokenKind.SPACE` are ever shown as written. Both are therefore
allow-lists: Unicode's punctuation and currency signs, except those that are emoji or stand for
letters; the symbols of ASCII; plain whitespace. Everything else is some other kind. A character
that this Python's Unicode tables do not know is `TokenKind.INVISIBLE`.
"""

import re
from collections.abc import Callable
from enum import IntEnum, StrEnum
from functools import cache
from itertools import groupby
from typing import NamedTuple
from unicodedata import category


class TokenKind(StrEnum):
    """The kind of a token."""

    URL = "url"
    EMAIL = "email"
    NUMBER = "number"
    WORD = "word"
    MENTION = "mention"
    HASHTAG = "hashtag"
    SPACE = "space"
    PUNCTUATION = "punctuation"
    EMOJI = "emoji"
    """A pictograph, or any other symbol that is not punctuation."""
    INVISIBLE = "invisible"
    """Control, format, private, unassigned and surrogate characters; marks without a letter."""


def tokenize(text: str) -> list[str]:
    """Cut a text into tokens. Joined, they give the text again.

    >>> tokenize("Don't take 3.5mg, @ann!")
    ["Don't", ' ', 'take', ' ', '3.5', 'mg', ',', ' ', '@ann', '!']
    """
    if text.isalpha():  # one word: no need to search
        return [text]
    return _cutter(has_addresses(text), scope_of(text))(text)


def kind_of(token: str) -> TokenKind:
    """Return the kind of a token, judged by its characters alone.

    A string that is not exactly one token is `TokenKind.INVISIBLE`, the kind that is never shown.

    >>> [str(kind_of(token)) for token in ("o'clock", "B12", "1,000", "#tag", "...", "…?", "a b")]
    ['word', 'word', 'number', 'hashtag', 'punctuation', 'punctuation', 'invisible']
    """
    match = _kinds(scope_of(token)).fullmatch(token)
    if match is None or match.lastgroup is None:
        return TokenKind.INVISIBLE
    if match.lastgroup == TokenKind.WORD and token.isdecimal():
        return TokenKind.NUMBER
    return TokenKind(match.lastgroup)


def has_addresses(text: str) -> bool:
    """Tell whether to search for web and e-mail addresses, which doubles the time."""
    return "@" in text or "://" in text or "w." in text or "W." in text


class Scope(IntEnum):
    """Which characters a text has."""

    ASCII = 0
    LATIN = 1
    """Latin letters with accents, and general punctuation, such as curly quotes."""
    ALL = 2


_RANGES = {
    Scope.ASCII: (),
    Scope.LATIN: ((0x80, 0x2FF), (0x2000, 0x206F)),
    Scope.ALL: ((0x80, 0x1FFFF), (0xE0000, 0xE0FFF)),
}
_BEYOND_LATIN = re.compile(r"[^\x00-\u02ff\u2000-\u206f]")


def scope_of(text: str) -> Scope:
    """Return the narrowest scope of a text."""
    if text.isascii():
        return Scope.ASCII
    return Scope.LATIN if _BEYOND_LATIN.search(text) is None else Scope.ALL


@cache
def _cutter(addresses: bool, scope: Scope) -> Callable[[str], list[str]]:
    skipped = () if addresses else (TokenKind.URL, TokenKind.EMAIL)
    patterns = [pattern for kind, pattern in token_patterns(scope).items() if kind not in skipped]
    return re.compile("|".join(patterns)).findall


@cache
def _kinds(scope: Scope) -> re.Pattern[str]:
    named = (f"(?P<{kind}>{pattern})" for kind, pattern in token_patterns(scope).items())
    return re.compile("|".join(named))


# Without the controls that Python calls whitespace (\x1c-\x1f, \x85): nobody types them.
WHITE = r" \t\n\v\f\r\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
# Allowed between two letters of a word: apostrophes, the soft hyphen, the zero-width joiners of
# Persian and Indic scripts, and the word joiner.
_INSIDE = r"'’＇\xad\u200c\u200d\u2060"
# All of ASCII's except @ and #, which begin names, and *, which like # can begin an emoji.
_ASCII_PUNCTUATION = r"!-\"$-)+-/:-?\[-`{-~"
# Punctuation or currency by Unicode's categories, yet emoji (emoji-data.txt: ‼ ⁉ 〰 〽) or
# letters in disguise (₨, ﷼).
_NOT_PUNCTUATION = "\u203c\u2049\u3030\u303d\u20a8\ufdfc"
# Turns # or * into an emoji: the emoji style selector, or a keycap.
AS_EMOJI = r"[\ufe0f\u20e3]"
NUMBER_GAPS = (" ", r"\xa0", r"\u202f")
NUMBER_GAP = f"[{''.join(NUMBER_GAPS)}]"
"""One space, as it stands inside a date, a time or a telephone number."""
NUMBER_END = r"(?![^\W_%]|[.,:/]\d|%)"
"""What must not follow the digits of a date or a telephone number: more of a number."""
_ALNUM = r"[^\W_]"
_REGIONAL = r"[\U0001f1e6-\U0001f1ff]"
_JOINER = r"\u200d"
# Skin tones, and the tags that spell the flags of England, Scotland and Wales.
_MODIFIERS = r"\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"

_CLASS_OF_CATEGORY = {
    **dict.fromkeys(("Mn", "Mc", "Me"), "mark"),
    **dict.fromkeys(("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"), "punctuation"),
    "Sc": "currency",
    **dict.fromkeys(("Sm", "Sk", "So"), "symbol"),
}


class CharacterClasses(NamedTuple):
    """The contents of regex character classes."""

    mark: str
    punctuation: str
    currency: str
    """Currency signs, which are punctuation, too."""
    symbol: str


@cache
def token_patterns(scope: Scope) -> dict[TokenKind, str]:
    """Return the pattern of each kind, in the order in which they are tried.

    They are for texts of the given scope: if it is narrow, they are compiled in no time.
    """
    mark, punctuation, _, symbol = character_classes(scope)
    # The look-ahead spares the plain letters of ASCII the long list of marks.
    letters = rf"{_ALNUM}++(?:(?![\x00-\x7f])[{mark}]++{_ALNUM}*+)*+"
    # A dot or a bracket belongs to an address only if more of the address follows.
    address = rf"(?:[.,;:!?'*()\[\]]*+[\w{mark}/#=&%~+$@-]++)+"
    label = rf"{_ALNUM}[\w-]{{0,62}}+"
    pictograph = rf"(?:[{symbol}]|[#*](?={AS_EMOJI}))[{mark}{_MODIFIERS}]*+"
    return {
        TokenKind.SPACE: rf"[{WHITE}]++",
        TokenKind.URL: rf"(?:[A-Za-z][A-Za-z0-9+.-]{{1,30}}+://|[Ww]{{3}}\.){address}",
        TokenKind.EMAIL: rf"{_ALNUM}[\w.+%-]{{0,63}}+@{label}(?:\.{label}){{1,8}}",
        TokenKind.NUMBER: r"\d++(?:[.,٫٬]\d++)++",
        TokenKind.WORD: rf"{letters}(?:[{_INSIDE}](?=[^\W\d_]){letters})*+",
        TokenKind.MENTION: rf"@\w[\w{mark}]*+",
        TokenKind.HASHTAG: rf"#\w[\w{mark}]*+",
        # @ and # stay alone because a name may follow: "(@ann" is "(" and "@ann".
        TokenKind.PUNCTUATION: rf"@|#(?!{AS_EMOJI})|(?:[{punctuation}]++|\*(?!{AS_EMOJI}))++",
        TokenKind.EMOJI: rf"{_REGIONAL}{{2}}|{pictograph}(?:{_JOINER}{pictograph})*+",
        TokenKind.INVISIBLE: rf"[^\w{WHITE}{punctuation}@#*{symbol}]++",
    }


@cache
def character_classes(scope: Scope = Scope.ALL) -> CharacterClasses:
    """Return marks, punctuation, currency signs and other symbols, all those of a scope.

    Planes 2 and 3 hold only letters, and planes 15 and 16 only private characters: the search
    skips them.
    """
    # A class must not be empty: each begins with a character that is in it in any scope.
    classes = {"mark": "\u0300", "currency": "$", "symbol": "\u2600"}
    classes["punctuation"] = _ASCII_PUNCTUATION
    for first, last in _RANGES[scope]:
        names = list(map(_CLASS_OF_CATEGORY.get, map(category, map(chr, range(first, last + 1)))))
        for code in filter(range(first, last + 1).__contains__, map(ord, _NOT_PUNCTUATION)):
            names[code - first] = "symbol"
        for name, run in groupby(names):
            after = first + sum(1 for _ in run)
            if name is not None:
                classes[name] += f"{chr(first)}-{chr(after - 1)}"
            first = after
    classes["punctuation"] += classes["currency"]
    return CharacterClasses(**classes)
