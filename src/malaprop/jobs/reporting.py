"""The file of a report that appears only when the run has succeeded."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from malaprop.jobs.files import open_report
from malaprop.pipeline.outputs.staging import Staging
from malaprop.pipeline.report import RunReport
from malaprop.report.written import rendered


@contextmanager
def staged_report(path: Path | None, *, force: bool) -> Iterator[Callable[[RunReport], None]]:
    """Claim the file of a report; yield the function that writes it.

    The file gets its name when the context ends without an error. Without a path, the function
    does nothing.
    """
    with Staging() as stage:
        file = open_report(stage, path, force=force)

        def write(report: RunReport) -> None:
            if file and path:
                file.write(rendered(report, path))

        yield write
        stage.complete()
