"""Progress, warnings, the report on stderr."""

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING

import typer

from malaprop.cli.main import ignore_signals, with_flag_names
from malaprop.privacy.errors import ParameterError, printable
from malaprop.privacy.progress import NO_UNIT, Meter, clock_time

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from malaprop.files.run import RunProgress
    from malaprop.report.page import Page
    from malaprop.report.run_report import RunReport
    from malaprop.report.vector_report import VectorReport


# What the command line shows: lines, tables, warnings and the report of a run.
#
# All that commands show goes through `say`, `say_text` or `show`. They escape the control
# characters that names of files and columns, and words of lexicons, may hold. Data on standard
# output are no messages: they are written as bytes, as they are.


_WIDEST = 96


def command_line(context: typer.Context) -> str:
    return shlex.join(["malaprop", *(context.find_root().obj or ())])


def refuse_given(context: typer.Context, needed: str, *names: str) -> None:
    """Refuse options that were given without the one that they go with."""
    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name != "DEFAULT":
            raise ParameterError(f"--{name} goes with {needed}: add that, or leave it out")


def check_ending(*endings: str) -> Callable[[Path | None], Path | None]:
    """Return what refuses a report whose name does not say what it is, before any work."""

    def check(report: Path | None) -> Path | None:
        from malaprop.report.page import report_path

        return None if report is None else report_path(report, *endings)

    return check


def say(line: str, *, err: bool = False) -> None:
    typer.echo(printable(line), err=err)


def say_text(text: str, *, err: bool = False) -> None:
    """Show a text of several lines, whose names are printable already, or JSON."""
    typer.echo(printable(text, lines=True), nl=not text.endswith("\n"), err=err)


def print_table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    """Show a table; columns of numbers stand to the right."""
    from malaprop.report.page import Page, Section, Table

    show(Page(title="", sections=(Section("", (Table(head, tuple(rows)),)),)))


def warn(*warnings: str) -> None:
    for warning in warnings:
        say(f"warning: {with_flag_names(warning)}.", err=True)


def rendered(page: "Page") -> str:
    """Return a page as wide as the terminal, but not wider than one reads."""
    from malaprop.report.page import render

    return render(page, width=min(_WIDEST, get_terminal_size().columns))


def show(page: "Page", *, err: bool = False) -> None:
    say_text(rendered(page), err=err)


def show_report(
    report: "RunReport | VectorReport", path: Path | None, *, verbose: bool, quiet: bool
) -> None:
    """Show three lines about a run on stderr, or all of its report."""
    if quiet:
        return
    where = f"the whole report is in {path}" if path else "--report FILE or -v for all of it"
    # The warnings have been shown.
    show(replace(report.page(), warnings=()) if verbose else report.summary(where), err=True)


class Bar:
    def __init__(self, progress: "Progress | None" = None, meter: Meter | None = None) -> None:
        self._progress, self._meter = progress, meter or Meter()

    def to(self, done: int, total: int | None = None, note: str = "") -> None:
        """Show that `done` of `total` is done, which may be unknown."""
        if self._progress is not None:
            self._meter.update(done, total)
            (task,) = self._progress.tasks
            task.total = total  # `update` would keep another one
            self._progress.update(task.id, completed=done, note=printable(note))


@contextmanager
def bar(title: str, unit: str = "") -> Iterator[Bar]:
    """Show a bar with percentage, rate, time left and note on a terminal; elsewhere, nothing.

    As long as there is no rate, the time so far stands in its place.
    `unit` is what the steps are, if people count them; see `Meter`.
    """
    terminal = _terminal()
    if terminal is None:
        yield Bar()
        return
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        Task,
        TaskProgressColumn,
        TextColumn,
    )
    from rich.table import Column
    from rich.text import Text

    class Note(ProgressColumn):
        def render(self, task: Task) -> Text:
            told = ", ".join(filter(None, [str(meter), task.fields["note"]]))
            return Text(told or clock_time(task.elapsed or 0))  # the time so far

    meter = Meter(unit)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        Note(table_column=Column(no_wrap=True, overflow="ellipsis")),
    )
    with Progress(*columns, console=terminal, transient=True) as progress:
        progress.add_task(printable(title), total=1, note="")  # 0 % until more is known
        yield Bar(progress, meter)


@contextmanager
def working(title: str) -> Iterator[None]:
    """Show a spinner, and the time so far, on a terminal while something of unknown length runs."""
    terminal = _terminal()
    if terminal is None:
        yield
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=terminal, transient=True) as progress:
        progress.add_task(printable(title), total=None)
        yield


def _terminal() -> "Console | None":
    """Return the terminal that stderr is; None elsewhere, without an import that takes time."""
    if sys.stderr is None or sys.stderr.closed or not sys.stderr.isatty():
        return None
    from rich.console import Console

    # What it shows is made printable before: it takes nothing in a text for a style.
    shown = Console(stderr=True, markup=False, emoji=False, highlight=False)
    return shown if shown.is_terminal else None


class Display(ExitStack):
    """Shows the progress and the warnings of a run; ignores signals once outputs get their names.

    with Display() as display:
        privatize_files(..., progress=display)
    """

    def __init__(self) -> None:
        super().__init__()
        self._bar: Bar | None = None
        self._words = Meter()
        self._measured = ""

    def __call__(self, progress: "RunProgress") -> None:
        match progress.stage:
            case "preparing" if progress.total is None:
                self.enter_context(working(progress.note))
            case "preparing":
                self._measure(progress)
            case "warning":
                self._clear()
                warn(progress.note)
            case "checking":
                if self._bar:
                    self._bar.to(progress.done, progress.total, progress.note)
            case "drawing":
                self._draw(progress)
            case "naming":
                self._clear()
                ignore_signals()  # all is on the disk, and gets its name: too late to stop

    def _draw(self, progress: "RunProgress") -> None:
        if self._bar is None:
            self._clear()
            self._bar = self.enter_context(bar(progress.note, NO_UNIT))
            self._words = Meter(progress.unit)
            return
        self._words.update(progress.words, None)
        note = ", ".join(filter(None, [f"{progress.words:,} {progress.unit}", str(self._words)]))
        self._bar.to(progress.done, progress.total, note)

    def _measure(self, progress: "RunProgress") -> None:
        if progress.note != self._measured:
            self._clear()
            self._bar = self.enter_context(bar(progress.note))
            self._measured = progress.note
        if self._bar:
            self._bar.to(progress.done, progress.total)

    def _clear(self) -> None:
        self.close()
        self._bar, self._measured = None, ""
