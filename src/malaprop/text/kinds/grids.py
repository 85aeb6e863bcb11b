"""Grids: the public lists of values that a number, a date or a time is drawn from.

A value of a text counts as the nearest one of its grid; beyond the ends, as the end. The places of
the values on a line, in steps, make the path on which they are drawn.
"""

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType
from typing import Any

import numpy as np

from malaprop.privacy.arrays import Floats
from malaprop.privacy.errors import ParameterError, did_you_mean

# Sizes of steps: how far apart two values of a kind are that count as one step.
#
# A step of numbers is a ratio ("a tenth": 100 and 110), a step of years, dates and times a span.


DEFAULTS: Mapping[str, str] = MappingProxyType(
    {
        "number": "a tenth",
        "year": "a year",
        "date": "a week",
        "time": "a quarter of an hour",
        "money": "a tenth",
        "percentage": "a tenth",
        "ordinal": "a tenth",
    }
)
"""The step of each kind, unless another is asked for."""

DAYS_OF_A_MONTH = 30.4375
_PARTS = {"half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "fifth": 1 / 5, "tenth": 1 / 10}
_SPANS: Mapping[str, Mapping[str, float]] = {
    "year": {"year": 1.0, "decade": 10.0},
    "date": {"day": 1.0, "week": 7.0, "month": DAYS_OF_A_MONTH, "year": 365.25},
    "time": {"minute": 1.0, "hour": 60.0},
}
# The smallest and the largest step: a ratio, or years, days and minutes.
_RANGES = {"year": (1.0, 100.0), "date": (1.0, 3653.0), "time": (1.0, 720.0)}
_RATIOS = 0.01, 10.0
_RATIO = re.compile(
    rf"(?:a )?(?P<part>{'|'.join(_PARTS)})|(?P<percent>\d{{1,4}}(?:\.\d{{1,3}})?) ?%"
)
_SPAN = re.compile(
    r"(?:(?P<count>\d{1,4}(?:\.\d{1,3})?|an?)|(?:a )?(?P<part>half|third|quarter)(?: of)? an?) "
    r"(?P<unit>[a-z]+)"
)
_EXAMPLES = {"year": "2 years", "date": "3 days", "time": "30 minutes"}


class StepSizes(Mapping[str, str]):
    """The step of every kind, as it was asked for or by default. Hashable.

    >>> steps = StepSizes({"date": "3 days", "money": "20 %"})
    >>> steps["date"], steps.size("date"), steps.size("money"), steps["year"]
    ('3 days', 3.0, 0.2, 'a year')
    """

    def __init__(self, chosen: Mapping[str, str] | None = None) -> None:
        if not isinstance(chosen or {}, Mapping):
            raise ParameterError(
                "The 'steps' parameter must map kinds to steps, such as {'date': '3 days'}. "
                f"Got {type(chosen).__name__}."
            )
        self._chosen = {**DEFAULTS, **(chosen or {})}
        self._sizes = {kind: _size(kind, step) for kind, step in self._chosen.items()}

    def size(self, kind: str) -> float:
        """Return a step as a ratio less 1, or in years, days or minutes."""
        return self._sizes[kind]

    def __getitem__(self, kind: str) -> str:
        return self._chosen[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(self._chosen)

    def __len__(self) -> int:
        return len(self._chosen)

    def __hash__(self) -> int:
        return hash(tuple(self._chosen.items()))

    def __repr__(self) -> str:
        return repr(self._chosen)


def _size(kind: Any, step: Any) -> float:
    """Return the size of a step; raise an error if it cannot be read or is out of range."""
    if kind not in DEFAULTS:
        hint = did_you_mean(str(kind), DEFAULTS)
        raise ParameterError(
            f"There is no step of kind {kind!r}.{hint} There are: {', '.join(DEFAULTS)}."
        )
    text = " ".join(step.lower().split()) if isinstance(step, str) else ""
    size = _span(text, _SPANS[kind]) if kind in _SPANS else _ratio(text)
    lowest, highest = _RANGES.get(kind, _RATIOS)
    if size is None or not lowest <= size <= highest:
        raise ParameterError(
            f"The step of kind '{kind}' must be written like '{_EXAMPLES.get(kind, '20 %')}' or "
            f"'{DEFAULTS[kind]}', and lie between {_limits(kind)}. Got {step!r}."
        )
    return size


def _ratio(text: str) -> float | None:
    match = _RATIO.fullmatch(text)
    if match is None:
        return None
    return _PARTS[match["part"]] if match["part"] else float(match["percent"]) / 100.0


def _span(text: str, units: Mapping[str, float]) -> float | None:
    match = _SPAN.fullmatch(text)
    if match is None:
        return None
    unit = units.get(match["unit"], units.get(match["unit"].removesuffix("s")))
    if unit is None:
        return None
    if match["part"]:
        return _PARTS[match["part"]] * unit
    return unit * (1.0 if match["count"][0] == "a" else float(match["count"]))


def _limits(kind: str) -> str:
    if kind not in _RANGES:
        return "1 % and 1000 %"
    unit = {"year": "years", "date": "days", "time": "minutes"}[kind]
    lowest, highest = _RANGES[kind]
    return f"{lowest:g} and {highest:g} {unit}"


_LARGEST = 999_000_000_000
_YEARS = range(1800, 2100)
_MINUTES_A_DAY = 24 * 60
EXPONENTS = range(-99, 100)
"""Exponents of ten in scientific notation."""


@dataclass(frozen=True)
class ValueGrid:
    """The values that one kind of token can take, and where they are on a line.

    Values are whole numbers in increasing order: a date is its number of the day, a time its
    minutes. A grid has a name of its own; `kind` is the name of the kind that it belongs to.
    """

    name: str
    kind: str
    values: range | tuple[int, ...] = field(compare=False, repr=False)
    places: Callable[[StepSizes], Floats] = field(compare=False, repr=False)
    """Return the places of the values in steps, given the steps of each kind."""
    step: Callable[[StepSizes], str] = field(compare=False, repr=False)
    """Say what a step is."""

    def index(self, value: int) -> int:
        """Return the place of the nearest value in the list.

        >>> MONEY.values[MONEY.index(12_345)], DAYS.index(0)
        (12300, 0)
        """
        values = self.values
        if isinstance(values, range):
            return min(max(value - values[0], 0), len(values) - 1)
        after = min(bisect_left(values, value), len(values) - 1)
        nearer = after > 0 and value - values[after - 1] < values[after] - value
        return after - nearer

    def __reduce__(self) -> str:
        return self.name  # the grids of this module are the only ones


def _three_digits() -> tuple[int, ...]:
    """Return the whole numbers with at most three significant digits."""
    beyond = (
        digits * 10**zeros
        for zeros in range(1, len(str(_LARGEST)) - 2)
        for digits in range(100, 1000)
    )
    return (*range(1000), *beyond)


_NUMBERS = _three_digits()
_INTEGERS = tuple(sorted({*_NUMBERS, *_YEARS}))


def _logarithmic(kind: str) -> Callable[[StepSizes], Floats]:
    # With a tenth, a step from v leads to 1.1·v + 1, in units of the last place: for small values
    # about one unit, for large ones a ratio.
    def places(steps: StepSizes) -> Floats:
        logarithms: Floats = np.log1p(np.array(_NUMBERS) / 10.0)
        return logarithms / math.log1p(steps.size(kind))

    return places


def _integers(steps: StepSizes) -> Floats:
    """Return places with years evenly spaced, and all other numbers by their ratio."""
    values = np.array(_INTEGERS)
    gaps = np.diff(np.log1p(values / 10.0)) / math.log1p(steps.size("number"))
    between_years = (values[:-1] >= _YEARS[0]) & (values[1:] <= _YEARS[-1])
    gaps[between_years] = 1.0 / steps.size("year")
    return np.append(0.0, np.cumsum(gaps))


def _scientific(steps: StepSizes) -> Floats:
    mantissas = np.log(np.arange(100, 1000) / 100.0)
    exponents = np.array(EXPONENTS)[:, None] * math.log(10.0)
    return (exponents + mantissas).ravel() / math.log1p(steps.size("number"))


def _even(values: range, kind: str, least: float, size: float) -> Callable[[StepSizes], Floats]:
    """Return places of values that are `size` apart, in steps of `least` or more."""
    count: Floats = np.arange(len(values), dtype=np.float64)
    return lambda steps: count * (size / max(steps.size(kind), least))


def _spaced(
    name: str,
    kind: str,
    values: range,
    steps_of: str,
    *,
    size: float = 1.0,
    least: tuple[float, str] = (0.0, ""),
) -> ValueGrid:
    """Make a grid of even spacing. A step is no smaller than `least`: it must fit the grid."""

    def step(steps: StepSizes) -> str:
        return least[1] if steps.size(steps_of) < least[0] else steps[steps_of]

    return ValueGrid(name, kind, values, _even(values, steps_of, least[0], size), step)


def _step_of_integers(steps: StepSizes) -> str:
    return f"{steps['number']}; {steps['year']} from {_YEARS[0]} to {_YEARS[-1]}"


def _ratios(name: str, kind: str) -> ValueGrid:
    return ValueGrid(name, kind, _NUMBERS, _logarithmic(kind), lambda steps: steps[kind])


def _days(first: date, last: date) -> range:
    return range(first.toordinal(), last.toordinal() + 1)


INTEGERS = ValueGrid("INTEGERS", "number", _INTEGERS, _integers, _step_of_integers)
DECIMALS = ValueGrid(
    "DECIMALS", "decimal number", _NUMBERS, _logarithmic("number"), lambda steps: steps["number"]
)
MONEY = _ratios("MONEY", "money")
PERCENTAGES = _ratios("PERCENTAGES", "percentage")
ORDINALS = _ratios("ORDINALS", "ordinal")
SCIENTIFIC = ValueGrid(
    "SCIENTIFIC",
    "decimal number",
    range(len(EXPONENTS) * 900),
    _scientific,
    lambda steps: steps["number"],
)
_A_DECADE = (10.0, "a decade")
DECADES = _spaced("DECADES", "decade", range(180, 210), "year", size=10.0, least=_A_DECADE)
SHORT_DECADES = _spaced("SHORT_DECADES", "decade", range(10), "year", size=10.0, least=_A_DECADE)
DAYS = _spaced("DAYS", "date", _days(date(1800, 1, 1), date(2099, 12, 31)), "date")
# Two digits of a year: from 1969 to 2068, as in POSIX.
SHORT_DAYS = _spaced("SHORT_DAYS", "date", _days(date(1969, 1, 1), date(2068, 12, 31)), "date")
# The days of a leap year.
YEAR_DAYS = _spaced("YEAR_DAYS", "date", _days(date(2000, 1, 1), date(2000, 12, 31)), "date")
MONTHS = _spaced(
    "MONTHS",
    "month",
    range(1800 * 12, 2100 * 12),
    "date",
    size=DAYS_OF_A_MONTH,
    least=(DAYS_OF_A_MONTH, "a month"),
)
MINUTES = _spaced("MINUTES", "time", range(_MINUTES_A_DAY), "time")
SECONDS = _spaced("SECONDS", "time", range(_MINUTES_A_DAY * 60), "time", size=1.0 / 60.0)
HOURS = _spaced("HOURS", "hour", range(24), "time", size=60.0, least=(60.0, "an hour"))

GRIDS = (
    *(INTEGERS, DECIMALS, SCIENTIFIC, MONEY, PERCENTAGES, ORDINALS, DECADES, SHORT_DECADES),
    *(DAYS, SHORT_DAYS, YEAR_DAYS, MONTHS, MINUTES, SECONDS, HOURS),
)
"""All grids there are."""
