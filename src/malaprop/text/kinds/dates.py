"""Dates, of three parts with one separator or with the name of a month, and times of the day."""

import re
from calendar import monthrange
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

from malaprop.text import english
from malaprop.text.kinds import Conventions, Form, Kind, Read, ValueForm
from malaprop.text.kinds.grids import Step, ValueGrid, even_grid
from malaprop.text.kinds.numbers import whole
from malaprop.text.tokens import NUMBER_END, NUMBER_GAP

# Grids and steps.

_MONTH_DAYS = 30.4375
_MINUTES_A_DAY = 24 * 60
_LEAP_YEAR = 2000

Step(
    *("date", 2, "a week", {"day": 1.0, "week": 7.0, "month": _MONTH_DAYS, "year": 365.25}),
    *(1.0, 3653.0, "1 and 3653 days", "3 days"),
)
Step(
    *("time", 3, "a quarter of an hour", {"minute": 1.0, "hour": 60.0}),
    *(1.0, 720.0, "1 and 720 minutes", "30 minutes"),
)


def _days(first_year: int, last_year: int) -> range:
    return range(date(first_year, 1, 1).toordinal(), date(last_year, 12, 31).toordinal() + 1)


DAYS = even_grid("DAYS", "date", _days(1800, 2099), "date")
# Two digits of a year: from 1969 to 2068, as in POSIX.
SHORT_DAYS = even_grid("SHORT_DAYS", "date", _days(1969, 2068), "date")
YEAR_DAYS = even_grid("YEAR_DAYS", "date", _days(_LEAP_YEAR, _LEAP_YEAR), "date", around=True)
MONTHS = even_grid(
    *("MONTHS", "month", range(1800 * 12, 2100 * 12), "date"),
    size=_MONTH_DAYS,
    least=(_MONTH_DAYS, "a month"),
)
MINUTES = even_grid("MINUTES", "time", range(_MINUTES_A_DAY), "time")
SECONDS = even_grid("SECONDS", "time", range(_MINUTES_A_DAY * 60), "time", size=1.0 / 60.0)
HOURS = even_grid("HOURS", "hour", range(24), "time", size=60.0, least=(60.0, "an hour"))
SHIFTED: Mapping[str, ValueGrid] = {DAYS.kind: DAYS, MONTHS.kind: MONTHS}
"""The kinds of values that a shift moves together, each by a number of its own units."""

# Forms.


@dataclass(frozen=True)
class DateForm(ValueForm):
    """A date of three parts, zero-padded: order of the fields, separator, digits of the year.

    The month is a number, or three letters of its name.

    >>> DateForm("dmy", "/", 4).write(DAYS.index(date(2023, 3, 4).toordinal()))
    '04/03/2023'
    >>> DateForm("dmy", "-", 4, named=True).write(DAYS.index(date(2023, 3, 4).toordinal()))
    '04-Mar-2023'
    """

    order: Literal["mdy", "dmy", "ymd"]
    separator: str
    year_digits: Literal[2, 4]
    named: bool = False
    tag, takes_units = "dates", True

    @property
    def grid(self) -> ValueGrid:
        return DAYS if self.year_digits == 4 else SHORT_DAYS

    def write(self, index: int) -> str:
        day = date.fromordinal(self.grid.values[index])
        month = english.MONTHS[day.month - 1][:3] if self.named else f"{day.month:02}"
        fields = {"y": str(day.year)[-self.year_digits :], "m": month, "d": f"{day.day:02}"}
        return self.separator.join(fields[letter] for letter in self.order)


