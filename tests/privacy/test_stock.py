"""Stocked draws: each given out once, in the process that made it, following the law."""

import itertools
import math
import multiprocessing
import os
import pickle
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from malaprop import TEM, Lexicon, renew_randomness, secure_rng
from malaprop.privacy import stock as stock_module
from malaprop.privacy.arrays import Ids
from malaprop.privacy.errors import LexiconError
from malaprop.privacy.stock import Stock

RNG = np.random.Generator(np.random.PCG64(0))


@pytest.fixture(autouse=True)
def _never_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that stops for some seconds must not change what is drawn."""
    monkeypatch.setattr(stock_module, "_IDLE", math.inf)


def stock_of(channel: Any, *, shared: bool = False) -> Stock:
    """A stock of the draws that some object makes."""
    return Stock(channel, shared=shared)


class Numbered:
    """A channel whose draws are all different numbers."""

    def __init__(self, size: int = 3) -> None:
        self.lexicon, self.next, self.rows = range(size), 0, 0

    def draw_words(self, words: Ids, counts: Ids, rng: object, least: Ids) -> list[Ids]:
        found = []
        for count in counts.tolist():
            found.append(np.arange(self.next, self.next + count))
            self.next += count
            self.rows += 1
        return found


class Making:
    """A channel whose draws a function makes, from words, the least counts and the wanted ones."""

    def __init__(self, size: int, make: Callable[[Ids, Ids, Ids], list[Ids]]) -> None:
        self.lexicon, self.make = range(size), make

    def draw_words(self, words: Ids, counts: Ids, rng: object, least: Ids) -> list[Ids]:
        return self.make(words, least, counts)


def test_no_draw_is_given_out_twice() -> None:
    rows, rng = Numbered(20), np.random.Generator(np.random.PCG64(1))
    stock = stock_of(rows)
    seen: Counter[int] = Counter()
    asked = 0
    for _ in range(300):
        words = np.unique(rng.integers(0, 20, size=6))
        counts = rng.integers(1, 9, size=len(words))
        found = stock.take(words, counts, RNG)
        assert len(found) == counts.sum()
        seen.update(found.tolist())
        asked += int(counts.sum())
    assert max(seen.values()) == 1
    assert len(seen) == asked
    assert rows.rows < 20 * 12  # a few rows a word, not one for each time


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("malaprop.privacy.stock._KEPT", 500)
    rows = Numbered(400)
    stock = stock_of(rows)
    seen: Counter[int] = Counter()
    for start in (*range(0, 400, 10), *range(0, 400, 10)):
        seen.update(stock.take(np.arange(start, start + 10), np.full(10, 3), RNG).tolist())
        assert stock._top[0] <= 500
        assert stock._left.sum() <= 500
    stock.take(np.arange(400), np.full(400, 1), RNG)  # more than could be kept
    assert max(seen.values()) == 1


def test_an_error_leaves_the_word_free() -> None:
    def failing(words: Ids, least: Ids, counts: Ids) -> list[Ids]:
        raise LexiconError("no rows today")

    rows = Making(3, failing)
    stock = stock_of(rows)
    for _ in range(2):
        with pytest.raises(LexiconError):
            stock.take(np.array([1]), np.array([2]), RNG)
    rows.make = lambda words, least, counts: Numbered().draw_words(words, counts, RNG, least)
    assert len(stock.take(np.array([1]), np.array([2]), RNG)) == 2


def test_threads_share_a_stock() -> None:
    """Each draw is given out once, and threads wait for rows that others compute."""
    numbers, lock = itertools.count(), Lock()

    def rows(words: Ids, least: Ids, counts: Ids) -> list[Ids]:
        with lock:
            return [np.array([next(numbers) for _ in range(n)]) for n in counts.tolist()]

    stock = stock_of(Making(50, rows))

    def job(seed: int) -> list[int]:
        rng, found = np.random.Generator(np.random.PCG64(seed)), []
        for _ in range(60):
            words = np.unique(rng.integers(0, 50, size=30))
            found += stock.take(words, rng.integers(1, 6, size=len(words)), RNG).tolist()
        return found

    with ThreadPoolExecutor(4) as pool:
        seen = Counter(number for part in pool.map(job, range(4)) for number in part)
    assert max(seen.values()) == 1


def _numbers_of(out: Any, stock: Any, seed: int, together: Any) -> None:
    rng, found, rows = np.random.Generator(np.random.PCG64(seed)), list[int](), stock._channel
    rows.next = 1_000_000 * (seed + 1)  # so that each process makes numbers of its own
    for _ in range(100):
        together.wait(600)  # else one could be done before another has begun
        words = np.unique(rng.integers(0, 200, size=60))
        found += stock.take(words, rng.integers(1, 9, size=len(words)), RNG).tolist()
    out.put((found, rows.rows))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_workers_share_a_stock() -> None:
    """The stock of one worker serves the others, and nothing is given out twice."""
    context = multiprocessing.get_context("fork")
    stock, queue = stock_of(Numbered(200), shared=True), context.SimpleQueue()
    together = context.Barrier(3)
    jobs = [(queue, stock, i, together) for i in range(3)]
    workers = [context.Process(target=_numbers_of, args=job) for job in jobs]
    for worker in workers:
        worker.start()
    results = [queue.get() for _ in workers]
    for worker in workers:
        worker.join()
    seen = Counter(number for found, _ in results for number in found)
    assert max(seen.values()) == 1
    owners = [{number // 1_000_000 for number in found} for found, _ in results]
    assert all(len(some) > 1 for some in owners)
    assert sum(rows for _, rows in results) < 200 * 8


def test_a_long_run_follows_the_law(line: Lexicon) -> None:
    channel, rng = TEM(epsilon=1.0).on(line), secure_rng()
    stocked = Stock(channel)
    drawn = np.concatenate([stocked.substitute([0, 1, 1, 2], rng)[1:3] for _ in range(20_000)])
    expected = np.exp(channel.log_probabilities([1])[0]) * len(drawn)
    seen = np.bincount(drawn, minlength=3)
    assert ((seen - expected) ** 2 / expected).sum() < chi2.isf(1e-6, df=2)
    pairs = np.bincount(3 * drawn[:-1] + drawn[1:], minlength=9)
    both = np.outer(expected, expected).ravel() / len(drawn)
    assert ((pairs - both) ** 2 / both).sum() < chi2.isf(1e-6, df=6) * 2.0


def _some(channel: object, rng: object) -> list[int]:
    return channel.substitute(np.zeros(40, dtype=int), rng).tolist()  # type: ignore[attr-defined,no-any-return]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_starts_with_an_empty_stock(plane: Lexicon) -> None:
    channel, rng = Stock(TEM(epsilon=0.1).on(plane)), secure_rng()
    channel.substitute(np.zeros(100, dtype=int), rng)  # a stock of draws
    with multiprocessing.get_context("fork").Pool(1) as pool:
        there = pool.apply(_some, (channel, rng))
        forked = pool.apply(os.getpid)
    assert forked != os.getpid()
    assert _some(channel, rng) != there


def _child_draws(out: object, channel: object, rng: object) -> None:
    out.put(_some(channel, rng))  # type: ignore[attr-defined]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_two_forks_draw_differently(plane: Lexicon) -> None:
    """Without a pickle: forks inherit the stock itself."""
    channel, rng = Stock(TEM(epsilon=0.1).on(plane)), secure_rng()
    channel.substitute(np.zeros(100, dtype=int), rng)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    children = [context.Process(target=_child_draws, args=(queue, channel, rng)) for _ in range(2)]
    for child in children:
        child.start()
    first, second = queue.get(), queue.get()
    for child in children:
        child.join()
    assert first != second
    assert _some(channel, rng) not in (first, second)


def test_a_pickle_carries_no_draws(plane: Lexicon) -> None:
    channel, rng = Stock(TEM(epsilon=0.1).on(plane)), secure_rng()
    channel.substitute(np.zeros(100, dtype=int), rng)
    assert channel._left.sum() > 0
    assert pickle.loads(pickle.dumps(channel))._left.sum() == 0  # noqa: S301


def test_no_more_is_drawn_than_the_rest_of_a_job_is_likely_to_need() -> None:
    drawn = {}
    for told in (False, True):
        rows = Numbered(50)
        stock = stock_of(rows)
        rng = np.random.Generator(np.random.PCG64(2))
        if told:
            stock.expect_orders(20)
        for _ in range(20):
            words, counts = np.unique(rng.integers(0, 50, size=2000), return_counts=True)
            stock.take(words, counts, RNG)
        drawn[told] = rows.next
    assert 40_000 <= drawn[True] < 44_000 < drawn[False]


def test_at_the_end_of_a_job_nothing_is_drawn_ahead() -> None:
    rows = Numbered(9)
    stock = stock_of(rows)
    stock.expect_orders(1)
    assert len(stock.take(np.arange(9), np.full(9, 3), RNG)) == rows.next == 27


def test_fewer_draws_than_wanted_will_do() -> None:
    """A sampler may stop at what is needed; what is stocked is what it gave."""
    numbers = itertools.count()

    def rows(words: Ids, least: Ids, counts: Ids) -> list[Ids]:
        given = [needed + word % 2 for word, needed in enumerate(least.tolist())]
        return [np.array([next(numbers) for _ in range(n)]) for n in given]

    stock = stock_of(Making(4, rows))
    found = [stock.take(np.arange(4), np.full(4, 2), RNG) for _ in range(30)]
    assert len(np.unique(np.concatenate(found))) == 30 * 8


def test_threads_after_a_fork_wait_until_the_stock_is_cleared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A thread must not see the parent's draws while another thread throws them away."""
    rows, words = Numbered(5), np.arange(5)
    stock = stock_of(rows)
    stock.take(words, np.ones_like(words), RNG)
    made_before = rows.next
    child = object()
    monkeypatch.setattr(stock_module, "this_process", lambda: child)

    def slow_lock() -> object:
        time.sleep(0.2)
        return Lock()

    monkeypatch.setattr(stock_module, "Lock", slow_lock)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(stock.take, words, np.ones_like(words), RNG)
        time.sleep(0.05)
        second = pool.submit(stock.take, words, np.ones_like(words), RNG)
    assert min(first.result().min(), second.result().min()) >= made_before


