"""`malaprop privatize --engine spark`: folders of files in, private copies out, on a cluster."""

import logging
import os
import secrets
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from malaprop.cli.options import PIPE
from malaprop.cli.terminal import bar, warn, working
from malaprop.files import UNWRITTEN
from malaprop.privacy.errors import MalapropError, ParameterError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from malaprop.files.formats import Layout
    from malaprop.privatizer import Privatizer
    from malaprop.report.run_report import RunReport

Result = TypeVar("Result")

_PATIENCE_SECONDS = 20.0
_EVERY_SECONDS = 0.5
_SETTINGS: dict[str, Any] = {
    "spark.app.name": "malaprop",
    "spark.log.level": "OFF",  # the log may quote data that Spark cannot read
    "spark.ui.showConsoleProgress": "false",  # there is a bar already
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # as everybody else writes them
}


class _Errand(Generic[Result]):
    """Work with the active Spark session, or with one that ends afterwards; a signal can stop it.

    Python raises a signal in the main thread. In the middle of a call to Java it would cut the
    connection, and cleaning up would wait until the job is done. So another thread talks to Java,
    and the main thread waits for it or for a signal; then it cancels the job, and the other thread
    cleans up as after any failure.
    """

    def __init__(
        self, master: str, work: Callable[["SparkSession"], Result], *, quiet: bool
    ) -> None:
        from pyspark.sql import SparkSession

        self._master, self._work, self._quiet = master, work, quiet
        self._active = SparkSession.getActiveSession()  # asked here, as it belongs to this thread
        self._group = f"malaprop-{secrets.token_hex(8)}"
        self._java: subprocess.Popen[bytes] | None = None  # if it is ours
        self._spark: SparkSession | None = None
        self._launched, self._over, self._stopped = (threading.Event() for _ in range(3))
        self._result: Future[Result] = Future()

    def done(self) -> Result:
        """Do the work, and return its result; what stops the main thread stops the work, too."""
        threading.Thread(target=self._run, daemon=True).start()
        try:
            self._over.wait()
        except BaseException as stop:
            self._stop()
            if not (self._result.done() and self._result.exception() is None):
                stop.add_note(UNWRITTEN)
            raise
        return self._result.result()

    def _stop(self) -> None:
        self._stopped.set()
        # Java's process is known as soon as it answers, not while it starts.
        self._launched.wait(_PATIENCE_SECONDS)
        if self._spark is not None:
            with suppress(Exception):
                self._spark.sparkContext._jsc.sc().cancelJobGroupAndFutureJobs(self._group)
            self._over.wait(_PATIENCE_SECONDS)
        if self._java:
            self._java.kill()
        self._over.wait(_PATIENCE_SECONDS)

    def _run(self) -> None:
        try:
            with self._session() as spark:
                # Spark's name for all jobs of this thread.
                spark.sparkContext.setJobGroup(self._group, "malaprop privatize")
                self._spark = spark
                if not self._stopped.is_set():
                    self._result.set_result(self._work(spark))
        except BaseException as error:
            self._result.set_exception(error)
        finally:
            self._launched.set()
            self._over.set()

    @contextmanager
    def _session(self) -> "Iterator[SparkSession]":
        if self._active:
            self._launched.set()
            yield self._active
            return
        before = logging.root.manager.disable
        # py4j would show a traceback for each call after Java has ended.
        logging.disable(logging.CRITICAL)
        try:
            with working(f"starting Spark on {self._master}"):
                spark = self._started()
            try:
                yield spark
            finally:
                with suppress(Exception):  # Java may have ended
                    spark.stop()
        finally:
            logging.disable(before)

    def _started(self) -> "SparkSession":
        from pyspark import SparkConf, SparkContext
        from pyspark.java_gateway import launch_gateway
        from pyspark.sql import SparkSession

        from malaprop.spark.engine import JAVA, redacted_error

        if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
            raise MalapropError(JAVA)
        if self._master.startswith("local"):  # elsewhere, the cluster's settings name its Python
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        conf = SparkConf().setMaster(self._master).setAll(list(_SETTINGS.items()))
        silent = {"stderr": subprocess.DEVNULL} if self._quiet else {}
        launch: Any = launch_gateway
        gateway: Any = SparkContext._gateway or redacted_error(lambda: launch(conf, silent))
        self._java = gateway.proc
        self._launched.set()
        try:
            context = redacted_error(lambda: SparkContext(conf=conf, gateway=gateway))
        except MalapropError as error:
            raise MalapropError(
                f"Spark does not start on {self._master}: check that address, and whether this "
                f"machine reaches it. {error}"
            ) from None
        return SparkSession(context)


