"""Grids: the public lists of values that a number, a date or a time is drawn from.

A value of a text counts as the nearest one of its grid; beyond the ends, as the end. The places of
the values on a line, in steps, make the path on which they are drawn.

A step of numbers is a ratio ("a tenth": 100 and 110), a step of years, dates and times a span.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.errors import ParameterError, did_you_mean

_PARTS = {"half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "fifth": 1 / 5, "tenth": 1 / 10}
_RATIO = re.compile(
    rf"(?:a )?(?P<part>{'|'.join(_PARTS)})|(?P<percent>\d{{1,4}}(?:\.\d{{1,3}})?) ?%"
)
_SPAN = re.compile(
    r"(?:(?P<count>\d{1,4}(?:\.\d{1,3})?|an?)|(?:a )?(?P<part>half|third|quarter)(?: of)? an?) "
    r"(?P<unit>[a-z]+)"
)

STEPS: "dict[str, Step]" = {}
"""The step of each kind that has one."""


@dataclass(frozen=True)
class Step:
    """How far apart two values of a kind are that count as one step: a ratio, or a span.

    A span is read in `units`, which hold lengths in the unit that limits are stated in.
    """

    kind: str
    rank: int
    """Steps are listed in this order."""
    default: str
    units: Mapping[str, float] = field(default_factory=dict)
    lowest: float = 0.01
    highest: float = 10.0
    limits: str = "1 % and 1000 %"
    example: str = "20 %"

    def __post_init__(self) -> None:
        STEPS[self.kind] = self

    def size(self, step: Any) -> float:
        """Return the size of a step; raise an error if it cannot be read or is out of range."""
        text = " ".join(step.lower().split()) if isinstance(step, str) else ""
        size = self._span(text) if self.units else _ratio(text)
        if size is None or not self.lowest <= size <= self.highest:
            raise ParameterError(
                f"The step of kind '{self.kind}' must be written like '{self.example}' or "
                f"'{self.default}', and lie between {self.limits}. Got {step!r}."
            )
        return size

    def _span(self, text: str) -> float | None:
        match = _SPAN.fullmatch(text)
        if match is None:
            return None
        unit = self.units.get(match["unit"], self.units.get(match["unit"].removesuffix("s")))
        if unit is None:
            return None
        if match["part"]:
            return _PARTS[match["part"]] * unit
        return unit * (1.0 if match["count"][0] == "a" else float(match["count"]))


def _ratio(text: str) -> float | None:
    match = _RATIO.fullmatch(text)
    if match is None:
        return None
    return _PARTS[match["part"]] if match["part"] else float(match["percent"]) / 100.0


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
        steps = {each.kind: each for each in sorted(STEPS.values(), key=lambda each: each.rank)}
        for kind in chosen or {}:
            if kind not in steps:
                hint = did_you_mean(str(kind), steps)
                raise ParameterError(
                    f"There is no step of kind {kind!r}.{hint} There are: {', '.join(steps)}."
                )
        self._chosen = {kind: step.default for kind, step in steps.items()} | dict(chosen or {})
        self._sizes = {kind: steps[kind].size(step) for kind, step in self._chosen.items()}

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


GRIDS: "dict[str, ValueGrid]" = {}


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
    plural: str = field(default="", compare=False, repr=False)
    """Several values of the kind, in a guarantee; by default its name with an s."""
    around: bool = field(default=False, compare=False, repr=False)
    """Whether the first value follows the last one, as the days of a year do."""

    def __post_init__(self) -> None:
        GRIDS[self.name] = self

    def index(self, value: int) -> int:
        """Return the place of the nearest value in the list.

        >>> from malaprop.text.kinds.numbers import MONEY
        >>> MONEY.values[MONEY.index(12_345)]
        12300
        """
        values = self.values
        if isinstance(values, range):
            return min(max(value - values[0], 0), len(values) - 1)
        after = min(bisect_left(values, value), len(values) - 1)
        nearer = after > 0 and value - values[after - 1] < values[after] - value
        return after - nearer

    def moved(self, places: Ids, by: Ids) -> Ids:
        """Return places that were moved along the grid; beyond its ends, the ends."""
        last = len(self.values) - 1
        moved: Ids = (places + by) % (last + 1) if self.around else np.clip(places + by, 0, last)
        return moved

    def __reduce__(self) -> tuple[Callable[[str], "ValueGrid"], tuple[str]]:
        return _grid_named, (self.name,)


def _grid_named(name: str) -> ValueGrid:
    return GRIDS[name]


def even_grid(
    name: str,
    kind: str,
    values: range,
    steps_of: str,
    *,
    size: float = 1.0,
    least: tuple[float, str] = (0.0, ""),
    around: bool = False,
) -> ValueGrid:
    """Return a grid of values that are `size` apart, in units of the step of some kind.

    A step is no smaller than `least`: it must fit the grid.
    """
    count: Floats = np.arange(len(values), dtype=np.float64)

    def places(steps: StepSizes) -> Floats:
        return count * (size / max(steps.size(steps_of), least[0]))

    def step(steps: StepSizes) -> str:
        return least[1] if steps.size(steps_of) < least[0] else steps[steps_of]

    return ValueGrid(name, kind, values, places, step, around=around)
