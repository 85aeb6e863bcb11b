"""What a study consists of: its items, read from `items.toml`; what a paper printed, from
`paper.json`; its results, a line for each figure; and what becomes of the paper's claims.
"""

import csv
import gzip
import json
import operator
import re
import tomllib
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from io import StringIO
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from numpy.random import Generator

from malaprop.privacy.errors import DataError, check_options, printable
from malaprop.privacy.estimate import LEVEL, Estimate, chance_margin

if TYPE_CHECKING:
    from malaprop.lab.studies.reproduction import Run

Setting = Mapping[str, Any]
"""What a figure was measured for: mechanism, published, epsilon, tau, task, control and so on."""
Value = float | str | None
Whose = Literal["paper", "reading", "control"]
"""Who says it: the paper; we, as we read the paper; or we, of a control that it did not run."""
NOISE: Final = "noise draws"
"""The `spread` of an error over other draws of the noise, on the same texts, words and splits."""
SPLITS: Final = "splits"
"""That of an error over other splits of the same texts into those to train and to test on."""

# Lines: the results of a study, one figure each, as JSON lines. Pages are rendered from them.


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

    @property
    def given(self) -> str:
        """What of the user's own took the place of ours: a lexicon, data sets; empty if nothing."""
        own = ((k, v) for k, v in self.versions.items() if k.startswith(("lexicon ", "data ")))
        return "; ".join(f"{name}: {about}" for name, about in own)

    @property
    def estimate(self) -> Estimate | None:
        """Our figure with its error; None if there is none, or it is a text."""
        if not isinstance(self.ours, int | float):
            return None
        return Estimate.of_errors(self.ours, (self.error, self.freedom))


def written(lines: Iterable[Line]) -> str:
    """Return lines as JSON lines."""
    return "".join(
        printable(json.dumps(asdict(line), ensure_ascii=False, allow_nan=False)) + "\n"
        for line in lines
    )


def tidy(lines: Sequence[Line]) -> str:
    """Return lines as CSV: a row for each figure, a column for each name of the settings.

    Figures that are texts have columns of their own, so that `ours` and `paper` are numbers.
    `holds` says what became of the paper's claims about the figure: all that there are must hold.
    """
    own = ("study", "item", "measure", "ours", "error", "freedom", "paper", "paper_error")
    texts = ("ours", "paper")
    names = list(dict.fromkeys(name for line in lines for name in line.setting))
    buffer = StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    given = ["given"] if any(line.given for line in lines) else []
    writer.writerow([*own, "holds", *(f"{name}_text" for name in texts), *given, *names])
    for line in lines:
        holds = every(each.holds for each in line.claims if each.whose == "paper")
        settings = (line.setting.get(name) for name in names)
        values = {name: getattr(line, name) for name in own}
        told = [values[name] if isinstance(values[name], str) else None for name in texts]
        values |= {name: None for name, text in zip(texts, told, strict=True) if text is not None}
        mine = [line.given] * len(given)
        writer.writerow([*values.values(), holds, *told, *mine, *settings])
    return buffer.getvalue()


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


def read_results(path: Path) -> list[Line]:
    """Read a file of results, packed by gzip if its name ends so."""
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        text = content.decode()
    except (gzip.BadGzipFile, EOFError, zlib.error, UnicodeDecodeError):
        raise DataError(f"{path} cannot be read as results of a study.") from None
    return list(read(text))


# Conditions on settings, as `items.toml` states them: a value, a list of values, or a comparison
# such as "> 5" or "!= nadp". An empty text stands for a value that is not there.

_COMPARISON = re.compile(r"(==|!=|<=|>=|<|>) (.+)")
_SIGNS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


def _meets(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, list):
        return any(_meets(value, each) for each in wanted)
    if isinstance(wanted, str) and (comparison := _COMPARISON.fullmatch(wanted)):
        sign, other = comparison.groups()
        if sign == "!=":
            return str(value) != other
        return value is not None and _SIGNS[sign](value, float(other))
    return bool(value == (None if wanted == "" else wanted))


def is_where(where: Setting, setting: Setting, *, beside: str = "") -> bool:
    """Whether a setting meets all conditions; the name `beside` is none."""
    return all(
        _meets(setting.get(name), wanted) for name, wanted in where.items() if name != beside
    )


# Claims: what a paper says about its figures, and whether ours confirm it.
#
# Figures count as different if Welch's test says so at 5 %: by Student's law, with the degrees of
# freedom that their errors have. Two standard errors would be too few for a handful of repeats. A
# quick run is another, smaller experiment, and decides nothing.

