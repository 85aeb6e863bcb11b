"""Studies on the terminal: the paper's figures beside ours, and what became of its claims."""

from collections.abc import Iterator, Sequence

from malaprop.core.errors import printable
from malaprop.report.studies.page import (
    ERRORS_OVER,
    OUTCOMES,
    QUICK,
    Section,
    StudyPage,
    cell,
)
from malaprop.studies import Line

_MOST = 12  # figures of an item that are shown; the file of lines has all


def readable(studies: Sequence[StudyPage]) -> str:
    """Return studies as text: claims with their verdicts, and figures beside the paper's."""
    return "".join(f"{printable(line)}\n" for page in studies for line in _study(page))


def _study(page: StudyPage) -> Iterator[str]:
    yield page.paper.title
    if page.sections[0].lines[0].quick:
        yield QUICK
    for section in page.sections:
        yield ""
        yield section.title
        for claim, *counts in _claims(section):
            verdicts = ", ".join(
                f"{name} on {count}"
                for name, count in zip(OUTCOMES, counts, strict=True)
                if count != "0"
            )
            yield f"  {claim}"
            yield f"    {verdicts}"
        yield from _figures(section)
        for remedy in section.missing:
            yield f"  data are missing: {remedy}"
    yield ""


def _claims(section: Section) -> Iterator[tuple[str, ...]]:
    for claim, *counts in section.verdicts.rows if section.verdicts else ():
        yield (f"claim: {claim}", *counts)
    yield from section.own_verdicts.rows if section.own_verdicts else ()


def _figures(section: Section) -> Iterator[str]:
    lines = section.lines
    measured = [line for line in lines if line.ours is not None]
    printed = [line for line in lines if line.paper is not None] or measured
    for line in printed[:_MOST]:
        yield f"  {_where(line)}  {line.measure}: {cell(line)}{_over(line)}"
    if more := len(lines) - len(printed[:_MOST]):
        yield f"  {more} more figures: malaprop reproduce --json or --report writes all of them"


def _where(line: Line) -> str:
    shown = {name: value for name, value in line.setting.items() if name not in _OBVIOUS}
    return " ".join(f"{name}={value}" for name, value in shown.items())


_OBVIOUS = ("lexicon", "spread")  # the latter stands beside the error


def _over(line: Line) -> str:
    spread = line.setting.get("spread")
    return f"; {ERRORS_OVER} {spread}" if line.error is not None and spread else ""
