"""Work on all cores: parts of it in threads of this process, with one BLAS thread each.

BLAS alone would use all cores for the matrix products and leave one for what is done with them.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Part = TypeVar("Part")
Result = TypeVar("Result")


def threads() -> int:
    """How many threads BLAS would use: OPENBLAS_NUM_THREADS and its like limit them."""
    return max([1, *(int(each["num_threads"]) for each in _blas().info())])


def in_threads(work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """`work(part)` for each part, in their order."""
    workers = min(threads(), len(parts))
    if workers < 2:
        return [work(part) for part in parts]
    with _single.held(), ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, parts))


@cache
def _blas() -> "ThreadpoolController":
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


class _SingleBlas:
    """BLAS kept to one thread for as long as somebody wants it so.

    The limit is the process's, so that of two who set it on their own, the first to end would
    give it back too early, and the second for ever.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._holders = 0
        self._limit: Any = None

    @contextmanager
    def held(self) -> Iterator[None]:
        with self._lock:
            if self._holders == 0:
                self._limit = _blas().limit(limits=1)
            self._holders += 1
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                if self._holders == 0:
                    self._limit.restore_original_limits()


_single = _SingleBlas()
