"""Claims: what a paper says about its figures, and whether ours confirm it."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from malaprop.studies.framework.lines import Line, Setting

_APART = 2.0  # joint standard errors between figures that count as different


class Results:
    """The lines of an item, to look others up while a claim about one is judged."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.lines = tuple(lines)
        self._known = {_key(line.measure, line.setting): line for line in self.lines}

    def like(self, line: Line, measure: str = "", /, **changes: Any) -> Line | None:
        """Return the line that differs from `line` in these values only; None removes one."""
        changed = {**line.setting, **changes}
        kept = {name: value for name, value in changed.items() if value is not None}
        return self._known.get(_key(measure or line.measure, kept))

    def others(self, line: Line, name: str) -> list[Line]:
        """Return the lines with the same measure that differ in this value, whatever it is."""
        rest = _without(line.setting, name)
        return [
            other
            for other in self.lines
            if other.measure == line.measure
            and other is not line
            and _without(other.setting, name) == rest
        ]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement of the paper, to be judged on each figure that it is about."""

    text: str
    measure: str
    about: Callable[[Setting], bool]
    """Whether the paper says it about a setting. It says nothing about our controls."""
    holds: Callable[[Line, Results], bool | None]

    def judge(self, line: Line, results: Results) -> Line:
        """Return the line with the claim, and whether it holds."""
        verdict = None if line.ours is None else self.holds(line, results)
        return replace(line, claim=self.text, holds=verdict)


def judged(lines: Iterable[Line], claims: Iterable[Claim]) -> list[Line]:
    """Return lines with their claims: one line for each claim, or the line itself without one."""
    results, claims, marked = Results(lines), tuple(claims), []
    for line in results.lines:
        about = [c for c in claims if c.measure == line.measure and c.about(line.setting)]
        marked += [claim.judge(line, results) for claim in about] or [line]
    return marked


def below(line: Line | None, other: Line | None) -> bool | None:
    """Whether a figure is smaller than another; None if they are within two standard errors."""
    difference = _difference(line, other)
    return None if difference is None or abs(difference) <= _noise(line, other) else difference < 0


def above(line: Line | None, other: Line | None) -> bool | None:
    """Whether a figure is larger than another; None if they are within two standard errors."""
    return below(other, line)


def alike(line: Line | None, other: Line | None, margin: float = 0.0) -> bool | None:
    """Whether two figures differ by no more than `margin`; without one, than two standard errors.

    None if the figures are too uncertain to tell: errors beyond the margin confirm nothing.
    """
    difference, noise = _difference(line, other), _noise(line, other)
    if difference is None or (0.0 < margin < noise and abs(difference) <= noise):
        return None
    return abs(difference) <= max(noise, margin)


def every(verdicts: Iterable[bool | None]) -> bool | None:
    """Return False if one verdict is False, else None if one is None or there are none."""
    given = list(verdicts)
    if False in given:
        return False
    return None if None in given or not given else True


def _difference(line: Line | None, other: Line | None) -> float | None:
    if line is None or other is None:
        return None
    if not isinstance(line.ours, int | float) or not isinstance(other.ours, int | float):
        return None
    return line.ours - other.ours


def _noise(line: Line | None, other: Line | None) -> float:
    errors = (each.error or 0.0 for each in (line, other) if each is not None)
    return _APART * math.hypot(*errors)


def _without(setting: Setting, name: str) -> dict[str, Any]:
    return {key: value for key, value in setting.items() if key != name}


def _key(measure: str, setting: Mapping[str, Any]) -> tuple[Any, ...]:
    return (measure, *sorted((name, str(value)) for name, value in setting.items()))
