"""Exact draws from laws that are given by weights.

Inverting a cumulative sum with one 53-bit uniform number would give words of probability below
2⁻⁵³ no chance at all, and an output that is impossible for one word but not for another gives
the word away. So a draw here keeps the *relative* precision of rare words: first comes a binary
order of magnitude, counted from the rarest up; then one of the words of that magnitude, which is
accepted in proportion to its weight, or all begins anew.

Words that are too many and too rare to be weighed one by one make up the rest of a row: all that
must be known of them beforehand is a bound. One of them is weighed when it is tried.

How far the log-probabilities of what is drawn can be from the law's is `log_error`, proved in
docs/proofs/sampling.md.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids

Number = TypeVar("Number", np.int64, np.float64)
_LN2 = float(np.log(2.0))
_DEEPEST = 1000  # magnitudes below 2^-1000 are beyond float64, and have no chance
_TRIES = 1 << 19  # at a time, of all rows: some 50 MB


class Rest(NamedTuple):
    """All words once more, with a bound for each row; those of its head weigh nothing here."""

    words: NDArray[np.integer[Any]]
    """A word may occur several times, each with an equal part of its weight."""
    bounds: Floats
    weights: Callable[[Ids, Ids], Floats]
    """What some of `words` weigh each time, by their rows; 0 for words of the row's head."""


class LawRows(NamedTuple):
    """Rows of a law: words with their weights, all below 2, and what there is beside them."""

    sizes: Ids
    """How many words of each row are weighed; they follow each other in `words` and `weights`."""
    words: Ids
    weights: Floats
    rest: Rest | None = None


def whole(log_weights: Floats) -> LawRows:
    """Rows in which every word is weighed."""
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    count, size = weights.shape
    return LawRows(np.full(count, size), np.tile(np.arange(size), count), weights.ravel())


