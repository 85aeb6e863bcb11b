"""The report of a run as a file: JSON, Markdown or HTML, as its name says."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from malaprop.core.errors import ParameterError, printable
from malaprop.pipeline.report import RunReport

if TYPE_CHECKING:
    from malaprop.measure.profile import Profile
    from malaprop.report.page import Page

_ENDINGS = (".json", ".md", ".html")


def as_json(report: RunReport, profile: "Profile | None" = None) -> str:
    """Return the report as JSON, with the figures of the mechanism if they were computed."""
    value = report.to_dict() | ({"profile": profile.to_dict()} if profile else {})
    return as_text(value)


def as_text(value: Mapping[str, Any], indent: int = 2) -> str:
    """Return a value as JSON, in which all that cannot be seen is escaped."""
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    return printable(text, lines=True) + "\n"


def as_bytes(text: str) -> bytes:
    """Return a page or JSON for a file; names in it may hold what cannot be seen, or half of it."""
    return printable(text, lines=True).encode()


def checked_name(path: Path) -> Path:
    """Return the path of a report; refuse one whose ending says nothing that a report can be."""
    if not path.name.lower().endswith(_ENDINGS):
        raise ParameterError(
            f"a report is written as JSON, as Markdown or as a web page: {path} ends in none of "
            f"{', '.join(_ENDINGS)}"
        )
    return path


def is_page(path: Path | None) -> bool:
    """Whether a report is a web page, which shows the figures of the mechanism."""
    return path is not None and path.name.lower().endswith(".html")


def rendered(report: RunReport, path: Path, profile: "Profile | None" = None) -> bytes:
    """Return the bytes of the report in the form that its file's name says."""
    from malaprop.report.html import as_html
    from malaprop.report.markdown import as_markdown

    name = checked_name(path).name.lower()
    if name.endswith(".json"):
        text = as_json(report, profile)
    else:
        text = as_html(report, profile) if is_page(path) else as_markdown(report)
    return as_bytes(text)


def rendered_page(page: "Page", value: Mapping[str, Any], path: Path) -> bytes:
    """Return the bytes of a page in the form that its file's name says; `value` is the JSON."""
    from malaprop.report.page import page_html, page_markdown

    if checked_name(path).name.lower().endswith(".json"):
        text = as_text(value)
    else:
        text = page_html(page) if is_page(path) else page_markdown(page)
    return as_bytes(text)
