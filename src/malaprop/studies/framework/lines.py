"""Lines: the results of a study, one figure each, as JSON lines. Pages are rendered from them."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from io import StringIO
from typing import Any

from malaprop.core.errors import DataError, printable

Setting = Mapping[str, Any]
"""What a figure was measured for: mechanism, published, epsilon, tau, task, control and so on."""
Value = float | str | None


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
    paper: Value = None
    """The paper's own figure, if it prints one."""
    paper_error: float | None = None
    claim: str | None = None
    """What the paper says about this figure, in words."""
    holds: bool | None = None
    """Whether our figures confirm the claim; None if they decide neither way."""
    command: str | None = None
    seed: int = 0
    quick: bool = False
    versions: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the line as plain values for JSON."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


def written(lines: Iterable[Line]) -> str:
    """Return lines as JSON lines."""
    return "".join(
        printable(json.dumps(line.to_dict(), ensure_ascii=False, allow_nan=False)) + "\n"
        for line in lines
    )


def read(text: str) -> Iterator[Line]:
    """Read JSON lines that `written` wrote."""
    known = {one.name for one in fields(Line)}
    for number, row in enumerate(StringIO(text), 1):  # splitlines() knows other ends of lines
        try:
            value = json.loads(row)
            yield Line(**{name: value[name] for name in known & value.keys()})
        except (ValueError, TypeError, AttributeError):
            raise DataError(f"Line {number} is not a result of a study.") from None
