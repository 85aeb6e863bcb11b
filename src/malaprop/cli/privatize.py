"""`malaprop privatize`: files of sensitive text in, private copies out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from malaprop.cli.jobs import check_piped, check_report, folder_for, open_report, plan_jobs
from malaprop.cli.names import check_names
from malaprop.cli.options import (
    DEFAULT,
    Engine,
    Epsilon,
    LexiconName,
    Master,
    MechanismName,
    OnErrorChoice,
    Parameters,
    Resume,
    Workers,
    make_mechanism,
)
from malaprop.cli.signals import turn_deaf
from malaprop.cli.spark import plan_spark, run_spark
from malaprop.cli.telling import Clock, check_ending, tell, write_report
from malaprop.core.errors import ParameterError

if TYPE_CHECKING:
    from malaprop.pipeline.formats import Format, Layout


def privatize(
    context: typer.Context,
    inputs: Annotated[
        list[str], typer.Argument(metavar="INPUT", help="Files, or - for standard input.")
    ],
    epsilon: Epsilon,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUTPUT",
            help="The output file, or - for standard output; for several inputs, a folder.",
        ),
    ] = None,
    mechanism: MechanismName = DEFAULT,
    param: Parameters = None,
    lexicon: LexiconName = "english",
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            "-c",
            metavar="NAME",
            help="A column that holds text; may be repeated. In JSON lines also msg.text, or "
            "turns[].text for each item of a list.",
        ),
    ] = None,
    format_: Annotated[
        Literal["txt", "csv", "tsv", "jsonl", "parquet"] | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="txt, csv, tsv, jsonl or parquet; by default what the input's name ends in, and "
            "txt for standard input.",
        ),
    ] = None,
    document: Annotated[
        Literal["line", "file"],
        typer.Option(metavar="line|file", help="What a document is in .txt files."),
    ] = "line",
    delimiter: Annotated[
        str | None,
        typer.Option(
            metavar="SIGN", help="What separates the fields of a .csv, by default a comma."
        ),
    ] = None,
    encoding: Annotated[
        str, typer.Option(metavar="NAME", help="The encoding of text files, in and out.")
    ] = "utf-8",
    unknown: Annotated[
        Literal["map", "mask", "drop", "keep"],
        typer.Option(
            metavar="map|mask|drop|keep",
            help="Words that are not in the lexicon: map them to words that are, and protect "
            "those; mask or drop them; or keep them, which forfeits the guarantee.",
        ),
    ] = "map",
    punctuation: Annotated[
        Literal["keep", "drop"],
        typer.Option(metavar="keep|drop", help="Keep punctuation and spacing, or drop them."),
    ] = "keep",
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=check_ending,
            help="Write the report to this file, with keyed digests of inputs and outputs: as JSON "
            "(.json), or as a page of Markdown (.md).",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER", min=0, help="Repeat a demonstration. The output is NOT private."
        ),
    ] = None,
    on_error: OnErrorChoice = "fail",
    workers: Workers = None,
    resume: Resume = False,
    engine: Engine = "local",
    master: Master = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing outputs.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No report on stderr; warnings only.")
    ] = False,
) -> None:
    """Privatize text files (.txt, .csv, .tsv, .jsonl, also in .gz or .zst; .parquet) or a pipe.

    Every word is replaced by one that the mechanism draws. All else stays: other columns exactly,
    punctuation and spacing unless told otherwise; capitals are rebuilt. The output appears under
    its name only when it is whole. A run that is stopped on its way goes on with --resume. A
    report of what was protected, and what not, goes to stderr.
    """
    from malaprop.cli.running import Run
    from malaprop.pipeline.drawing import Recipe
    from malaprop.pipeline.formats import Layout
    from malaprop.pipeline.outputs.staging import Staging

    clock = Clock.started(context)

    def layout(format_: "Format") -> "Layout":
        return Layout(
            format=format_,
            columns=tuple(column or ()),
            encoding=encoding,
            document=document,
            delimiter=delimiter,
            on_error=on_error,
        )

    recipe = Recipe(
        lexicon=lexicon,
        mechanism=make_mechanism(mechanism, epsilon, param),
        unknown=unknown,
        punctuation=punctuation,
        seed=seed,
    )
    if engine == "spark":
        unfit = {
            "--seed": seed is not None,
            "--workers": workers is not None,
            "--resume": resume,
            "--document": document != "line",
            "--encoding": encoding.lower() not in ("utf-8", "utf8"),
        }
        job = plan_spark(inputs, output, format_, layout, unfit)
        check_report(report, [job])
        summary = run_spark(job, recipe, master, report, clock, force=force, quiet=quiet)
        tell(summary, quiet=quiet)
        return
    if master is not None:
        raise ParameterError("--master is for --engine spark: add that, or leave it out")
    check_piped(inputs, format_, column)
    with folder_for(inputs, output):
        jobs = plan_jobs(inputs, output, format_, layout)
        check_report(report, jobs)
        check_names(jobs, report)
        with Run(
            jobs,
            recipe,
            clock,
            workers=workers,
            resume=resume,
            force=force,
            digests=report is not None,
        ) as run:
            with Staging() as stage:
                run.prepare(stage)
                report_file = open_report(stage, report if run.left else None, force=force)
                summary = run.complete()
                write_report(report_file, summary, report)
                run.seal(stage)
                turn_deaf()  # all is on the disk, and gets its name: too late to stop
            run.conclude()
    if not quiet:
        _tell_whole(run.whole)
    if run.left:
        tell(summary, quiet=quiet)
    elif report:
        typer.echo(f"warning: nothing was done, so no report was written to {report}.", err=True)


def _tell_whole(paths: list[Path]) -> None:
    for path in paths:
        typer.echo(f"{path} is whole already: there is nothing to resume.", err=True)
