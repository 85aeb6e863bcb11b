"""A page about studies as files: HTML that holds everything, or Markdown with plots beside it."""

from collections.abc import Iterable
from pathlib import Path

from malaprop.core.errors import ParameterError
from malaprop.report.plots import require_plots
from malaprop.report.studies.html import as_html
from malaprop.report.studies.markdown import as_markdown
from malaprop.report.studies.page import pages
from malaprop.studies import Line

_ENDINGS = (".html", ".md")


def checked_page(path: Path) -> Path:
    """Return the path of a page; refuse one whose ending says nothing that a page can be.

    It has plots, so the extra `plots` is needed, too.
    """
    if not path.name.lower().endswith(_ENDINGS):
        raise ParameterError(
            f"The page of a study is a web page or Markdown: {path} ends in none of "
            f"{', '.join(_ENDINGS)}."
        )
    require_plots()  # before hours of measuring, not after
    return path


def page_files(lines: Iterable[Line], path: Path) -> dict[Path, str]:
    """Return the files of a page by their paths: the page itself, and the plots of Markdown."""
    studies = pages(lines)
    if checked_page(path).name.lower().endswith(".html"):
        return {path: as_html(studies)}
    texts: list[str] = []
    files: dict[Path, str] = {}
    for study in studies:
        stem = path.stem if len(studies) == 1 else f"{path.stem}-{study.study}"
        text, pictures = as_markdown(study, stem)
        texts.append(text)
        files |= {path.with_name(name): svg for name, svg in pictures.items()}
    return {path: "\n".join(texts), **files}
