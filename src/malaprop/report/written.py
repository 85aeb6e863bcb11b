"""The report of a run as a file: JSON or Markdown, as its name says."""

import json
from collections.abc import Callable
from pathlib import Path

from malaprop.core.errors import ParameterError
from malaprop.pipeline.report import RunReport
from malaprop.report.markdown import as_markdown


def as_json(report: RunReport) -> str:
    """Return the report as JSON."""
    return json.dumps(report.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


_RENDERINGS: dict[str, Callable[[RunReport], str]] = {".json": as_json, ".md": as_markdown}


def checked_name(path: Path) -> Path:
    """Return the path of a report; refuse one whose ending says nothing that a report can be."""
    if not path.name.lower().endswith(tuple(_RENDERINGS)):
        raise ParameterError(
            f"a report is written as JSON or as a page of Markdown: {path} ends in neither .json "
            "nor .md"
        )
    return path


def rendered(report: RunReport, path: Path) -> bytes:
    """Return the bytes of the report in the form that its file's name says."""
    name = checked_name(path).name.lower()
    text = next(render for ending, render in _RENDERINGS.items() if name.endswith(ending))(report)
    # Names of files and columns may hold half characters; their escapes are JSON's own.
    return text.encode("utf-8", "backslashreplace")
