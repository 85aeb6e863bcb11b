"""Progress of long computations, reported to whoever asks."""

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Called with the steps done and the steps in total."""


def report(progress: Progress | None, done: int, total: int) -> None:
    """Report progress, if there is anybody to report to."""
    if progress is not None:
        progress(done, total)
