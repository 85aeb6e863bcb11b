"""Who may read and write a file: permissions that pass from inputs to outputs, and never widen."""

import io
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

_READ_WRITE: Final = 0o666
_GROUP, _OTHERS = 0o070, 0o007


@dataclass(frozen=True)
class Access:
    """The permissions of a file; those in `mode` for a group are for the members of `group`."""

    mode: int
    group: int | None = None

    @classmethod
    def of(cls, status: os.stat_result) -> "Access":
        """Return the permissions of a file."""
        return cls(stat.S_IMODE(status.st_mode), status.st_gid)

    def for_group(self, group: int) -> int:
        """Return the mode for a file of a group; for another group, what everybody may do."""
        if self.group in (None, group):
            return self.mode
        return self.mode & ~_GROUP | self.mode & (self.mode & _OTHERS) << 3


OWNER_ONLY: Final = Access(0o600)


def narrowest(limits: Iterable[Access], group: int) -> int:
    """Return the widest mode for a new file of a group that the limits and the umask allow."""
    mode = _READ_WRITE & ~_umask()
    for access in limits:
        mode &= access.for_group(group)
    return mode


def status_of(stream: Any) -> os.stat_result | None:
    """Return the status of what a stream reads or writes, if it is a regular file."""
    try:
        status = os.fstat(stream.fileno())
    except (AttributeError, OSError, ValueError, io.UnsupportedOperation):
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _umask() -> int:
    # There is no call that only asks. What others create in between is private at least.
    before = os.umask(0o077)
    os.umask(before)
    return before
