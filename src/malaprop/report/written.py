"""The report of a run as a file: JSON or Markdown, as its name says."""

import json
from collections.abc import Callable
from pathlib import Path

from malaprop.core.errors import ParameterError
from malaprop.report.markdown import as_markdown
from malaprop.report.run import RunReport


def as_json(report: RunReport) -> str:
    """The report as JSON."""
    return json.dumps(report.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


_RENDERINGS: dict[str, Callable[[RunReport], str]] = {".json": as_json, ".md": as_markdown}


def check_name(path: Path) -> None:
    """Refuse a name whose ending says nothing that a report can be."""
    if path.suffix.lower() not in _RENDERINGS:
        raise ParameterError(
            f"a report is written as JSON or as a page of Markdown: {path} ends in neither .json "
            "nor .md"
        )


def rendered(report: RunReport, path: Path) -> bytes:
    """The bytes of the report as its file's name asks for."""
    check_name(path)
    text = _RENDERINGS[path.suffix.lower()](report)
    # Names of files and columns may hold half characters; their escapes are JSON's own.
    return text.encode("utf-8", "backslashreplace")
