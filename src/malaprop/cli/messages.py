"""Warnings and the report of a run, on stderr."""

import shlex
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING

import typer

from malaprop.cli.flags import in_flags

if TYPE_CHECKING:
    from malaprop.pipeline.report import RunReport

_WIDEST = 96


def command_line(context: typer.Context) -> str:
    """Return the command that was typed."""
    return shlex.join(["malaprop", *(context.find_root().obj or ())])


def check_ending(report: Path | None) -> Path | None:
    """Refuse a report whose name does not say what it is, before any work."""
    if report is not None:
        from malaprop.report.written import checked_name

        checked_name(report)
    return report


def warn(*warnings: str) -> None:
    """Show warnings on stderr."""
    for warning in warnings:
        typer.echo(f"warning: {in_flags(warning)}.", err=True)


def show(report: "RunReport", *, quiet: bool) -> None:
    """Show the report on stderr."""
    from malaprop.report.terminal import readable

    if not quiet:
        width = min(_WIDEST, get_terminal_size().columns)
        typer.echo(readable(report, width), nl=False, err=True)
