"""`malaprop reproduce`: the experiments of five papers, run again, with controls."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from malaprop.cli.options import App
from malaprop.cli.results import _STDOUT, check_different
from malaprop.cli.terminal import say_text

if TYPE_CHECKING:
    from malaprop.lab.studies.study import Line


# What commands that measure in lines share: their options, and how lines and pages are written.


JsonLines = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write every figure as a JSON line to this file, or to standard output (-).",
    ),
]
Seed = Annotated[
    int, typer.Option(metavar="NUMBER", min=0, help="Repeat the same draws and splits.")
]
FromFile = Annotated[
    Path | None,
    typer.Option("--from", metavar="FILE", help="Measure nothing: read a file that --json wrote."),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Measure again what an earlier run kept.")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing outputs.")]


def write_results(
    results: "Callable[[], Sequence[Line]]",
    json_: str | None,
    report: Path | None,
    *,
    force: bool,
    page_files: "Callable[[Sequence[Line], Path], Mapping[Path, str]]",
    readable: "Callable[[Sequence[Line]], str]",
) -> None:
    """Get results, and write lines, page and what the terminal shows.

    Outputs are checked and opened before anything is measured. None gets its name unless all are
    written.
    """
    from malaprop.files.staging import Staging, check_output
    from malaprop.lab.studies.study import written
    from malaprop.lab.studies.study_page import checked_page
    from malaprop.report.run_report import as_bytes

    page = None if report is None else checked_page(report)
    check_different(json_, () if page is None else (page,))
    if page is not None:
        check_output(page, force=force)
    with Staging() as stage:
        target = stage.open(Path(json_), force=force) if json_ not in (None, _STDOUT) else None
        lines = results()
        if target:
            target.write(written(lines).encode())
        for path, text in page_files(lines, page).items() if page else ():
            stage.open(path, force=force).write(as_bytes(text))
        stage.complete()
    say_text(written(lines) if json_ == _STDOUT else readable(lines))


def read_results(path: Path, wanted: "Callable[[Line], bool]", what: str) -> "list[Line]":
    """Return the lines of a file that are wanted, judged again; `what` names them in the error."""
    from malaprop.lab.studies import judged_again
    from malaprop.lab.studies.study import read
    from malaprop.privacy.errors import DataError

    lines = [line for line in read(path.read_text("utf-8")) if wanted(line)]
    if not lines:
        raise DataError(f"{path} has no results of {what}.")
    return judged_again(lines)


# `malaprop bench`: comparisons of all mechanisms.


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
    from malaprop.lab.studies.frontier.frontier_page import page_files, readable

    def results() -> "list[Line]":
        if lines:
            return read_results(lines, lambda line: line.study == _STUDY, "the frontier")
        return _measured(quick, seed, fresh)

    write_results(results, json_, report, force=force, page_files=page_files, readable=readable)


def _measured(quick: bool, seed: int, fresh: bool) -> "list[Line]":
    from malaprop.cli.terminal import bar
    from malaprop.lab.studies import reproduce as studies_reproduce

    with bar(_STUDY) as shown:
        return studies_reproduce(_STUDY, quick=quick, seed=seed, fresh=fresh, progress=shown.to)


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
    from malaprop.lab.studies.study_page import page_files, pages, readable

    def results() -> "list[Line]":
        if lines:
            return read_results(lines, lambda line: study in (_ALL, line.study), study)
        return _reproduce_measured(study, quick, seed, item, fresh)

    write_results(
        results,
        json_,
        report,
        force=force,
        page_files=page_files,
        readable=lambda measured: readable(pages(measured)),
    )


def _reproduce_measured(
    study: str, quick: bool, seed: int, items: list[str] | None, fresh: bool
) -> "list[Line]":
    from malaprop.cli.terminal import bar
    from malaprop.lab.studies import names, study_named
    from malaprop.lab.studies import reproduce as studies_reproduce

    chosen = names() if study == _ALL else (study_named(study).name,)
    for name in chosen:
        study_named(name).chosen(items)  # before hours of measuring another one
    results = []
    for name in chosen:
        with bar(name) as shown:
            results += studies_reproduce(
                name, quick=quick, seed=seed, items=items, fresh=fresh, progress=shown.to
            )
    return results
