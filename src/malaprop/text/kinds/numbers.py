"""Numbers, money, percentages, ordinals, decades and scientific notation.

A number is plain if it has no separators, decimals or signs. With five digits or more, or a zero in
front, a plain one is a label, as in `identifiers`: it names something, and a value near by would be
a lie about it. What is written here is never one.
"""

import math
import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

from malaprop.privacy.arrays import Floats
from malaprop.text import english
from malaprop.text.kinds import Conventions, Decimals, Kind, Read, ValueForm
from malaprop.text.kinds.grids import Step, StepSizes, ValueGrid, even_grid
from malaprop.text.tokens import CharacterClasses

_FAR_TOO_LONG = 18  # digits; beyond every grid, and below the limit of Python's int()
_PLAIN_BELOW = 10_000

# Grids and steps.

_LARGEST_POWER = 9  # of ten, after three digits: up to 999 billion
_YEARS = range(1800, 2100)
_EXPONENTS = range(-99, 100)

Step("number", 0, "a tenth")
Step(
    *("year", 1, "a year", {"year": 1.0, "decade": 10.0}, 1.0, 100.0),
    limits="1 and 100 years",
    example="2 years",
)
Step("money", 4, "a tenth")
Step("percentage", 5, "a tenth")
Step("ordinal", 6, "a tenth")

# The whole numbers with at most three significant digits.
_NUMBERS = (
    *range(1000),
    *(d * 10**zeros for zeros in range(1, _LARGEST_POWER + 1) for d in range(100, 1000)),
)
_INTEGERS = tuple(sorted({*_NUMBERS, *_YEARS}))


def _integer_places(steps: StepSizes, numbers: tuple[int, ...] = _INTEGERS) -> Floats:
    """Return places with years evenly spaced, and all other numbers by their ratio."""
    values = np.array(numbers)
    gaps = np.diff(np.log1p(values / 10.0)) / math.log1p(steps.size("number"))
    between_years = (values[:-1] >= _YEARS[0]) & (values[1:] <= _YEARS[-1])
    gaps[between_years] = 1.0 / steps.size("year")
    return np.append(0.0, np.cumsum(gaps))


def _scientific_places(steps: StepSizes) -> Floats:
    mantissas = np.log(np.arange(100, 1000) / 100.0)
    exponents = np.array(_EXPONENTS)[:, None] * math.log(10.0)
    return (exponents + mantissas).ravel() / math.log1p(steps.size("number"))


def _ratios(name: str, kind: str, steps_of: str, plural: str = "") -> ValueGrid:
    # With a tenth, a step from v leads to 1.1·v + 1, in units of the last place: for small values
    # about one unit, for large ones a ratio.
    def places(steps: StepSizes) -> Floats:
        logarithms: Floats = np.log1p(np.array(_NUMBERS) / 10.0)
        return logarithms / math.log1p(steps.size(steps_of))

    return ValueGrid(name, kind, _NUMBERS, places, lambda steps: steps[steps_of], plural)


def _integer_step(steps: StepSizes) -> str:
    return f"{steps['number']}; {steps['year']} from {_YEARS[0]} to {_YEARS[-1]}"


INTEGERS = ValueGrid("INTEGERS", "number", _INTEGERS, _integer_places, _integer_step)
# With points between thousands, 1.230.000.000 would be an IPv4 address.
_MILLIONS = tuple(value for value in _INTEGERS if value < 10**9)
MILLIONS = ValueGrid(
    *("MILLIONS", "number", _MILLIONS, lambda steps: _integer_places(steps, _MILLIONS)),
    _integer_step,
)
DECIMALS = _ratios("DECIMALS", "decimal number", "number")
SCIENTIFIC = ValueGrid(
    *("SCIENTIFIC", "decimal number", range(len(_EXPONENTS) * 900), _scientific_places),
    lambda steps: steps["number"],
)
MONEY = _ratios("MONEY", "money", "money", "amounts of money")
PERCENTAGES = _ratios("PERCENTAGES", "percentage", "percentage")
ORDINALS = _ratios("ORDINALS", "ordinal", "ordinal")
_A_DECADE = (10.0, "a decade")
DECADES = even_grid("DECADES", "decade", range(180, 210), "year", size=10.0, least=_A_DECADE)
SHORT_DECADES = even_grid("SHORT_DECADES", "decade", range(10), "year", size=10.0, least=_A_DECADE)

