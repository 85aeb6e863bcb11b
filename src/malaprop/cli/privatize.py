"""`malaprop privatize`: files of sensitive text in, private copies out."""

import json
from collections import Counter
from pathlib import Path
from shutil import get_terminal_size
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal

import typer

from malaprop.cli.jobs import Job, folder_for, plan_jobs
from malaprop.cli.options import Epsilon, LexiconName, MechanismName, Parameters, make_mechanism

if TYPE_CHECKING:
    from malaprop.pipeline.files import Format, Layout
    from malaprop.pipeline.privatizer import Privatizer
    from malaprop.report.run import FileRecord


def privatize(
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
    mechanism: MechanismName = "tem",
    param: Parameters = None,
    lexicon: LexiconName = "english",
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column", "-c", metavar="NAME", help="A column that holds text; may be repeated."
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
        Path | None, typer.Option(metavar="FILE", help="Write the report as JSON to this file.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER", min=0, help="Repeat a demonstration. The output is NOT private."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing outputs.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No report on stderr; warnings only.")
    ] = False,
) -> None:
    """Privatize text files (.txt, .csv, .tsv, .jsonl, .parquet) or standard input.

    Every word is replaced by one that the mechanism draws. All else stays: other columns exactly,
    punctuation and spacing unless told otherwise; capitals are rebuilt. The output appears under
    its name only when it is whole. A report of what was protected, and what not, goes to stderr.
    """
    from malaprop.cli.progress import working
    from malaprop.core.randomness import secure_rng, seeded_rng
    from malaprop.lexicon.lexicon import Lexicon
    from malaprop.measure.statistics import unchanged_share
    from malaprop.pipeline.files import Layout, Staging
    from malaprop.pipeline.privatizer import Privatizer
    from malaprop.report.run import readable, run_report, warnings

    def layout(format_: "Format") -> "Layout":
        return Layout(
            format=format_,
            columns=tuple(column or ()),
            encoding=encoding,
            document=document,
            delimiter=delimiter,
        )

    made = make_mechanism(mechanism, epsilon, param)
    with folder_for(inputs, output):
        jobs = plan_jobs(inputs, output, format_, layout)
        with Staging() as stage:
            targets = [job.open_target(stage, force=force) for job in jobs]
            report_file = stage.open(report, force=force) if report else None
            with working(f"preparing {mechanism} on {lexicon}"):
                privatizer = Privatizer(
                    Lexicon.open(lexicon),
                    made,
                    unknown=unknown,
                    punctuation=punctuation,
                    rng=secure_rng() if seed is None else seeded_rng(seed),
                )
                share = unchanged_share(privatizer.channel)
            for warning in warnings(privatizer, share):
                typer.echo(f"warning: {warning}.", err=True)
            run = _Run(privatizer)
            files = [run.copy(job, target) for job, target in zip(jobs, targets, strict=True)]
            summary = run_report(privatizer, files, run.counts, share)
            if report_file:
                report_file.write(_json(summary))
    if not quiet:
        width = min(96, get_terminal_size().columns)
        typer.echo(readable(summary, width), nl=False, err=True)


class _Run:
    """Copies files through a privatizer, and counts how their pieces are treated."""

    def __init__(self, privatizer: "Privatizer") -> None:
        self._privatizer = privatizer
        self._started = monotonic()
        self.counts: Counter[str] = Counter()

    def copy(self, job: Job, target: BinaryIO) -> "FileRecord":
        """Write a job's input to its target, with private texts in the place of the true ones."""
        from malaprop.cli.progress import bar
        from malaprop.pipeline.files import rewrite
        from malaprop.report.run import FileRecord

        size = job.size
        with bar(Path(job.source).name) as progress, job.open_source() as source:
            found = rewrite(
                source,
                target,
                job.layout,
                self._transform,
                lambda done: progress.to(done, size, self._rate()),
            )
            target.flush()
        return FileRecord(input=job.source, output=job.target, layout=job.layout, counts=found)

    def _rate(self) -> str:
        words = self.counts["protected"]
        return f"{words:,} words, {words / (monotonic() - self._started):,.0f} a second"

    def _transform(self, texts: list[str]) -> list[str]:
        releases = self._privatizer.many(texts)
        for release in releases:
            self.counts.update(release.counts)
        return [release.text for release in releases]


def _json(summary: dict[str, Any]) -> bytes:
    text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False)
    # Names of files and columns may hold half characters; their escapes are JSON's own.
    return text.encode("utf-8", "backslashreplace") + b"\n"
