"""Progress of long computations, reported to a callback."""

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Called with the steps done and the steps in total."""


def report(progress: Progress | None, done: int, total: int) -> None:
    """Call `progress`, unless it is None."""
    if progress is not None:
        progress(done, total)


def stage(progress: Progress | None, number: int, stages: int) -> Progress | None:
    """Return a callback for one of several stages of a computation, counted from 0."""
    if progress is None:
        return None

    def to(done: int, total: int) -> None:
        progress(int(1000 * (number + done / max(1, total))), 1000 * stages)

    return to
