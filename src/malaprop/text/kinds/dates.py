"""Dates: of three parts with one separator, or with the name of a month between spaces."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date
from typing import Literal

from malaprop.text.kinds import ValueForm
from malaprop.text.kinds.grids import (
    DAYS,
    HOURS,
    MINUTES,
    MONTHS,
    SECONDS,
    SHORT_DAYS,
    YEAR_DAYS,
    ValueGrid,
)
from malaprop.text.kinds.numbers import Value, whole

DateOrder = Literal["mdy", "dmy"]
"""Whether the month or the day comes first in 03/04/2023."""

MONTH_NAMES = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_BY_LETTERS = {name[:3].lower(): month for month, name in enumerate(MONTH_NAMES, 1)}
_LEAP_YEAR = 2000


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

    @property
    def tag(self) -> str:
        """How it is counted."""
        return "dates"

    @property
    def takes_units(self) -> bool:
        """Whether a word may touch it: yes, it ends in a digit."""
        return True

    @property
    def grid(self) -> ValueGrid:
        """Days, of three centuries or of one."""
        return DAYS if self.year_digits == 4 else SHORT_DAYS

    def write(self, index: int) -> str:
        """Write a day."""
        day = date.fromordinal(self.grid.values[index])
        month = MONTH_NAMES[day.month - 1][:3] if self.named else f"{day.month:02}"
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

    @property
    def tag(self) -> str:
        """How it is counted."""
        return "dates"

    @property
    def grid(self) -> ValueGrid:
        """Days of three centuries, days of a leap year, or months."""
        return MONTHS if self.parts == "my" else DAYS if "y" in self.parts else YEAR_DAYS

    def write(self, index: int) -> str:
        """Write a day or a month."""
        value = self.grid.values[index]
        if self.parts == "my":
            return f"{MONTH_NAMES[value % 12]} {value // 12}"
        day = date.fromordinal(value)
        name = MONTH_NAMES[day.month - 1]
        month_and_day = f"{name} {day.day}" if self.parts[0] == "m" else f"{day.day} {name}"
        comma = "," * (self.parts == "mdy")
        return month_and_day + (f"{comma} {day.year}" if "y" in self.parts else "")


def read_date(token: str, order: DateOrder) -> Value:
    """Read a date of three parts. A day that does not exist counts as the nearest that does."""
    first, separator, second, _, third = re.split(r"([-/.])", token)
    named = _month(second)
    if len(first) == 4:
        form = DateForm("ymd", separator, 4)
    else:
        written = "dmy" if named else order
        form = DateForm(written, separator, 4 if len(third) == 4 else 2, named=named is not None)
    fields = dict(zip(form.order, (first, second, third), strict=True))
    month = named or whole(fields["m"])
    day = _existing(whole(fields["y"]), month, whole(fields["d"]), form.year_digits)
    return Value(form, form.grid.index(day))


def _existing(year: int, month: int, day: int, year_digits: int) -> int:
    if year_digits == 2:
        year += 1900 if year >= 69 else 2000
    month, year = min(max(month, 1), 12), min(max(year, 1), 9999)
    day = min(max(day, 1), monthrange(year, month)[1])
    return date(year, month, day).toordinal()


_NAMED = re.compile(r"\d+|[^\W\d_]+")


def read_named_date(token: str) -> Value:
    """Read a date with the name of a month."""
    parts, fields = "", {}
    for piece in _NAMED.findall(token):
        letter = _part(piece, "m" in parts, "d" in parts)
        if letter:
            parts += letter
            fields[letter] = piece
    form = NamedDateForm(parts)  # type: ignore[arg-type]  # the grammar has no other order
    month = _month(fields["m"]) or 1
    if parts == "my":
        return Value(form, form.grid.index(whole(fields["y"]) * 12 + month - 1))
    year = whole(fields["y"]) if "y" in fields else _LEAP_YEAR
    return Value(form, form.grid.index(_existing(year, month, whole(fields["d"]), 4)))


def _month(piece: str) -> int | None:
    return _BY_LETTERS.get(piece[:3].lower())


def _part(piece: str, month_seen: bool, day_seen: bool) -> str:
    """Tell whether a piece is day, month or year; "th" and "of" are none of them."""
    if piece[0].isdecimal():
        return "y" if len(piece) == 4 else "d"
    return "m" if not month_seen and _month(piece) else ""


# Times of the day.


@dataclass(frozen=True)
class TimeForm(ValueForm):
    """A time on a clock of 24 hours, zero-padded.

    `before` is the T of a time stamp, and `after` its Z, if it has them.

    >>> TimeForm(seconds=False).write(65), TimeForm(seconds=True, before="T").write(65)
    ('01:05', 'T00:01:05')
    """

    seconds: bool
    before: str = ""
    after: str = ""

    @property
    def tag(self) -> str:
        """How it is counted."""
        return "times"

    @property
    def grid(self) -> ValueGrid:
        """Minutes or seconds of a day."""
        return SECONDS if self.seconds else MINUTES

    @property
    def takes_units(self) -> bool:
        """Whether a word may touch it, such as a Z: not after a time stamp's own Z."""
        return not self.after

    @property
    def follows_closely(self) -> bool:
        """Whether it follows the date of a time stamp."""
        return bool(self.before)

    def write(self, index: int) -> str:
        """Write a time."""
        minutes, seconds = divmod(index, 60) if self.seconds else (index, 0)
        clock = f"{minutes // 60:02}:{minutes % 60:02}"
        return f"{self.before}{clock}{f':{seconds:02}' if self.seconds else ''}{self.after}"


@dataclass(frozen=True)
class HourForm(ValueForm):
    """A full hour with am or pm, which follow from the value that is written.

    >>> [HourForm().write(hour) for hour in (0, 3, 12, 23)]
    ['12am', '3am', '12pm', '11pm']
    """

    @property
    def tag(self) -> str:
        """How it is counted."""
        return "times"

    @property
    def grid(self) -> ValueGrid:
        """The hours of a day."""
        return HOURS

    def write(self, index: int) -> str:
        """Write an hour."""
        return f"{index % 12 or 12}{'pm' if index >= 12 else 'am'}"


_TIME = re.compile(
    r"(?P<before>T?)(?P<hour>\d+)(?::(?P<minute>\d+))?(?::(?P<second>\d+))?(?P<after>Z?)"
    r"\s?(?P<half>[AaPp])?\.?[Mm]?\.?"
)


def read_time(token: str) -> Value:
    """Read a time. What does not exist counts as the last time that does."""
    match = _TIME.fullmatch(token)
    if match is None:
        raise ValueError("not a time")
    hour = _hour(whole(match["hour"]), (match["half"] or "").lower())
    if match["minute"] is None:
        return Value(HourForm(), HOURS.index(hour))
    form = TimeForm(match["second"] is not None, match["before"], match["after"])
    minutes = min(hour, 23) * 60 + min(whole(match["minute"]), 59)
    if not form.seconds:
        return Value(form, MINUTES.index(minutes))
    return Value(form, SECONDS.index(minutes * 60 + min(whole(match["second"]), 59)))


def _hour(hour: int, half: str) -> int:
    """Return the hour on a clock of 24."""
    if half == "a" and hour == 12:
        return 0
    return hour + 12 if half == "p" and hour < 12 else hour
