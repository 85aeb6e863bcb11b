"""A paper's tables and figures: items, claims, lines, the paper's own figures."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from io import StringIO
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

from numpy.random import Generator

from malaprop.privacy.errors import DataError, ParameterError, printable
from malaprop.privacy.estimate import LEVEL, chance_margin

if TYPE_CHECKING:
    from malaprop.lab.studies.reproduction import Run


# Lines: the results of a study, one figure each, as JSON lines. Pages are rendered from them.


Setting = Mapping[str, Any]
"""What a figure was measured for: mechanism, published, epsilon, tau, task, control and so on."""
Value = float | str | None
Whose = Literal["paper", "reading", "control"]
"""Who says it: the paper; we, as we read the paper; or we, of a control that it did not run."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What became of a statement on one figure."""

    claim: str
    """The statement, in words."""
    whose: Whose = "paper"
    holds: bool | None = None
    """Whether our figures confirm it; None if they decide neither way."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One figure of a table or a plot: ours, with its error, beside the paper's."""

    study: str
    item: str
    """The table or figure of the paper: `fig2`, `table3`."""
    setting: Setting
    measure: str
    ours: Value
    """What we measured; None if data are missing, and then `command` gets them."""
    error: float | None = None
    """One standard error of `ours`, over what `setting["spread"]` says."""
    freedom: float | None = None
    """The degrees of freedom of `error`: for five repeats, 4."""
    paper: Value = None
    """The paper's own figure, if it prints one."""
    paper_error: float | None = None
    claims: tuple[Verdict, ...] = ()
    """What is said about this figure, and whether our figures confirm it."""
    command: str | None = None
    vectors: str | None = None
    """The vectors that a user imported under the name in the setting: size and fingerprint."""
    seed: int = 0
    quick: bool = False
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What it is a figure of: no two lines of a study have the same."""
        return json.dumps([self.item, self.measure, dict(self.setting)], sort_keys=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the line as plain values for JSON."""
        plain = {one.name: getattr(self, one.name) for one in fields(self)}
        return {**plain, "claims": [asdict(each) for each in self.claims]}


def written(lines: Iterable[Line]) -> str:
    """Return lines as JSON lines."""
    return "".join(
        printable(json.dumps(line.to_dict(), ensure_ascii=False, allow_nan=False)) + "\n"
        for line in lines
    )


def read(text: str) -> Iterator[Line]:
    """Read JSON lines that `written` wrote.

    Older files have a line for each claim about a figure: only the figure is read.
    """
    known = {one.name for one in fields(Line)}
    for number, row in enumerate(StringIO(text), 1):  # splitlines() knows other ends of lines
        try:
            value = json.loads(row)
            claims = tuple(Verdict(**each) for each in value.get("claims", ()))
            own = {name: value[name] for name in known & value.keys()}
            yield Line(**{**own, "claims": claims})
        except (ValueError, TypeError, AttributeError):
            raise DataError(f"Line {number} is not a result of a study.") from None


# Claims: what a paper says about its figures, and whether ours confirm it.
#
# Figures count as different if Welch's test says so at 5 %: by Student's law, with the degrees of
# freedom that their errors have. Two standard errors would be too few for a handful of repeats. A
# quick run is another, smaller experiment, and decides nothing.


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


# Items: a paper's tables and figures, as grids of cells that are measured one by one.


@dataclass(frozen=True)
class Measurement:
    """A number that a cell measures, with one standard error."""

    measure: str
    value: Value
    error: float | None = None
    setting: Setting = field(default_factory=lambda: MappingProxyType({}))
    """What this figure adds to the setting of its cell, such as the bin of a histogram."""
    missing: str = ""
    """The data set that this figure lacks, if the cell has other figures; empty if none."""
    freedom: float | None = None
    """The degrees of freedom of the error: 4 for five repeats. Without them, it decides nothing."""


Cell = Callable[["Run", Setting, Generator], Iterable[Measurement]]
"""Measures one setting. It draws from the generator only, so a seed repeats it."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """A table or a figure of a paper."""

    name: str
    """`fig2`, `table3`: Table III is `table3`."""
    grid: Callable[["Run"], Iterable[Setting]]
    """The settings of its cells, fewer in a quick run."""
    cell: Cell
    """Measures one of them."""
    key: str
    """What seeds and keeps the cells, with study and setting: another key draws other figures.

    Items with the same function have the same key, and share what it measured.
    """
    measures: tuple[str, ...]
    """The figures of a cell that this item shows."""
    claims: tuple[Claim, ...] = ()
    spread: Callable[[Setting, str], str] | None = None
    """What the error of a measure is over, if the grid's `spread` does not fit every measure."""
    revision: int = 1
    """Raise it when `cell` measures something else: what was kept is then measured again."""


