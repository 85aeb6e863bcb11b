"""`malaprop bench`: comparisons of all mechanisms."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from malaprop.cli.help import App
from malaprop.cli.study_lines import (
    Force,
    Fresh,
    FromFile,
    JsonLines,
    Seed,
    read_results,
    write_results,
)

if TYPE_CHECKING:
    from malaprop.studies import Line

app = App(help="Compare all mechanisms.")
_STUDY = "frontier"


@app.callback()
def _group() -> None:
    """Compare all mechanisms."""


@app.command(short_help="Compare all mechanisms at equal measured privacy.")
def frontier(
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Another, smaller experiment, without verdicts: fewer settings, texts and "
            "repeats. About a minute.",
        ),
    ] = False,
    json_: JsonLines = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a page: .html, or .md with the plot beside it."),
    ] = None,
    seed: Seed = 0,
    lines: FromFile = None,
    fresh: Fresh = False,
    force: Force = False,
) -> None:
    """Measure all mechanisms on the same words, and compare them at equal measured privacy.

    Each mechanism is attacked with and without context at several ε, and serves the same tasks:
    similarity, classification, STS, and attribution of authors. Figures are compared where attacks
    recover the same share of words. What was measured is kept in the cache folder, so a run that
    was stopped resumes. It needs the data sets men, mr, sotu and stsb: see malaprop data.
    """
    from malaprop.report.frontier.page import page_files, readable

    def results() -> "list[Line]":
        if lines:
            return read_results(lines, lambda line: line.study == _STUDY, "the frontier")
        return _measured(quick, seed, fresh)

    write_results(results, json_, report, force=force, page_files=page_files, readable=readable)


def _measured(quick: bool, seed: int, fresh: bool) -> "list[Line]":
    from malaprop.cli.progress import bar
    from malaprop.studies import reproduce

    with bar(_STUDY) as shown:
        return reproduce(_STUDY, quick=quick, seed=seed, fresh=fresh, progress=shown.to)
