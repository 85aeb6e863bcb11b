"""Worker processes that share prepared tables, and never share noise.

Where the system can fork, a worker is a fork: the lexicon and the channel's tables are in memory
once. Elsewhere, a worker starts afresh from a pickle and opens the lexicon again: an imported
lexicon as a memory map of the same file, an embedded one, which is packed, in memory of
its own. In both cases its randomness is its own: `malaprop.privacy.randomness` takes a new key in a
fork, and no pickle holds one.
"""

import gc
import multiprocessing
import os
import signal
import sys
import threading
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np
from numpy.random import Generator
from threadpoolctl import threadpool_limits

from malaprop.files.debits import Debits, OwnedTexts
from malaprop.files.resume_file import Drawn, Journal
from malaprop.privacy.errors import MalapropError
from malaprop.privatizer import Privatizer

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

_OBJECTS_BETWEEN_COLLECTIONS = 50_000
_SIGNALS = [  # Windows has no SIGHUP
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # of malloc.h
_LARGEST_KEPT = 1 << 25  # bytes of a freed array that is kept: the most that glibc allows
_MOST_KEPT = 1 << 27  # bytes that a worker keeps

StartMethod = Literal["fork", "spawn", "forkserver"]


Work = Callable[[Any, Any], Any]
"""What a worker does with a key and some texts; it must be picklable where there is no fork."""


class WorkerError(MalapropError):
    """A worker process ended unexpectedly."""


class WorkerPool:
    """Up to `size` processes that do the work that is added, in any order.

    Starts a process only when there is work for it. If the only work is a single piece and no
    process runs yet, does it in this process: a short text does not pay for processes.

        with WorkerPool(work, size=4) as pool:
            pool.add(1, texts)
            for key, result in pool.results():
                ...
    """

    def __init__(self, work: Work, size: int, start: StartMethod | None = None) -> None:
        self._work, self.size = work, size
        # macOS can fork too, but its own libraries break in the child.
        usual: StartMethod = "fork" if sys.platform == "linux" else "spawn"
        self._context: BaseContext = multiprocessing.get_context(start or usual)
        self._backlog: deque[tuple[Any, Any]] = deque()
        self._processes: dict[Connection[Any, Any], BaseProcess] = {}
        self._idle: list[Connection[Any, Any]] = []
        self._busy: set[Connection[Any, Any]] = set()

    def __enter__(self) -> "WorkerPool":
        return self

    def __exit__(self, *error: object) -> None:
        with _signals_held():  # workers do not hear them, and would be waited for
            started = [process for process in self._processes.values() if process.pid is not None]
            for process in started:
                process.kill()
            for process in started:
                process.join()
            for connection in self._processes:
                connection.close()
            self._processes.clear()
            self._idle.clear()
            self._busy.clear()

    @property
    def forks(self) -> bool:
        """Whether workers are forks, which share this process's memory."""
        return self.size > 1 and self._context.get_start_method() == "fork"

    def add(self, key: Any, texts: Any) -> None:
        self._backlog.append((key, texts))

    def results(self) -> Iterator[tuple[Any, Any]]:
        """Wait until some work is done, and yield its keys and results; call `add` first."""
        started = bool(self._idle or self._busy)
        if self.size <= 1 or (not started and len(self._backlog) == 1):
            key, texts = self._backlog.popleft()
            yield key, self._work(key, texts)
            return
        self._assign()
        for ready in wait(list(self._busy)):
            connection = cast("Connection[Any, Any]", ready)
            try:
                key, result = connection.recv()
            except (EOFError, OSError):
                raise _gone(self._processes[connection]) from None
            self._idle.append(connection)
            self._busy.remove(connection)
            self._assign()  # first: no worker should wait until the result is used
            if isinstance(result, BaseException):
                raise result
            yield key, result

    def _assign(self) -> None:
        while self._backlog and (self._idle or len(self._busy) < self.size):
            connection = self._idle.pop() if self._idle else self._start()
            self._busy.add(connection)
            try:
                connection.send(self._backlog.popleft())
            except OSError:
                raise _gone(self._processes[connection]) from None

    def _start(self) -> "Connection[Any, Any]":
        ours, theirs = self._context.Pipe()
        # Not every context says so, but all of them have processes.
        make: Any = self._context
        process = make.Process(target=_serve, args=(self._work, theirs), daemon=True)
        self._processes[ours] = process  # before it runs, so that an interrupt finds it
        with warnings.catch_warnings():
            # Newer Pythons warn of forks beside threads, which could hold locks for ever. The
            # threads here are those of a progress bar, which no worker touches, and of BLAS,
            # which handles forks itself.
            warnings.simplefilter("ignore", DeprecationWarning)
            # A signal must find the child ready for it, or it would end in a traceback.
            with _signals_held():
                process.start()
        theirs.close()
        return ours


def available_cores() -> int:
    """Return how many processes can run at the same time, as far as the system tells."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def _signals_held() -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _gone(process: "BaseProcess") -> WorkerError:
    process.join(1.0)
    return WorkerError(
        f"a worker process ended unexpectedly (exit code {process.exitcode}), perhaps for "
        "lack of memory: try fewer of them with `workers`"
    )


def _serve(work: Work, connection: "Connection[Any, Any]") -> None:
    """Work until the connection closes, or the parent process is gone."""
    # Ctrl-C goes to all processes of a terminal, but only the first one cleans up, and ends
    # the others.
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)

    def end_with_parent() -> None:
        if parent := multiprocessing.parent_process():
            wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    # What is inherited stays: looking through it for garbage takes time, and would copy its pages.
    gc.freeze()
    # Nor is most of what a worker remembers ever garbage: look through it seldom.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, 10, 10)
    _keep_freed_memory()
    # There is a worker for each core: matrix products of theirs must not wait for each other.
    threadpool_limits(1)
    try:
        while True:
            key, texts = connection.recv()
            connection.send((key, _attempt(work, key, texts)))
    except (EOFError, OSError):
        # Without Python's usual end, which would flush buffers that a fork has inherited.
        os._exit(0)


def _keep_freed_memory() -> None:
    """Have the C library keep the memory of freed arrays, for those of the next batch.

    Otherwise it returns large ones to the system, and clearing new pages takes a tenth of the time.
    """
    if sys.platform != "linux":
        return
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # not every C library has it
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGEST_KEPT)
        mallopt(_M_TRIM_THRESHOLD, _MOST_KEPT)


def _attempt(work: Work, key: Any, texts: Any) -> Any:
    try:
        return work(key, texts)
    except MalapropError as error:
        return error
    except MemoryError:
        return MemoryError()
    except BaseException as error:  # such as the panics of libraries in Rust
        return WorkerError(internal_error(error, "a worker"))


def internal_error(error: BaseException, process: str) -> str:
    """Say what failed where, without the error's message: it may quote the text."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(frame.filename)}:{frame.lineno}"
    return f"internal error in {process}: {type(error).__name__} at {place}; please report it"


# The one loop that every text of a file goes through.

Key = tuple[int, int]
"""The number of a file in its run, and of a batch in its file."""


class Item(NamedTuple):
    """A batch to draw; `journal` is that of its file, if there is one.

    `copy` and `batch` are what the caller writes the drawn texts with. `owned` says whom the texts
    are about, if a ledger is to know.
    """

    key: Key
    texts: list[str]
    journal: Journal | None = None
    copy: Any = None
    batch: Any = None
    owned: OwnedTexts | None = None


def draw_all(items: Iterable[Item], pool: WorkerPool) -> Iterator[tuple[Item, Drawn]]:
    """Yield what is drawn for each item, in order; the items may be of several files.

    Takes what a journal holds from there, and writes what is drawn to the journal before it is
    used. Workers draw in any order. Reads at most twice as many items ahead as the pool has
    workers.
    """
    items = iter(items)
    ahead = 2 * pool.size if pool.size > 1 else 1
    waiting: deque[Item] = deque()
    begun: dict[Key, Item] = {}
    ready: dict[Key, Drawn] = {}
    while True:
        while len(waiting) < ahead and (item := next(items, None)):
            waiting.append(item)
            if item.texts and not (item.journal is not None and item.key[1] in item.journal):
                begun[item.key] = item
                pool.add(item.key, item.texts if item.owned is None else item.owned)
        if not waiting:
            return
        item = waiting.popleft()
        while item.key in begun:
            for key, drawn in pool.results():
                done = begun.pop(key)
                if done.journal is not None:
                    done.journal.keep(key[1], done.texts, drawn)
                ready[key] = drawn
        if item.key not in ready and item.texts and item.journal is not None:
            ready[item.key] = item.journal.recall(item.key[1], item.texts)
        yield item, ready.pop(item.key, Drawn([], {}))


@dataclass(frozen=True)
class BatchDraw:
    """Privatizes the texts of a batch, in any process.

    With a seed, the noise of a batch follows from the seed and the batch's key alone: a
    demonstration gives the same result with any number of workers.
    """

    privatizer: Privatizer
    seed: int | None = None
    debits: Debits | None = None

    def __call__(self, key: Key, texts: list[str] | OwnedTexts) -> Drawn:
        privatizer = self.privatizer
        if isinstance(texts, OwnedTexts):
            return Drawn(*cast(Debits, self.debits).batch(privatizer, texts))
        if self.seed is not None:
            seed = np.random.SeedSequence(self.seed, spawn_key=key)
            privatizer = privatizer.drawing_from(Generator(np.random.PCG64(seed)))
        private, counts = privatizer.batch(texts)
        return Drawn([*private], counts)
