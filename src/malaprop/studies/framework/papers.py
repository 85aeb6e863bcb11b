"""The papers' own figures: setting, deviations with reasons, results; a JSON file beside a study.

{"paper": "…", "setting": {…}, "deviations": [{"what": "…", "why": "…"}],
 "items": {"table3": {"title": "…", "columns": "epsilon", "plots": […],
   "results": [{"measure": "kept", "setting": {"epsilon": 1}, "value": 0.16, "error": 0.41}],
   "tables": [{"measure": "kept", "rows": ["lambda", [0, 1]], "columns": ["epsilon", [1, 5]],
               "values": [[…], […]], "errors": [[…], […]]}]}}}
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from malaprop.studies.framework.lines import Setting, Value


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
    text = (files("malaprop.studies") / study / "paper.json").read_text("utf-8")
    return Paper(json.loads(text))
