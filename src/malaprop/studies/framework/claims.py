"""Claims: what a paper says about its figures, and whether ours confirm it.

Figures count as different if Welch's test says so at 5 %: by Student's law, with the degrees of
freedom that their errors have. Two standard errors would be too few for a handful of repeats. A
quick run is another, smaller experiment, and decides nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from malaprop.measure.intervals import LEVEL, chance_margin
from malaprop.studies.framework.lines import Line, Setting, Verdict, Whose

_ONE_SIDED = 2.0 * LEVEL - 1.0  # of two sides, of which one is used


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


def _nothing(setting: Setting) -> str:
    return ""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement about figures, to be judged on each figure that it is about."""

    text: str
    measure: str
    about: Callable[[Setting], bool]
    """Whether a setting is one that the statement is about."""
    holds: Callable[[Line, Results], bool | None]
    whose: Whose = "paper"
    """Only what the paper says is its claim: not a threshold of ours for what it says in words."""
    beyond: Callable[[Setting], str] = _nothing
    """What we added to a setting that the paper did not run, in a few words; empty if nothing."""

    def judge(self, line: Line, results: Results) -> Verdict:
        """Return what becomes of the statement on a line; a quick run decides nothing.

        On a control of ours, or on a sound replacement, it is not the paper's claim.
        """
        added = ", ".join(filter(None, self._added(line.setting)))
        return Verdict(
            claim=f"{added}: {self.text}" if added else self.text,
            whose="control" if added else self.whose,
            holds=None if line.ours is None or line.quick else self.holds(line, results),
        )

    def _added(self, setting: Setting) -> Iterable[str]:
        yield "the sound replacement" if setting.get("published") is False else ""
        yield self.beyond(setting)
        if self.whose != "control":  # which has a control of its own, and names it
            yield str(setting.get("control", ""))


def judged(lines: Iterable[Line], claims: Iterable[Claim]) -> list[Line]:
    """Return the lines of an item with what becomes of all claims: one line for each figure."""
    results, claims = Results(lines), tuple(claims)
    return [
        replace(
            line,
            claims=tuple(
                claim.judge(line, results)
                for claim in claims
                if claim.measure == line.measure and claim.about(line.setting)
            ),
        )
        for line in results.lines
    ]


def below(line: Line | None, other: Line | None) -> bool | None:
    """Whether a figure is smaller than another; None if Welch's test cannot tell."""
    difference = _difference(line, other)
    return None if difference is None or abs(difference) <= _noise(line, other) else difference < 0


def above(line: Line | None, other: Line | None) -> bool | None:
    """Whether a figure is larger than another; None if Welch's test cannot tell."""
    return below(other, line)


def alike(line: Line | None, other: Line | None, margin: float) -> bool | None:
    """Whether two figures differ by no more than `margin`.

    True if their difference is within it, and False if it is beyond it, for all values that the
    errors leave possible. None if the figures are too uncertain to tell.
    """
    difference, noise = _difference(line, other), _noise(line, other)
    if difference is None:
        return None
    return _decided(abs(difference) - margin, noise)


def at_most(line: Line, limit: float, margin: float = 0.0) -> bool | None:
    """Whether a figure is no larger than a limit, by a test of one side: smaller is never wrong.

    False if it is above the limit by more than `margin`, whatever the error; None if that is open.
    """
    if not isinstance(line.ours, int | float):
        return None
    noise = chance_margin([(line.error, line.freedom)], level=_ONE_SIDED)
    return _decided(line.ours - limit - margin, noise)


def exactly(value: float, line: Line) -> Line:
    """Return a line to compare another one with: a number that has no error."""
    return replace(line, ours=value, error=None, freedom=None)


def _decided(excess: float, noise: float) -> bool | None:
    """Whether something is within its bounds: not, if it exceeds them by more than the noise."""
    return None if abs(excess) < noise else excess <= 0.0


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
    return chance_margin((each.error, each.freedom) for each in (line, other) if each is not None)


def _without(setting: Setting, name: str) -> dict[str, Any]:
    return {key: value for key, value in setting.items() if key != name}


def _key(measure: str, setting: Mapping[str, Any]) -> tuple[Any, ...]:
    return (measure, *sorted((name, str(value)) for name, value in setting.items()))
