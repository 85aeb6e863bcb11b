"""Things without a distance: identifiers, addresses and mentions. They are drawn anew."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar
from unicodedata import category, decimal, normalize

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.text.forms.form import StandIn

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

    kind: ClassVar[str] = "identifier"
    shape: str

    @property
    def tag(self) -> str:
        """How it is counted."""
        return "identifiers"

    @property
    def opens_with_sign(self) -> bool:
        """Whether it begins with a plus sign or a bracket."""
        return not self.shape[:1].isalnum()

    def draw(self, count: int, rng: Generator) -> list[str]:
        """Draw identifiers of the shape: every one is equally likely."""
        shape = np.array(list(self.shape))
        drawn = np.repeat(shape[None, :], count, axis=0)
        for sign, characters in (("9", _DIGITS), ("A", _LETTERS)):
            places = np.flatnonzero(shape == sign)
            drawn[:, places] = _uniform(characters, (count, len(places)), rng)
        return ["".join(row) for row in drawn.tolist()]


def _uniform(choices: Characters, size: tuple[int, int], rng: Generator) -> Characters:
    drawn: Characters = choices[rng.integers(len(choices), size=size)]
    return drawn


@dataclass(frozen=True)
class AddressForm(StandIn):
    """A made-up name of eight letters with fixed texts around it."""

    before: str
    after: str
    counted: str

    @property
    def tag(self) -> str:
        """How it is counted."""
        return self.counted

    @property
    def kind(self) -> str:  # type: ignore[override]
        """The name of the kind in a guarantee."""
        return _KINDS_OF_ADDRESSES[self.counted]

    @property
    def opens_with_sign(self) -> bool:
        """Whether it is a mention, as in "ann@localhost"."""
        return self.before == "@"

    def draw(self, count: int, rng: Generator) -> Sequence[str]:
        """Draw addresses: every name of four syllables is equally likely.

        >>> from malaprop import seeded_rng
        >>> MENTION.draw(1, seeded_rng(1)), EMAIL.draw(1, seeded_rng(1))
        (['@mamoseze'], ['mamoseze@example.org'])
        """
        names = _uniform(_SYLLABLES, (count, _NAME_SYLLABLES), rng).tolist()
        return [f"{self.before}{''.join(name)}{self.after}" for name in names]


_KINDS_OF_ADDRESSES = {"emails": "e-mail address", "urls": "web address", "mentions": "mention"}
EMAIL = AddressForm("", "@example.org", "emails")
URL = AddressForm("https://example.org/", "", "urls")
MENTION = AddressForm("@", "", "mentions")

_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
_SPACE = re.compile(r"\s")


def shape_of(token: str) -> str:
    """Return the shape of an identifier. Marks on letters and digits do not count.

    >>> shape_of("+44 20 7946"), shape_of("ab-1x"), shape_of("x٣é\\u0301")
    ('+99 99 9999', 'AA-9A', 'A9A')
    """
    bare = "".join(c for c in token if category(c)[0] != "M")
    return _SPACE.sub(" ", _DIGIT.sub("9", _LETTER.sub("A", bare)))


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
    digits = _DIGIT.sub(lambda digit: str(decimal(digit[0])), token)
    return _SPACE.sub(" ", digits)
