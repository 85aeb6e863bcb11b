"""Exact draws: from weights, and on a path.

Inverting a cumulative sum with one 53-bit uniform number would give words of probability below
2⁻⁵³ no chance at all, and an output that is impossible for one word but not for another gives the
word away. So a draw here keeps the *relative* precision of rare words. It first draws a binary
order of magnitude, counted from the rarest up; then one of the words of that magnitude, which it
accepts in proportion to its weight. Otherwise it tries again.

Words that are too many and too rare to be weighed one by one make up the rest of a row. Only a
bound on their weights must be known beforehand; a word is weighed when it is tried.

docs/proofs/sampling.md bounds the error of the log-probabilities that are drawn with, and
docs/proofs/kinds.md that of draws on a path.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.privacy.arrays import Floats, Ids, order_of

DEEPEST = 1000
"""Weights below 2^-1000 are never drawn: float64 ends near there."""
_FEW = 1 << 19  # magnitudes of tries that are compared together, not row by row
_MOST = 1 << 19  # tries of a row in a round; if a seed must repeat them, of all rows
_LEAST_RATE = 0.2  # of acceptance, assumed of rows whose rest weighs much
_NONE: Ids = np.empty(0, dtype=np.int64)


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

    def draw(self, counts: Ids, rng: Generator, least: Ids | None = None) -> list[Ids]:
        """Draw `counts[i]` independent words from row i, with probabilities ∝ the weights.

        With `least`, fewer draws will do, but at least `least[i]`: this is faster, and a seed need
        not repeat it.
        """
        return _Envelope(self).draw(counts, rng, least)


def full_rows(log_weights: Floats) -> LawRows:
    """Return rows in which every word is weighed."""
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    count, size = weights.shape
    return LawRows(np.full(count, size), np.tile(np.arange(size), count), weights.ravel())


class _Envelope:
    """The weights rounded up to powers of two: words of one magnitude are tried equally often.

    All words of the rest have the magnitude of their bound.
    """

    def __init__(self, rows: LawRows) -> None:
        self._rows, self._rest = rows, rows.rest
        count = len(rows.sizes)
        # The exponent of a float is its magnitude: a weight of magnitude m is in [2^-m, 2^(1-m)).
        magnitudes = 1023 - (rows.weights.view(np.int64) >> 52)
        resting = np.zeros(count, dtype=np.int64)
        if rows.rest is not None:  # a rest that weighs nothing is beyond all others
            exponents = np.minimum(1 - np.frexp(rows.rest.bounds)[1].astype(np.int64), DEEPEST)
            resting = np.where(rows.rest.bounds > 0.0, exponents, DEEPEST)
        deepest = max(int(resting.max(initial=0)), int(magnitudes.max(initial=0)))
        used = min(deepest + 1, DEEPEST)
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

    def draw(self, counts: Ids, rng: Generator, least: Ids | None) -> list[Ids]:
        """Draw up to `counts[i]` words from row i, at least `least[i]`.

        Tries are made in rounds, until enough are accepted. Whether a try is, and which word it
        then gives, are independent, so the number of tries may be chosen before them:
        docs/proofs/sampling.md. Without `least` the numbers are always the same: a seed gives the
        same draws in all versions of Malaprop.
        """
        ahead = least is not None
        needed = counts if least is None else least
        # Tries beyond those expected to be needed, and tries at a time, which fit a processor's
        # cache; or, where a seed must repeat them, some 50 MB.
        spare, together = (2, 1 << 17) if ahead else (8, 1 << 19)
        rates = self._expected_rates() if ahead else np.full(len(counts), 0.5)
        parts: list[list[Ids]] = [[] for _ in counts]
        drawn, tried = np.zeros_like(counts), np.zeros_like(counts)
        while (short := np.flatnonzero(drawn < needed)).size:
            # As many tries as the rate of success so far suggests, and a few more.
            rate = (drawn[short] + 8.0 * rates[short]) / (tried[short] + 8.0)
            tries = ((counts[short] - drawn[short]) / rate).astype(np.int64) + spare
            tries = np.minimum(tries, _MOST if ahead else max(16, _MOST // len(short)))
            for some in _runs(tries, together):
                rows = short[some]
                words, accepted = self._try(rows, tries[some], rng)
                ends = np.cumsum(accepted).tolist()
                for row, start, end in zip(rows.tolist(), [0, *ends[:-1]], ends, strict=True):
                    parts[row].append(words[start:end])
                drawn[rows] += accepted
                tried[rows] += tries[some]
        return [
            (words[0] if len(words) == 1 else np.concatenate([_NONE, *words]))[:count]
            for words, count in zip(parts, counts.tolist(), strict=True)
        ]

    def _expected_rates(self) -> Floats:
        """Return about the share of tries that are accepted in each row, rather too little."""
        ends = np.cumsum(self._rows.sizes)
        mass = np.append(0.0, np.cumsum(self._rows.weights))
        heads = mass[ends] - mass[ends - self._rows.sizes]
        return np.asarray(np.clip(heads / self._cumulative[:, -1], _LEAST_RATE, 0.5))

    def _try(self, rows: Ids, counts: Ids, rng: Generator) -> tuple[Ids, Ids]:
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
            level[resting] = fine_uniforms(len(resting), rng)  # a word of the rest may be far rarer
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
        level, places = fine_uniforms(int(counts.sum()), rng), list[Ids]()
        if level.size * (last + 1) <= _FEW:  # at once: numpy takes longer to begin than to count
            every = self._cumulative[rows].repeat(counts, axis=0)
            below = np.minimum(level * every[:, -1], np.nextafter(every[:, -1], 0.0))
            return np.asarray(last - (every <= below[:, None]).sum(axis=1))
        ends = np.cumsum(counts).tolist()
        for row, start, end in zip(rows.tolist(), [0, *ends[:-1]], ends, strict=True):
            sums = self._cumulative[row]
            below = np.minimum(level[start:end] * sums[-1], np.nextafter(sums[-1], 0.0))
            places.append(np.searchsorted(sums, below, side="right"))
        return np.asarray(last - np.concatenate(places))


def _runs(tries: Ids, together: int) -> Iterable[slice]:
    """Cut rows into runs with about `together` tries each: one, unless many draws are wanted."""
    if tries.sum() <= together:
        return (slice(None),)
    starts = np.flatnonzero(np.diff((np.cumsum(tries) - tries) // together, prepend=-1)).tolist()
    return map(slice, starts, [*starts[1:], len(tries)])


def fine_uniforms(count: int, rng: Generator) -> Floats:
    """Draw uniform numbers that keep a float's precision near 0: 159 binary digits."""
    first, second = rng.random((2, count))
    numbers: Floats = first + 2.0**-53 * second
    small = np.flatnonzero(numbers < 2.0**-40)
    if len(small):
        numbers[small] += 2.0**-106 * rng.random(len(small))
    return numbers


