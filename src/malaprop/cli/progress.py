"""A progress bar on a terminal, and silence elsewhere."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from malaprop.cli.messages import console, warn
from malaprop.cli.signals import turn_deaf
from malaprop.core.errors import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from malaprop.jobs.progress import RunProgress


class Bar:
    """A progress bar, shown or not."""

    def __init__(self, progress: "Progress | None" = None, task: "TaskID | None" = None) -> None:
        self._progress, self._task = progress, task

    def to(self, done: int, total: int | None = None, note: str = "") -> None:
        """Show that `done` of `total` is done."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=done, total=total, note=printable(note))


@contextmanager
def bar(title: str) -> Iterator[Bar]:
    """Show a bar with percentage, note and time left on a terminal; elsewhere, nothing."""
    terminal = _terminal()
    if terminal is None:
        yield Bar()
        return
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=terminal, transient=True) as progress:
        yield Bar(progress, progress.add_task(printable(title), total=None, note=""))


@contextmanager
def working(title: str) -> Iterator[None]:
    """Show a spinner on a terminal while something of unknown length runs."""
    terminal = _terminal()
    if terminal is None:
        yield
        return
    from rich.text import Text

    with terminal.status(Text(printable(title))):
        yield


def _terminal() -> "Console | None":
    """Return the terminal that stderr is; None elsewhere, without an import that takes time."""
    if sys.stderr is None or sys.stderr.closed or not sys.stderr.isatty():
        return None
    shown = console(err=True)
    return shown if shown.is_terminal else None


class Display:
    """Shows the progress and the warnings of a run; ignores signals once outputs get their names.

    with Display() as display:
        privatize_files(..., progress=display)
    """

    def __init__(self) -> None:
        self._shown = ExitStack()
        self._bar: Bar | None = None
        self._since = 0.0

    def __enter__(self) -> "Display":
        return self

    def __exit__(self, *error: object) -> None:
        self._shown.close()

    def __call__(self, progress: "RunProgress") -> None:
        """Show an event."""
        match progress.stage:
            case "preparing":
                self._shown.enter_context(working(progress.note))
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
                turn_deaf()  # all is on the disk, and gets its name: too late to stop

    def _draw(self, progress: "RunProgress") -> None:
        if self._bar is None:
            self._clear()
            self._bar = self._shown.enter_context(bar(progress.note))
            self._since = monotonic()
            return
        rate = progress.words / max(monotonic() - self._since, 1e-3)  # some clocks are coarse
        note = f"{progress.words:,} {progress.unit}, {rate:,.0f} a second"
        self._bar.to(progress.done, progress.total, note)

    def _clear(self) -> None:
        self._shown.close()
        self._bar = None
