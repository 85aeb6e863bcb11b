"""Draws made ahead: what a word may become, drawn before it occurs again.

A row of a law takes far longer to compute than a hundred draws from it. So when a row is at hand,
more draws are made than are asked for, and kept for the word's next occurrences: over a long text
each row is computed a few times only, and yet each draw is independent and is given out once.

What is kept stays in the process: a fork, whoever makes it, and a pickle begin with nothing. What
lay idle for some seconds is thrown away: the machine may have been copied meanwhile. Only workers
that are forked for one job may have a stock in common, in memory that they share; a lock sees to
it that each draw is given out once among all of them, and that no two compute the same row.
"""

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from multiprocessing import get_context
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids
from malaprop.core.randomness.process import renewals, this_process

Sampler = Callable[[Ids, Ids], list[Ids]]
"""From words, and how many draws of each are wanted, to those draws."""

_KEPT = 1 << 24  # draws that are kept at most: 64 MB
# How many are made ahead: so many times what was needed so far. Beyond some thousands, to compute
# a row again takes no longer than to draw from it.
_LEAST, _TIMES, _MOST = 64, 2, 4096
_STOCKED = 0.25  # of the room for draws, which those that are ahead of all words may take
_SPARE = 8  # made beyond what is likely to be needed, where that is known
_AT_ONCE = 512  # words whose rows are computed before what was drawn is laid down
_IDLE = 5.0  # seconds for which draws are kept while nobody asks for any
_NOTHING: Ids = np.empty(0, dtype=np.int64)
_PATIENCE = 0.0005  # seconds between two looks at what another worker is drawing


_forgetting = Lock()


def _renew_lock() -> None:
    global _forgetting
    _forgetting = Lock()  # another thread may have held it


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_renew_lock)


