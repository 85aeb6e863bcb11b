"""Files that are written for an output: failures in plain words, locks, what is on the disk."""

import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from malaprop.core.errors import OutputError
from malaprop.pipeline.outputs.owned import create, open_ours

_REASONS: Final = {
    errno.ENOSPC: "no space left on the disk while writing {}",
    errno.EDQUOT: "the disk quota is used up while writing {}",
    errno.EFBIG: "{} grows larger than the disk or the limits of this process allow",
    errno.EACCES: "no permission to write {}: choose another folder with `output`",
    errno.EPERM: "no permission to write {}: choose another folder with `output`",
    errno.EROFS: "{} lies on a disk that can only be read: choose another folder with `output`",
    errno.ENAMETOOLONG: "the name {} is too long: choose a shorter one",
    errno.ENOTDIR: "{} lies in something that is not a folder: choose another one with `output`",
}


@contextlib.contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Say in plain words why an output cannot be written."""
    try:
        yield
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, f"cannot write {{}}: {error.strerror}")
        raise OutputError(reason.format(path)) from None


class PartialFile(io.FileIO):
    """A file whose write errors name the output that the user asked for."""

    def __init__(self, descriptor: int, path: Path, mode: str = "wb") -> None:
        super().__init__(descriptor, mode)
        self._path = path

    def write(self, data: Any, /) -> int:
        """Write data, as far as it fits."""
        with refusing(self._path):
            return super().write(data)


def create_locked(hidden: Path, path: Path) -> int:
    """Create and lock a private file; remove one that a killed run left behind."""
    while True:
        try:
            made = create(hidden)
        except FileExistsError:
            remove_stale(hidden, path)
            continue
        try:
            lock(made, path)
        except BaseException:
            os.close(made)
            raise
        if _is_at(made, hidden):
            return made
        os.close(made)  # another run took it for a stale one before it was locked


def remove_stale(hidden: Path, path: Path) -> None:
    """Remove a file of ours that no run is writing; `path` is its output."""
    with contextlib.suppress(FileNotFoundError):
        # A run that was killed as it named its output has left a second name of that.
        descriptor = open_ours(hidden, os.O_RDWR, other_names=True)
        try:
            lock(descriptor, path)
            if _is_at(descriptor, hidden):
                os.unlink(hidden)
        finally:
            os.close(descriptor)


def refuse_locked(hidden: Path, path: Path) -> None:
    """Refuse a file that another run is writing; `path` is its output."""
    with refusing(path), os.fdopen(open_ours(hidden, os.O_RDWR), "r+b") as file:
        lock(file.fileno(), path)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


def lock(descriptor: int, path: Path) -> None:
    """Keep other runs away until the file is closed; workers do not inherit this lock."""
    if sys.platform == "win32":
        return
    import fcntl

    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        raise OutputError(
            f"another run is at work on {path}: wait for its end, or choose another name"
        ) from None


def remove(path: Path) -> None:
    """Remove a file, if it is there."""
    with contextlib.suppress(OSError):
        os.unlink(path)


def sync_folder(folder: Path) -> None:
    """Flush a folder's names to the disk, where the system can open a folder."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