# Forms.


def whole(digits: str) -> int:
    """Return the value of a string of digits of any script, separators ignored; clipped.

    >>> whole("1,234"), whole("٤٢"), whole("9" * 5000) > 10**17
    (1234, 42, True)
    """
    plain = "".join(filter(str.isdecimal, digits))
    head, tail = plain[:-_FAR_TOO_LONG], plain[-_FAR_TOO_LONG:]
    return 10**_FAR_TOO_LONG if any(map(int, head)) else int(tail or "0")


_SWAPPED = str.maketrans(".,", ",.")


def separated(number: int, *, comma: bool = False) -> str:
    """Write a whole number with thousands separators from 10,000 on."""
    written = str(number) if number < _PLAIN_BELOW else f"{number:,}"
    return written.translate(_SWAPPED) if comma else written


@dataclass(frozen=True)
class NumberForm(ValueForm):
    """A number with a fixed number of decimals, with or without a percent or currency sign.

    `comma` says whether a comma stands before its decimals, and points between thousands.

    >>> NumberForm("money", 2, before="$").write(MONEY.index(123_456_789))
    '$1,230,000.00'
    >>> NumberForm("money", 2, after="€", comma=True).write(MONEY.index(1_229_900))
    '12.300,00€'
    """

    kind_of_number: Literal["number", "money", "percentage"]
    decimals: int
    before: str = ""
    after: str = ""
    comma: bool = False
    takes_units = True

    @property
    def tag(self) -> str:
        return {"number": "numbers", "money": "money", "percentage": "percentages"}[
            self.kind_of_number
        ]

    @property
    def grid(self) -> ValueGrid:
        # Whole numbers have a grid of their own, with years in it.
        if self.kind_of_number == "number":
            return DECIMALS if self.decimals else MILLIONS if self.comma else INTEGERS
        return MONEY if self.kind_of_number == "money" else PERCENTAGES

    @property
    def opens_with_sign(self) -> bool:
        return bool(self.before)

    @property
    def unit(self) -> tuple[int, str]:
        # 35 is 3.5 or 0.35, and 5 dollars are not 5 euros.
        return self.decimals, self.before or self.after

    def write(self, index: int) -> str:
        number, part = divmod(self.grid.values[index], 10**self.decimals)
        point = "," if self.comma else "."
        decimals = f"{point}{part:0{self.decimals}}" if self.decimals else ""
        return f"{self.before}{separated(number, comma=self.comma)}{decimals}{self.after}"


@dataclass(frozen=True)
class OrdinalForm(ValueForm):
    """1st, 2nd, 3rd: the suffix follows from the value that is written.

    >>> [OrdinalForm().write(value) for value in (1, 12, 103)]
    ['1st', '12th', '103rd']
    """

    comma: bool = False
    tag, grid = "ordinals", ORDINALS

    def write(self, index: int) -> str:
        number = self.grid.values[index]
        return f"{separated(number, comma=self.comma)}{english.ordinal_suffix(number)}"


@dataclass(frozen=True)
class DecadeForm(ValueForm):
    """The 1990s, or the 90s.

    >>> DecadeForm(short=False).write(19), DecadeForm(short=True).write(0)
    ('1990s', '00s')
    """

    short: bool
    tag = "dates"

    @property
    def grid(self) -> ValueGrid:
        return SHORT_DECADES if self.short else DECADES

    def write(self, index: int) -> str:
        return f"{self.grid.values[index]}0s"


@dataclass(frozen=True)
class ScientificForm(ValueForm):
    """A number in scientific notation, always with two decimals.

    >>> ScientificForm().write(SCIENTIFIC.index(0)), ScientificForm().write(122 * 900 + 502)
    ('1.00e-99', '6.02e23')
    """

    comma: bool = False
    tag, grid = "numbers", SCIENTIFIC

    def write(self, index: int) -> str:
        exponent, digits = divmod(index, 900)
        written = f"{(digits + 100) / 100:.2f}e{_EXPONENTS[exponent]}"
        return written.translate(_SWAPPED) if self.comma else written


# How they are found and read.

_PERCENT = "%٪％"


