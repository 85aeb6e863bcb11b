"""Exact draws from laws that are given by weights.

Inverting a cumulative sum with one 53-bit uniform number would give words of probability below
2⁻⁵³ no chance at all, and an output that is impossible for one word but not for another gives
the word away. So a draw here keeps the *relative* precision of rare words. It first draws a binary
order of magnitude, counted from the rarest up; then one of the words of that magnitude, which it
accepts in proportion to its weight. Otherwise it starts again.

Words that are too many and too rare to be weighed one by one make up the rest of a row. Only a
bound on their weights must be known beforehand; a word is weighed when it is tried.

`log_error` bounds the error of the log-probabilities that are drawn with; docs/proofs/sampling.md
proves it.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.sampling.rounds import Pace, draw_in_rounds

_LN2 = float(np.log(2.0))
_DEEPEST = 1000  # weights below 2^-1000 are never drawn: float64 ends near there
_FEW = 1 << 19  # magnitudes of tries that are compared together, not row by row
_LEAST_RATE = 0.2  # of acceptance, assumed of rows whose rest weighs much
_REPEATED = Pace(spare=8, together=1 << 19, most=1 << 19, divided=True)  # some 50 MB at a time
_AHEAD = Pace(spare=2, together=1 << 17, most=1 << 19)  # if a seed need not repeat it: faster


class Rest(NamedTuple):
    """The rest of each row: all words once more, with weight 0 for those of the row's head."""

    words: NDArray[np.integer[Any]]
    """The words to try. One may occur several times, each with an equal part of its weight."""
    bounds: Floats
    """An upper bound on the weights in each row's rest."""
    weights: Callable[..., Floats]
    """Returns the weights of words, per occurrence, given rows and words.

    A third argument may say what each weight is compared with: then a number on the same side of
    that, above it or not, does as well.
    """


class LawRows(NamedTuple):
    """Rows of a law: words of their heads with weights, all below 2, and possibly a rest."""

    sizes: Ids
    """The length of each row's head; `words` and `weights` hold the heads one after another."""
    words: Ids
    weights: Floats
    rest: Rest | None = None


def whole(log_weights: Floats) -> LawRows:
    """Return rows in which every word is weighed."""
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    count, size = weights.shape
    return LawRows(np.full(count, size), np.tile(np.arange(size), count), weights.ravel())


def draw(rows: LawRows, counts: Ids, rng: Generator, *, enough: Ids | None = None) -> list[Ids]:
    """Draw `counts[i]` independent words from row i, with probabilities ∝ the weights.

    If `enough` is given, fewer draws will do, but at least that many: tries are then made in as few
    rounds as possible. How many of them are accepted does not depend on which words they are.
    """
    envelope = _Envelope(rows)
    if enough is not None:
        return draw_in_rounds(envelope, envelope.expected_rates(), enough, counts, _AHEAD, rng)
    # Always the same: a seed gives the same draws in all versions of Malaprop.
    return draw_in_rounds(envelope, np.full(len(counts), 0.5), counts, counts, _REPEATED, rng)


def log_error(members: int, spread: float) -> float:
    """Bound the error of a drawn log-probability, for rows of `members` words, rest included.

    `spread` is the largest difference of two log-weights. The bound holds for all words except a
    set of total probability below 2⁻¹⁰⁰.
    """
    magnitudes = min(spread / _LN2, _DEEPEST) + 2.0
    return 8.0 * magnitudes * members * 2.0**-53


