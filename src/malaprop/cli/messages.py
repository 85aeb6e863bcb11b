"""What the command line shows: lines, tables, warnings and the report of a run.

All that commands show goes through `say`, `say_text` or a `console`. They escape the control
characters that names of files and columns, and words of lexicons, may hold. Data on standard output
are no messages: they are written as bytes, as they are.
"""

import shlex
from collections.abc import Iterator
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import typer

from malaprop.cli.flags import in_flags
from malaprop.core.errors import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.segment import Segment

    from malaprop.pipeline.report import RunReport

_WIDEST = 96


def command_line(context: typer.Context) -> str:
    """Return the command that was typed."""
    return shlex.join(["malaprop", *(context.find_root().obj or ())])


def refuse_given(context: typer.Context, needed: str, *names: str) -> None:
    """Refuse options that were given without the one that they go with."""
    from malaprop.core.errors import ParameterError

    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name != "DEFAULT":
            raise ParameterError(f"--{name} goes with {needed}: add that, or leave it out")


def check_ending(report: Path | None) -> Path | None:
    """Refuse a report whose name does not say what it is, before any work."""
    if report is not None:
        from malaprop.report.written import checked_name

        checked_name(report)
    return report


def say(line: str, *, err: bool = False) -> None:
    """Show one line on stdout, or on stderr."""
    typer.echo(printable(line), err=err)


def say_text(text: str, *, err: bool = False) -> None:
    """Show a text of several lines, whose names are printable already, or JSON."""
    typer.echo(printable(text, lines=True), nl=not text.endswith("\n"), err=err)


def console(*, err: bool = False) -> "Console":
    """Return a console for tables and progress: it takes nothing in a text for a style."""
    from rich.console import Console
    from rich.segment import Segment

    class Harmless(Console):
        """Escapes control characters in whatever it renders; its own go past that."""

        def render(self, *args: Any, **options: Any) -> "Iterator[Segment]":
            for part in super().render(*args, **options):
                text, style, control = part
                yield part if control else Segment(printable(text, lines=True), style)

    return Harmless(stderr=err, markup=False, emoji=False, highlight=False)


def warn(*warnings: str) -> None:
    """Show warnings on stderr."""
    for warning in warnings:
        say(f"warning: {in_flags(warning)}.", err=True)


def show(report: "RunReport", *, quiet: bool) -> None:
    """Show the report on stderr."""
    from malaprop.report.terminal import readable

    if not quiet:
        width = min(_WIDEST, get_terminal_size().columns)
        say_text(readable(report, width), err=True)