def _reader(point: str, comma: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<before>[^\d])?(?P<whole>\d[\d{comma}٬]*)(?:[{point}٫](?P<part>\d+))?"
        rf"(?:(?P<ordinal>{english.ORDINAL})|(?P<decade>['’]?s)|(?P<after>\D))?"
    )


_NUMBER: dict[Decimals, re.Pattern[str]] = {"point": _reader(".", ","), "comma": _reader(",", ".")}
_SCIENTIFIC = re.compile(r"(\d+)(?:[.,٫](\d+))?[eE]([+\-−]?)(\d+)")


def with_separators(classes: CharacterClasses) -> str:
    """Return the pattern of a number that has separators of thousands."""
    return rf"\d{{1,3}}(?:[{classes.thousands}]\d{{3}}(?!\d))++"


def sign_after(classes: CharacterClasses) -> str:
    """Return the pattern of a sign that makes the number before it money, or a percentage."""
    return rf"(?:[{_PERCENT}]|[{classes.currency}](?!\d))"


def _number_pattern(classes: CharacterClasses) -> str:
    """Return the pattern of numbers that are not plain."""
    separators, point = with_separators(classes), f"[{classes.decimal}]"
    any_length, short = rf"(?>{separators}|\d++)", rf"(?>{separators}|\d{{1,6}}(?!\d))"
    decimals = rf"{point}\d{{1,6}}(?!\d)"
    return "|".join(
        (
            rf"[{classes.currency}]{any_length}(?:{decimals})?+",
            rf"{any_length}(?:{decimals})?+{sign_after(classes)}",
            rf"{short}{english.ORDINAL}(?![^\W_])",
            r"(?:\d{4}|\d{2})['’]?s(?![^\W_])",
            rf"(?>{separators})(?:{decimals})?+",
            rf"\d{{1,6}}(?!\d){decimals}",
        )
    )


def _read_number(token: str, conventions: Conventions) -> Read:
    match = _NUMBER[conventions.decimals].fullmatch(token)
    if match is None:
        raise ValueError("not a number")
    comma = conventions.decimals == "comma"
    units = whole(match["whole"] + (match["part"] or ""))
    if match["ordinal"]:
        return Read(OrdinalForm(comma), ORDINALS.index(units))
    if match["decade"]:
        decade = DecadeForm(short=len(match["whole"]) == 2)
        return Read(decade, decade.grid.index(units // 10))
    before, after, decimals = match["before"] or "", match["after"] or "", len(match["part"] or "")
    if after and after in _PERCENT:
        form = NumberForm("percentage", decimals, after="%", comma=comma)
    else:
        kind: Literal["money", "number"] = "money" if before or after else "number"
        form = NumberForm(kind, decimals, before, after, comma)
    return Read(form, form.grid.index(units))


def _read_scientific(token: str, conventions: Conventions) -> Read:
    match = _SCIENTIFIC.fullmatch(token)
    if match is None:
        raise ValueError("not in scientific notation")
    form = ScientificForm(conventions.decimals == "comma")
    digits, decimals = whole(match[1] + (match[2] or "")), len(match[2] or "")
    exponent = whole(match[4]) * (-1 if match[3] in ("-", "−") else 1) - decimals
    if digits == 0:
        return Read(form, 0)
    dropped = len(str(digits)) - 1
    unit: int = 10**dropped
    leading, exponent = (digits * 100 + unit // 2) // unit, exponent + dropped
    if leading == 1000:
        leading, exponent = 100, exponent + 1
    place = SCIENTIFIC.index((exponent - _EXPONENTS[0]) * 900 + leading - 100)
    return Read(form, place)


def _scientific_pattern(classes: CharacterClasses) -> str:
    point = f"[{classes.decimal}]"
    return rf"\d{{1,6}}(?:{point}\d{{1,15}}+[eE][+\-−]?|[eE][+\-−])\d{{1,4}}(?![^\W_])"


Kind("scientific", 60, _read_scientific, _scientific_pattern, tags=("numbers",))
Kind(
    *("number", 70, _read_number, _number_pattern),
    tags=("numbers", "money", "percentages", "ordinals", "dates"),
)
Kind("plain_number", 90, _read_number, lambda _: r"\d{1,4}(?!\d)", tags=("numbers",))
