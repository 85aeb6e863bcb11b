"""`malaprop privatize --engine spark`: folders of files in, private copies out, on a cluster."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from malaprop.cli.cluster import on_spark
from malaprop.cli.messages import warn
from malaprop.cli.options import PIPE
from malaprop.cli.progress import Bar, bar, working
from malaprop.core.errors import ParameterError
from malaprop.core.mechanism import Mechanism

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from malaprop.pipeline.formats.faults import OnError
    from malaprop.pipeline.report import RunReport
    from malaprop.text import Policy

_HERE = "local[*]"
_EVERY_SECONDS = 0.5


def one_folder(inputs: list[str], output: str | None, unfit: dict[str, bool]) -> tuple[str, str]:
    """Return the folder or file to read and the folder to make.

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
    return _full(inputs[0]), _full(output)


def _full(path: str) -> str:
    """Return a URL unchanged and a path in full: Spark's processes work in other folders."""
    return path if "://" in path else os.path.abspath(path)


def privatize_on_spark(
    source: str,
    target: str,
    *,
    mechanism: Mechanism,
    lexicon: str,
    columns: tuple[str, ...],
    format_: str | None,
    delimiter: str | None,
    policy: "Policy",
    on_error: "OnError",
    report: Path | None,
    master: str | None,
    command: str,
    force: bool,
    quiet: bool,
) -> "RunReport":
    """Privatize a folder on a cluster; return the report, and write it to its file, if any."""
    from malaprop.jobs.job import Job
    from malaprop.jobs.planning import check_report
    from malaprop.jobs.reporting import staged_report
    from malaprop.jobs.spark import FORMATS
    from malaprop.pipeline.drawing import Recipe
    from malaprop.pipeline.formats import Layout
    from malaprop.pipeline.report import Clock

    clock = Clock(command)
    name = format_ or _format_of(source)
    if name not in FORMATS:
        raise ParameterError(f"--engine spark reads {', '.join(FORMATS)}: this is {name}")
    layout = Layout(format=name, columns=columns, delimiter=delimiter, on_error=on_error)
    check_report(report, [Job(source, target, layout)])
    recipe = Recipe(lexicon=lexicon, mechanism=mechanism, policy=policy)
    from malaprop.integrations.spark import privatize_files

    with staged_report(report, force=force) as write:
        with working(f"preparing {recipe.title}"):
            privatizer = recipe.privatizer()
            warnings = privatizer.warnings  # which takes a moment
        warn(*warnings)

        def work(spark: "SparkSession") -> "RunReport":
            with _progress(spark, source):
                return privatize_files(
                    spark, source, target, layout, privatizer, occasion=clock.occasion, force=force
                )

        summary = on_spark(master or _HERE, work, quiet=quiet)
        write(summary)
    warn(*summary.findings)
    return summary


def _format_of(source: str) -> str:
    """Return the format that names tell: that of the folder, or of the files in it."""
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
    """Show how many tasks are done while the work runs."""
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
