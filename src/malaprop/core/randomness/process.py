"""Detection of new processes, without Python's help.

Python's hooks see only the forks that Python makes. But the child of any fork has its parent's
memory, and with it the parent's noise. So this module sets aside a page of memory that Linux wipes
in every child. Code that finds it wiped is in a new process, even if both have the same process
id, as in two containers. If the system cannot wipe memory, the process id must do.
"""

import os
import sys
from mmap import PAGESIZE, mmap

_WIPE_ON_FORK = 18  # MADV_WIPEONFORK, which Python's mmap does not name


def _wiped_page() -> mmap | None:
    if sys.platform != "linux":
        return None
    from mmap import MAP_ANONYMOUS, MAP_PRIVATE

    page = mmap(-1, PAGESIZE, flags=MAP_PRIVATE | MAP_ANONYMOUS)
    try:
        page.madvise(_WIPE_ON_FORK)
    except OSError:  # before Linux 4.14, or on an emulation of Linux
        return None
    return page


_page = _wiped_page()
_number = 0
_token = object()
_renewals = 0


def this_process() -> object:
    """Return a token that differs between processes, however they were started."""
    if (not _page[0]) if _page is not None else (_number != os.getpid()):
        _enter()
    return _token


def renew() -> None:
    """Make a new token, as in a new process."""
    global _renewals
    _renewals += 1
    _enter()


def renewals() -> int:
    """Return the number of calls of `renew`, in this process and before it was forked."""
    return _renewals


def _enter() -> None:
    global _token, _number
    # The token first: another thread that sees the mark must not find the old token.
    _token = object()
    _number = os.getpid()
    if _page is not None:
        _page[0] = 1


_enter()
if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_enter)
