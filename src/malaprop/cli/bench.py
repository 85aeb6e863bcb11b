"""`malaprop bench`: comparisons of all mechanisms."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from malaprop.cli.help import App
from malaprop.cli.measuring import PIPE

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
        bool, typer.Option("--quick", help="Fewer settings, texts and repeats: about a minute.")
    ] = False,
    json_: Annotated[
        str | None,
        typer.Option(
            "--json",
            metavar="FILE",
            help="Write every figure as a JSON line to this file, or to standard output (-).",
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a page: .html, or .md with the plot beside it."),
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="NUMBER", min=0, help="Repeat the same draws and splits.")
    ] = 0,
    lines: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FILE", help="Measure nothing: read a file that --json wrote."
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Measure again what an earlier run kept.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace existing outputs.")] = False,
) -> None:
    """Measure all mechanisms on the same words, and compare them at equal measured privacy.

    Each mechanism is attacked with and without context at several ε, and serves the same tasks:
    similarity, classification, STS, and attribution of authors. Figures are compared where attacks
    recover the same share of words. What was measured is kept in the cache folder, so a run that
    was stopped resumes. It needs the data sets men, mr, sotu and stsb: see malaprop data.
    """
    from malaprop.pipeline.outputs.staging import Staging
    from malaprop.report.frontier.page import page_files, readable
    from malaprop.report.studies.written import checked_page
    from malaprop.studies import written

    page = None if report is None else checked_page(report)
    with Staging() as stage:
        target = stage.open(Path(json_), force=force) if json_ not in (None, PIPE) else None
        results = _read(lines) if lines else _measured(quick, seed, fresh)
        if target:
            target.write(written(results).encode())
        for path, text in page_files(results, page).items() if page else ():
            stage.open(path, force=force).write(text.encode())
        stage.complete()
    typer.echo(written(results) if json_ == PIPE else readable(results), nl=False)


def _measured(quick: bool, seed: int, fresh: bool) -> "list[Line]":
    from malaprop.cli.progress import bar
    from malaprop.studies import reproduce

    with bar(_STUDY) as shown:
        return reproduce(_STUDY, quick=quick, seed=seed, fresh=fresh, progress=shown.to)


def _read(path: Path) -> "list[Line]":
    from malaprop.core.errors import DataError
    from malaprop.studies import read

    lines = [line for line in read(path.read_text("utf-8")) if line.study == _STUDY]
    if not lines:
        raise DataError(f"{path} has no results of the frontier.")
    return lines