class Interrupting(np.ndarray):
    """An array whose first write is interrupted."""

    armed = False

    def __setitem__(self, key: Any, value: Any) -> None:
        if Interrupting.armed:
            Interrupting.armed = False
            raise KeyboardInterrupt
        super().__setitem__(key, value)


@pytest.mark.parametrize("array", ["_left", "_first"])
def test_an_interrupt_while_serving_leaves_each_word_its_own(array: str) -> None:
    words = np.arange(2)

    def rows(words: Ids, least: Ids, counts: Ids) -> list[Ids]:
        return [np.full(n, word) for word, n in zip(words.tolist(), counts.tolist(), strict=True)]

    stock = stock_of(Making(2, rows))
    stock.take(words, np.ones_like(words), RNG)
    setattr(stock, array, getattr(stock, array).view(Interrupting))
    Interrupting.armed = True
    with pytest.raises(KeyboardInterrupt):
        stock.take(words, np.full(2, 50), RNG)
    for _ in range(5):
        assert stock.take(words, np.full(2, 30), RNG).tolist() == [0] * 30 + [1] * 30


class InterruptedLock:
    """A lock whose first release is interrupted."""

    def __init__(self) -> None:
        self.armed = False

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None:
        if self.armed:
            self.armed = False
            raise KeyboardInterrupt


