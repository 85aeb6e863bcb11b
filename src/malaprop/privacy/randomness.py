"""Sources of noise.

Privacy needs noise that nobody can predict. `secure_rng` takes its key from the operating system
and runs AES in counter mode. It is fresh in every process, however that was forked, and in every
call of a channel; a copy or a pickle is a new generator. So neither two workers nor two copies of
a machine draw the same noise.

`seeded_rng` repeats itself on purpose, for tests and demonstrations. Whoever knows the seed can
undo the mechanism, so releases made with it are labelled `seeded: not private`.

New processes are detected without Python's help: its hooks see only the forks that Python makes.
But the child of any fork has its parent's memory, and with it the parent's noise. So this module
sets aside a page of memory that Linux wipes in every child. Code that finds it wiped is in a new
process, even if both have the same process id, as in two containers. If the system cannot wipe
memory, the process id must do.
"""

import os
import sys
from collections.abc import Callable
from functools import wraps
from mmap import PAGESIZE, mmap
from numbers import Integral
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.privacy.errors import ParameterError

SECURE = "secure"
SEEDED = "seeded: not private"
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


def renew_randomness() -> None:
    """Take new keys and throw away stocked draws.

    Call it before a snapshot of a virtual machine is taken, or after it is restored: then no draw
    made before is given out twice. Forks, copies and pickles do not need it.
    """
    global _renewals
    _renewals += 1
    _enter()


def renewals() -> int:
    """Return how often randomness was renewed, in this process and before it was forked."""
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


class SecureGenerator(Generator):
    """A numpy generator over AES in counter mode, keyed by the operating system.

    It cannot be repeated: it takes no seed, a copy is a new generator, and each draw checks
    whether it is in a new process.
    """

    def __init__(self) -> None:
        from malaprop.privacy.secure_bits import SecureBits

        self._bits = SecureBits()
        super().__init__(self._bits)

    def begin_call(self) -> None:
        """Make the next draw start with fresh entropy from the operating system."""
        self._bits.begin_call()

    def spawn(self, n_children: int) -> list[Generator]:
        """Make `n_children` generators, each with a key of its own."""
        return [SecureGenerator() for _ in range(n_children)]

    def __reduce__(self) -> tuple[Callable[[], "SecureGenerator"], tuple[()]]:  # type: ignore[override]
        # A pickled state would repeat the noise.
        return SecureGenerator, ()

    def __copy__(self, memo: object = None) -> "SecureGenerator":
        return SecureGenerator()

    __deepcopy__ = __copy__


def _checked_first(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method of numpy's generator: check the process and the call before each draw."""

    @wraps(draw)
    def checked(self: SecureGenerator, *args: Any, **options: Any) -> Any:
        self._bits.notice()
        return draw(self, *args, **options)

    return checked


for _name, _draw in vars(Generator).items():
    if callable(_draw) and not _name.startswith("_") and _name not in vars(SecureGenerator):
        setattr(SecureGenerator, _name, _checked_first(_draw))


def secure_rng() -> Generator:
    """Return a cryptographic generator, keyed by the operating system, fresh in every process."""
    return SecureGenerator()


def seeded_rng(seed: int) -> Generator:
    """Return a generator that repeats itself, for tests and demonstrations: not private.

    >>> int(seeded_rng(7).integers(1000)) == int(seeded_rng(7).integers(1000))
    True
    """
    if not isinstance(seed, Integral) or seed < 0:
        raise ParameterError("A seed must be a whole number, 0 or more.")
    return Generator(np.random.PCG64(int(seed)))


def checked_rng(rng: object) -> Generator:
    """Return `rng`; raise an error unless it is a generator."""
    if not isinstance(rng, Generator):
        raise ParameterError(
            f"Randomness must be a numpy.random.Generator, such as malaprop.secure_rng(). "
            f"Got {type(rng).__name__}."
        )
    return rng


def begin_call(rng: object) -> Generator:
    """Check `rng`; a secure generator takes in fresh entropy before its next draw.

    A machine restored from a copy of memory then draws other noise than the original.
    """
    checked = checked_rng(rng)
    if isinstance(checked, SecureGenerator):
        checked.begin_call()
    return checked


def label(rng: Generator) -> str:
    """Return the label that a release puts on its randomness.

    Only a generator made by `secure_rng` counts as secure: Malaprop cannot know who else knows the
    state of any other.
    """
    return SECURE if isinstance(rng, SecureGenerator) else SEEDED
