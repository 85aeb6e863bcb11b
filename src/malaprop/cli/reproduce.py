"""`malaprop reproduce`: the experiments of five papers, run again, with controls; and
`malaprop bench frontier`, which compares all mechanisms.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from malaprop.cli.options import App, argument, option
from malaprop.cli.results import PlottedReport, outputs
from malaprop.cli.terminal import bar

if TYPE_CHECKING:
    from malaprop.lab.studies.study import Line
    from malaprop.report.page import Page

JsonLines = Annotated[
    str | None,
    option(
        "--json FILE", "Write every figure as a JSON line to this file, or to standard output (-)."
    ),
]
Seed = Annotated[int, option("NUMBER", "Repeat the same draws and splits.", min=0)]
FromFile = Annotated[
    Path | None, option("--from FILE", "Measure nothing: read a file that --json wrote.")
]
Fresh = Annotated[bool, option("--fresh", "Measure again what an earlier run kept.")]
Force = Annotated[bool, option("--force", "Replace existing outputs.")]
_ALL, _FRONTIER = "all", "frontier"

# With a callback, it stays a group, though it has one command.
app = App(help="Compare all mechanisms.", callback=lambda: None)


@app.command(short_help="Compare all mechanisms at equal measured privacy.")
def frontier(
    quick: Annotated[
        bool,
        option(
            "--quick",
            "Another, smaller experiment, without verdicts: fewer settings, texts and repeats. "
            "About a minute.",
        ),
    ] = False,
    json_: JsonLines = None,
    report: PlottedReport = None,
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
    from malaprop.lab.studies.frontier.frontier_page import frontier_page

    def results() -> "list[Line]":
        if lines:
            return _read(lines, _FRONTIER, "the frontier")
        return _measured([_FRONTIER], quick, seed, None, fresh)

    _write(results, json_, report, force, frontier_page)


def reproduce(
    study: Annotated[
        str,
        argument(
            "nadp|mahalanobis|tem|privemb|hyperbolic|all",
            "The paper whose experiments to run, or all.",
        ),
    ],
    quick: Annotated[
        bool,
        option(
            "--quick",
            "Another, smaller experiment, without verdicts: fewer settings, words and repeats. A "
            "minute a study.",
        ),
    ] = False,
    json_: JsonLines = None,
    report: PlottedReport = None,
    item: Annotated[
        list[str] | None, option("NAME", "Only this table or figure, such as fig2; repeatable.")
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
    from malaprop.lab.studies import names, study_named
    from malaprop.lab.studies.study_page import study_page

    def results() -> "list[Line]":
        if lines:
            return _read(lines, study, study)
        chosen = names() if study == _ALL else (study_named(study).name,)
        for name in chosen:
            study_named(name).chosen(item)  # before hours of measuring another one
        return _measured(chosen, quick, seed, item, fresh)

    _write(results, json_, report, force, study_page)


def _measured(
    studies: Sequence[str], quick: bool, seed: int, items: list[str] | None, fresh: bool
) -> "list[Line]":
    from malaprop.lab.studies import reproduce

    results = []
    for name in studies:
        with bar(name) as shown:
            results += reproduce(
                name, quick=quick, seed=seed, items=items, fresh=fresh, progress=shown.to
            )
    return results


def _read(path: Path, study: str, what: str) -> "list[Line]":
    """Return the lines of a study in a file, judged again; `what` names it in the error."""
    from malaprop.lab.studies import judged_again
    from malaprop.lab.studies.study import read
    from malaprop.privacy.errors import DataError

    lines = [line for line in read(path.read_text("utf-8")) if study in (_ALL, line.study)]
    if not lines:
        raise DataError(f"{path} has no results of {what}.")
    return judged_again(lines)


def _write(
    results: "Callable[[], Sequence[Line]]",
    json_: str | None,
    report: Path | None,
    force: bool,
    page: "Callable[..., Page]",
) -> None:
    from malaprop.lab.studies.study import written
    from malaprop.report.page import render
    from malaprop.report.plots import require_plots

    with outputs(json_, report, force=force, plots=True) as write:
        if report is not None:
            require_plots()  # before hours of measuring, not after
        lines = results()
        write(written(lines), page(lines), render(page(lines, brief=True)))
