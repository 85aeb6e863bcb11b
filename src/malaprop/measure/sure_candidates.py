"""How many inputs explain an output, from draws, and never too many on average.

K_w is the mean number, over outputs y of w, of inputs w' whose ratio r = Pr[y|w']/Pr[y|w] lies
between 1/γ and γ. Ratios of draws scatter, and whether they lie there says too much or too little.
So a word w' counts as 1 − f(r̄) at an output: r̄ is a mean over draws whose expectation given y is
r, and f is convex, at least 0, and at least 1 outside of 1/γ … γ. By Jensen's inequality

    E[1 − f(r̄) | y] ≤ 1 − f(r) ≤ 1 if 1/γ ≤ r ≤ γ, else 0.

So the expectation of the sum over any words w' is at most the number of candidates among them, and
that is at most K_w, however few draws there are. More draws bring it closer. Which words to sum
over is chosen with other draws than those of r̄.

- Where the density of the noise is known, draws z of w itself are enough. The mean of
  density(z|w')/density(z|w), over the draws that become y, has the expectation r.
- Otherwise w and w' are drawn equally often, and the share of w' among the draws that become y
  stands for r̄. Its expectation is r/(1 + r), so the ends are 1/(1 + γ) and γ/(1 + γ).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import Channel, VectorChannel
from malaprop.core.space import blocks
from malaprop.measure.vector_likelihoods import VectorLikelihoods, vector_likelihoods

SMALL: Final = 1_000
"""Words of a lexicon up to which all of them are drawn where the density is unknown."""
_CELLS: Final = 1 << 27  # draws of all words, times words of the lexicon, that take a second
_LEAST_DRAWS, _MOST_DRAWS = 32, 2_048  # of each word
_PILOTS: Final = 2  # draws that choose the words to compare
_LEAST: Final = 24  # draws of two words that become an output: fewer say too little
_TOLD: Final = 4  # draws of a word that become an output: fewer do not choose words for it
_STEEPER: Final = 8.0  # draws from which on f is much steeper than for one
_FAR: Final = 60.0  # cuts off logarithms of ratios: a larger one has a chance below e^−60


def sure_batches(channel: Channel, ids: Ids, rng: Generator, *, most: int, count: int) -> Floats:
    """Return `sure_candidates` in independent batches: (count, words)."""
    cheap = _CELLS // (len(channel.lexicon) * len(ids))
    draws = min(_MOST_DRAWS, max(_LEAST_DRAWS, cheap))
    return np.stack(
        [sure_candidates(channel, ids, rng, draws=draws, most=most) for _ in range(count)]
    )


def sure_candidates(
    channel: Channel, ids: Ids, rng: Generator, *, draws: int, most: int, factor: float = 2.0
) -> Floats:
    """Return a number for each word whose expectation is at most its K_w, from so many draws each.

    Where the density of the noise is known, the `most` likeliest words are compared with each word,
    and the draws of all words are independent. Otherwise the words `ids` are compared with each
    other, or all words of a lexicon of up to 1,000.
    """
    likelihoods = vector_likelihoods(channel)
    if likelihoods is None or not isinstance(channel, VectorChannel):
        return _by_labels(channel, ids, rng, draws, factor)
    values = _by_density(channel, likelihoods, ids, rng, draws, most, factor)
    if (untold := np.isnan(values)).any():
        values[untold] = _by_labels(channel, ids[untold], rng, draws, factor)
    return values


class Inside:
    """1 − f for means of some draws: f is 0 in the middle of 1/γ … γ, 1 at its ends, and linear.

    The more draws, the closer to the ends f starts to grow.
    """

    def __init__(self, factor: float, *, shares: bool = False) -> None:
        """Take ratios r, or `shares` r/(1 + r)."""
        self._width, self._shares = float(np.log(factor)), shares

    def __call__(self, means: Floats, draws: Any) -> Floats:
        """Return what a word counts for, given means of so many draws."""
        start = 1.0 - 0.5 / np.sqrt(1.0 + np.asarray(draws) / _STEEPER)
        least, low, high, largest = (self._end(part) for part in (-1.0, -start, start, 1.0))
        below, above = (low - means) / (low - least), (means - high) / (largest - high)
        return np.asarray(1.0 - np.maximum(0.0, np.maximum(below, above)))

    def _end(self, part: Any) -> Any:
        ratio = np.exp(part * self._width)
        return ratio / (1.0 + ratio) if self._shares else ratio


def _by_density(
    channel: VectorChannel[Any],
    likelihoods: VectorLikelihoods,
    ids: Ids,
    rng: Generator,
    draws: int,
    most: int,
    factor: float,
) -> Floats:
    """Compare densities; NaN for a word with draws about which its density says nothing."""
    inside, values = Inside(factor), np.empty(len(ids))
    for block in blocks(len(ids), row_cells=draws * channel.lexicon.vectors.shape[1]):
        some = ids[block]
        rivals = _rivals(channel, likelihoods, some, rng, most)
        noisy = channel.release_words(np.repeat(some, draws), rng)
        drawn = channel.decoder.decode(noisy, rng).reshape(-1, draws)
        noisy = noisy.reshape(len(some), draws, -1)
        for row, word in enumerate(some):
            place = block.start + row
            if likelihoods.untold(noisy[row], np.full(draws, word)).any():
                values[place] = np.nan
                continue
            scores = likelihoods.of_some(noisy[row], np.append(rivals[row], word))
            logs = np.minimum(scores[:, :-1] - scores[:, -1:], _FAR)
            values[place] = 1.0 + _counted(np.exp(logs), drawn[row], inside)
    return values


def _rivals(
    channel: VectorChannel[Any],
    likelihoods: VectorLikelihoods,
    ids: Ids,
    rng: Generator,
    most: int,
) -> Ids:
    """Return the other words that explain vectors of each word best: (words, most or fewer)."""
    size = len(channel.lexicon)
    count = min(most, size - 1)
    rivals = np.empty((len(ids), count), dtype=np.int64)
    for block in blocks(len(ids), row_cells=_PILOTS * size):
        some = ids[block]
        noisy = channel.release_words(np.repeat(some, _PILOTS), rng)
        scores = likelihoods.of_all(noisy).reshape(len(some), _PILOTS, size).mean(axis=1)
        scores[np.arange(len(some)), some] = -np.inf
        rivals[block] = np.argpartition(-scores, count - 1, axis=1)[:, :count]
    return rivals


@dataclass(frozen=True, eq=False)
class _Half:
    """The ratios of half of the draws of a word, and their means at each output."""

    ratios: Floats
    outputs: Ids
    """Those that occur, in order."""
    counts: Ids
    means: Floats

    @classmethod
    def of(cls, ratios: Floats, drawn: Ids) -> "_Half":
        order = np.argsort(drawn, kind="stable")
        outputs, firsts, counts = np.unique(drawn[order], return_index=True, return_counts=True)
        sums = np.add.reduceat(ratios[order], firsts, axis=0)
        return cls(ratios, outputs, counts, sums / counts[:, None])


def _counted(ratios: Floats, drawn: Ids, inside: Inside) -> float:
    """Return how many of the words with these ratios count, on average over outputs.

    Each half of the draws chooses which words to count at an output of the other half.
    """
    middle = len(drawn) // 2
    first = _Half.of(ratios[:middle], drawn[:middle])
    second = _Half.of(ratios[middle:], drawn[middle:])
    return (_chosen(first, second, inside) + _chosen(second, first, inside)) / 2.0


def _chosen(choosing: _Half, counting: _Half, inside: Inside) -> float:
    hopes = np.broadcast_to(_surely(inside(choosing.ratios, 1)), counting.means.shape).copy()
    places = np.searchsorted(choosing.outputs, counting.outputs)
    places = np.minimum(places, len(choosing.outputs) - 1)
    seen = choosing.outputs[places] == counting.outputs
    known = seen & (choosing.counts[places] >= _TOLD)
    there = places[known]
    hopes[known] = inside(choosing.means[there], choosing.counts[there, None])
    sums = np.where(hopes > 0.0, inside(counting.means, counting.counts[:, None]), 0.0).sum(axis=1)
    return float(sums @ counting.counts / counting.counts.sum())


def _surely(values: Floats) -> Floats:
    """Return the means of columns, less their standard errors."""
    return np.asarray(values.mean(axis=0) - values.std(axis=0) / len(values) ** 0.5)


def _by_labels(channel: Channel, ids: Ids, rng: Generator, draws: int, factor: float) -> Floats:
    """Compare counts of draws.

    The number of draws of a word is itself Poisson's. Then counts are independent, and each draw
    that becomes y is one of w' rather than of w with probability r/(1 + r), whatever their number.
    """
    size = len(channel.lexicon)
    inputs = np.arange(size) if size <= SMALL else np.unique(ids)
    inside, sums = Inside(factor, shares=True), np.ones(len(inputs))
    for rows, chosen, counted in _at_outputs(channel, inputs, rng, draws / 2.0):
        kinds, places, numbers = np.unique(
            np.stack([chosen, counted]), axis=1, return_inverse=True, return_counts=True
        )
        for before, after in (kinds, kinds[::-1]):
            values = _shares_inside(before, after, inside)
            others = values @ numbers - values.diagonal()  # a word is not compared with itself
            sums[rows] += (before * others / draws)[places.ravel()]
    return np.asarray(sums[np.searchsorted(inputs, ids)])


def _at_outputs(
    channel: Channel, inputs: Ids, rng: Generator, draws: float
) -> Iterator[tuple[Ids, Ids, Ids]]:
    """Yield, for each output, the places of inputs that give it, and how often each half does."""
    keys = []
    for _ in range(2):
        numbers = rng.poisson(draws, len(inputs))
        rows = np.repeat(np.arange(len(inputs)), numbers)
        keys.append(channel.substitute(inputs[rows], rng) * len(inputs) + rows)
    both = np.unique(np.concatenate(keys))
    counts = [np.bincount(np.searchsorted(both, each), minlength=len(both)) for each in keys]
    ends = np.flatnonzero(np.diff(both // len(inputs))) + 1
    for start, end in zip([0, *ends], [*ends, len(both)], strict=True):
        part = slice(start, end)
        yield both[part] % len(inputs), counts[0][part], counts[1][part]


def _shares_inside(before: Ids, after: Ids, inside: Inside) -> Floats:
    """Return 1 − f of the shares of one half, where those of the other promise something."""
    hopes = _inside_of_pairs(before, inside)
    return np.where(hopes > 0.0, _inside_of_pairs(after, inside), 0.0)


def _inside_of_pairs(counts: Ids, inside: Inside) -> Floats:
    """Return 1 − f of the share of each word in each pair; 0 where there are too few draws."""
    totals = counts[:, None] + counts
    shares = counts / np.maximum(totals, 1)
    return np.where(totals >= _LEAST, inside(shares, totals), 0.0)
