"""Work on Spark that a signal can stop.

Python raises a signal in the main thread. In the middle of a call to Java it would cut the
connection, and cleaning up would wait until the job is done. So another thread talks to Java, and
the main thread waits for it or for a signal; then it cancels the job, and the other thread cleans
up as after any failure.
"""

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
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from malaprop.cli.progress import working
from malaprop.core.errors import MalapropError
from malaprop.jobs import UNWRITTEN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Result = TypeVar("Result")

_PATIENCE_SECONDS = 20.0
_SETTINGS: dict[str, Any] = {
    "spark.app.name": "malaprop",
    "spark.log.level": "OFF",  # the log may quote data that Spark cannot read
    "spark.ui.showConsoleProgress": "false",  # there is a bar already
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # as everybody else writes them
}


def on_spark(master: str, work: Callable[["SparkSession"], Result], *, quiet: bool) -> Result:
    """Work with the active Spark session, or with a new one that ends afterwards."""
    from pyspark.sql import SparkSession

    return _Errand(master, work, SparkSession.getActiveSession(), quiet=quiet).done()


class _Errand(Generic[Result]):
    """Work that runs in another thread."""

    def __init__(
        self,
        master: str,
        work: Callable[["SparkSession"], Result],
        active: "SparkSession | None",
        *,
        quiet: bool,
    ) -> None:
        self._master, self._work, self._active, self._quiet = master, work, active, quiet
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
        with _silence():
            with working(f"starting Spark on {self._master}"):
                spark = self._started()
            try:
                yield spark
            finally:
                with suppress(Exception):  # Java may have ended
                    spark.stop()

    def _started(self) -> "SparkSession":
        from pyspark import SparkConf, SparkContext
        from pyspark.java_gateway import launch_gateway
        from pyspark.sql import SparkSession

        from malaprop.jobs.spark.failures import JAVA, without_text

        if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
            raise MalapropError(JAVA)
        if self._master.startswith("local"):  # elsewhere, the cluster's settings name its Python
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        conf = SparkConf().setMaster(self._master).setAll(list(_SETTINGS.items()))
        silent = {"stderr": subprocess.DEVNULL} if self._quiet else {}
        launch: Any = launch_gateway
        gateway: Any = SparkContext._gateway or without_text(lambda: launch(conf, silent))
        self._java = gateway.proc
        self._launched.set()
        try:
            context = without_text(lambda: SparkContext(conf=conf, gateway=gateway))
        except MalapropError as error:
            raise MalapropError(
                f"Spark does not start on {self._master}: check that address, and whether this "
                f"machine reaches it. {error}"
            ) from None
        return SparkSession(context)


@contextmanager
def _silence() -> Iterator[None]:
    """Turn logging off: py4j would show a traceback for each call after Java has ended."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
