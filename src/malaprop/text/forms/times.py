"""Times of the day."""

import re
from dataclasses import dataclass

from malaprop.text.forms.form import ValueForm
from malaprop.text.forms.grids import HOURS, MINUTES, SECONDS, ValueGrid
from malaprop.text.forms.numbers import Value, whole


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