class DrawStock:
    """A stock of draws that belongs to one channel and one source of noise."""

    def __init__(self, size: int, *, shared: bool = False) -> None:
        """Make an empty stock for a lexicon of that size; one that forks share, if so wanted."""
        self._size, self._shared = size, shared
        self._forget()

    def _forget(self) -> None:
        make: Callable[..., Any] = _common_zeros if self._shared else np.zeros
        lock: Any = get_context("fork").Lock() if self._shared else Lock()
        self._lock: AbstractContextManager[object] = lock
        self._drawn: NDArray[np.int32] = make(_KEPT, np.int32)
        self._top: Ids = make(1, np.int64)
        self._first: Ids = make(self._size, np.int64)
        self._left: Ids = make(self._size, np.int64)
        self._needed: Ids = make(self._size, np.int64)
        self._claimed: NDArray[np.bool_] = make(self._size, np.bool_)
        self._done: NDArray[np.float64] = make(1, np.float64)
        self._used: NDArray[np.float64] = make(2, np.float64)
        self._used[:] = _clocks()
        self._renewals = renewals()
        self._process = this_process()  # last: whoever sees it finds all else new

    def tell(self, done: float) -> None:
        """Tell what share of the work is done, so that not much more is drawn than is needed."""
        self._done[0] = done

    def take(self, words: Ids, counts: Ids, rows: Sampler) -> Ids:
        """`counts` draws of each of `words`, which are distinct, in one row."""
        if not self._shared and self._process is not this_process():
            with _forgetting:  # one thread does it, and the others wait until it is done
                if self._process is not this_process():
                    self._forget()  # else parent and child would give out the same
        order = _Order(words, counts)
        with self._lock:
            self._drop_what_lay_idle()
            self._needed[words] += counts
        while order.missing.any():
            if not self._go_on(order, rows):
                time.sleep(_PATIENCE)  # others are drawing what is missing
        return order.found

    def _drop_what_lay_idle(self) -> None:
        """Throw away what nobody has asked for in a while, by either clock, or is renewed.

        A machine is mostly copied when it is idle, and its copies would give out the same.
        """
        ticks, wall = now = _clocks()
        last_ticks, last_wall = self._used.tolist()
        used = 0.0 <= ticks - last_ticks <= _IDLE and 0.0 <= wall - last_wall <= _IDLE
        if self._renewals != renewals() or not used:
            self._left[:], self._top[0] = 0, 0
            self._renewals = renewals()
        self._used[:] = now

    def _go_on(self, order: "_Order", rows: Sampler) -> bool:
        """Give out what is there; draw for words that no other does. Whether anything was done."""
        mine = lacking = _NOTHING
        try:
            with self._lock:
                self._serve(order)
                if not order.missing.any():
                    return True
                lacking = order.lacking()
                mine = lacking[~self._claimed[order.words[lacking]]][:_AT_ONCE]
                self._claimed[order.words[mine]] = True
            if mine.size:
                self._draw(mine, order, rows)
        finally:  # also after an interrupt: nobody would wait for it to end
            self._claimed[order.words[mine]] = False
        return bool(mine.size or not lacking.size)

    def _serve(self, order: "_Order") -> None:
        """Give out what is there."""
        open_ = np.flatnonzero(order.missing)
        words = order.words[open_]
        taken = np.minimum(order.missing[open_], self._left[words])
        self._left[words] -= taken  # first: after an interrupt nobody may read on beyond the end
        order.fill(open_, taken, self._drawn[_ranges(self._first[words], taken)])
        self._first[words] += taken

    def _draw(self, mine: Ids, order: "_Order", rows: Sampler) -> None:
        """Compute the rows of words that are claimed: draw what is missing, and some ahead."""
        words, now = order.words[mine], order.missing[mine]
        ahead = self._ahead(self._needed[words])
        drawn = rows(words, now + ahead)
        each = list(zip(drawn, now.tolist(), strict=True))
        order.fill(mine, now, np.concatenate([some[:count] for some, count in each]))
        with self._lock:
            self._keep(words, ahead, np.concatenate([some[count:] for some, count in each]))

    def _ahead(self, needed: Ids) -> Ids:
        """How many draws to make ahead of words of which so many were needed so far."""
        found = np.minimum(_TIMES * needed, self._fair(needed))
        found = np.maximum(found, _LEAST)
        if (done := min(float(self._done[0]), 1.0)) > 0.0:
            left = needed * (1.0 / done - 1.0)
            found = np.minimum(found, left + 2.0 * np.sqrt(left) + _SPARE)
        return np.minimum(found, _MOST).astype(np.int64)

    def _fair(self, needed: Ids) -> NDArray[np.float64]:
        """What words may have of the stock: a share like theirs in what was needed so far.

        So all of them fit. Else much would be thrown away that was never given out.
        """
        shares: NDArray[np.float64] = needed / max(1.0, float(self._needed.sum()))
        return _STOCKED * _KEPT * shares

    def _keep(self, words: Ids, counts: Ids, drawn: Ids) -> None:
        if len(drawn) > _KEPT:
            return
        if self._top[0] + len(drawn) > _KEPT:  # what nobody has asked for is thrown away
            self._left[:], self._top[0] = 0, 0
        start = int(self._top[0])
        self._drawn[start : start + len(drawn)] = drawn
        self._top[0] += len(drawn)
        self._first[words] = start + np.cumsum(counts) - counts
        self._left[words] = counts
        self._used[:] = _clocks()  # to compute rows may take long


def _clocks() -> tuple[float, float]:
    return time.monotonic(), time.time()


class _Order:
    """Draws that are asked for, and what is there of them."""

    def __init__(self, words: Ids, counts: Ids) -> None:
        self.words, self.missing = words, counts.copy()
        self._next = np.cumsum(counts) - counts
        self.found: Ids = np.empty(int(counts.sum()), dtype=np.int64)

    def lacking(self) -> Ids:
        """The places of words with missing draws, those with the most first.

        Rows of which about as many draws are wanted are best computed together.
        """
        return np.argsort(-self.missing, kind="stable")[: np.count_nonzero(self.missing)]

    def fill(self, places: Ids, counts: Ids, drawn: NDArray[np.integer[Any]]) -> None:
        """Lay down so many draws for each of some words."""
        self.found[_ranges(self._next[places], counts)] = drawn
        self._next[places] += counts
        self.missing[places] -= counts


def _ranges(first: Ids, counts: Ids) -> Ids:
    """first[0], first[0] + 1, … counts[0] of them, then those of first[1], and so on."""
    ends = np.cumsum(counts)
    return np.arange(int(counts.sum())) + np.repeat(first - ends + counts, counts)


def _common_zeros(shape: int, kind: Any) -> Any:
    """An array of zeros in memory that forks have in common."""
    from mmap import mmap

    return np.frombuffer(mmap(-1, shape * np.dtype(kind).itemsize), dtype=kind)
