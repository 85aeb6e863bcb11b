"""Stocks of draws: replacements of a word that are drawn before the word occurs again.

Computing a row of a law takes far longer than a hundred draws from it. So once a row is computed,
more draws are made than were asked for, and kept for the word's next occurrences. Over a long text
each row is computed a few times only, and yet each draw is independent and is given out once.
Whose generator made it does not matter, as long as it is a secure one.

A stock belongs to its process: after any fork, and in a pickle, it is empty. Draws that lie idle
for some seconds are thrown away, because the machine may have been copied meanwhile. Only workers
that are forked for one job may share a stock, in shared memory. A lock ensures that each draw is
given out once among all of them, and that no two compute the same row.
"""

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from multiprocessing import get_context
from threading import Lock
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.privacy.arrays import Ids, checked_ids, group, ranges, shared_zeros
from malaprop.privacy.channel import LawChannel
from malaprop.privacy.law import Law
from malaprop.privacy.randomness import SecureGenerator, begin_call, renewals, this_process

_KEPT = 1 << 24  # the most draws in stock: 64 MB
# How many draws to stock for a word: `_TIMES` what was needed so far, within limits. Beyond some
# thousands, computing the row again takes no longer than drawing from it. But if it is known that
# as many will be needed, the rest is saved.
_LEAST, _TIMES, _MOST, _MOST_OF_JOB = 64, 2, 4096, 1 << 16
_FEW, _LEAST_OF_FEW = 256, 8  # for few words at a time, somebody waits: each draw counts
_STOCKED = 0.4  # the share of the room that the stocks of all words together may take
_SPARE = 4  # draws beyond the estimated need, once there is an estimate
_AT_ONCE = 512  # words whose rows are computed before their draws are stored
_IDLE = 5.0  # seconds after which draws are thrown away if nobody asks for any
_PATIENCE = 0.0005  # seconds to wait before looking again for another worker's draws
_NOTHING: Ids = np.empty(0, dtype=np.int64)

_clearing = Lock()


def _renew_lock() -> None:
    global _clearing
    _clearing = Lock()  # another thread may have held it


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_renew_lock)