@dataclass(frozen=True, kw_only=True)
class Study:
    """A paper's tables and figures. Its own figures stand in `paper.json` beside the study."""

    name: str
    items: tuple[Item, ...]

    def chosen(self, names: Sequence[str] | None) -> tuple[Item, ...]:
        """Return the items of these names, all by default."""
        if names is None:
            return self.items
        known = {item.name: item for item in self.items}
        if missing := [name for name in names if name not in known]:
            raise ParameterError(
                f"The study {self.name} has no item {missing[0]!r}. There are: {', '.join(known)}."
            )
        return tuple(known[name] for name in names)


def crossed(**values: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Yield the settings that combine all values; those that are None are left out.

    >>> list(crossed(mechanism=["tem"], epsilon=[1, 2]))
    [{'mechanism': 'tem', 'epsilon': 1}, {'mechanism': 'tem', 'epsilon': 2}]
    """
    for combination in product(*values.values()):
        setting = dict(zip(values, combination, strict=True))
        yield {name: value for name, value in setting.items() if value is not None}


# The papers' own figures: setting, deviations with reasons, results; a JSON file beside a study.
#
# {"paper": "…", "setting": {…}, "deviations": [{"what": "…", "why": "…"}],
#  "items": {"table3": {"title": "…", "columns": "epsilon", "plots": […],
#    "results": [{"measure": "kept", "setting": {"epsilon": 1}, "value": 0.16, "error": 0.41}],
#    "tables": [{"measure": "kept", "rows": ["lambda", [0, 1]], "columns": ["epsilon", [1, 5]],
#                "values": [[…], […]], "errors": [[…], […]]}]}}}


@dataclass(frozen=True, kw_only=True)
class PaperFigure:
    """A figure that a paper prints."""

    measure: str
    setting: Setting
    value: Value
    error: float | None = None

    def fits(self, measure: str, setting: Setting) -> bool:
        """Whether it is the figure of a line: the paper's setting is part of the line's.

        Our controls have no figure of the paper, unless it says that it ran them.
        """
        wanted = {"control": None, **self.setting}
        return measure == self.measure and all(setting.get(k) == v for k, v in wanted.items())


@dataclass(frozen=True)
class Paper:
    """What a paper did and printed, and where we deviate."""

    values: Mapping[str, Any]

    @property
    def title(self) -> str:
        """Authors, title and year."""
        return str(self.values["paper"])

    @property
    def setting(self) -> Mapping[str, Any]:
        """What the paper's experiments were made with."""
        return dict(self.values.get("setting", {}))

    @property
    def deviations(self) -> list[dict[str, str]]:
        """Where we deviate (`what`), and `why`."""
        return list(self.values.get("deviations", []))

    def item(self, name: str) -> Mapping[str, Any]:
        """Return what the file says about an item: title, columns, plots."""
        return dict(self.values["items"].get(name, {}))

    def figure(self, item: str, measure: str, setting: Setting) -> PaperFigure | None:
        """Return the paper's figure of a line, or None."""
        figures = (figure for figure in self.figures(item) if figure.fits(measure, setting))
        return next(figures, None)

    def figures(self, item: str) -> list[PaperFigure]:
        """Return all figures that the paper prints in an item."""
        entry = self.item(item)
        listed = [
            PaperFigure(
                measure=one["measure"],
                setting=one.get("setting", {}),
                value=one["value"],
                error=one.get("error"),
            )
            for one in entry.get("results", [])
        ]
        return listed + [figure for one in entry.get("tables", []) for figure in _of_table(one)]


def _of_table(table: Mapping[str, Any]) -> Iterator[PaperFigure]:
    (row_name, rows), (column_name, columns) = table["rows"], table["columns"]
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            yield PaperFigure(
                measure=table["measure"],
                setting={**table.get("setting", {}), row_name: row, column_name: column},
                value=table["values"][i][j],
                error=table["errors"][i][j] if "errors" in table else None,
            )


@cache
def paper_of(study: str) -> Paper:
    """Read the paper's file of a study."""
    text = (files("malaprop.lab.studies") / study / "paper.json").read_text("utf-8")
    return Paper(json.loads(text))


# What an error is over: the values that `spread` has in a setting.


NOISE: Final = "noise draws"
"""Other draws of the noise, on the same texts, words and splits."""
SPLITS: Final = "splits"
"""Other splits of the same texts into those to train on and those to test on."""
BOTH: Final = f"{NOISE} and {SPLITS}"
"""Other draws and other splits at once."""
WORDS: Final = "words"
"""Other words of the lexicon. Where a word's figure comes from draws, it includes their noise."""
WALKS: Final = "walks"
"""Other walks of the sampler of the published hyperbolic mechanism."""
NOTHING: Final = "nothing"
"""There is neither noise nor a split, and so no error."""
SPREADS: Final = (NOISE, SPLITS, BOTH, WORDS, WALKS, NOTHING)


def over(*, noisy: bool, divided: bool) -> str:
    """Return what runs differ in, if each has its own noise, its own split, both or neither.

    >>> over(noisy=True, divided=True)
    'noise draws and splits'
    """
    if noisy:
        return BOTH if divided else NOISE
    return SPLITS if divided else NOTHING