@dataclass(frozen=True)
class NamedDateForm(ValueForm):
    """A date with the full name of its month; `parts` are its parts in order, as letters.

    >>> NamedDateForm("mdy").write(DAYS.index(date(2023, 3, 4).toordinal()))
    'March 4, 2023'
    >>> NamedDateForm("dm").write(0), NamedDateForm("my").write(0)
    ('1 January', 'January 1800')
    """

    parts: Literal["dmy", "mdy", "dm", "md", "my"]
    tag = "dates"

    @property
    def grid(self) -> ValueGrid:
        return MONTHS if self.parts == "my" else DAYS if "y" in self.parts else YEAR_DAYS

    def follows_closely(self, before: Form) -> bool:
        # Behind a space, the number before it would be the day: 5May 6.
        return self.parts[0] == "m" and before.takes_units

    def write(self, index: int) -> str:
        value = self.grid.values[index]
        if self.parts == "my":
            return f"{english.MONTHS[value % 12]} {value // 12}"
        day = date.fromordinal(value)
        name = english.MONTHS[day.month - 1]
        month_and_day = f"{name} {day.day}" if self.parts[0] == "m" else f"{day.day} {name}"
        comma = "," * (self.parts == "mdy")
        return month_and_day + (f"{comma} {day.year}" if "y" in self.parts else "")


@dataclass(frozen=True)
class TimeForm(ValueForm):
    """A time on a clock of 24 hours, zero-padded.

    `before` is the T of a time stamp, and `after` its Z, if it has them. `fraction` is that of a
    second, as zeros: nothing is told of it but how it is written.

    >>> TimeForm(seconds=False).write(65), TimeForm(seconds=True, before="T").write(65)
    ('01:05', 'T00:01:05')
    >>> TimeForm(seconds=True, fraction=",000").write(65)
    '00:01:05,000'
    """

    seconds: bool
    before: str = ""
    after: str = ""
    fraction: str = ""
    tag = "times"

    @property
    def grid(self) -> ValueGrid:
        return SECONDS if self.seconds else MINUTES

    @property
    def takes_units(self) -> bool:
        return not self.after

    def follows_closely(self, before: Form) -> bool:
        return bool(self.before) and isinstance(before, DateForm)  # they are a time stamp

    def write(self, index: int) -> str:
        minutes, seconds = divmod(index, 60) if self.seconds else (index, 0)
        clock = f"{minutes // 60:02}:{minutes % 60:02}"
        precise = f":{seconds:02}{self.fraction}" if self.seconds else ""
        return f"{self.before}{clock}{precise}{self.after}"


@dataclass(frozen=True)
class HourForm(ValueForm):
    """A full hour with am or pm, which follow from the value that is written.

    >>> [HourForm().write(hour) for hour in (0, 3, 12, 23)]
    ['12am', '3am', '12pm', '11pm']
    """

    tag, grid = "times", HOURS

    def write(self, index: int) -> str:
        return f"{index % 12 or 12}{english.HALVES[index >= 12]}"


# How they are found and read.

_BY_LETTERS = {name[:3].lower(): month for month, name in enumerate(english.MONTHS, 1)}
_NAMED = re.compile(r"\d+|[^\W\d_]+")
_HALF = rf"{NUMBER_GAP}?{english.HALF}"
_HOURS_AND_MINUTES = r"\d{1,2}:\d{2}"
_CLOCK = rf"{_HOURS_AND_MINUTES}(?::\d{{2}})?(?!\d|:\d)"
# Of a second, as logs have it: of any length in a time stamp, else in groups of three digits.
_PRECISE = rf"{_HOURS_AND_MINUTES}:\d{{2}}[.,]"
_STAMPED = rf"T(?:{_PRECISE}\d{{1,9}}(?!\d)|{_CLOCK})Z?(?![^\W_])"
_LOGGED = rf"{_PRECISE}(?:\d{{3}}){{1,3}}(?![^\W_]|[.,]\d)"
_TIME = re.compile(
    r"(?P<before>T?)(?P<hour>\d+)(?::(?P<minute>\d+))?(?::(?P<second>\d+))?"
    r"(?P<fraction>[.,]\d+)?(?P<after>Z?)"
    rf"(?:\s?(?P<half>{english.HALF}))?"
)


def _named_date_pattern() -> str:
    year = rf"(?:\.?(?:,{NUMBER_GAP}?|{NUMBER_GAP})\d{{4}}{NUMBER_END})"
    day = rf"\d{{1,2}}{english.ORDINAL}?"
    day_first = rf"{day}{NUMBER_GAP}(?:{english.BEFORE_MONTH}{NUMBER_GAP})?{english.MONTH}{year}?"
    month_first = rf"{english.MONTH}\.?{NUMBER_GAP}{day}(?:{year}|{NUMBER_END})"
    return rf"{day_first}|{month_first}|{english.MONTH}{year}"


