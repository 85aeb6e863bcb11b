"""Files that only their owner may read: created exclusively, and opened only if they are ours.

Outputs may lie in folders where others can write, such as /tmp. So no link is followed, and what is
known of a file is known from its descriptor: between a look at a name and its use, another file may
take the name.
"""

import errno
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from malaprop.core.errors import OutputError

PRIVATE: Final = 0o600
_LINKS: Final = 40  # that are followed, as systems do
# Errors of disks without permissions, such as memory sticks.
_NO_PERMISSIONS: Final = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)
# Windows has none of these. Without the second, opening a pipe waits for its other end.
_FLAGS: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def create(path: Path) -> int:
    """Create a file that only its owner may read and write; return a descriptor to write to it.

    Raise FileExistsError if anything has the name, even a link that leads nowhere.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _FLAGS, PRIVATE)
    set_mode(descriptor, PRIVATE)  # a folder's access list may have added to it
    return descriptor


def open_ours(path: Path, flags: int = os.O_RDONLY, *, other_names: bool = False) -> int:
    """Open a file that belongs to the current user, and make it private.

    Refuse links, pipes, folders and other users' files; also files that have `other_names`, unless
    that is allowed: whoever made such a link chose which file of ours is opened. Then its
    permissions stay. Raise FileNotFoundError if there is no file.
    """
    try:
        descriptor = os.open(path, flags | _FLAGS)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):  # the latter on FreeBSD
            raise _refusal(path, "is a symbolic link") from None
        if error.errno in (errno.EISDIR, errno.ENXIO):
            raise _refusal(path, "is not a regular file") from None
        raise
    try:
        _check(path, os.fstat(descriptor), other_names=other_names)
        if not other_names:
            set_mode(descriptor, PRIVATE)  # it may have been widened
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def resolved(path: Path) -> Path:
    """Resolve the name of an output; refuse a link that belongs to another user.

    In a folder that others can write to, they choose where such a link leads.
    """
    name = path
    for _ in range(_LINKS):
        try:
            status = os.lstat(name)
        except OSError:  # nothing is there yet, or whoever opens it will say why
            break
        if not stat.S_ISLNK(status.st_mode):
            break
        if not is_ours(status) and status.st_uid != 0:
            raise OutputError(
                f"{path} is a symbolic link of another user, who may have chosen where it leads: "
                "remove it, or choose another folder"
            )
        name = name.parent / os.readlink(name)
    return Path(os.path.realpath(path))


def set_mode(descriptor: int, mode: int) -> None:
    """Set the permissions of an open file of ours, if the system and the disk have any."""
    if not hasattr(os, "fchmod"):
        return
    try:
        os.fchmod(descriptor, mode)
    except OSError as error:
        if error.errno not in _NO_PERMISSIONS:
            raise


def is_ours(status: os.stat_result) -> bool:
    """Return whether the current user owns a file, or the system cannot tell."""
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def _check(path: Path, status: os.stat_result, *, other_names: bool) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise _refusal(path, "is not a regular file")
    if not is_ours(status) and status.st_uid != _owner_of_new(path.parent):
        raise _refusal(path, "belongs to another user")
    if status.st_nlink > 1 and not other_names:
        raise _refusal(path, "has a second name (a hard link)")


def _owner_of_new(folder: Path) -> int:
    """Return the owner of new files in a folder: some network disks give all to one user."""
    probe = folder / f".malaprop-{secrets.token_hex(8)}.probe"
    descriptor = create(probe)
    try:
        return os.fstat(descriptor).st_uid
    finally:
        os.close(descriptor)
        os.unlink(probe)


def _refusal(path: Path, reason: str) -> OutputError:
    return OutputError(
        f"{path} {reason}, so it was not made by Malaprop for you: remove it, or choose another "
        "folder"
    )