def draw(rows: LawRows, counts: Ids, rng: Generator) -> list[Ids]:
    """So many independent draws of a word from each row, with probabilities ∝ the weights."""
    envelope = _Envelope(rows)
    parts: list[list[Ids]] = [[] for _ in rows.sizes]
    found, tried = np.zeros_like(counts), np.zeros_like(counts)
    while (short := np.flatnonzero(found < counts)).size:
        # As many as it takes by what was seen so far, one in two at first, and some to spare.
        lacking = counts[short] - found[short]
        rate = (found[short] + 4.0) / (tried[short] + 8.0)
        tries = np.minimum((lacking / rate).astype(np.int64) + 8, max(16, _TRIES // len(short)))
        words, accepted = envelope.tries(short, tries, rng)
        for row, some in zip(short.tolist(), _split(words, accepted), strict=True):
            parts[row].append(some)
        found[short] += accepted
        tried[short] += tries
    cut = zip(parts, counts.tolist(), strict=True)
    return [(np.concatenate(some) if some else _NONE)[:count] for some, count in cut]


_NONE: Ids = np.empty(0, dtype=np.int64)


def log_error(members: int, spread: float) -> float:
    """A bound on the error of a drawn log-probability, for rows of so many words and rests.

    `spread` is the largest difference of two log-weights. The bound holds for all words but those
    rarer than 2⁻¹⁰⁰ together.
    """
    magnitudes = min(spread / _LN2, _DEEPEST) + 2.0
    return 4.0 * magnitudes * members * 2.0**-53


class _Envelope:
    """The weights rounded up to powers of two: words of one magnitude are tried equally often.

    The words of the rest are all of the magnitude of their bound.
    """

    def __init__(self, rows: LawRows) -> None:
        self._rest = rows.rest
        count = len(rows.sizes)
        # The exponent of a float is its magnitude: a weight of magnitude m is in [2^-m, 2^(1-m)).
        magnitudes = 1023 - (rows.weights.view(np.int64) >> 52)
        resting = self._resting(count)
        deepest = max(int(resting.max(initial=0)), int(magnitudes.max(initial=0)))
        used = min(deepest + 1, _DEEPEST)
        there = magnitudes < used
        cells = (np.repeat(np.arange(count) * used, rows.sizes) + magnitudes)[there]
        order = order_of(cells, count * used)
        # One more, which is never chosen: there may be no word but those of the rest.
        self._words = np.append(rows.words[there][order], 0)
        self._weights = np.append(rows.weights[there][order], 0.0)
        self._counts = np.bincount(cells, minlength=count * used)
        self._first = np.cumsum(self._counts) - self._counts
        sizes = self._counts.reshape(count, used).astype(np.float64)
        if rows.rest is not None:
            with_rest = np.flatnonzero(resting < used)
            sizes[with_rest, resting[with_rest]] += len(rows.rest.words)
        self._sizes = sizes.ravel()
        self._tops = 2.0 * 0.5 ** np.arange(used)
        # Sizes are whole numbers and tops powers of two: these products are exact.
        self._cumulative = np.cumsum((sizes * self._tops)[:, ::-1], axis=1)

    def _resting(self, rows: int) -> Ids:
        """The magnitude of the rest of each row: beyond all others where it weighs nothing."""
        if self._rest is None:
            return np.zeros(rows, dtype=np.int64)
        exponents: Ids = np.frexp(self._rest.bounds)[1].astype(np.int64)
        return np.where(self._rest.bounds > 0.0, np.minimum(1 - exponents, _DEEPEST), _DEEPEST)

    def tries(self, rows: Ids, counts: Ids, rng: Generator) -> tuple[Ids, Ids]:
        """The accepted ones of so many tries of each row, in order, and how many they are.

        Each is a word with a probability ∝ its weight.
        """
        at = np.repeat(rows, counts)
        magnitudes = self._magnitudes(rows, counts, rng)
        cells = at * len(self._tops) + magnitudes
        held = self._counts.take(cells)
        places = (rng.random(len(at)) * self._sizes.take(cells)).astype(np.int64)
        chosen = self._first.take(cells) + places
        # The place of a word of the rest is beyond those of its magnitude, and means another one.
        weights = self._weights.take(chosen, mode="clip")
        words = self._words.take(chosen, mode="clip")
        level = rng.random(len(at))
        if self._rest is not None:
            resting = np.flatnonzero(places >= held)
            tried = self._rest.words.take(places[resting] - held[resting]).astype(np.int64)
            words[resting] = tried
            weights[resting] = self._rest.weights(at[resting], tried)
            level[resting] = _fine(len(resting), rng)  # a word of the rest may be far rarer
        accepted = level * self._tops.take(magnitudes) < weights
        return words[accepted], np.add.reduceat(
            accepted, np.cumsum(counts) - counts, dtype=np.int64
        )

    def _magnitudes(self, rows: Ids, counts: Ids, rng: Generator) -> Ids:
        """Magnitudes, drawn by what they hold; the rarest come first in the cumulative sums."""
        last = self._cumulative.shape[1] - 1
        level, found = _fine(int(counts.sum()), rng), list[Ids]()
        for row, some in zip(rows.tolist(), _split(level, counts), strict=True):
            sums = self._cumulative[row]
            below = np.minimum(some * sums[-1], np.nextafter(sums[-1], 0.0))
            found.append(np.searchsorted(sums, below, side="right"))
        return np.asarray(last - np.concatenate(found))


def each_word_once(ids: Ids, size: int, draws: Callable[[Ids, Ids], Ids]) -> Ids:
    """Draw for all occurrences of a word together, since they share one row of a law.

    `draws` gets distinct words and how often each occurs, and returns their draws in one row.
    """
    order = order_of(ids, size)
    in_order = ids[order]
    first = np.flatnonzero(np.diff(in_order, prepend=-1))
    drawn = np.empty(len(ids), dtype=np.int64)
    drawn[order] = draws(in_order[first], np.diff(first, append=len(ids)))
    return drawn


def order_of(numbers: Ids, bound: int) -> Ids:
    """The order of whole numbers below a bound; equal ones stay as they are."""
    if bound <= 1 << 16:
        return np.argsort(numbers.astype(np.uint16), kind="stable")  # which goes by digits
    return np.argsort(numbers, kind="stable")


def _split(values: NDArray[Number], counts: Ids) -> Iterator[NDArray[Number]]:
    """So many values, then so many, and so on."""
    end = 0
    for count in counts.tolist():
        yield values[end : end + count]
        end += count


def _fine(count: int, rng: Generator) -> Floats:
    """Uniform numbers with the precision of a float also near 0: 159 binary digits."""
    first, second = rng.random((2, count))
    found: Floats = first + 2.0**-53 * second
    small = np.flatnonzero(found < 2.0**-40)
    if len(small):
        found[small] += 2.0**-106 * rng.random(len(small))
    return found
