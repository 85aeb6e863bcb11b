"""Work on all cores: parts of it in threads of this process, with one BLAS thread each.

BLAS alone would use all cores for the matrix products and leave one for what is done with them.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import RLock
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Part = TypeVar("Part")
Result = TypeVar("Result")
_limiting = RLock()


def _renew() -> None:
    global _limiting
    _limiting = RLock()  # a thread that this process does not have may have held it


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_renew)


def threads() -> int:
    """How many threads BLAS would use: OPENBLAS_NUM_THREADS and its like limit them."""
    return max([1, *(int(each["num_threads"]) for each in _blas().info())])


def in_threads(work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """`work(part)` for each part, in their order. A single part is done in one thread."""
    most = threads()
    if most == 1:
        return [work(part) for part in parts]
    # The limit is the process's: of two who set it at once, one would give the other's back.
    with _limiting, _blas().limit(limits=1):
        if len(parts) < 2:  # no pool, and no BLAS threads that wait for each other all the time
            return [work(part) for part in parts]
        with ThreadPoolExecutor(min(most, len(parts))) as pool:
            return list(pool.map(work, parts))


def each_in_threads(work: Callable[[Part], Result], parts: Sequence[Part]) -> Iterator[Result]:
    """The same, one result after the other, for parts that are many, or whose results are large."""
    most = threads()
    with _limiting, _blas().limit(limits=1), ThreadPoolExecutor(most) as pool:
        for start in range(0, len(parts), most):  # so that an interruption waits for few
            yield from pool.map(work, parts[start : start + most])


@cache
def _blas() -> "ThreadpoolController":
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