def test_an_interrupt_leaves_no_word_to_be_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def wait_for_ever(seconds: float) -> None:
        pytest.fail("it waits for draws that nobody makes")

    monkeypatch.setattr(time, "sleep", wait_for_ever)
    rows, words = Numbered(2), np.arange(2)
    stock = stock_of(rows)
    lock = stock._lock = InterruptedLock()
    advance = stock._advance

    def armed(*order: Any) -> bool:
        lock.armed = True
        monkeypatch.setattr(stock, "_advance", advance)
        return advance(*order)

    monkeypatch.setattr(stock, "_advance", armed)
    with pytest.raises(KeyboardInterrupt):
        stock.take(words, np.ones_like(words), RNG)
    assert len(stock.take(words, np.ones_like(words), RNG)) == 2


def test_a_long_job_does_not_throw_its_draws_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often words were needed, the stocks of all of them fit the room."""
    monkeypatch.setattr(stock_module, "_KEPT", 1 << 16)
    rows = Numbered(400)
    stock = stock_of(rows)
    rng, odds = np.random.Generator(np.random.PCG64(5)), 1.0 / np.arange(1, 401)
    for _ in range(400):
        ids = rng.choice(400, 5_000, p=odds / odds.sum())
        words, counts = np.unique(ids, return_counts=True)
        stock.take(words, counts, RNG)
    assert rows.next < 1.5 * 400 * 5_000


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("clock", ["monotonic", "time"])
@pytest.mark.parametrize("passed", [60.0, -60.0])
def test_idle_draws_are_thrown_away(
    monkeypatch: pytest.MonkeyPatch, clock: str, passed: float, shared: bool
) -> None:
    """By either clock, in either direction: the machine may have been copied meanwhile."""
    monkeypatch.setattr(stock_module, "_IDLE", 5.0)
    now = {"monotonic": 1e4, "time": 1e9}
    for name in now:
        monkeypatch.setattr(time, name, lambda name=name: now[name])
    rows, words = Numbered(5), np.arange(5)
    stock = stock_of(rows, shared=shared)
    stock.take(words, np.ones_like(words), RNG)
    made_before = rows.next
    found = stock.take(words, np.ones_like(words), RNG)
    assert found.max() < made_before  # what is asked for at once is there
    now[clock] += passed
    assert stock.take(words, np.ones_like(words), RNG).min() >= made_before


@pytest.mark.parametrize("shared", [False, True])
def test_renewing_throws_all_draws_away(shared: bool) -> None:
    rows, words = Numbered(5), np.arange(5)
    stock = stock_of(rows, shared=shared)
    stock.take(words, np.ones_like(words), RNG)
    made_before = rows.next
    renew_randomness()
    assert stock.take(words, np.ones_like(words), RNG).min() >= made_before
