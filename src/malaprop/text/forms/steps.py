"""Sizes of steps: how far apart two values of a kind are that count as one step.

A step of numbers is a ratio ("a tenth": 100 and 110), a step of years, dates and times a span.
"""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from malaprop.core.errors import ParameterError
from malaprop.core.suggest import did_you_mean

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
