"""`malaprop privatize --engine spark`: folders of files in, private copies out, on a cluster."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from malaprop.cli.cluster import on_spark
from malaprop.cli.jobs import PIPE, Job, open_report
from malaprop.cli.progress import Bar, bar, working
from malaprop.cli.telling import Clock, warn, write_report
from malaprop.core.errors import ParameterError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from malaprop.pipeline.drawing import Recipe
    from malaprop.pipeline.formats import Format, Layout
    from malaprop.report.run import RunReport

_FORMATS = ("parquet", "csv", "tsv", "jsonl")
_HERE = "local[*]"
_EVERY_SECONDS = 0.5


def plan_spark(
    inputs: list[str],
    output: str | None,
    format_: "Format | None",
    layout: Callable[["Format"], "Layout"],
    unfit: dict[str, bool],
) -> Job:
    """The one job: a folder or a file to be read, a folder to be made.

    `unfit` says which of the options that Spark has no use for were given.
    """
    for option, given in unfit.items():
        if given:
            raise ParameterError(f"{option} has no meaning with --engine spark: leave it out")
    if len(inputs) != 1 or PIPE in (*inputs, output) or output is None:
        raise ParameterError(
            "--engine spark takes one folder or file, and writes one folder: name it with  "
            "-o OUTPUT"
        )
    found = format_ or _format_of(inputs[0])
    if found not in _FORMATS:
        raise ParameterError(f"--engine spark reads {', '.join(_FORMATS)}: this is {found}")
    return Job(_full(inputs[0]), _full(output), layout(found))


def _full(path: str) -> str:
    """A URL as it is, a path in full: Spark's processes work in other folders."""
    return path if "://" in path else os.path.abspath(path)


def run_spark(
    job: Job,
    recipe: "Recipe",
    master: str | None,
    report: Path | None,
    clock: Clock,
    *,
    force: bool,
    quiet: bool = False,
) -> "RunReport":
    """Do the job, and return the report; it goes to a file, too, if one is named."""
    from malaprop.integrations.spark import privatize_files
    from malaprop.pipeline.outputs.staging import Staging

    with Staging() as stage:
        report_file = open_report(stage, report, force=force)
        with working(f"preparing {recipe.mechanism.name} on {recipe.lexicon}"):
            privatizer = recipe.privatizer()
            warnings = privatizer.warnings  # which takes a moment
        warn(*warnings)

        def work(spark: "SparkSession") -> "RunReport":
            with _progress(spark, job.source):
                return privatize_files(
                    spark,
                    job.source,
                    job.target,
                    job.layout,
                    privatizer,
                    occasion=clock.occasion,
                    force=force,
                )

        summary = on_spark(master or _HERE, work, quiet=quiet)
        write_report(report_file, summary, report)
        stage.complete()
    warn(*summary.findings)
    return summary


def _format_of(source: str) -> "Format":
    """The format that the names say: a folder's own, or that of the files in it."""
    from malaprop.pipeline.formats import format_of

    folder = Path(source)
    if folder.is_dir() and not folder.suffix:
        formats = {format_of(file.name) for file in folder.iterdir() if file.name[0] not in "._"}
        if len(formats) == 1:
            return formats.pop()
        raise ParameterError(
            f"the files in {source} do not tell their format: name it with --format"
        )
    return format_of(source)


@contextmanager
def _progress(spark: "SparkSession", source: str) -> Iterator[None]:
    """Show the tasks that are done while the work goes on."""
    over = threading.Event()
    with bar(Path(source).name) as shown:
        watch = threading.Thread(target=_watch, args=(spark, shown, over), daemon=True)
        watch.start()
        try:
            yield
        finally:
            over.set()
            watch.join()


def _watch(spark: "SparkSession", shown: Bar, over: threading.Event) -> None:
    tracker = spark.sparkContext.statusTracker()
    while not over.wait(_EVERY_SECONDS):
        with suppress(Exception):  # a bar must not stop the work
            for stage in tracker.getActiveStageIds():
                if info := tracker.getStageInfo(stage):
                    done, tasks = info.numCompletedTasks, info.numTasks
                    shown.to(done, tasks, f"{done:,} of {tasks:,} tasks")
