"""Numbers, money, percentages, ordinals, decades and scientific notation."""

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from malaprop.text.kinds import ValueForm
from malaprop.text.kinds.grids import (
    DECADES,
    DECIMALS,
    EXPONENTS,
    INTEGERS,
    MONEY,
    ORDINALS,
    PERCENTAGES,
    SCIENTIFIC,
    SHORT_DECADES,
    ValueGrid,
)

_FAR_TOO_LONG = 18  # digits; beyond every grid, and below the limit of Python's int()
_SUFFIXES = {1: "st", 2: "nd", 3: "rd"}
_PLAIN_BELOW = 10_000


class Value(NamedTuple):
    """What a token says: its public form, and its secret place in the form's grid."""

    form: ValueForm
    place: int


def whole(digits: str) -> int:
    """Return the value of a string of digits of any script, separators ignored; clipped.

    >>> whole("1,234"), whole("٤٢"), whole("9" * 5000) > 10**17
    (1234, 42, True)
    """
    plain = "".join(filter(str.isdecimal, digits))
    head, tail = plain[:-_FAR_TOO_LONG], plain[-_FAR_TOO_LONG:]
    return 10**_FAR_TOO_LONG if any(map(int, head)) else int(tail or "0")


def _separated(number: int) -> str:
    """Write a whole number with English thousands separators from 10,000 on."""
    return str(number) if number < _PLAIN_BELOW else f"{number:,}"


@dataclass(frozen=True)
class NumberForm(ValueForm):
    """A number with a fixed number of decimals, with or without a percent or currency sign.

    >>> NumberForm("money", 2, before="$").write(MONEY.index(123_456_789))
    '$1,230,000.00'
    """

    kind_of_number: Literal["number", "money", "percentage"]
    decimals: int
    before: str = ""
    after: str = ""

    @property
    def tag(self) -> str:
        """How it is counted."""
        return {"number": "numbers", "money": "money", "percentage": "percentages"}[
            self.kind_of_number
        ]

    @property
    def grid(self) -> ValueGrid:
        """Whole numbers have a grid of their own, with years in it."""
        if self.kind_of_number == "number":
            return DECIMALS if self.decimals else INTEGERS
        return MONEY if self.kind_of_number == "money" else PERCENTAGES

    @property
    def takes_units(self) -> bool:
        """Whether a unit may touch it: yes."""
        return True

    @property
    def opens_with_sign(self) -> bool:
        """Whether a currency sign stands before it."""
        return bool(self.before)

    @property
    def unit(self) -> tuple[int, str]:
        """Its last decimal and its sign: 35 is 3.5 or 0.35, and 5 dollars are not 5 euros."""
        return self.decimals, self.before or self.after

    def write(self, index: int) -> str:
        """Write a value with its signs."""
        number, part = divmod(self.grid.values[index], 10**self.decimals)
        decimals = f".{part:0{self.decimals}}" if self.decimals else ""
        return f"{self.before}{_separated(number)}{decimals}{self.after}"


@dataclass(frozen=True)
class OrdinalForm(ValueForm):
    """1st, 2nd, 3rd: the suffix follows from the value that is written."""

    @property
    def tag(self) -> str:
        """How it is counted."""
        return "ordinals"

    @property
    def grid(self) -> ValueGrid:
        """Whole numbers."""
        return ORDINALS

    def write(self, index: int) -> str:
        """Write a value with its suffix.

        >>> [OrdinalForm().write(value) for value in (1, 12, 103)]
        ['1st', '12th', '103rd']
        """
        number = self.grid.values[index]
        teens = number % 100 in (11, 12, 13)
        return f"{_separated(number)}{'th' if teens else _SUFFIXES.get(number % 10, 'th')}"


@dataclass(frozen=True)
class DecadeForm(ValueForm):
    """The 1990s, or the 90s."""

    short: bool

    @property
    def tag(self) -> str:
        """How it is counted."""
        return "dates"

    @property
    def grid(self) -> ValueGrid:
        """Decades, of a century or of three."""
        return SHORT_DECADES if self.short else DECADES

    def write(self, index: int) -> str:
        """Write a decade.

        >>> DecadeForm(short=False).write(19), DecadeForm(short=True).write(0)
        ('1990s', '00s')
        """
        return f"{self.grid.values[index]}0s"


@dataclass(frozen=True)
class ScientificForm(ValueForm):
    """A number in scientific notation, always with two decimals."""

    @property
    def tag(self) -> str:
        """How it is counted."""
        return "numbers"

    @property
    def grid(self) -> ValueGrid:
        """Three significant digits, and an exponent of ten."""
        return SCIENTIFIC

    def write(self, index: int) -> str:
        """Write a value.

        >>> ScientificForm().write(SCIENTIFIC.index(0)), ScientificForm().write(122 * 900 + 502)
        ('1.00e-99', '6.02e23')
        """
        exponent, digits = divmod(index, 900)
        return f"{(digits + 100) / 100:.2f}e{EXPONENTS[exponent]}"


_NUMBER = re.compile(
    r"(?P<before>[^\d])?(?P<whole>\d[\d,٬]*)(?:[.٫](?P<part>\d+))?"
    r"(?:(?P<ordinal>(?i:st|nd|rd|th))|(?P<decade>['’]?s)|(?P<after>\D))?"
)
_SCIENTIFIC = re.compile(r"(\d+)(?:[.٫](\d+))?[eE]([+\-−]?)(\d+)")
_PERCENT = frozenset("%٪％")


def read_number(token: str) -> Value:
    """Read a number with the signs beside it."""
    match = _NUMBER.fullmatch(token)
    if match is None:
        raise ValueError("not a number")
    units = whole(match["whole"] + (match["part"] or ""))
    if match["ordinal"]:
        return Value(OrdinalForm(), ORDINALS.index(units))
    if match["decade"]:
        decade = DecadeForm(short=len(match["whole"]) == 2)
        return Value(decade, decade.grid.index(units // 10))
    form = _number_form(match["before"] or "", len(match["part"] or ""), match["after"] or "")
    return Value(form, form.grid.index(units))


def _number_form(before: str, decimals: int, after: str) -> NumberForm:
    if after in _PERCENT:
        return NumberForm("percentage", decimals, after="%")
    kind: Literal["number", "money"] = "money" if before or after else "number"
    return NumberForm(kind, decimals, before=before, after=after)


def read_scientific(token: str) -> Value:
    """Read a number in scientific notation."""
    match = _SCIENTIFIC.fullmatch(token)
    if match is None:
        raise ValueError("not in scientific notation")
    digits, decimals = whole(match[1] + (match[2] or "")), len(match[2] or "")
    exponent = whole(match[4]) * (-1 if match[3] in ("-", "−") else 1) - decimals
    form = ScientificForm()
    if digits == 0:
        return Value(form, 0)
    length = len(str(digits))
    leading = _rounded(digits * 100, length - 1)
    exponent += length - 1
    if leading == 1000:
        leading, exponent = 100, exponent + 1
    return Value(form, form.grid.index((exponent - EXPONENTS[0]) * 900 + leading - 100))


def _rounded(digits: int, dropped: int) -> int:
    unit: int = 10**dropped
    return (digits + unit // 2) // unit
