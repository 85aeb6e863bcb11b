"""A progress bar on a terminal, and silence elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Bar:
    """What is done of a task, shown or not."""

    def __init__(self, progress: "Progress | None" = None, task: "TaskID | None" = None) -> None:
        self._progress, self._task = progress, task

    def to(self, done: int, total: int | None = None, note: str = "") -> None:
        """Show that `done` of `total` is done."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=done, total=total, note=note)


@contextmanager
def bar(title: str) -> Iterator[Bar]:
    """A bar with share, a note and time left on a terminal; in a pipe it shows nothing."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
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
    with Progress(*columns, console=console, transient=True) as progress:
        yield Bar(progress, progress.add_task(title, total=None, note=""))


@contextmanager
def working(title: str) -> Iterator[None]:
    """A sign of life on a terminal, while something runs whose end is not known."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(title):
        yield