class Stock:
    """A channel with a stock of draws: the same law, and much faster word by word.

    A seeded generator must give the same words for the same call, whatever was drawn before: it
    gets none of the stock.
    """

    def __init__(self, channel: LawChannel[Law], *, shared: bool = False) -> None:
        """Make an empty stock; if it is `shared`, all processes forked from now on share it."""
        self._channel, self._size, self._shared = channel, len(channel.lexicon), shared
        self._clear()

    def __reduce__(self) -> tuple[type["Stock"], tuple[LawChannel[Law]]]:
        return Stock, (self._channel,)  # the same draws must not be given out twice

    def _clear(self) -> None:
        size = self._size
        make: Callable[..., Any] = shared_zeros if self._shared else np.zeros
        lock: Any = get_context("fork").Lock() if self._shared else Lock()
        self._lock: AbstractContextManager[object] = lock
        self._drawn: NDArray[np.int32] = make(_KEPT, np.int32)
        self._top: Ids = make(1, np.int64)
        self._first: Ids = make(size, np.int64)
        self._left: Ids = make(size, np.int64)
        self._needed: Ids = make(size, np.int64)
        self._claimed: NDArray[np.bool_] = make(size, np.bool_)
        self._orders: NDArray[np.float64] = make(3, np.float64)  # so far, in all; draws so far
        self._used: NDArray[np.float64] = make(2, np.float64)
        self._used[:] = _clocks()
        self._renewals = renewals()
        self._process = this_process()  # last: whoever sees it finds everything else new

    def expect_orders(self, orders: float) -> None:
        """Say about how many calls there will be in all, so that about as much is drawn."""
        self._orders[1] = orders

    def substitute(self, ids: Any, rng: Generator) -> Ids:
        if not isinstance(rng, SecureGenerator):
            return self._channel.substitute(ids, rng)
        begin_call(rng)
        groups = group(checked_ids(ids, self._size), self._size)
        return groups.scatter(self.take(groups.words, groups.counts, rng))

    def take(self, words: Ids, counts: Ids, rng: Generator) -> Ids:
        """Return `counts[i]` draws of each of the distinct `words[i]`, word after word."""
        if not self._shared and self._process is not this_process():
            with _clearing:  # one thread does it, the others wait
                if self._process is not this_process():
                    self._clear()  # otherwise parent and child would give out the same draws
        order = _Order(words, counts)
        with self._lock:
            self._drop_idle_draws()
            self._needed[words] += counts
            self._orders[0] += 1
            self._orders[2] += len(order.found)
        while order.missing.any():
            if not self._advance(order, rng):
                time.sleep(_PATIENCE)  # other workers are drawing what is missing
        return order.found

    def _drop_idle_draws(self) -> None:
        """Throw all draws away after an idle time, by either clock, or after a renewal.

        Machines are mostly copied while idle, and the copies would give out the same draws.
        """
        ticks, wall = now = _clocks()
        last_ticks, last_wall = self._used.tolist()
        used = 0.0 <= ticks - last_ticks <= _IDLE and 0.0 <= wall - last_wall <= _IDLE
        if self._renewals != renewals() or not used:
            self._left[:], self._top[0] = 0, 0
            self._renewals = renewals()
        self._used[:] = now

    def _advance(self, order: "_Order", rng: Generator) -> bool:
        """Serve from stock, then draw for words that nobody else draws for.

        Returns whether it made progress.
        """
        mine = lacking = _NOTHING
        try:
            with self._lock:
                self._serve(order)
                if not order.missing.any():
                    return True
                lacking = order.lacking(self._needed)
                mine = lacking[~self._claimed[order.words[lacking]]][:_AT_ONCE]
                self._claimed[order.words[mine]] = True
            if mine.size:
                self._draw(mine, order, rng)
        finally:  # also after an interrupt, or others would wait for ever
            self._claimed[order.words[mine]] = False
        return bool(mine.size or not lacking.size)

    def _serve(self, order: "_Order") -> None:
        open_ = np.flatnonzero(order.missing)
        words = order.words[open_]
        taken = np.minimum(order.missing[open_], self._left[words])
        self._left[words] -= taken  # first: after an interrupt, nobody may read beyond the end
        order.fill(open_, taken, self._drawn[ranges(self._first[words], taken)])
        self._first[words] += taken

    def _draw(self, mine: Ids, order: "_Order", rng: Generator) -> None:
        """Compute the rows of claimed words; draw what is missing, and more for the stock."""
        words, now = order.words[mine], order.missing[mine]
        drawn = self._channel.draw_words(words, now + self._to_stock(self._needed[words]), rng, now)
        pairs = list(zip(drawn, now.tolist(), strict=True))
        order.fill(mine, now, np.concatenate([draws[:count] for draws, count in pairs]))
        extra = np.fromiter(map(len, drawn), np.int64, len(drawn)) - now
        with self._lock:
            self._keep(words, extra, np.concatenate([draws[count:] for draws, count in pairs]))

    def _to_stock(self, needed: Ids) -> Ids:
        """Return how many draws to stock for words, given how many were needed so far."""
        orders, expected, draws = self._orders.tolist()
        times, spare = float(_TIMES), _LEAST_OF_FEW if len(needed) <= _FEW else _LEAST
        if expected > 0.0:
            times = max(expected / orders - 1.0, 0.0)
            spare = _SPARE if times else 0
        most, part = _MOST_OF_JOB if expected > 0.0 else _MOST, 1.0
        # The stocks of all words must fit, or many draws would be thrown away unused.
        if times * draws > (room := _STOCKED * _KEPT):
            every = times * self._needed
            # First, frequent words get fewer: their rows are few.
            while most > _MOST and np.minimum(every, most).sum() > room:
                most //= 2
            part = min(1.0, room / float(np.minimum(every, most).sum()))
        wanted = part * np.minimum(times * needed, most)
        wanted = np.maximum(wanted, spare) if expected <= 0.0 else wanted + np.sqrt(wanted) + spare
        return np.asarray(wanted, dtype=np.int64)

    def _keep(self, words: Ids, counts: Ids, drawn: Ids) -> None:
        if len(drawn) > _KEPT:
            return
        if self._top[0] + len(drawn) > _KEPT:  # full: throw all of it away and start again
            self._left[:], self._top[0] = 0, 0
        start = int(self._top[0])
        self._drawn[start : start + len(drawn)] = drawn
        self._top[0] += len(drawn)
        self._first[words] = start + np.cumsum(counts) - counts
        self._left[words] = counts
        self._used[:] = _clocks()  # computing rows may take long


def _clocks() -> tuple[float, float]:
    return time.monotonic(), time.time()


class _Order:
    """An order of draws, and the draws that it has got so far."""

    def __init__(self, words: Ids, counts: Ids) -> None:
        self.words, self.missing = words, counts.copy()
        self._next = np.cumsum(counts) - counts
        self.found: Ids = np.empty(int(counts.sum()), dtype=np.int64)

    def lacking(self, needed: Ids) -> Ids:
        """Return the places of words with missing draws, those that were needed most first.

        It is faster to compute rows together if they need about the same number of draws.
        """
        lacking = np.flatnonzero(self.missing)
        return lacking[np.argsort(-needed[self.words[lacking]], kind="stable")]

    def fill(self, places: Ids, counts: Ids, drawn: NDArray[np.integer[Any]]) -> None:
        self.found[ranges(self._next[places], counts)] = drawn
        self._next[places] += counts
        self.missing[places] -= counts
