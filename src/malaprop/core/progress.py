"""Progress of long computations, reported to a callback."""

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Called with the steps done and the steps in total."""


def report(progress: Progress | None, done: int, total: int) -> None:
    """Call `progress`, unless it is None."""
    if progress is not None:
        progress(done, total)
