"""Draws made ahead: each given out once, in the process that made it, and following the law."""

import multiprocessing
import os
import pickle
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi2

from malaprop import TEM, Lexicon, secure_rng
from malaprop.core.ahead import DrawsAhead
from malaprop.core.space import Ids


class Numbered:
    """Rows whose draws are all different numbers."""

    def __init__(self) -> None:
        self.next, self.rows = 0, 0

    def __call__(self, words: Ids, counts: Ids) -> list[Ids]:
        found = []
        for count in counts.tolist():
            found.append(np.arange(self.next, self.next + count))
            self.next += count
            self.rows += 1
        return found


def test_no_draw_is_given_out_twice() -> None:
    stock, rows, rng = DrawsAhead(), Numbered(), np.random.Generator(np.random.PCG64(1))
    seen: Counter[int] = Counter()
    asked = 0
    for _ in range(300):
        words = np.unique(rng.integers(0, 20, size=6))
        counts = rng.integers(1, 9, size=len(words))
        for part, count in zip(stock.take(words, counts, rows), counts, strict=True):
            assert len(part) == count
            seen.update(part.tolist())
        asked += int(counts.sum())
    assert max(seen.values()) == 1
    assert len(seen) == asked
    assert rows.rows < 20 * 12  # a few rows a word, not one for each time


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("malaprop.core.ahead._KEPT", 50)
    stock, rows = DrawsAhead(), Numbered()
    for start in range(0, 400, 10):
        stock.take(np.arange(start, start + 10), np.full(10, 3), rows)
    assert stock._kept <= 50
    assert stock._kept == sum(map(len, stock._stock.values()))


def test_a_long_run_follows_the_law(line: Lexicon) -> None:
    channel, rng = TEM(epsilon=1.0).on(line), secure_rng()
    drawn = np.concatenate([channel.substitute([0, 1, 1, 2], rng)[1:3] for _ in range(20_000)])
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
def test_a_fork_begins_with_nothing(plane: Lexicon) -> None:
    channel, rng = TEM(epsilon=0.1).on(plane), secure_rng()
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
    """Without a pickle between: what they inherit is the stock itself."""
    channel, rng = TEM(epsilon=0.1).on(plane), secure_rng()
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
    channel, rng = TEM(epsilon=0.1).on(plane), secure_rng()
    channel.substitute(np.zeros(100, dtype=int), rng)
    assert "_stocks" in vars(channel)
    assert "_stocks" not in vars(pickle.loads(pickle.dumps(channel)))  # noqa: S301
