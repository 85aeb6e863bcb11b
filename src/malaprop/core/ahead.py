"""Draws made ahead: what a word may become, drawn before it occurs again.

A row of a law takes far longer to compute than a thousand draws from it. So when a row is at
hand, as many draws are made as the word has needed so far, and kept for its next occurrences:
over a long text each row is computed a few times only, and yet each draw is independent and is
given out once. What is kept never leaves the process: a fork and a pickle begin with nothing.
"""

import os
from collections.abc import Callable
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from malaprop.core.space import Ids

Rows = Callable[[Ids, Ids], list[Ids]]
"""From words, and how many draws of each are wanted, to those draws."""

_KEPT = 1 << 24  # draws that are kept at most: 64 MB


class DrawsAhead:
    """A stock of draws that belongs to one channel and one source of noise."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._forget()

    def _forget(self) -> None:
        self._owner = os.getpid()
        self._stock: dict[int, NDArray[np.int32]] = {}
        self._needed: dict[int, int] = {}
        self._kept = 0

    def take(self, words: Ids, counts: Ids, rows: Rows) -> list[Ids]:
        """`counts` draws of each of `words`, which are distinct."""
        with self._lock:
            if self._owner != os.getpid():  # else parent and child would give out the same
                self._forget()
            given = [
                self._from_stock(word, count)
                for word, count in zip(words.tolist(), counts.tolist(), strict=True)
            ]
            missing = counts - np.array([len(part) for part in given], dtype=np.int64)
            lacking = np.flatnonzero(missing)
            further = missing[lacking] + self._allowance(words[lacking])
            fresh = rows(words[lacking], further)
            for place, drawn in zip(lacking.tolist(), fresh, strict=True):
                now = int(missing[place])
                given[place] = np.concatenate([given[place], drawn[:now]])
                self._keep(int(words[place]), drawn[now:])
            return given

    def _from_stock(self, word: int, count: int) -> Ids:
        self._needed[word] = self._needed.get(word, 0) + count
        stock = self._stock.get(word)
        if stock is None:
            return np.empty(0, dtype=np.int64)
        taken, left = stock[:count], stock[count:]
        self._kept -= len(taken)
        if len(left):
            self._stock[word] = left
        else:
            del self._stock[word]
        return taken.astype(np.int64)

    def _allowance(self, words: Ids) -> Ids:
        """How many draws of each word to make ahead: as many as it has needed so far."""
        needed = np.array([self._needed[word] for word in words.tolist()], dtype=np.int64)
        room = max(0, _KEPT - self._kept)
        return np.where(np.cumsum(needed) <= room, needed, 0)

    def _keep(self, word: int, drawn: Ids) -> None:
        if len(drawn):
            self._stock[word] = drawn.astype(np.int32)
            self._kept += len(drawn)