# Exact draws on a path: a fair coin for the side, then an exponential number of nats to walk.
#
# To the right of x_i, the walk passes the cut of a point x_j if E ≥ t·(x_j − x_i) − s, where s is
# the lag of the gap before x_j. To the left it is the same with the path mirrored. Comparisons are
# made in whole units of position and a fraction, so that nothing cancels on a long path. E has no
# largest value and no smallest one. docs/proofs/kinds.md bounds what rounding adds.


@dataclass(frozen=True, eq=False)
class Cuts:
    """Where walks pass on to each point: the path, and behind it the path mirrored.

    A walk to the left from point i is one to the right from point 2n − 1 − i.
    """

    positions: Ids
    """Where the points are, in units, the first at 0."""
    whole: Ids
    """Where each point's cut is, in units,"""
    fraction: Floats
    """and the rest of a unit, from 0 to 1."""
    reach: float
    """The longest walk in units that makes a difference: from end to end, and one more."""

    def walk(self, ids: Ids, units: Floats, right: NDArray[np.bool_]) -> Ids:
        """Return the last point whose cut is passed by a walk of `units` from each of `ids`."""
        mirror = len(self.positions) - 1
        starts = np.where(right, ids, mirror - ids)
        walked = np.minimum(units, self.reach)  # whoever gets beyond the last point stays there
        whole = np.floor(walked)
        goals = self.positions[starts] + whole.astype(np.int64)
        points = np.searchsorted(self.whole, goals, side="right") - 1
        rest = walked - whole
        while (back := (self.whole[points] == goals) & (self.fraction[points] > rest)).any():
            points = points - back
        return np.where(right, points, mirror - points)


def exponentials(count: int, rng: Generator) -> tuple[Floats, NDArray[np.bool_]]:
    """Draw numbers of density e^(−x), x > 0, and fair coins.

    A number is K·ln 2 − ln(1 − V/2): K counts the zeros before the first 1 in a stream of bits that
    does not end, and V is uniform in (0, 1). V comes from such a count, too, so that small numbers
    keep the precision of a float.
    """
    words = rng.integers(1 << 64, size=3 * count, dtype=np.uint64)
    bits = words[2 * count :]
    zeros = leading_zeros(words[: 2 * count], rng)
    mantissa = 1.0 + (bits >> np.uint64(12)) * 2.0**-52
    half = np.ldexp(mantissa, -np.minimum(zeros[count:] + 2, 2000).astype(np.int32))  # V/2
    return zeros[:count] * math.log(2.0) - np.log1p(-half), (bits & np.uint64(1)).astype(np.bool_)


def whole_shifts(count: int, rate: float, rng: Generator) -> Ids:
    """Draw whole numbers s with Pr[s] ∝ e^(−rate·|s|), for a rate of 10⁻⁶ or more.

    That is a walk from the middle of an endless path with gaps of `rate` nats.
    """
    walked, right = exponentials(count, rng)
    lag = -math.log1p(math.expm1(-rate) / 2.0)
    steps: Ids = np.floor((walked + lag) / rate).astype(np.int64)
    return np.where(right, steps, -steps)


def usual_shift(rate: float, share: float = 0.95) -> int:
    """Return the least r for which such a number lies within ±r with at least that chance.

    >>> usual_shift(1.5 / 7), usual_shift(1.5 / 365)
    (14, 729)
    """
    # Pr[|s| > r] = 2·q^(r+1)/(1 + q), where q = e^(−rate)
    nats = -math.log((1.0 - share) * (1.0 + math.exp(-rate)) / 2.0)
    return max(0, math.ceil(nats / rate) - 1)


def leading_zeros(words: NDArray[np.uint64], rng: Generator) -> Ids:
    """Count the zeros before the first 1 in streams of fair bits that begin with these words."""
    zeros = 64 - _bit_lengths(words)
    unfinished = np.flatnonzero(words == 0)
    while unfinished.size:
        words = rng.integers(1 << 64, size=len(unfinished), dtype=np.uint64)
        zeros[unfinished] += 64 - _bit_lengths(words)
        unfinished = unfinished[words == 0]
    return zeros


def _bit_lengths(words: NDArray[np.uint64]) -> Ids:
    # The bit below the highest is cleared, so that rounding to a float cannot carry.
    return np.frexp((words & ~(words >> np.uint64(1))).astype(np.float64))[1].astype(np.int64)