_ONE_SIDED = 2.0 * LEVEL - 1.0  # of two sides, of which one is used
_NEXT: Final = {"smaller": -1.0, "larger": 1.0}


class Results:
    """The lines of an item, to look others up while a claim about one is judged."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.lines = tuple(lines)
        self._known = {_key({**line.setting, "measure": line.measure}): line for line in self.lines}

    def like(self, line: Line, changes: Setting) -> Line | None:
        """Return the line that differs from `line` in these values only, and `measure` is one.

        An empty text removes a value. "smaller" and "larger" stand for the next value that there
        is a line of.
        """
        for name, direction in changes.items():
            if direction in _NEXT:
                return self._next(line, name, _NEXT[direction])
        return self._known.get(_key({**line.setting, "measure": line.measure, **changes}))

    def _next(self, line: Line, name: str, sign: float) -> Line | None:
        def apart(other: Line) -> float:
            return sign * float(other.setting[name] - line.setting[name])

        rest = _key({**line.setting, name: ""})
        beyond = (
            other
            for other in self.lines
            if other.measure == line.measure
            and name in other.setting
            and apart(other) > 0.0
            and _key({**other.setting, name: ""}) == rest
        )
        return min(beyond, key=apart, default=None)


def _key(values: Setting) -> tuple[Any, ...]:
    return tuple(sorted((name, str(value)) for name, value in values.items() if value != ""))


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement about figures, to be judged on each figure that it is about."""

    text: str
    measure: str | Sequence[str]
    holds: str | Callable[[Line], bool | None]
    """A comparison with `than` (above, below, alike or at most), one of the figure alone ("> 5"),
    or a function that judges a line."""
    than: float | Setting | Sequence[Setting] = ()
    """A number, or what differs in the line to compare with: see `Results.like`. Of several lines,
    all that there are must compare so."""
    margin: float = 0.0
    about: Setting = field(default_factory=dict)
    """What the settings that the statement is about have in common."""
    whose: Whose = "paper"
    """Only what the paper says is its claim: not a threshold of ours for what it says in words."""
    beyond: Sequence[Setting] = ()
    """Conditions of what we added and the paper did not run, and how to `say` that."""

    def is_about(self, line: Line) -> bool:
        return _meets(line.measure, self.measure) and is_where(self.about, line.setting)

    def judge(self, line: Line, results: Results) -> Verdict:
        """Return what becomes of the statement on a line; a quick run decides nothing.

        On a control of ours, or on a sound replacement, it is not the paper's claim.
        """
        added = ", ".join(filter(None, self._added(line.setting)))
        return Verdict(
            claim=f"{added}: {self.text}" if added else self.text,
            whose="control" if added else self.whose,
            holds=None if line.ours is None or line.quick else self._holds(line, results),
        )

    def _holds(self, line: Line, results: Results) -> bool | None:
        if not isinstance(self.holds, str):
            return self.holds(line)
        if _COMPARISON.fullmatch(self.holds):
            return _meets(line.ours, self.holds)
        if isinstance(self.than, int | float):
            others: list[Estimate | None] = [Estimate.exact(self.than)]
        else:
            changes = [self.than] if isinstance(self.than, Mapping) else self.than
            lines = (results.like(line, each) for each in changes)
            others = [other.estimate for other in lines if other is not None]
        return every(compare(self.holds, line.estimate, each, self.margin) for each in others)

    def _added(self, setting: Setting) -> Iterable[str]:
        yield "the sound replacement" if setting.get("published") is False else ""
        yield from (each["say"] for each in self.beyond if is_where(each, setting, beside="say"))
        if self.whose != "control":  # which has a control of its own, and names it
            yield str(setting.get("control", ""))


def judged(lines: Iterable[Line], claims: Iterable[Claim]) -> list[Line]:
    """Return the lines of an item with what becomes of all claims: one line for each figure."""
    results, claims = Results(lines), tuple(claims)
    return [
        replace(
            line,
            claims=tuple(claim.judge(line, results) for claim in claims if claim.is_about(line)),
        )
        for line in results.lines
    ]


def compare(
    how: str, own: Estimate | None, other: Estimate | None, margin: float = 0.0
) -> bool | None:
    """Whether a figure is "below" another, "above", "alike" or "at most"; None if that is open.

    It is so, or not, if it is for all values that the errors leave possible. Figures are alike if
    they differ by no more than `margin`. "at most" is tested on one side, so that smaller is never
    wrong: it is not so if the figure is above the other by more than `margin`.
    """
    if own is None or other is None:
        return None
    noise = chance_margin((*own.errors, *other.errors), _ONE_SIDED if how == "at most" else LEVEL)
    difference = own.value - other.value
    if how in ("below", "above"):
        return None if abs(difference) <= noise else (difference < 0.0) == (how == "below")
    excess = {"alike": abs(difference), "at most": difference}[how] - margin
    return None if abs(excess) < noise else excess <= 0.0