class _Envelope:
    """The weights rounded up to powers of two: words of one magnitude are tried equally often.

    All words of the rest have the magnitude of their bound.
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
        # Append a word that is never chosen: all words may be in the rest.
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
        self._heads, self._weighed = rows.sizes, rows.weights

    def expected_rates(self) -> Floats:
        """Return about the share of tries that are accepted in each row, rather too little."""
        ends = np.cumsum(self._heads)
        mass = np.append(0.0, np.cumsum(self._weighed))
        heads = mass[ends] - mass[ends - self._heads]
        return np.asarray(np.clip(heads / self._cumulative[:, -1], _LEAST_RATE, 0.5))

    def _resting(self, rows: int) -> Ids:
        """Return the magnitude of each row's rest; beyond all others if it weighs nothing."""
        if self._rest is None:
            return np.zeros(rows, dtype=np.int64)
        exponents: Ids = np.frexp(self._rest.bounds)[1].astype(np.int64)
        return np.where(self._rest.bounds > 0.0, np.minimum(1 - exponents, _DEEPEST), _DEEPEST)

    def tries(self, rows: Ids, counts: Ids, rng: Generator) -> tuple[Ids, Ids]:
        """Try `counts[i]` words of row `rows[i]`; return the accepted ones, and their numbers.

        Each accepted word has a probability ∝ its weight.
        """
        at = np.repeat(rows, counts)
        magnitudes = self._magnitudes(rows, counts, rng)
        cells = at * len(self._tops) + magnitudes
        held = self._counts.take(cells)
        places = (rng.random(len(at)) * self._sizes.take(cells)).astype(np.int64)
        chosen = self._first.take(cells) + places
        # Places beyond the head's words of this magnitude stand for words of the rest.
        weights = self._weights.take(chosen, mode="clip")
        words = self._words.take(chosen, mode="clip")
        level = rng.random(len(at))
        if self._rest is not None:
            resting = np.flatnonzero(places >= held)
            beyond = places.take(resting) - held.take(resting)
            tried = self._rest.words.take(beyond).astype(np.int64)
            words[resting] = tried
            level[resting] = fine(len(resting), rng)  # a word of the rest may be far rarer
        level *= self._tops.take(magnitudes)
        if self._rest is not None:
            weights[resting] = self._rest.weights(at.take(resting), tried, level.take(resting))
        accepted = level < weights
        return words.compress(accepted), np.add.reduceat(
            accepted, np.cumsum(counts) - counts, dtype=np.int64
        )

    def _magnitudes(self, rows: Ids, counts: Ids, rng: Generator) -> Ids:
        """Draw magnitudes by their total weights; the rarest come first in the cumulative sums."""
        last = self._cumulative.shape[1] - 1
        level, places = fine(int(counts.sum()), rng), list[Ids]()
        if level.size * (last + 1) <= _FEW:  # at once: numpy takes longer to begin than to count
            every = self._cumulative[rows].repeat(counts, axis=0)
            below = np.minimum(level * every[:, -1], np.nextafter(every[:, -1], 0.0))
            return np.asarray(last - (every <= below[:, None]).sum(axis=1))
        for row, levels_of_row in zip(rows.tolist(), _split(level, counts), strict=True):
            sums = self._cumulative[row]
            below = np.minimum(levels_of_row * sums[-1], np.nextafter(sums[-1], 0.0))
            places.append(np.searchsorted(sums, below, side="right"))
        return np.asarray(last - np.concatenate(places))


def each_word_once(ids: Ids, size: int, draws: Callable[[Ids, Ids], Ids]) -> Ids:
    """Draw for all occurrences of a word together, since they share one row of a law.

    `draws` gets distinct words and how often each occurs; it returns all draws in one array.
    """
    order = order_of(ids, size)
    in_order = ids[order]
    # Not by np.diff, which takes as long as all the rest for a sentence.
    starts = np.ones(len(ids) + 1, dtype=np.bool_)
    np.not_equal(in_order[1:], in_order[:-1], out=starts[1:-1])
    bounds = np.flatnonzero(starts)
    drawn = np.empty(len(ids), dtype=np.int64)
    drawn[order] = draws(in_order[bounds[:-1]], bounds[1:] - bounds[:-1])
    return drawn


def order_of(numbers: Ids, bound: int) -> Ids:
    """Return the stable sorting order of whole numbers below `bound`."""
    if bound <= 1 << 16:
        return np.argsort(numbers.astype(np.uint16), kind="stable")  # a radix sort
    return np.argsort(numbers, kind="stable")


def ranges(first: Ids, counts: Ids) -> Ids:
    """Return counts[0] numbers from first[0] on, then counts[1] from first[1] on, and so on."""
    ends = counts.cumsum()
    steps = (first - ends + counts).repeat(counts)
    return np.asarray(np.arange(len(steps)) + steps)


def _split(values: Floats, counts: Ids) -> Iterator[Floats]:
    """Split the values into runs of the given lengths."""
    end = 0
    for count in counts.tolist():
        yield values[end : end + count]
        end += count


def fine(count: int, rng: Generator) -> Floats:
    """Draw uniform numbers that keep a float's precision near 0: 159 binary digits."""
    first, second = rng.random((2, count))
    numbers: Floats = first + 2.0**-53 * second
    small = np.flatnonzero(numbers < 2.0**-40)
    if len(small):
        numbers[small] += 2.0**-106 * rng.random(len(small))
    return numbers
