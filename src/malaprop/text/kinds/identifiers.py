"""Identifiers, addresses and mentions: things without a distance, which are drawn anew.

Only kinds of characters and their number decide, so another identifier of the same shape is read
as one again. No letter or digit has a say of its own. Every quantifier is bounded or possessive:
the time is linear.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from unicodedata import category, decimal, normalize

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.text.kinds import DateOrder, Kind, Read, StandIn
from malaprop.text.tokens import NUMBER_END as END
from malaprop.text.tokens import NUMBER_GAP as GAP
from malaprop.text.tokens import NUMBER_GAPS

_HYPHENS = r"\-\u2010\u2011"
_HYPHEN = f"[{_HYPHENS}]"
# Groups of telephone, card and social security numbers that only spaces or hyphens separate.
_GROUPINGS = (
    *((4, 4, 4, 4), (4, 6, 5), (2, 2, 2, 2, 2), (3, 3, 4), (3, 4, 4), (4, 3, 4)),
    *((5, 3, 3), (4, 3, 3), (5, 6), (3, 2, 4)),
)
# With one hyphen, other lengths are a range: "3-5", "2019-2020".
_TWO_GROUPS = ((3, 4), (5, 4), (5, 6))
_LONGEST_NAME = 64

_CAPITAL = "A-ZÀ-ÖØ-ÞΑ-ΡΣ-ΫЀ-Я"
_LETTER, _ALNUM = r"[^\W\d_]", r"[^\W_]"
_WHOLE = rf"(?!{_ALNUM}|[.٫]\d)"  # a part of an identifier ends here
_JOINER = rf"[{_HYPHENS}/_]"
_MOST_PARTS = 8  # among which the part that tells is sought
_UUID = (8, 4, 4, 4, 12)
_PAIRS = 6  # of the address of a network adapter (MAC)


def _identifier_pattern(mark: str) -> str:
    """Return the pattern of identifiers; `mark` is the class of combining marks.

    >>> import re
    >>> pattern = re.compile(_identifier_pattern(r"\\u0300"))
    >>> [bool(pattern.fullmatch(text)) for text in ("INV-2023-0042", "x123", "COVID-19", "B12")]
    [True, True, False, False]
    """
    mixed = _mixed(rf"(?:{_LETTER}|[{mark}])", rf"(?:{_ALNUM}|[{mark}])++")
    return "|".join((_joined(), *map(_account, NUMBER_GAPS), *_digits(), mixed))


def _grouped_pattern() -> str:
    """Return the pattern of letters and digits in groups of known lengths: UUIDs, MAC addresses.

    Groups may look like words, numbers or times: 47a8, cafe, 10:30. So the first or the last group
    of a UUID must be an identifier by itself, and one of six pairs must have a digit.

    >>> import re
    >>> pattern = re.compile(_grouped_pattern())
    >>> [bool(pattern.fullmatch(text)) for text in ("00:1b:44:11:3a:b7", "so:it:is:as:we:do")]
    [True, False]
    """
    alone = rf"(?:{_mixed(_LETTER, f'{_ALNUM}++')}|\d++)"
    first, last = rf"{alone}{_HYPHEN}", rf"(?:{_ALNUM}++{_HYPHEN}){{4}}{alone}{_WHOLE}"
    uuid = _HYPHEN.join(rf"{_ALNUM}{{{length}}}" for length in _UUID)
    pair, letters = rf"{_ALNUM}{{2}}", rf"(?:{_LETTER}|[:{_HYPHENS}]){{0,{3 * _PAIRS - 2}}}+"
    pairs = "|".join(
        rf"{sign}{pair}(?:{sign}{pair}){{{_PAIRS - 2}}}(?!{_ALNUM}|{sign}{_ALNUM})"
        for sign in (":", _HYPHEN)
    )
    # Most tokens end at the first condition.
    return (
        rf"(?={_ALNUM}{{{_UUID[0]}}}{_HYPHEN})(?={first}|{last}){uuid}(?!{_ALNUM}|{_JOINER}{_ALNUM})"
        rf"|(?={pair}[:{_HYPHENS}])(?={letters}\d){pair}(?:{pairs})"
    )


def _digits() -> tuple[str, ...]:
    groups = "|".join(
        rf"(?:{GAP}|{_HYPHEN})".join(rf"\d{{{length}}}" for length in lengths)
        for lengths in _GROUPINGS
    )
    pairs = "|".join(rf"\d{{{first}}}{_HYPHEN}\d{{{last}}}" for first, last in _TWO_GROUPS)
    area = rf"\(\d{{2,5}}\)(?:{GAP}|{_HYPHEN})?\d{{2,4}}(?:(?:{GAP}|{_HYPHEN})\d{{3,4}}){{1,2}}"
    part = rf"(?:(?:{GAP}?\(|\)?{GAP}?|\.|{_HYPHEN})\d)"
    return (
        rf"\+{part}{{8,15}}(?!\d)",
        rf"(?:{area}|{groups}|{pairs}){END}",
        rf"\d++(?:{_HYPHEN}\d++){{2,}}+",
        r"\d++(?:\.\d++){2,}+",
        r"\d++(?::\d++){3,}+",
        r"\d++[.٫]\d{7,}+",
    )


def _mixed(letter: str, signs: str) -> str:
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
    alone = _mixed(_LETTER, f"{_ALNUM}++")
    part = rf"(?>{alone}|[{_CAPITAL}\d]++{_WHOLE})"
    is_joined = rf"(?={_ALNUM}++{_JOINER}{_ALNUM})"  # most tokens end here
    begins = rf"(?=[{_CAPITAL}]|{alone}|\d++{_JOINER}{part}{_JOINER}{part})"
    before = rf"(?:{part}{_JOINER}){{0,{_MOST_PARTS - 1}}}?"
    before_digit = rf"(?:{_LETTER}|{_JOINER}(?={part})){{0,{_LONGEST_NAME}}}+"
    three_digits = rf"(?=(?:{before_digit}\d){{3}})"
    tells = rf"(?:(?={before}{alone})|(?={before}[{_CAPITAL}]++{_WHOLE}){three_digits})"
    return rf"{is_joined}{begins}{tells}{part}(?:{_JOINER}{part})++"


def _account(gap: str) -> str:
    """Return the pattern of an international bank account number in groups of four.

    The third group ends in a digit and the fourth begins with one, as in all countries.
    """
    sign = rf"[{_CAPITAL}\d]"
    last = rf"(?=[{_CAPITAL}]{{0,3}}\d){sign}{{1,4}}"
    more = rf"(?:(?:{gap}{sign}{{4}}){{0,5}}{gap}{last})?"
    fourth = rf"\d{sign}{{2}}(?:{sign}{more})?"
    return rf"[{_CAPITAL}]{{2}}\d{{2}}{gap}{sign}{{4}}{gap}{sign}{{3}}\d{gap}{fourth}{_WHOLE}"


# Things without a distance: identifiers, addresses and mentions. They are drawn anew.

_DIGITS = np.array(list("0123456789"))
# Without vowels and M, drawn letters cannot spell a month, "am" or "pm", which beside a number
# would be read as a date or a time.
_LETTERS = np.array(list("BCDFGHJKLNPQRSTVWXYZ"))
_SYLLABLES = np.array([c + v for c in "bdfghklmnprstvz" for v in "aeiou"])
_NAME_SYLLABLES = 4
_NORMALIZED = 256  # characters; normalizing long runs of marks takes quadratic time

Characters = NDArray[np.str_]


@dataclass(frozen=True)
class IdentifierForm(StandIn):
    """An identifier of a shape: 9 is a digit, A is a letter, all else stands as it is.

    >>> from malaprop import seeded_rng
    >>> IdentifierForm("(999) 999-9999").draw(1, seeded_rng(1))
    ['(457) 901-8923']
    """

    shape: str
    tag = "identifiers"

    @property
    def opens_with_sign(self) -> bool:
        return not self.shape[:1].isalnum()

    def draw(self, count: int, rng: Generator) -> list[str]:
        shape = np.array(list(self.shape))
        drawn = np.repeat(shape[None, :], count, axis=0)
        for sign, characters in (("9", _DIGITS), ("A", _LETTERS)):
            places = np.flatnonzero(shape == sign)
            drawn[:, places] = _uniform(characters, (count, len(places)), rng)
        return ["".join(row) for row in drawn.tolist()]


def _uniform(choices: Characters, size: tuple[int, int], rng: Generator) -> Characters:
    return np.asarray(choices[rng.integers(len(choices), size=size)])


@dataclass(frozen=True)
class AddressForm(StandIn):
    """A made-up name of eight letters with fixed texts around it: four syllables, uniformly.

    >>> from malaprop import seeded_rng
    >>> MENTION.draw(1, seeded_rng(1)), EMAIL.draw(1, seeded_rng(1))
    (['@mamoseze'], ['mamoseze@example.org'])
    """

    before: str
    after: str
    counted: str

    @property
    def tag(self) -> str:
        return self.counted

    @property
    def opens_with_sign(self) -> bool:
        return self.before == "@"  # as in "ann@localhost"

    def draw(self, count: int, rng: Generator) -> Sequence[str]:
        names = _uniform(_SYLLABLES, (count, _NAME_SYLLABLES), rng).tolist()
        return [f"{self.before}{''.join(name)}{self.after}" for name in names]


EMAIL = AddressForm("", "@example.org", "emails")
URL = AddressForm("https://example.org/", "", "urls")
MENTION = AddressForm("@", "", "mentions")

_DIGIT = re.compile(r"\d")
_ADDRESS_LETTER = re.compile(r"[^\W\d_]")
_SPACE = re.compile(r"\s")


def _shape_of(token: str) -> str:
    """Return the shape of an identifier. Marks on letters and digits do not count.

    >>> _shape_of("+44 20 7946"), _shape_of("ab-1x"), _shape_of("x٣é\\u0301")
    ('+99 99 9999', 'AA-9A', 'A9A')
    """
    bare = "".join(c for c in token if category(c)[0] != "M")
    return _SPACE.sub(" ", _DIGIT.sub("9", _ADDRESS_LETTER.sub("A", bare)))


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


def _read_identifier(token: str, _order: DateOrder) -> Read:
    return Read(IdentifierForm(_shape_of(token)), secret_of(token))


def _reader_of(form: AddressForm) -> Callable[[str, DateOrder], Read]:
    return lambda token, _order: Read(form, secret_of(token))


_IDENTIFIER = ("identifiers",)
Kind("grouped", 10, _read_identifier, lambda _: _grouped_pattern(), _IDENTIFIER, "identifier")
Kind(
    *("identifier", 50, _read_identifier, lambda classes: _identifier_pattern(classes.mark)),
    *(_IDENTIFIER, "identifier"),
)
Kind(
    *("long_number", 80, _read_identifier, lambda _: r"\d{7,}+(?:[.٫]\d++)?+"),
    *(_IDENTIFIER, "identifier"),
)
Kind("email", 0, _reader_of(EMAIL), None, ("emails",), "e-mail address", "e-mail addresses")
Kind("url", 0, _reader_of(URL), None, ("urls",), "web address", "web addresses")
Kind("mention", 0, _reader_of(MENTION), None, ("mentions",), "mention")
