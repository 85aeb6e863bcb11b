"""`malaprop reproduce`: the experiments of five papers, run again, with controls."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from malaprop.cli.measuring import PIPE

if TYPE_CHECKING:
    from malaprop.studies import Line

_ALL = "all"


def reproduce(
    study: Annotated[
        str,
        typer.Argument(
            metavar="nadp|mahalanobis|tem|privemb|hyperbolic|all",
            help="The paper whose experiments to run, or all.",
        ),
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer settings, words and repeats: a minute a study.")
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
        typer.Option(
            metavar="FILE",
            help="Write a page with tables and plots: .html, or .md with plots beside it.",
        ),
    ] = None,
    item: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this table or figure, such as fig2; repeatable."),
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
    """Run a paper's experiments, and show its figures beside ours.

    For each table and figure: the paper's value, ours with its standard error, and whether the
    direction that the paper claims is confirmed. What was measured is kept in the cache folder, so
    a run that was stopped resumes. Data that are missing are named, with the command that gets
    them.
    """
    from malaprop.pipeline.outputs.staging import Staging
    from malaprop.report.studies.page import pages
    from malaprop.report.studies.terminal import readable
    from malaprop.report.studies.written import checked_page, page_files
    from malaprop.studies import written

    page = None if report is None else checked_page(report)
    with Staging() as stage:
        target = stage.open(Path(json_), force=force) if json_ not in (None, PIPE) else None
        results = _read(lines, study) if lines else _measured(study, quick, seed, item, fresh)
        if target:
            target.write(written(results).encode())
        for path, text in page_files(results, page).items() if page else ():
            stage.open(path, force=force).write(text.encode())
        stage.complete()
    typer.echo(written(results) if json_ == PIPE else readable(pages(results)), nl=False)


def _measured(
    study: str, quick: bool, seed: int, items: list[str] | None, fresh: bool
) -> "list[Line]":
    from malaprop.cli.progress import bar
    from malaprop.studies import names, reproduce, study_named

    chosen = names() if study == _ALL else (study_named(study).name,)
    results = []
    for name in chosen:
        with bar(name) as shown:
            results += reproduce(
                name, quick=quick, seed=seed, items=items, fresh=fresh, progress=shown.to
            )
    return results


def _read(path: Path, study: str) -> "list[Line]":
    from malaprop.core.errors import DataError
    from malaprop.studies import read

    lines = [line for line in read(path.read_text("utf-8")) if study in (_ALL, line.study)]
    if not lines:
        raise DataError(f"{path} has no results of {study}.")
    return lines
