"""Progress of long computations, reported to a callback."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import RLock
from time import monotonic
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


NO_UNIT = "-"
"""The unit of steps whose rate tells nothing: beside another rate, for example."""
_WINDOW = 30.0  # seconds that the rate is taken from
_SAMPLES = 240
_SOON = 0.5  # seconds before which a rate says little


class Meter:
    """How much of a computation is done, how fast it goes, and how long it still takes.

    `unit` is what steps are, if people count them: words, bytes. Without one, the rate is given in
    percent. `clock` tells the seconds.

    >>> now = iter([0.0, 10.0, 11.0])
    >>> meter = Meter("words", clock=lambda: next(now))
    >>> meter.update(2_000, 6_000)
    >>> str(meter)
    '200 words a second, 0:19 left'
    """

    def __init__(self, unit: str = "", clock: Callable[[], float] = monotonic) -> None:
        self._unit, self._clock = unit, clock
        self._samples: deque[tuple[float, int]] = deque(maxlen=_SAMPLES)
        self._total: int | None = None
        self._start = clock(), 0

    def update(self, done: int, total: int | None) -> None:
        """Note that `done` steps of `total` are done; a total may be unknown."""
        now = self._clock()
        if self._samples and (total != self._total or done < self._samples[-1][1]):
            self._samples.clear()  # another computation, or another count
            self._start = now, done
        self._total = total
        if not self._samples:
            self._samples.append(self._start)
        close = now - self._samples[-1][0] < _WINDOW / _SAMPLES
        if close and len(self._samples) > 1:
            self._samples[-1] = self._samples[-1][0], done
        else:
            self._samples.append((now, done))
        while len(self._samples) > 2 and now - self._samples[1][0] > _WINDOW:
            self._samples.popleft()

    @property
    def rate(self) -> float:
        """Steps a second, lately; 0 if unknown."""
        if not self._samples:
            return 0.0
        (first, before), (last, done) = self._samples[0], self._samples[-1]
        return (done - before) / (last - first) if last - first >= _SOON else 0.0

    @property
    def left(self) -> float | None:
        """The seconds that the rest takes at this rate; None if unknown."""
        if self._total is None or not self.rate:
            return None
        last, done = self._samples[-1]
        return max(0.0, (self._total - done) / self.rate - (self._clock() - last))

    def __str__(self) -> str:
        """Return the rate and the time left, as far as they are known."""
        told = [_rate(self.rate, self._unit, self._total)] if self.rate else []
        if (left := self.left) is not None:
            told.append(f"{clock_time(left)} left")
        return ", ".join(filter(None, told))


def _rate(rate: float, unit: str, total: int | None) -> str:
    if unit == NO_UNIT:
        return ""
    if unit == "bytes":
        return f"{rate / 1e6:,.1f} MB a second"
    if unit:
        return f"{rate:,.0f} {unit} a second"
    if not total:
        return ""
    share = rate / total
    for seconds, period in ((1, "second"), (60, "minute"), (3600, "hour")):
        if share * seconds >= 0.01:
            return f"{share * seconds:.0%} a {period}"
    return ""


def clock_time(seconds: float) -> str:
    """Write a time as a clock does.

    >>> clock_time(7.4), clock_time(754), clock_time(7_200)
    ('0:07', '12:34', '2:00:00')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


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