def privatize_on_spark(
    inputs: list[str],
    output: str | None,
    privatizer: "Callable[[], Privatizer]",
    layout: "Callable[[str], Layout]",
    unfit: dict[str, bool],
    *,
    format_: str | None,
    report: Path | None,
    master: str | None,
    command: str,
    force: bool,
    quiet: bool,
    ledger: str | None = None,
    subject: str | None = None,
) -> "RunReport":
    """Privatize a folder on a cluster; return the report, and write it to its file, if any.

    `privatizer` makes one, `layout` says how files of a format are read, and `unfit` which of the
    options that Spark has no use for were given.
    """
    for option, given in unfit.items():
        if given:
            raise ParameterError(f"{option} has no meaning with --engine spark: leave it out")
    if len(inputs) != 1 or PIPE in (*inputs, output) or output is None:
        raise ParameterError(
            "--engine spark takes one folder or file, and writes one folder: name it with  "
            "-o OUTPUT"
        )
    from malaprop.files.formats import registry
    from malaprop.files.run import Job, check_report
    from malaprop.files.staging import Staging
    from malaprop.private_files import OWNER_ONLY
    from malaprop.report.page import page_file
    from malaprop.report.run_report import Clock

    clock = Clock(command)
    # URLs stay; paths are given in full, as Spark's processes work in other folders.
    source, target = (
        path if "://" in path else os.path.abspath(path) for path in (inputs[0], output)
    )
    name = format_ or _format_of(source)
    known = [each for each, kind in registry.items() if kind.spark]
    if name not in known:
        raise ParameterError(
            f"--engine spark reads {', '.join(known)}: this is {name}, of which Spark cannot give "
            "parts to its machines. Leave --engine out"
        )
    shape = layout(name)
    check_report(report, [Job(source, target)])
    from malaprop.integrations.spark import privatize_files

    with Staging() as stage:
        file = stage.open(report, force=force, limits=[OWNER_ONLY]) if report else None
        with working("preparing the mechanism"):
            made = privatizer()
            warnings = made.warnings  # which takes a moment
        warn(*warnings)

        def work(spark: "SparkSession") -> "RunReport":
            with _progress(spark, source):
                return privatize_files(
                    spark,
                    source,
                    target,
                    shape,
                    made,
                    occasion=clock.occasion,
                    force=force,
                    ledger=ledger,
                    subject=subject,
                )

        summary = _Errand(master or "local[*]", work, quiet=quiet).done()
        if file and report:
            file.write(page_file(summary.page(), report, summary.to_dict()))
    warn(*summary.findings)
    return summary


def _format_of(source: str) -> str:
    """Return the format that names tell: that of the folder, or of the files in it."""
    from malaprop.files.formats import format_of

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
    over = threading.Event()
    tracker = spark.sparkContext.statusTracker()

    def watch() -> None:
        while not over.wait(_EVERY_SECONDS):
            with suppress(Exception):  # a bar must not stop the work
                for stage in tracker.getActiveStageIds():
                    if info := tracker.getStageInfo(stage):
                        done, tasks = info.numCompletedTasks, info.numTasks
                        shown.to(done, tasks, f"{done:,} of {tasks:,} tasks")

    with bar(Path(source).name) as shown:
        watching = threading.Thread(target=watch, daemon=True)
        watching.start()
        try:
            yield
        finally:
            over.set()
            watching.join()
