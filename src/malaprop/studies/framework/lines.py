"""Lines: the results of a study, one figure each, as JSON lines. Pages are rendered from them."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from io import StringIO
from typing import Any, Literal

from malaprop.core.errors import DataError, printable

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
