"""Progress of long computations, reported to a callback."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import RLock
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

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


# Work on all cores, in threads of this process with one BLAS thread each.
#
# BLAS alone would use all cores for matrix products, and a single one for everything else.


Part = TypeVar("Part")
Result = TypeVar("Result")
_limiting = RLock()


def _renew() -> None:
    global _limiting
    _limiting = RLock()  # the parent's threads do not exist here, and one of them may have held it


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_renew)


def threads() -> int:
    """Return how many threads BLAS would use; OPENBLAS_NUM_THREADS and the like limit them."""
    return max([1, *(int(library["num_threads"]) for library in _blas().info())])


def in_threads(work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """Return `work(part)` for each part, in order. A single part runs in this thread."""
    most = threads()
    if most == 1:
        return [work(part) for part in parts]
    # The limit is global: of two threads that set it at once, one would restore the other's.
    with _limiting, _blas().limit(limits=1):
        if len(parts) < 2:  # no pool, and no BLAS threads that keep waiting for each other
            return [work(part) for part in parts]
        with ThreadPoolExecutor(min(most, len(parts))) as pool:
            return list(pool.map(work, parts))


def each_in_threads(work: Callable[[Part], Result], parts: Sequence[Part]) -> Iterator[Result]:
    """Yield the results one by one, in order: for many parts, or for large results."""
    most = threads()
    with _limiting, _blas().limit(limits=1), ThreadPoolExecutor(most) as pool:
        for start in range(0, len(parts), most):  # so that an interruption waits for few parts only
            yield from pool.map(work, parts[start : start + most])


@cache
def _blas() -> "ThreadpoolController":
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
