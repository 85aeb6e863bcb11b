"""`malaprop reproduce`: the experiments of five papers, run again, with controls."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
        bool,
        typer.Option(
            "--quick",
            help="Another, smaller experiment, without verdicts: fewer settings, words and "
            "repeats. A minute a study.",
        ),
    ] = False,
    json_: JsonLines = None,
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
    seed: Seed = 0,
    lines: FromFile = None,
    fresh: Fresh = False,
    force: Force = False,
) -> None:
    """Run a paper's experiments, and show its figures beside ours.

    For each table and figure: the paper's value, ours with its standard error, and whether the
    direction that the paper claims is confirmed. What was measured is kept in the cache folder, so
    a run that was stopped resumes. Data that are missing are named, with the command that gets
    them.
    """
    from malaprop.report.studies.page import pages
    from malaprop.report.studies.terminal import readable
    from malaprop.report.studies.written import page_files

    def results() -> "list[Line]":
        if lines:
            return read_results(lines, lambda line: study in (_ALL, line.study), study)
        return _measured(study, quick, seed, item, fresh)

    write_results(
        results,
        json_,
        report,
        force=force,
        page_files=page_files,
        readable=lambda measured: readable(pages(measured)),
    )


def _measured(
    study: str, quick: bool, seed: int, items: list[str] | None, fresh: bool
) -> "list[Line]":
    from malaprop.cli.progress import bar
    from malaprop.studies import names, reproduce, study_named

    chosen = names() if study == _ALL else (study_named(study).name,)
    for name in chosen:
        study_named(name).chosen(items)  # before hours of measuring another one
    results = []
    for name in chosen:
        with bar(name) as shown:
            results += reproduce(
                name, quick=quick, seed=seed, items=items, fresh=fresh, progress=shown.to
            )
    return results
