"""What tells whether a file changed while it was read."""

import os

Sight = tuple[int, ...]
"""Which file it is, its size, and the times of its last changes."""


def sight(status: os.stat_result) -> Sight:
    """Return a value that every change of a file changes.

    A program can set the size and `st_mtime` back to what they were, but not `st_ctime`.
    """
    times = status.st_mtime_ns, status.st_ctime_ns
    return status.st_dev, status.st_ino, status.st_size, *times
