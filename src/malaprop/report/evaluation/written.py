"""An evaluation as files: Markdown with its picture, or one web page."""

from pathlib import Path

from malaprop.core.errors import MissingExtraError, ParameterError
from malaprop.measure.evaluating.evaluation import Evaluation
from malaprop.report.evaluation.frontier import frontier, has_frontier
from malaprop.report.evaluation.html import as_html
from malaprop.report.evaluation.markdown import as_markdown
from malaprop.report.written import as_bytes

_ENDINGS = (".md", ".html")


def files_of(report: Path) -> tuple[Path, ...]:
    """Return the files that a report consists of; refuse a name that says nothing of its form."""
    name = report.name.lower()
    if not name.endswith(_ENDINGS):
        raise ParameterError(
            f"the report of an evaluation is Markdown or a web page: {report} ends in none of "
            f"{', '.join(_ENDINGS)}"
        )
    return (report,) if name.endswith(".html") else (report, report.with_suffix(".svg"))


def rendered(evaluation: Evaluation, report: Path) -> dict[Path, bytes]:
    """Return the bytes of each file of a report; Markdown goes without a picture if need be."""
    files = files_of(report)
    if len(files) == 1:
        return {report: as_bytes(as_html(evaluation))}
    picture = None
    if has_frontier(evaluation):
        try:
            picture = frontier(evaluation)
        except MissingExtraError:
            picture = None
    text = as_markdown(evaluation, None if picture is None else files[1].name)
    pages = {report: as_bytes(text)}
    return pages if picture is None else pages | {files[1]: picture.encode()}
