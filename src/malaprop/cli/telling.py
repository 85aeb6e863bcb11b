"""What a run tells its user: warnings, the report, and when and how it was started."""

import shlex
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from shutil import get_terminal_size
from time import monotonic
from typing import TYPE_CHECKING, BinaryIO

import typer

if TYPE_CHECKING:
    from malaprop.report.run import Occasion, RunReport

_WIDEST = 96


@dataclass(frozen=True)
class Clock:
    """When a run was started, and by which command."""

    command: str
    date: datetime
    _since: float

    @classmethod
    def started(cls, context: typer.Context) -> "Clock":
        """Start the clock of a command; its arguments are those of the whole command line."""
        arguments = context.find_root().obj or ()
        return cls(shlex.join(["malaprop", *arguments]), datetime.now(UTC), monotonic())

    def occasion(self) -> "Occasion":
        """When and how the run was made, and how long it took so far."""
        from malaprop.report.run import Occasion
        from malaprop.report.secrets import without_passwords

        return Occasion(
            started=self.date,
            seconds=monotonic() - self._since,
            command=without_passwords(self.command),
        )


def check_ending(report: Path | None) -> Path | None:
    """Refuse a report whose name does not say what it is, before any work."""
    if report is not None:
        from malaprop.report.written import check_name

        check_name(report)
    return report


def write_report(file: BinaryIO | None, report: "RunReport", path: Path | None) -> None:
    """Write the report to its file, if there is one, as its name asks for."""
    if file is not None and path is not None:
        from malaprop.report.written import rendered

        file.write(rendered(report, path))


def warn(*warnings: str) -> None:
    """Show warnings on stderr."""
    for warning in warnings:
        typer.echo(f"warning: {warning}.", err=True)


def tell(report: "RunReport", *, quiet: bool) -> None:
    """Show the report on stderr."""
    from malaprop.report.terminal import readable

    if not quiet:
        width = min(_WIDEST, get_terminal_size().columns)
        typer.echo(readable(report, width), nl=False, err=True)
