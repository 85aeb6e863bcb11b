"""Cuts any text into pieces without losing a character, and says what kind each piece is.

The cut is one regular expression, so that what is cut and what it is called cannot differ.
Every quantifier is bounded or possessive: the time is linear in the text, whatever it holds.

Only `Kind.PUNCTUATION` and `Kind.SPACE` are ever shown as they were written. They are therefore
lists of what is allowed (the punctuation and currency signs of Unicode but those that are emoji or
stand for letters, the symbols of ASCII, plain white space), and everything else is some other kind.
A character that this Python's Unicode tables do not know is `Kind.INVISIBLE`.
"""

import re
from collections.abc import Callable
from enum import StrEnum
from functools import cache
from itertools import groupby
from unicodedata import category


class Kind(StrEnum):
    """What a piece of text is."""

    URL = "url"
    EMAIL = "email"
    NUMBER = "number"
    WORD = "word"
    MENTION = "mention"
    HASHTAG = "hashtag"
    SPACE = "space"
    PUNCTUATION = "punctuation"
    EMOJI = "emoji"
    """A pictograph, or any other symbol that is no punctuation."""
    INVISIBLE = "invisible"
    """Control, format, private, unassigned and surrogate characters, and marks on no letter."""


def split(text: str) -> list[str]:
    """Cut a text into pieces; joined, they are the text again.

    >>> split("Don't take 3.5mg, @ann!")
    ["Don't", ' ', 'take', ' ', '3.5', 'mg', ',', ' ', '@ann', '!']
    """
    if text.isalpha():  # sooner said than cut
        return [text]
    return _cutter(_has_addresses(text))(text)


def kind(piece: str) -> Kind:
    """Say what a piece is, from its characters alone.

    What is not one piece is `Kind.INVISIBLE`, the kind that is never shown.

    >>> [str(kind(piece)) for piece in ("o'clock", "B12", "1,000", "#tag", "...", "…?", "a b")]
    ['word', 'word', 'number', 'hashtag', 'punctuation', 'punctuation', 'invisible']
    """
    match = _kinds().fullmatch(piece)
    if match is None or match.lastgroup is None:
        return Kind.INVISIBLE
    if match.lastgroup == Kind.WORD and piece.isdecimal():
        return Kind.NUMBER
    return Kind(match.lastgroup)


def _has_addresses(text: str) -> bool:
    """Whether there may be web or e-mail addresses, which take as long as all else to look for."""
    return "@" in text or "://" in text or "w." in text or "W." in text


@cache
def _cutter(addresses: bool) -> Callable[[str], list[str]]:
    left_out = () if addresses else (Kind.URL, Kind.EMAIL)
    parts = [part for kind, part in _patterns().items() if kind not in left_out]
    return re.compile("|".join(parts)).findall


@cache
def _kinds() -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{kind}>{part})" for kind, part in _patterns().items()))


# Controls that Python calls white space (\x1c-\x1f, \x85) are left out: nobody types them.
_SPACE = r" \t\n\v\f\r\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
# What may stand between two letters of one word: apostrophes, then the soft hyphen, the
# zero-width joiners of Persian and Indic scripts, and the word joiner.
_INSIDE = r"'’＇\xad\u200c\u200d\u2060"
# All of ASCII's own but @ and #, which begin names, and *, which with # is the base of emoji.
_ASCII_PUNCTUATION = r"!-\"$-)+-/:-?\[-`{-~"
# What Unicode calls punctuation or currency, and yet is an emoji (emoji-data.txt: ‼ ⁉ 〰 〽) or
# stands for letters (₨, ﷼).
_TOO_TELLING = "\u203c\u2049\u3030\u303d\u20a8\ufdfc"
# What makes an emoji of # and *: the selector of the emoji style, or a keycap.
_AS_EMOJI = r"[\ufe0f\u20e3]"
_ALNUM = r"[^\W_]"
_REGIONAL = r"[\U0001f1e6-\U0001f1ff]"
_JOINER = r"\u200d"
# Skin tones, and the tags that spell the flags of England, Scotland and Wales.
_MODIFIERS = r"\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"

_CLASS_OF_CATEGORY = {
    **dict.fromkeys(("Mn", "Mc", "Me"), "mark"),
    **dict.fromkeys(("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sc"), "punctuation"),
    **dict.fromkeys(("Sm", "Sk", "So"), "symbol"),
}


@cache
def _patterns() -> dict[Kind, str]:
    """The pattern of each kind, in the order in which they are tried."""
    mark, punctuation, symbol = _character_classes()
    # The look-ahead spares the plain letters of ASCII the long list of marks.
    letters = rf"{_ALNUM}++(?:(?![\x00-\x7f])[{mark}]++{_ALNUM}*+)*+"
    # A dot or a bracket belongs to an address only if something else of it follows.
    address = rf"(?:[.,;:!?'*()\[\]]*+[\w{mark}/#=&%~+$@-]++)+"
    label = rf"{_ALNUM}[\w-]{{0,62}}+"
    pictograph = rf"(?:[{symbol}]|[#*](?={_AS_EMOJI}))[{mark}{_MODIFIERS}]*+"
    return {
        Kind.SPACE: rf"[{_SPACE}]++",
        Kind.URL: rf"(?:[A-Za-z][A-Za-z0-9+.-]{{1,30}}+://|[Ww]{{3}}\.){address}",
        Kind.EMAIL: rf"{_ALNUM}[\w.+%-]{{0,63}}+@{label}(?:\.{label}){{1,8}}",
        Kind.NUMBER: r"\d++(?:[.,٫٬]\d++)++",
        Kind.WORD: rf"{letters}(?:[{_INSIDE}](?=[^\W\d_]){letters})*+",
        Kind.MENTION: rf"@\w[\w{mark}]*+",
        Kind.HASHTAG: rf"#\w[\w{mark}]*+",
        # @ and # alone, for the name that may follow: "(@ann" is "(" and "@ann".
        Kind.PUNCTUATION: rf"@|#(?!{_AS_EMOJI})|(?:[{punctuation}]++|\*(?!{_AS_EMOJI}))++",
        Kind.EMOJI: rf"{_REGIONAL}{{2}}|{pictograph}(?:{_JOINER}{pictograph})*+",
        Kind.INVISIBLE: rf"[^\w{_SPACE}{punctuation}@#*{symbol}]++",
    }


def _character_classes() -> tuple[str, str, str]:
    """Marks, punctuation and other symbols, as the insides of regular expression classes.

    Planes 2 and 3 hold letters only, and planes 15 and 16 private characters: they are not
    searched.
    """
    found = {"mark": "", "punctuation": _ASCII_PUNCTUATION, "symbol": ""}
    for first, last in ((0x80, 0x1FFFF), (0xE0000, 0xE0FFF)):
        names = list(map(_CLASS_OF_CATEGORY.get, map(category, map(chr, range(first, last + 1)))))
        for code in filter(range(first, last + 1).__contains__, map(ord, _TOO_TELLING)):
            names[code - first] = "symbol"
        for name, run in groupby(names):
            after = first + sum(1 for _ in run)
            if name is not None:
                found[name] += f"{chr(first)}-{chr(after - 1)}"
            first = after
    return found["mark"], found["punctuation"], found["symbol"]
