"""`malaprop privatize`: files of sensitive text in, private copies out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from malaprop.cli import options as cli
from malaprop.cli.options import argument, option
from malaprop.cli.spark import privatize_on_spark
from malaprop.cli.terminal import Display, check_ending, command_line, say, show_report, warn
from malaprop.privacy.errors import ParameterError

_MOST_SAID = 10  # files that are complete already


def privatize(
    context: typer.Context,
    inputs: Annotated[list[str], argument("INPUT", "Files, a folder, or - for standard input.")],
    epsilon: cli.Epsilon,
    output: Annotated[
        str | None,
        option(
            "--output -o OUTPUT",
            "The output file, or - for standard output; for several inputs or a folder, a folder.",
        ),
    ] = None,
    mechanism: cli.MechanismName = cli.DEFAULT,
    param: cli.Parameters = None,
    lexicon: cli.LexiconName = "english",
    column: Annotated[
        list[str] | None,
        option(
            "--column -c NAME",
            "A column that holds text; may be repeated. In JSON also msg.text, or "
            "turns[].text for each item of a list.",
        ),
    ] = None,
    format_: cli.FormatName = None,
    glob: Annotated[
        str | None,
        option(
            "PATTERN",
            "Which files of a folder are taken, such as '*.eml' or 'sent/*.eml'; by default, all "
            "whose format their names tell. Links are not followed.",
        ),
    ] = None,
    document: Annotated[
        Literal["line", "file"], option("line|file", "What a document is in .txt files.")
    ] = "line",
    delimiter: Annotated[
        str | None, option("SIGN", "What separates the fields of a .csv, by default a comma.")
    ] = None,
    encoding: Annotated[
        str | None,
        option(
            "NAME",
            "The encoding of text files, in and out; by default UTF-8, or what a detector finds, "
            "which the report names.",
        ),
    ] = None,
    unknown: Annotated[
        Literal["map", "mask", "drop", "keep"],
        option(
            "map|mask|drop|keep",
            "Words that are not in the lexicon: map them to words that are, and protect those; "
            "mask or drop them; or keep them, which forfeits the guarantee.",
        ),
    ] = "map",
    punctuation: Annotated[
        Literal["keep", "drop"], option("keep|drop", "Keep punctuation and spacing, or drop them.")
    ] = "keep",
    kinds: cli.KindsChoice = None,
    kind_epsilon: cli.KindEpsilon = None,
    step: cli.StepSizes = None,
    dates: cli.DatesChoice = "mdy",
    shift_dates: Annotated[
        bool,
        option(
            "--shift-dates",
            "Move all dates of a text by one secret number of days: intervals show. See "
            "docs/howto/people.md.",
        ),
    ] = False,
    decimals: cli.DecimalsChoice = "point",
    repeat: Annotated[
        Literal["fresh", "document"],
        option(
            "fresh|document",
            "Words that occur several times in a text: a fresh draw for each place, or one draw "
            "for all of them. See docs/howto/repeated-words.md.",
        ),
    ] = "fresh",
    redraw: Annotated[
        str | None,
        option(
            "names,places|people",
            "Replace names or places, or both, by others from public lists, without a look at "
            "them; equal ones by equal ones in each text. See docs/howto/people.md.",
        ),
    ] = None,
    detector: cli.DetectorName = None,
    entity_label: cli.EntityLabels = None,
    keep: cli.KeptWords = None,
    keep_file: cli.KeepFile = None,
    markup: cli.MarkupChoice = None,
    readable: cli.Readable = None,
    fluent: cli.Fluent = False,
    model: cli.Model = None,
    report: Annotated[
        Path | None,
        option(
            "FILE",
            "Write the report to this file, with keyed digests of inputs and outputs: as JSON "
            "(.json), as a page of Markdown (.md), or as a web page (.html) that also shows what "
            "an observer learns.",
            callback=check_ending(),
        ),
    ] = None,
    seed: cli.Seed = None,
    on_error: cli.OnErrorChoice = "fail",
    ledger: Annotated[
        str | None,
        option(
            "--ledger URL",
            "Debit each record in this ledger before it is drawn: sqlite:///FILE or "
            "postgresql://USER@HOST/NAME. See docs/howto/ledger.md.",
        ),
    ] = None,
    subject_column: Annotated[
        str | None,
        option("--subject-column NAME", "With --ledger: the column of whom each record is about."),
    ] = None,
    subject: Annotated[
        str | None, option("--subject NAME", "With --ledger: all records are about this subject.")
    ] = None,
    workers: cli.Workers = None,
    resume: cli.Resume = False,
    engine: cli.Engine = "local",
    master: cli.Master = None,
    force: cli.Force = False,
    verbose: cli.Verbose = False,
    quiet: cli.Quiet = False,
) -> None:
    """Privatize files of text, tables, JSON, HTML, Markdown or mails, or a pipe.

    The ending of a name tells the format: .txt, .log, .csv, .tsv, .json,  .jsonl, .html, .md,
    .eml and .mbox, all of them also in .gz or .zst; .parquet. Every word is replaced by one
    that the mechanism draws. Numbers, dates and times become others of their kind, and
    identifiers and addresses are made up (see --kinds). Other columns stay as they are, and so
    do punctuation and spacing, unless you drop them. Capitals are rebuilt. With --readable,
    drawn words become those that English expects: fluent, but not always right. The output gets
    its name only when it is complete. Resume an interrupted run with --resume. Three lines on
    stderr say what is promised and what stays visible; --report writes the whole report, and -v
    shows it.
    """
    from malaprop.files.formats import Layout
    from malaprop.files.privatize import privatize_files
    from malaprop.privatizer import Privatizer
    from malaprop.text.policy import Policy, TextOptions

    options = TextOptions(
        unknown=unknown,
        punctuation=punctuation,
        kinds=kinds,
        kind_epsilon=kind_epsilon,
        steps=cli.step_sizes(step),
        dates=dates,
        shift_dates=shift_dates,
        decimals=decimals,
        repeat=repeat,
        redraw=() if redraw is None else redraw.replace(" ", "").split(","),
        detector=cli.make_detector(detector),
        entity_labels=cli.entity_labels(entity_label, detector),
        keep=cli.kept_words(keep, keep_file),
        markup=markup,
        **cli.how_readable(readable, fluent=fluent, model=model),
    )
    chosen, columns = cli.make_mechanism(mechanism, epsilon, param), tuple(column or ())
    if engine == "spark":
        policy = Policy(**options)
        unfit = {
            f"--mechanism {mechanism}": bool(chosen.source),
            "--seed": seed is not None,
            "--workers": workers is not None,
            "--resume": resume,
            "--glob": glob is not None,
            "--document": document != "line",
            "--encoding": (encoding or "utf-8").lower() not in ("utf-8", "utf8"),
        }
        summary = privatize_on_spark(
            inputs,
            output,
            lambda: Privatizer(lexicon, chosen, **policy.options()),
            lambda name: Layout(
                format=name,
                columns=columns,
                delimiter=delimiter,
                on_error=on_error,
                label=subject_column,
            ),
            unfit,
            format_=format_,
            report=report,
            master=master,
            command=command_line(context),
            force=force,
            quiet=quiet,
            ledger=ledger,
            subject=subject,
        )
        show_report(summary, report, verbose=verbose, quiet=quiet)
        return
    if master is not None:
        raise ParameterError("--master is for --engine spark: add that, or leave it out")
    if output is None and inputs != [cli.PIPE]:
        raise ParameterError("an output is needed: name it with  -o OUTPUT")
    with Display() as display:
        summary = privatize_files(
            inputs,
            cli.PIPE if output is None else output,
            mechanism=chosen,
            lexicon=lexicon,
            columns=columns,
            format=format_,
            glob=glob,
            document=document,
            delimiter=delimiter,
            encoding=encoding,
            on_error=on_error,
            seed=seed,
            workers=workers,
            resume=resume,
            force=force,
            report=report,
            progress=display,
            command=command_line(context),
            ledger=ledger,
            subject_column=subject_column,
            subject=subject,
            **options,
        )
    if not quiet:
        _say_complete(summary.already)
    if summary.files:
        show_report(summary, report, verbose=verbose, quiet=quiet)
    elif report:
        warn(f"nothing was done, so no report was written to {report}")


def _say_complete(paths: Sequence[str]) -> None:
    for path in paths[:_MOST_SAID]:
        say(f"{path} is complete already: there is nothing to resume.", err=True)
    if len(paths) > _MOST_SAID:
        say(f"{len(paths) - _MOST_SAID:,} more files are complete already.", err=True)
