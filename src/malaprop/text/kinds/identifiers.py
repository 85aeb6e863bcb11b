"""Identifiers: things without a distance, which are drawn anew in their shape.

Only kinds of characters and their number decide, so another identifier of the same shape is read
as one again. No letter or digit has a say of its own, but for a zero in front of a short number.
Every quantifier is bounded or possessive: the time is linear.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise
from unicodedata import category, decimal, normalize

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.text import vocabulary
from malaprop.text.kinds import Conventions, Decimals, Kind, Read, StandIn
from malaprop.text.kinds.numbers import separated, whole, with_separators
from malaprop.text.tokens import NUMBER_END as END
from malaprop.text.tokens import NUMBER_GAP as GAP
from malaprop.text.tokens import CharacterClasses

HYPHENS = r"\-\u2010\u2011"
_HYPHEN = f"[{HYPHENS}]"
# Groups of telephone, card and social security numbers that only spaces or hyphens separate.
_GROUPINGS = (
    *((4, 4, 4, 4), (4, 6, 5), (2, 2, 2, 2, 2), (3, 3, 4), (3, 4, 4), (4, 3, 4)),
    *((5, 3, 3), (4, 3, 3), (5, 6), (3, 2, 4)),
)
# With one hyphen, other lengths are a range: "3-5", "2019-2020".
_TWO_GROUPS = ((3, 4), (5, 4), (5, 6))
_LONGEST_NAME = 64

CAPITAL = "A-ZÀ-ÖØ-ÞΑ-ΡΣ-ΫЀ-Я"
LETTER, ALNUM = r"[^\W\d_]", r"[^\W_]"
WHOLE = rf"(?!{ALNUM}|[.٫]\d)"  # a part of an identifier ends here
JOINER = rf"[{HYPHENS}/_]"
QUAD = r"\d{1,3}(?:\.\d{1,3}){3}(?!\d|\.\d)"
_MOST_PARTS = 8  # among which the part that tells is sought


def _identifier_pattern(classes: CharacterClasses) -> str:
    mark = classes.mark
    mixed_ = mixed(rf"(?:{LETTER}|[{mark}])", rf"(?:{ALNUM}|[{mark}])++")
    return "|".join((_joined(), *_digits(classes), mixed_))


def _digits(classes: CharacterClasses) -> tuple[str, ...]:
    groups = "|".join(
        rf"(?:{GAP}|{_HYPHEN})".join(rf"\d{{{length}}}" for length in lengths)
        for lengths in _GROUPINGS
    )
    pairs = "|".join(rf"\d{{{first}}}{_HYPHEN}\d{{{last}}}" for first, last in _TWO_GROUPS)
    area = rf"\(\d{{2,5}}\)(?:{GAP}|{_HYPHEN})?\d{{2,4}}(?:(?:{GAP}|{_HYPHEN})\d{{3,4}}){{1,2}}"
    # With points between thousands, 1.234.567 is a number.
    amount = rf"{with_separators(classes)}(?!\.\d)"
    part = rf"(?:(?:{GAP}?\(|\)?{GAP}?|\.|{_HYPHEN})\d)"
    return (
        rf"\+(?!{QUAD}|{amount}){part}{{8,15}}(?!{ALNUM}|:{ALNUM}|[,.٫]\d)",
        rf"(?:{area}|{groups}|{pairs}){END}",
        rf"\d++(?:{_HYPHEN}\d++){{2,}}+",
        rf"(?!{amount})\d++(?:\.\d++){{2,}}+",
        rf"\d++(?::\d++){{3,}}+(?!{ALNUM})",
        rf"\d++[{classes.decimal}]\d{{7,}}+",
    )


def mixed(letter: str, signs: str) -> str:
    """Return the pattern of letters and digits mixed, other than 500mg, B12 and covid19."""
    digits_first = rf"\d++{letter}++\d|\d{{7,}}+{letter}"
    letters_first = rf"{letter}{{1,{_LONGEST_NAME}}}+(?:\d{{3}}|\d{{1,2}}+{letter})"
    return rf"(?={digits_first}|{letters_first}){signs}"


def _joined() -> str:
    """Return the pattern of parts with one hyphen, slash or underscore between them.

    A part holds capitals, digits or both, or is an identifier by itself. Some part is an identifier
    by itself; or one has capitals only, and there are three digits or more. A number with a unit is
    none: 100-MG. Parts hold no combining marks.
    """
    alone = mixed(LETTER, f"{ALNUM}++")
    part = rf"(?>{alone}|[{CAPITAL}\d]++{WHOLE})"
    is_joined = rf"(?={ALNUM}++{JOINER}{ALNUM})"  # most tokens end here
    begins = rf"(?=[{CAPITAL}]|{alone}|\d++{JOINER}{part}{JOINER}{part})"
    before = rf"(?:{part}{JOINER}){{0,{_MOST_PARTS - 1}}}?"
    before_digit = rf"(?:{LETTER}|{JOINER}(?={part})){{0,{_LONGEST_NAME}}}+"
    three_digits = rf"(?=(?:{before_digit}\d){{3}})"
    tells = rf"(?:(?={before}{alone})|(?={before}[{CAPITAL}]++{WHOLE}){three_digits})"
    return rf"{is_joined}{begins}{tells}{part}(?:{JOINER}{part})++"


# How they are drawn.

_DIGITS = np.array(list("0123456789"))
# Without vowels and M, drawn letters cannot spell a month, "am" or "pm", which beside a number
# would be read as a date or a time.
_LETTERS = np.array(list("BCDFGHJKLNPQRSTVWXYZ"))
_HEXADECIMAL = np.array(list("0123456789abcdef"))
_DRAWN = {"9": _DIGITS, "A": _LETTERS, "h": _HEXADECIMAL, "a": _HEXADECIMAL[10:]}
_NORMALIZED = 256  # characters; normalizing long runs of marks takes quadratic time

Characters = NDArray[np.str_]


@dataclass(frozen=True)
class IdentifierForm(StandIn):
    """An identifier of a shape: 9 is a digit, A is a letter, all else stands as it is.

    Codes of a known kind have shapes of our own, with h for a hexadecimal digit, and a for one that
    is a letter; and something `before` it that always stands.

    >>> from malaprop import seeded_rng
    >>> IdentifierForm("(999) 999-9999").draw(1, seeded_rng(1))
    ['(457) 901-8923']
    """

    shape: str
    before: str = ""
    tag = "identifiers"

    @property
    def opens_with_sign(self) -> bool:
        return not (self.before + self.shape)[:1].isalnum()

    def draw(self, count: int, rng: Generator) -> list[str]:
        shape = np.array(list(self.shape))
        drawn = np.repeat(shape[None, :], count, axis=0)
        for sign, characters in _DRAWN.items():
            places = np.flatnonzero(shape == sign)
            drawn[:, places] = uniform(characters, (count, len(places)), rng)
        return [self.before + "".join(row) for row in drawn.tolist()]


def uniform(choices: Characters, size: tuple[int, int], rng: Generator) -> Characters:
    """Draw an array of strings, all choices being equally likely."""
    return np.asarray(choices[rng.integers(len(choices), size=size)])


@dataclass(frozen=True)
class NameForm(IdentifierForm):
    """Letters with one or two digits behind them that are no word, such as hunter2.

    None that is drawn is a word: of the public vocabulary, or one of `words`, those of the lexicon
    that look like this. So there are three letters at least, of which few are words; and they are
    small ones, as capitals could be read together with an identifier beside them.
    """

    words: frozenset[str] = frozenset()

    def draw(self, count: int, rng: Generator) -> list[str]:
        drawn = list[str]()
        while len(drawn) < count:
            names = map(str.lower, super().draw(count - len(drawn), rng))
            drawn += [name for name in names if not is_word(name, self.words)]
        return drawn


_FEWEST_LETTERS, _MOST_LETTERS = 3, 24


def is_word(name: str, words: Collection[str]) -> bool:
    """Tell whether letters and digits, in small letters, are listed as a whole.

    >>> is_word("mp3", ()), is_word("hunter2", ()), is_word("hunter2", {"hunter2"})
    (True, False, True)
    """
    return name in words or vocabulary.shipped().entry(name) is not None


def read_name(token: str, words: frozenset[str]) -> Read:
    """Read a word with digits that is not listed as a word.

    >>> read_name("hunter2", frozenset())[0].shape, read_name("é1", frozenset())[0].shape
    ('AAAAAA9', 'AAA9')
    """
    shape = "".join(filter(str.isalnum, _shape_of(token)))
    letters = min(max(shape.count("A"), _FEWEST_LETTERS), _MOST_LETTERS)
    form = NameForm("A" * letters + "9" * min(shape.count("9"), 2), words=words)
    return Read(form, secret_of(token))


_DIGIT = re.compile(r"\d")
_ANY_LETTER = re.compile(LETTER)
_SPACE = re.compile(r"\s")


def _shape_of(token: str) -> str:
    """Return the shape of an identifier. Marks on letters and digits do not count.

    >>> _shape_of("+44 20 7946"), _shape_of("ab-1x"), _shape_of("x٣é\\u0301")
    ('+99 99 9999', 'AA-9A', 'A9A')
    """
    bare = "".join(c for c in token if category(c)[0] != "M")
    return _SPACE.sub(" ", _DIGIT.sub("9", _ANY_LETTER.sub("A", bare)))


def secret_of(token: str) -> int:
    """Return a number that is equal for equal identifiers or addresses, and says nothing else.

    Two are equal if they differ only in what the private text does not show: capitals, the script
    of digits, the kind of a space. Two different ones get the same number with a chance
    of 2⁻⁶². With `repeat="document"` they would then share a draw.

    >>> secret_of("٠١٢٣٤٥٦٧") == secret_of("01234567") != secret_of("01234568")
    True
    """
    return hash(_plain(token).casefold()) & (2**62 - 1)


def _plain(token: str) -> str:
    if token.isascii():
        return token
    if len(token) <= _NORMALIZED:
        token = normalize("NFKC", token)
    return _SPACE.sub(" ", _DIGIT.sub(lambda digit: str(decimal(digit[0])), token))


def _read_identifier(token: str, _: Conventions) -> Read:
    return Read(IdentifierForm(_shape_of(token)), secret_of(token))


# Plain numbers that name something.

_ZERO = "0٠۰०০０"
_LABEL_DIGITS = 5  # of a label without a zero in front
_LABEL = rf"\d{{{_LABEL_DIGITS},}}+"
_SHORT_LABEL = rf"[{_ZERO}]\d{{1,3}}(?!\d)"


def _label_pattern(classes: CharacterClasses) -> str:
    return rf"{_SHORT_LABEL}|\d{{7,}}+(?:[{classes.decimal}]\d++)?+|{_LABEL}"


def _read_label(token: str, _: Conventions) -> Read:
    shape = _shape_of(token)
    form = IdentifierForm(shape if len(shape) >= _LABEL_DIGITS else f"0{shape[1:]}")
    return Read(form, secret_of(token))


_MEASURED = re.compile(rf"(?:{_SHORT_LABEL}|(?<!\d)\d{{5,6}})(?={LETTER})")
_PLAIN = re.compile(rf"{_SHORT_LABEL}|\d{{5,6}}")


def write_measured(text: str, tokens: list[str], decimals: Decimals) -> list[str]:
    """Write plain numbers with a unit as numbers are written: 45000mg as 45,000mg."""
    if _MEASURED.search(text) is None:
        return tokens
    written = tokens.copy()
    for place, (token, after) in enumerate(pairwise(tokens)):
        if _ANY_LETTER.match(after) and _PLAIN.fullmatch(token):
            written[place] = separated(whole(token), comma=decimals == "comma")
    return written


Kind("identifier", 50, _read_identifier, _identifier_pattern, ("identifiers",), "identifier")
Kind("label", 80, _read_label, _label_pattern, ("identifiers",), "identifier")