def _date_pattern() -> str:
    def joined(first: str, last: str, month: str = r"\d{1,2}") -> str:
        return "|".join(rf"{first}{sep}{month}{sep}{last}" for sep in ("-", "/", r"\."))

    day, year = r"\d{1,2}", r"(?:\d{4}|\d{2})"
    dates = joined(r"\d{4}", day), joined(day, year), joined(day, year, english.MONTH)
    return rf"(?:{'|'.join(dates)})(?!\d|[-/.]\d)"


def _read_named_date(token: str, _: Conventions) -> Read:
    fields: dict[str, str] = {}
    for piece in _NAMED.findall(token):
        if piece[0].isdecimal():
            fields["y" if len(piece) == 4 else "d"] = piece
        elif "m" not in fields and _month(piece):  # "th" and "of" are neither
            fields["m"] = piece
    form = NamedDateForm("".join(fields))  # type: ignore[arg-type]  # the grammar has no other order
    month = _month(fields["m"]) or 1
    if form.parts == "my":
        return Read(form, form.grid.index(whole(fields["y"]) * 12 + month - 1))
    year = whole(fields["y"]) if "y" in fields else _LEAP_YEAR
    return Read(form, form.grid.index(_existing(year, month, whole(fields["d"]), 4)))


def _read_date(token: str, conventions: Conventions) -> Read:
    """Read a date of three parts. A day that does not exist counts as the nearest that does."""
    first, separator, second, _, third = re.split(r"([-/.])", token)
    named = _month(second)
    if len(first) == 4:
        form = DateForm("ymd", separator, 4)
    else:
        written = "dmy" if named else conventions.dates
        form = DateForm(written, separator, 4 if len(third) == 4 else 2, named=named is not None)
    fields = dict(zip(form.order, (first, second, third), strict=True))
    month = named or whole(fields["m"])
    day = _existing(whole(fields["y"]), month, whole(fields["d"]), form.year_digits)
    return Read(form, form.grid.index(day))


def _month(piece: str) -> int | None:
    return _BY_LETTERS.get(piece[:3].lower())


def _existing(year: int, month: int, day: int, year_digits: int) -> int:
    if year_digits == 2:
        year += 1900 if year >= 69 else 2000
    month, year = min(max(month, 1), 12), min(max(year, 1), 9999)
    day = min(max(day, 1), monthrange(year, month)[1])
    return date(year, month, day).toordinal()


def _read_time(token: str, _: Conventions) -> Read:
    """Read a time. What does not exist counts as the last time that does."""
    match = _TIME.fullmatch(token)
    if match is None:
        raise ValueError("not a time")
    hour = whole(match["hour"])
    if match["half"] and hour <= 12:  # 12 am is midnight
        halves = [half[0] for half in english.HALVES]
        hour = hour % 12 + 12 * halves.index(match["half"][0].lower())
    if match["minute"] is None:
        return Read(HourForm(), HOURS.index(hour))
    fraction = re.sub(r"\d", "0", match["fraction"] or "")
    form = TimeForm(match["second"] is not None, match["before"], match["after"], fraction)
    minutes = min(hour, 23) * 60 + min(whole(match["minute"]), 59)
    if not form.seconds:
        return Read(form, MINUTES.index(minutes))
    return Read(form, SECONDS.index(minutes * 60 + min(whole(match["second"]), 59)))


Kind("named_date", 20, _read_named_date, lambda _: _named_date_pattern(), tags=("dates",))
Kind("date", 30, _read_date, lambda _: _date_pattern(), tags=("dates",))
Kind(
    "time",
    40,
    _read_time,
    lambda _: rf"{_STAMPED}|{_LOGGED}|{_CLOCK}(?:{_HALF})?|\d{{1,2}}{_HALF}",
    tags=("times",),
)