def every(verdicts: Iterable[bool | None]) -> bool | None:
    """Return False if one verdict is False, else None if one is None or there are none."""
    given = list(verdicts)
    if False in given:
        return False
    return None if None in given or not given else True


# Items: a paper's tables and figures, as grids of cells that are measured one by one.


@dataclass(frozen=True)
class Measurement:
    """A figure that a cell measures: a number, with its error if it has one, or a text."""

    measure: str
    value: Value
    setting: Setting = field(default_factory=dict)
    """What this figure adds to the setting of its cell, such as the bin of a histogram."""
    missing: str = ""
    """The data set that this figure lacks, if the cell has other figures; empty if none."""
    error: float | None = None
    """One standard error, if one is known."""
    freedom: float | None = None
    """The degrees of freedom of the error. Without them, it decides nothing."""


Cell = Callable[["Run", Setting, Generator], Iterable[Measurement]]
"""Measures one setting. It draws from the generator only, so a seed repeats it."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """A table or a figure of a paper."""

    name: str
    """`fig2`, `table3`: Table III is `table3`."""
    cell: Cell
    key: str
    """What seeds and keeps the cells, with study and setting: another key draws other figures.

    Items with the same function have the same key, and share what it measured.
    """
    measures: Sequence[str]
    """The figures of a cell that this item shows."""
    grid: Sequence[Setting]
    """Parts of the grid, each the product of its lists of values: see `settings`."""
    claims: Sequence[Claim] = ()
    spread: Sequence[Setting] = ()
    """What an error is `over`, under conditions on setting and measure, of which the first that
    are met count; needed if the grid's `spread` does not fit every measure."""
    revision: int = 1
    """Raise it when `cell` measures something else: what was kept is then measured again."""
    by: str = ""
    """The name whose values keep cells together, over all parts of the grid."""

    def settings(self, *, quick: bool) -> list[dict[str, Any]]:
        """Return the settings of the cells.

        A part combines all its values, the first name outermost, unless `loop` lists others to be
        so. A table in a list stands for several names at once. `quick` has the values of a quick
        run; false leaves the part out there.

        >>> part = {"mechanism": ["tem", {"mechanism": "nadp", "tau": 0.5}], "epsilon": [1, 2]}
        >>> item = Item(name="t", cell=lambda *all: [], key="t", measures=[], grid=[part])
        >>> item.settings(quick=False)[1:3]
        [{'mechanism': 'tem', 'epsilon': 2}, {'mechanism': 'nadp', 'tau': 0.5, 'epsilon': 1}]
        """
        parts = [part for part in self.grid if not quick or part.get("quick") is not False]
        settings = [setting for part in parts for setting in _combined(part, quick)]
        groups = list(dict.fromkeys(setting.get(self.by) for setting in settings))
        return sorted(settings, key=lambda setting: groups.index(setting.get(self.by)))

    def spread_of(self, setting: Setting, measure: str) -> str | None:
        """Return what the error of a measure is over."""
        every_name = {**setting, "measure": measure}
        over = (each["over"] for each in self.spread if is_where(each, every_name, beside="over"))
        return next(over, setting.get("spread"))


