"""Columns of a law: how likely an output is for each word, as an observer needs it.

Some laws have a cheap form for columns. A symmetric one needs the masses of all rows first, that
is a pass over the whole law. What was computed for one figure serves the next.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.law import Law
from malaprop.core.progress import Progress, report
from malaprop.core.space import blocks
from malaprop.core.threads import each_in_threads

_COUNT: Final = 32  # columns at a time: 8 MB on a large lexicon, which stay in a processor's cache
_ROWS: Final = 64  # rows of weights at a time: the products of fewer read all vectors more often


class LawColumns:
    """ln Pr[y | w] of all words w, for outputs y."""

    def __init__(self, law: Law) -> None:
        self._law, self._size = law, len(law.space)
        self._masses: Floats | None = None
        self._own: Floats | None = None

    def prepare(self, progress: Progress | None = None) -> bool:
        """Return whether there are columns; sum up all rows if that takes their masses."""
        if self.cheap:
            return True
        if not self._law.symmetric:
            return False
        if self._masses is None:
            self._sum_up(progress)
        return True

    @property
    def cheap(self) -> bool:
        """Whether columns take no pass over the whole law, or none any more."""
        first = np.zeros(1, dtype=np.int64)
        return self._masses is not None or self._law.log_likelihoods(first) is not None

    def parts(self, outputs: Ids, count: int = _COUNT) -> Iterator[Floats]:
        """Yield the columns of `count` outputs at a time: (outputs, words)."""
        if self._masses is None:
            yield from self._law.log_likelihood_parts(outputs, count)
            return
        for start in range(0, len(outputs), _ROWS):
            weights = self._law.log_weights(outputs[start : start + _ROWS])
            weights -= self._masses
            for first in range(0, len(weights), count):
                yield weights[first : first + count]

    def staying(self, progress: Progress | None = None) -> Floats:
        """Return Pr[w | w] of all words; call `prepare` first."""
        if self._own is not None:
            return self._own
        chances = np.empty(self._size)
        steps = blocks(self._size, row_cells=self._size)
        for done, block in enumerate(steps, 1):
            chances[block] = self._law.staying(np.arange(self._size)[block])
            report(progress, done, len(steps))
        return chances

    def _sum_up(self, progress: Progress | None) -> None:
        masses, own = np.empty(self._size), np.empty(self._size)

        def of_block(block: slice) -> None:
            ids = np.arange(self._size)[block]
            weights = self._law.log_weights(ids)
            stays = weights[np.arange(len(ids)), ids]
            masses[block] = np.log(np.exp(weights, out=weights).sum(axis=1))
            own[block] = np.exp(stays - masses[block])

        steps = blocks(self._size, row_cells=self._size)
        for done, _ in enumerate(each_in_threads(of_block, steps), 1):
            report(progress, done, len(steps))
        self._masses, self._own = masses, own


@lru_cache(maxsize=1)
def columns_of(law: Law) -> LawColumns:
    """Return the columns of the law in use, with what was computed before."""
    return LawColumns(law)
