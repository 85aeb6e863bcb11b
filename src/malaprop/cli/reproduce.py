"""`malaprop reproduce`: the experiments of five papers, run again, with controls; and
`malaprop bench frontier`, which compares all mechanisms.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from malaprop.cli import options as cli
from malaprop.cli.options import App, argument, option
from malaprop.cli.results import PlottedReport, outputs
from malaprop.cli.terminal import bar, say

if TYPE_CHECKING:
    from malaprop.lab.studies.reproduction import Run
    from malaprop.lab.studies.study import Line
    from malaprop.privacy.mechanism import Mechanism
    from malaprop.report.page import Page

JsonLines = Annotated[
    str | None,
    option(
        "--json FILE", "Write every figure as a JSON line to this file, or to standard output (-)."
    ),
]
Seed = Annotated[int, option("NUMBER", "Repeat the same draws and splits.", min=0)]
FromFile = Annotated[
    Path | None,
    option("--from FILE", "Measure nothing: read a file that --json wrote, also as .gz."),
]
CsvFile = Annotated[
    Path | None,
    option("--csv FILE", "Write every figure as a row, with a column for each setting."),
]
LatexFile = Annotated[
    Path | None,
    option("--latex FILE", "Write the tables of the page in LaTeX, which needs booktabs."),
]
PlotsFolder = Annotated[
    Path | None,
    option(
        "--plots FOLDER",
        "Write each plot of the page as SVG and PDF into this new or empty folder, with their "
        "style sheet for matplotlib.",
    ),
]
PageForm = Annotated[
    Literal["short", "full"],
    option(
        "short|full",
        "What --report and --latex have: each table and figure as the paper has it, or every "
        "figure that was measured, with controls.",
    ),
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
    mechanism: Annotated[
        list[str] | None,
        option(
            "--mechanism -m NAME",
            "Place another mechanism beside them, such as FILE.py:CLASS or tem,exponent=half: it "
            "is measured at the ε where attacks recover each share of words. With --from, only "
            "this one is measured. May be repeated.",
        ),
    ] = None,
    csv: CsvFile = None,
    latex: LatexFile = None,
    plots: PlotsFolder = None,
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
    from malaprop.privacy.errors import ParameterError

    own = [cli.make_mechanism(name, "1", None) for name in mechanism or ()]

    def results() -> "list[Line]":
        if lines:
            known = _read(lines, _FRONTIER, "the frontier")
            if quick and not known[0].quick:
                raise ParameterError(
                    f"{lines} has figures of the default size, which those of --quick cannot be "
                    "compared with: leave out --quick, or --from."
                )
        else:
            known = _measured([_FRONTIER], quick, seed, None, fresh)
        return known + _placed(own, known[0].quick, seed, fresh)

    _write(
        results,
        _Outputs(json_, report, csv, latex, plots),
        force,
        frontier_page,
        partial(frontier_page, brief=True),
    )


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
    size: Annotated[
        Literal["quick", "default", "paper"] | None,
        option(
            "quick|default|paper",
            "How much to measure; paper is as much as the paper did. Says first how long it takes.",
        ),
    ] = None,
    lexicon: Annotated[
        str | None,
        option(
            "--lexicon -l NAME",
            "Another lexicon in the place of english, such as imported vectors; pages name it.",
        ),
    ] = None,
    data: Annotated[
        list[str] | None,
        option(
            "SET=FILE",
            "Your own file in the place of a data set, with columns text and label, such as "
            "imdb=reviews.csv; may be repeated.",
        ),
    ] = None,
    json_: JsonLines = None,
    report: PlottedReport = None,
    item: Annotated[
        list[str] | None, option("NAME", "Only this table or figure, such as fig2; repeatable.")
    ] = None,
    seed: Seed = 0,
    lines: FromFile = None,
    page: PageForm = "short",
    csv: CsvFile = None,
    latex: LatexFile = None,
    plots: PlotsFolder = None,
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
    from malaprop.lab.studies.scale import estimate_of, run_of
    from malaprop.lab.studies.study_page import study_page
    from malaprop.privacy.errors import ParameterError

    if quick and size not in (None, "quick"):
        raise ParameterError("--quick is --size quick: leave one of them out")
    chosen_size = size or ("quick" if quick else "default")
    pairs = [each.partition("=") for each in data or ()]
    if not all(equals and file for _, equals, file in pairs):
        raise ParameterError("--data takes SET=FILE, such as imdb=reviews.csv")
    if pairs and study == _ALL:
        raise ParameterError("--data goes with one study, not with all")
    files = {name: Path(file) for name, _, file in pairs}

    def results() -> "list[Line]":
        if lines:
            return _read(lines, study, study)
        chosen = names() if study == _ALL else (study_named(study).name,)
        for name in chosen:
            study_named(name).chosen(item)  # before hours of measuring another one
        own = "" if study == _ALL else study
        run = run_of(chosen_size, seed=seed, lexicon=lexicon, data=files, study=own)
        for name in chosen:
            say(estimate_of(name, chosen_size), err=True)
        return _measured(chosen, quick, seed, item, fresh, run)

    _write(
        results,
        _Outputs(json_, report, csv, latex, plots),
        force,
        partial(study_page, form=page),
        partial(study_page, form="brief"),
    )


def _placed(own: "Sequence[Mechanism]", quick: bool, seed: int, fresh: bool) -> "list[Line]":
    from malaprop.lab.studies.frontier.own import placed
    from malaprop.lab.studies.reproduction import Run

    lines: list[Line] = []
    for each in own:
        with bar(each.title({})) as shown:
            lines += placed(each, Run(quick=quick, seed=seed), fresh=fresh, progress=shown.to)
    return lines


def _measured(
    studies: Sequence[str],
    quick: bool,
    seed: int,
    items: list[str] | None,
    fresh: bool,
    run: "Run | None" = None,
) -> "list[Line]":
    from malaprop.lab.studies import reproduce

    results = []
    for name in studies:
        with bar(name) as shown:
            results += reproduce(
                name, quick=quick, seed=seed, items=items, fresh=fresh, progress=shown.to, run=run
            )
    return results


def _read(path: Path, study: str, what: str) -> "list[Line]":
    """Return the lines of a study in a file, judged again; `what` names it in the error."""
    from malaprop.lab.studies import judged_again
    from malaprop.lab.studies.study import read_results
    from malaprop.privacy.errors import DataError

    lines = [line for line in read_results(path) if study in (_ALL, line.study)]
    if not lines:
        raise DataError(f"{path} has no results of {what}.")
    return judged_again(lines)


class _Outputs(NamedTuple):
    json_: str | None
    report: Path | None
    csv: Path | None
    latex: Path | None
    plots: Path | None


def _write(
    results: "Callable[[], Sequence[Line]]",
    files: _Outputs,
    force: bool,
    page: "Callable[[Sequence[Line]], Page]",
    brief: "Callable[[Sequence[Line]], Page]",
) -> None:
    from malaprop.lab.studies.study import tidy, written
    from malaprop.report.page import plot_files, render
    from malaprop.report.plots import require_plots, style

    json_, report, csv, latex, plots = files
    _check_folder(plots)
    beside = [path for path in (csv, latex) if path]
    with outputs(json_, report, *beside, force=force, plots=True) as write:
        if report is not None or plots is not None:
            require_plots()  # before hours of measuring, not after
        lines = results()
        tables = {csv: tidy(lines)} if csv else {}
        if latex:
            tables[latex] = render(page(lines), "latex")
        write(written(lines), page(lines), render(brief(lines)), tables)
        if plots is not None:
            plots.mkdir(parents=True, exist_ok=True)
            for name, content in plot_files(page(lines)).items():
                (plots / name).write_bytes(content)
            (plots / "malaprop.mplstyle").write_text(style(), "utf-8")


def _check_folder(path: Path | None) -> None:
    from malaprop.privacy.errors import ParameterError

    if path is not None and path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise ParameterError(f"--plots needs a new or empty folder: {path} is not one")