def _combined(part: Setting, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield all settings of a part of a grid."""
    values = {name: part[name] for name in part if name not in ("quick", "loop")}
    values |= part.get("quick", {}) if quick else {}
    order = dict.fromkeys([*part.get("loop", ()), *values])
    lists = (values[name] if isinstance(values[name], list) else [values[name]] for name in order)
    for chosen in product(*lists):
        by_name = dict(zip(order, chosen, strict=True))
        setting: dict[str, Any] = {}
        for name in values:
            value = by_name[name]
            setting |= value if isinstance(value, dict) else {name: value}
        yield setting


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
        check_options(f"The study {self.name}", names, known, noun="item")
        return tuple(known[name] for name in names)


def read_study(name: str, functions: Mapping[str, Callable[..., Any]]) -> Study:
    """Return a study as its `items.toml` states it, with the functions that it names."""
    text = (files("malaprop.lab.studies") / name / "items.toml").read_text("utf-8")
    return Study(name=name, items=tuple(items_of(tomllib.loads(text), functions)))


def items_of(values: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]) -> list[Item]:
    """Return the items of a study: a table each, beside `lists` and `grids` that they share."""
    lists, grids = values.get("lists", {}), values.get("grids", {})
    names = [name for name in values if name not in ("lists", "grids")]
    items = []
    for name in names:
        entry = {key: _expanded(value, lists) for key, value in _inherited(values, name).items()}
        grid, common = entry.pop("grid"), entry.pop("set", {})
        parts = _expanded(grids[grid], lists) if isinstance(grid, str) else grid
        beyond = entry.pop("beyond", [])
        claims = [{"beyond": beyond, **each} for each in entry.pop("claims", [])]
        spread = entry.pop("spread", [])
        item = Item(
            name=name,
            key=entry["cell"],
            cell=functions[entry.pop("cell")],
            grid=[{**part, **common} for part in parts],
            claims=[
                Claim(**{**each, "holds": functions.get(each["holds"], each["holds"])})
                for each in claims
            ],
            spread=[{"over": spread}] if isinstance(spread, str) else spread,
            **entry,
        )
        items.append(item)
    return items


def _inherited(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the table of an item, with what it has from the item that it is `like`."""
    own = dict(values[name])
    return {**_inherited(values, own.pop("like")), **own} if "like" in own else own


def _expanded(value: Any, lists: Mapping[str, Any]) -> Any:
    """Return a value of the file, with lists in place of their names: `@sound`."""
    if isinstance(value, str) and value.startswith("@"):
        return _expanded(lists[value[1:]], lists)
    if isinstance(value, dict):
        return {name: _expanded(each, lists) for name, each in value.items()}
    if not isinstance(value, list):
        return value
    parts = [(each, _expanded(each, lists)) for each in value]
    return [
        one
        for each, part in parts
        for one in (part if isinstance(part, list) and isinstance(each, str) else [part])
    ]


# The papers' own figures: setting, deviations with reasons, results; a JSON file beside a study.
#
# {"paper": "…", "setting": {…}, "deviations": [{"what": "…", "why": "…"}],
#  "items": {"table3": {"title": "…", "columns": "epsilon", "plots": […],
#    "results": [{"measure": "kept", "setting": {"epsilon": 1}, "value": 0.16, "error": 0.41}],
#    "tables": [{"measure": "kept", "rows": ["lambda", [0, 1]], "columns": ["epsilon", [1, 5]],
#                "values": [[…], […]], "errors": [[…], […]]}]}}}


@dataclass(frozen=True, kw_only=True)
class Paper:
    """What a paper did and printed, and where we deviate."""

    paper: str
    """Authors, title and year."""
    items: Mapping[str, Mapping[str, Any]]
    """What the file says about each item: title, columns, plots, results."""
    did: str = ""
    """What the paper did, in a few sentences."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What the paper calls a mechanism, a measure or a data set."""
    bars: Literal["", "error", "interval"] = ""
    """What the bars of its plots are: standard errors, or 95 % intervals; empty if it has none."""
    setting: Mapping[str, Any] = field(default_factory=dict)
    """What the paper's experiments were made with."""
    data: Sequence[str] = ()
    """The sets of texts with labels that a user may replace."""
    cost: Mapping[str, float] = field(default_factory=dict)
    """Core-minutes of a `quick` run and of the `default` one, `times` that for the paper's size,
    and `memory` in GB."""
    deviations: Sequence[Mapping[str, str]] = ()
    """Where we deviate (`what`), and `why`."""

    def figure(self, item: str, measure: str, setting: Setting) -> tuple[Value, float | None]:
        """Return the paper's figure of a line and its error, None for what it does not print.

        The paper's setting is part of the line's. Our controls have no figure of the paper, unless
        it says that it ran them.
        """
        for each in self.figures(item):
            wanted = {"control": None, **each.get("setting", {})}
            if each["measure"] == measure and all(setting.get(k) == v for k, v in wanted.items()):
                return each["value"], each.get("error")
        return None, None

    def figures(self, item: str) -> Iterator[Mapping[str, Any]]:
        """Yield all figures that the paper prints in an item, as the file lists results."""
        entry = self.items.get(item, {})
        yield from entry.get("results", [])
        for table in entry.get("tables", []):
            (row_name, rows), (column_name, columns) = table["rows"], table["columns"]
            for (i, row), (j, column) in product(enumerate(rows), enumerate(columns)):
                yield {
                    "measure": table["measure"],
                    "setting": {**table.get("setting", {}), row_name: row, column_name: column},
                    "value": table["values"][i][j],
                    "error": table["errors"][i][j] if "errors" in table else None,
                }


@cache
def paper_of(study: str) -> Paper:
    text = (files("malaprop.lab.studies") / study / "paper.json").read_text("utf-8")
    return Paper(**json.loads(text))
