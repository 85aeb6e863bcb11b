"""The process of one file job: reads its work from standard input, and tells how it goes.

Standard input stays open as long as the service lives. When it ends, so does this process; what
was drawn is kept, and the job is resumed at the service's next start.
"""

import json
import os
import re
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any, Final

from malaprop.files.privatize import privatize_files
from malaprop.files.run import RunProgress
from malaprop.ledger import Ledger
from malaprop.mechanisms import mechanism_named
from malaprop.privacy.errors import (
    DataError,
    LedgerError,
    MalapropError,
    ParameterError,
)
from malaprop.report.run_report import RunReport
from malaprop.server.jobs import Job
from malaprop.server.models import FileRequest
from malaprop.server.problems import Problem, of_library
from malaprop.server.settings import Settings
from malaprop.server.telemetry import place

_TELL_SECONDS: Final = 0.25
_NICE: Final = 5  # requests come first


def main() -> None:
    """Do one job."""
    assignment = json.loads(_line())
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    threading.Thread(target=_end_with_service, daemon=True).start()
    os.nice(_NICE)
    job = Job(Path(assignment["folder"]))
    try:
        words = _run(job, Settings.from_json(assignment["settings"]))
        size = job.file("input").stat().st_size
        _tell({"state": "done", "progress": _told("done", size, size, words)})
    except KeyboardInterrupt:  # stopped: nothing is told, and the job can be resumed
        sys.exit(1)
    except MalapropError as error:
        _tell({"state": "failed", "problem": _problem(error).document()})
    except BaseException as error:
        at = {"error": type(error).__name__, "at": place(error)}
        _tell({"state": "failed", "problem": _internal().document(), "log": at})


# Not through `sys.stdin`: forked workers close that, and a thread that waits in it holds its lock.


def _line() -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        line += os.read(0, 1) or b"\n"
    return line


def _end_with_service() -> None:
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _tell(event: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def _run(job: Job, settings: Settings) -> int:
    """Debit and privatize the file, keep the report, and return how many words were drawn."""
    request = FileRequest(**job.request["options"])
    layout = request.layout()
    with Ledger.open(settings.database_url, secret=settings.secret or None) as ledger:
        report = privatize_files(
            job.file("input"),
            job.file("output"),
            ledger=ledger,
            ledger_key=job.request["owner"],
            subject=request.subject,
            subject_column=request.subject_column,
            mechanism=mechanism_named(request.mechanism)(epsilon=request.epsilon),
            lexicon=request.lexicon,
            columns=layout.columns or None,
            format=layout.format,
            document=layout.document,
            delimiter=layout.delimiter,
            encoding=layout.encoding,
            on_error=layout.on_error,
            workers=settings.limits.cores,
            resume=True,
            progress=_Progress(),
            **request.text_options(),
        )
    if report.files:  # else an earlier run had done it all
        job.write_report(_without_paths(report))
    return report.counts.get("protected", 0)


def _told(stage: str, done: int, total: int | None, words: int) -> dict[str, Any]:
    return {"stage": stage, "done": done, "total": total, "words": words}


class _Progress:
    """Tells how far a run is, a few times a second."""

    def __init__(self) -> None:
        self._told = 0.0

    def __call__(self, progress: RunProgress) -> None:
        now = time.monotonic()
        if progress.stage == "warning" or now - self._told < _TELL_SECONDS:
            return
        self._told = now
        told = _told(progress.stage, progress.done, progress.total, progress.words)
        _tell({"state": "running", "progress": told})


def _without_paths(report: RunReport) -> dict[str, Any]:
    """Return a report that does not say where the service keeps its files."""
    plain = report.to_dict()
    for file in plain["files"]:
        for name in ("input", "output"):
            file[name] = Path(file[name]).name
    return plain


def _problem(error: MalapropError) -> Problem:
    """Return why a file cannot be privatized: where, but nothing of what stands there."""
    if isinstance(error, LedgerError):
        return of_library(error)
    number = re.search(r"record (\d[\d,]*)", str(error))
    where = f" Record {number[1]} is the first." if number else ""
    if isinstance(error, DataError):
        return Problem(
            "invalid-request",
            f"The file cannot be read in this format, encoding and with these columns.{where} "
            'With "on_error": "skip" or "mask", records that cannot be read are no obstacle.',
        )
    if isinstance(error, ParameterError):
        return Problem(
            "invalid-request",
            "The file does not have these columns, or they do not hold text: see `columns`.",
        )
    return _internal()


def _internal() -> Problem:
    detail = "The run failed in a way that it should not. The service's log says more."
    return Problem("internal", detail)


if __name__ == "__main__":
    main()
