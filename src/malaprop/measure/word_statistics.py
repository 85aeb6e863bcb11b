"""What a statistic of words is, and all there are: N_w, S_w, entropies, K_w, distance moved,
similarity.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.measure.bayes import vector_likelihoods
from malaprop.privacy.arrays import Floats, Ids, blocks
from malaprop.privacy.best_guess import columns_of, log_chances
from malaprop.privacy.channel import Channel, LawChannel, VectorChannel, checked_channel
from malaprop.privacy.errors import ParameterError, checked_number
from malaprop.privacy.estimate import (
    Estimate,
    bootstrap_intervals,
    clopper_pearson,
    draw_often,
    even_sample,
    widened,
    word_ids,
)
from malaprop.privacy.law import Law
from malaprop.privacy.metrics import MetricSpace
from malaprop.privacy.progress import Progress, report, stage
from malaprop.privacy.randomness import checked_rng, secure_rng, seeded_rng

# How similar two words are: the yardstick of utility, not of privacy.

_COMMON = 3  # principal components that all words have in common
_FEWEST = 16  # dimensions below which there is nothing to spare


class Similarity:
    """Cosines of word vectors, less their mean and first three principal components.

    Those are what all words have in common; without them a cosine tells related words from
    unrelated ones much better (Mu and Viswanath 2018). Below 16 dimensions, plain cosines.

    >>> from malaprop import Lexicon
    >>> axes = Lexicon(["east", "north", "west"], [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    >>> Similarity(axes).to_some(0, np.array([0, 1, 2])).tolist()
    [1.0, 0.0, -1.0]
    """

    def __init__(self, space: MetricSpace) -> None:
        self._space = space

    @cached_property
    def _units(self) -> Floats:
        vectors = self._space.vectors.astype(np.float64)
        if vectors.shape[1] >= _FEWEST:
            vectors -= vectors.mean(axis=0)
            _, axes = np.linalg.eigh(vectors.T @ vectors)
            common = axes[:, -_COMMON:]
            vectors -= (vectors @ common) @ common.T
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.where(lengths > 0.0, lengths, 1.0))

    @cached_property
    def _short_units(self) -> NDArray[np.float32]:
        return self._units.astype(np.float32)

    def expected(self, ids: Ids, probabilities: Floats) -> Floats:
        """Return the mean similarity of each word with all words: one row of probabilities each.

        It is right to six digits: sums in float32 take half the time.
        """
        means = probabilities.astype(np.float32) @ self._short_units
        return np.asarray(np.einsum("ij,ij->i", self._units[ids], means))

    def between(self, ids: Ids, others: Ids) -> Floats:
        return np.asarray(np.einsum("ij,ij->i", self._units[ids], self._units[others]))

    def of_texts(self, ids: Ids, others: Ids, lengths: Ids) -> Floats:
        """Return the similarity of texts and others of the same lengths, text by text.

        It is the cosine of the sums of their words' vectors, each of length 1. Texts without words
        are left out.
        """
        from scipy.sparse import csr_array

        sizes = lengths[lengths > 0]
        ends, ones = np.concatenate([[0], np.cumsum(sizes)]), np.ones(len(ids))
        shape = (len(sizes), len(self._units))
        first, second = (
            csr_array((ones, words, ends), shape=shape) @ self._units for words in (ids, others)
        )
        dots = np.einsum("ij,ij->i", first, second)
        norms = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
        return np.asarray(dots / np.where(norms > 0.0, norms, 1.0))

    def to_some(self, word: int, others: Ids) -> Floats:
        return np.asarray(self._units[others] @ self._units[word])


# What a statistic of words is, and what it is computed from: rows of a law, or draws.


@dataclass(frozen=True, kw_only=True)
class Options:
    """What statistics depend on besides the channel."""

    runs: int
    """R: the number of runs that "distinct outputs in R runs" speaks of, and of draws."""
    least: float
    """η: outputs with a larger probability count as likely."""
    factor: float
    """γ: inputs whose probabilities for an output differ by a factor of at most this."""


@dataclass(frozen=True, kw_only=True)
class _Words:
    space: MetricSpace
    ids: Ids
    similarity: Similarity
    options: Options


@dataclass(frozen=True, kw_only=True)
class Rows(_Words):
    """Whole rows of a law: the probability of each output, for some words."""

    log_probabilities: Floats

    @cached_property
    def probabilities(self) -> Floats:
        """Pr[y | w]: (words, outputs)."""
        return np.exp(self.log_probabilities)

    @property
    def seen(self) -> Floats:
        """How likely each output is to come out in R runs."""
        with np.errstate(divide="ignore"):  # a word that always comes out: ln 0
            missed = self.options.runs * np.log1p(-np.minimum(self.probabilities, 1.0))
        return np.asarray(-np.expm1(missed))

    def expected(self, values: Floats) -> Floats:
        """Return the mean of a number for each output, by the law."""
        return np.asarray(np.einsum("ij,ij->i", self.probabilities, values))


@dataclass(frozen=True, kw_only=True)
class Draws(_Words):
    """Draws for some words: (words, runs)."""

    drawn: Ids

    @cached_property
    def shares(self) -> list[tuple[Ids, Floats]]:
        """For each word its distinct outputs, and the share of draws of each."""
        pairs = (np.unique(row, return_counts=True) for row in self.drawn)
        return [(outputs, counts / self.drawn.shape[1]) for outputs, counts in pairs]

    def each_word(self, of_shares: Callable[[Floats], Any]) -> Floats:
        """Return a function of the shares of each word's outputs."""
        return np.array([of_shares(shares) for _, shares in self.shares], np.float64)


@dataclass(frozen=True, kw_only=True)
class Statistic:
    """A number for each word, computed from a law or estimated from draws."""

    name: str
    title: str
    exact: Callable[[Rows], Floats] | None
    """Computes it from rows of a law; None for K_w, which takes all rows: see `law_batches`."""
    sampled: Callable[[Draws], Floats]
    """Estimates it from draws, a number for each word; or, of a `mean`, for each draw."""
    mean: bool = False
    """Whether it is the mean of a number for each draw."""
    bounds: Callable[[int, int], tuple[float, float]] = lambda size, runs: (0.0, math.inf)
    """The least and the largest value that is possible with so many words and runs."""
    worst: Literal["high", "low"] = "low"
    """Which end of the scale protects a word least."""
    metric: str = ""
    """The only metric in which it says anything; it is left out with others."""

    def of_draws(self, draws: Draws) -> Floats:
        values = self.sampled(draws)
        return np.asarray(values.mean(axis=1)) if self.mean else values


# K_w, S_w on a hierarchy, and others whose estimates take more than a line.


def _sampled_candidates(draws: Draws) -> Floats:
    """Count the inputs that explain an output, by shares of draws, among the sampled words only.

    That is an estimate, and no bound. Words that were not sampled do not count, which lowers it.
    Shares of few draws look alike, such as those of two words that gave an output once each, which
    raises it.
    """
    words = np.repeat(np.arange(len(draws.ids)), [len(outputs) for outputs, _ in draws.shares])
    outputs = np.concatenate([outputs for outputs, _ in draws.shares])
    shares = np.concatenate([shares for _, shares in draws.shares])
    width = float(np.log(draws.options.factor))
    # Sorted by output, then by share: those within the factor are neighbours.
    logs = np.log(shares)
    apart = 4.0 * (width - logs.min() + 1.0)
    keys = np.sort(outputs * apart + logs)
    low = np.searchsorted(keys, outputs * apart + logs - width * (1 + 1e-12) - 1e-9)
    high = np.searchsorted(keys, outputs * apart + logs + width * (1 + 1e-12) + 1e-9)
    means = np.bincount(words, weights=shares * (high - low), minlength=len(draws.ids))
    return means.astype(np.float64)


def _depths(space: MetricSpace) -> Floats:
    """Return how far each word is from the origin, which orders as hyperbolic distance does."""
    return np.asarray(np.linalg.norm(space.vectors.astype(np.float64), axis=1))


def _below(rows: Rows) -> Floats:
    depths, seen = _depths(rows.space), rows.seen
    seen[np.arange(len(rows.ids)), rows.ids] = 1.0  # it counts, whether it comes out or not
    return np.asarray(np.einsum("ij,ij->i", seen, depths >= depths[rows.ids, None]))


def _sampled_below(draws: Draws) -> Floats:
    depths = _depths(draws.space)
    counts = [
        np.count_nonzero(depths[outputs[outputs != word]] >= depths[word]) + 1
        for word, (outputs, _) in zip(draws.ids, draws.shares, strict=True)
    ]
    return np.array(counts, dtype=np.float64)


def _moves(draws: Draws) -> Floats:
    moves = np.empty(draws.drawn.shape)
    for block in blocks(len(draws.ids), row_cells=len(draws.space)):
        distances = draws.space.distances(draws.ids[block])
        moves[block] = np.take_along_axis(distances, draws.drawn[block], axis=1)
    return moves


def _similarities(draws: Draws) -> Floats:
    values = np.empty(draws.drawn.shape)
    for row, word in enumerate(draws.ids):
        outputs, places = np.unique(draws.drawn[row], return_inverse=True)
        values[row] = draws.similarity.to_some(word, outputs)[places]
    return values


def _bits(size: int, runs: int) -> tuple[float, float]:
    """Return the bounds of an entropy: that of equally likely words is the largest."""
    return 0.0, float(np.log2(size))


_STATISTICS = (
    # The mean number of inputs w' with Pr[y|w]/γ ≤ Pr[y|w'] ≤ γ·Pr[y|w], over outputs y of w. That
    # is plausible deniability in the sense of Bindschaedler, Shokri and Gunter (2017); the word
    # itself counts, so the least is 1. On lexicons of up to 1,000 words it is exact. Beyond,
    # probabilities are exact, and the mean is taken over four drawn outputs of each word.
    Statistic(
        name="candidates",
        title="inputs that explain the output within a factor γ (K_w)",
        exact=None,
        sampled=_sampled_candidates,
        bounds=lambda size, runs: (1.0, float(size)),
    ),
    # S_w, the number of different outputs in R runs; from a law its mean, Σ_y 1 − (1 − p_y)^R. It
    # grows with R, so it compares mechanisms only at the same R.
    Statistic(
        name="distinct",
        title="different outputs in R runs (S_w)",
        exact=lambda rows: np.asarray(rows.seen.sum(axis=1)),
        sampled=lambda draws: draws.each_word(len),
        bounds=lambda size, runs: (1.0, float(min(size, runs))),
    ),
    # −Σ_y p_y·log₂ p_y. From draws it is too small: rare outputs are missing.
    Statistic(
        name="entropy",
        title="Shannon entropy of the output, in bits",
        exact=lambda rows: (
            -rows.expected(np.where(rows.probabilities > 0.0, rows.log_probabilities, 0.0))
            / np.log(2.0)
        ),
        sampled=lambda draws: draws.each_word(lambda shares: -(shares @ np.log2(shares))),
        bounds=_bits,
    ),
    # log₂ of the number of possible outputs. Nearly all words are possible, however unlikely; those
    # of draws are a lower bound.
    Statistic(
        name="hartley",
        title="Hartley entropy of the output, in bits",
        exact=lambda rows: np.log2(np.count_nonzero(rows.probabilities > 0.0, axis=1)),
        sampled=lambda draws: draws.each_word(lambda shares: np.log2(len(shares))),
        bounds=_bits,
    ),
    # min over ŵ of |{w' ∈ S_w : w' ≺ ŵ}|, where S_w are outputs of w, and ŵ those above w: so
    # hyperbolic-2019 defines it (§VI-B). An observer who sees the more general ŵ takes the word for
    # any of the outputs below it. "Below" is "farther from the origin of the Poincaré ball", which
    # is where vectors keep a hierarchy. So the least number is that of the output just above w: the
    # outputs at least as far out as w, w itself among them. S_w are the outputs of R runs; from a
    # law, the mean over such runs is computed. It needs a lexicon in the ball, such as
    # `english-hierarchy`: the relations themselves, by which fewer words are below each other, are
    # not part of a lexicon.
    Statistic(
        name="hierarchy",
        title="outputs as low in the hierarchy as the word (K_w of hyperbolic-2019)",
        exact=_below,
        sampled=_sampled_below,
        bounds=lambda size, runs: (1.0, float(size)),
        metric="poincare",
    ),
    # N_w = Pr[M(w) = w]. For a law that is largest at the word itself, 2^(−min-entropy).
    Statistic(
        name="kept",
        title="chance that the word stays as it is (N_w)",
        exact=lambda rows: rows.probabilities[np.arange(len(rows.ids)), rows.ids],
        sampled=lambda draws: (draws.drawn == draws.ids[:, None]).astype(np.float64),
        mean=True,
        bounds=lambda size, runs: (0.0, 1.0),
        worst="high",
    ),
    # The number of outputs with a probability above η: S_w without a dependence on runs.
    Statistic(
        name="likely",
        title="outputs with a probability above η",
        exact=lambda rows: np.count_nonzero(rows.probabilities > rows.options.least, axis=1).astype(
            np.float64
        ),
        sampled=lambda draws: draws.each_word(
            lambda shares: np.count_nonzero(shares > draws.options.least)
        ),
        bounds=lambda size, runs: (0.0, float(size)),
    ),
    # −log₂ of the probability of the likeliest output.
    Statistic(
        name="min_entropy",
        title="min-entropy of the output, in bits",
        exact=lambda rows: -rows.log_probabilities.max(axis=1) / np.log(2.0),
        sampled=lambda draws: draws.each_word(lambda shares: -np.log2(shares.max())),
        bounds=_bits,
    ),
    # Σ_y p_y·d(w, y), in the lexicon's metric. Small values are useful, not private.
    Statistic(
        name="moved",
        title="expected distance of the output",
        exact=lambda rows: rows.expected(rows.space.distances(rows.ids)),
        sampled=_moves,
        mean=True,
    ),
    # Σ_y p_y·cos(w, y), with the cosines of `Similarity`.
    Statistic(
        name="similarity",
        title="expected similarity of the output",
        exact=lambda rows: rows.similarity.expected(rows.ids, rows.probabilities),
        sampled=_similarities,
        mean=True,
        bounds=lambda size, runs: (-1.0, 1.0),
        worst="high",
    ),
)
registry: Mapping[str, Statistic] = {statistic.name: statistic for statistic in _STATISTICS}
"""All statistics by name, in the order in which they are shown."""


# K_w: how many inputs explain an output about as well as the true word.

_SMALL: Final = 1_000  # words of a lexicon up to which all outputs count;
_OUTPUTS: Final = 4  # beyond, so many drawn ones of each word
_BATCHES: Final = 8  # of outputs and inputs, to tell the error of both,
_BATCH_OUTPUTS: Final = 2  # with so many outputs of each word,
_BATCH_INPUTS: Final = 128  # and so many inputs
_TOGETHER: Final = 256  # outputs whose columns are computed together,
_COLUMNS: Final = 8  # and compared at once, in a processor's cache
_PILOTS: Final = 2  # draws of a word that choose the words to compare with it
_TOLD: Final = 4  # draws of a word that become an output: fewer do not choose words for it
_FAR: Final = 60.0  # cuts off logarithms of ratios: a larger one has a chance below e^−60
_ROUNDING: Final = 1e-9  # of logarithms: probabilities that are equal but for it count as equal


def law_batches(
    channel: LawChannel[Law],
    ids: Ids,
    rng: Generator,
    *,
    factor: float = 2.0,
    all_inputs: bool = False,
    progress: Progress | None = None,
) -> Floats:
    """Return estimates of K_w without bias, in independent batches: (batches, words).

    On up to 1,000 words they are exact, in one batch. Beyond, each batch has outputs of its own,
    and, unless columns of the law are cheap, inputs of its own to compare: 128 drawn ones stand for
    all. So the law takes some rows, not all. With `all_inputs`, there is one batch for all rows.
    """
    size, width = len(channel.lexicon), float(np.log(factor)) + _ROUNDING
    if size <= _SMALL:
        return _over_all_outputs(channel.log_probabilities(np.arange(size)), width)[None, ids]
    batches, each = (1, _OUTPUTS) if all_inputs else (_BATCHES, _BATCH_OUTPUTS)
    drawn = channel.substitute(np.repeat(ids, batches * each), rng).reshape(len(ids), -1)
    columns = columns_of(channel.law)
    if columns.prepare(stage(progress, 0, 2)) if all_inputs else columns.cheap:
        counts = _by_columns(channel, ids, drawn, width, stage(progress, 1, 2))
        return np.asarray(counts.reshape(len(ids), batches, each).mean(axis=2).T)
    compared = np.arange(size)[None]
    if not all_inputs:
        inputs = min(_BATCH_INPUTS, size // batches)
        compared = rng.choice(size, batches * inputs, replace=False).reshape(batches, -1)
    return _by_rows(channel, ids, drawn, compared, width, progress)


def _over_all_outputs(law: Floats, width: float) -> Floats:
    means = np.zeros(len(law))
    for column in law.T:
        ordered = np.sort(column)
        low = np.searchsorted(ordered, column - width, side="left")
        high = np.searchsorted(ordered, column + width, side="right")
        means += np.exp(column) * (high - low)
    return means


def _by_columns(
    channel: LawChannel[Law], ids: Ids, drawn: Ids, width: float, progress: Progress | None
) -> Floats:
    """Count for each drawn output the words that explain it; each column is computed once."""
    outputs, words = drawn.ravel(), np.repeat(ids, drawn.shape[1])
    order = np.argsort(outputs, kind="stable")
    distinct, firsts = np.unique(outputs[order], return_index=True)
    places = iter(np.split(order, firsts[1:]))
    counts, columns = np.zeros(len(outputs)), columns_of(channel.law)
    steps = blocks(len(distinct), row_cells=1, budget=_TOGETHER)
    for done, block in enumerate(steps, 1):
        for part in columns.parts(distinct[block], _COLUMNS):
            for column in part:
                for place in next(places):
                    own = column[words[place]]
                    near = (column >= own - width) & (column <= own + width)
                    counts[place] = np.count_nonzero(near)
        report(progress, done, len(steps))
    return counts


def _by_rows(
    channel: LawChannel[Law],
    ids: Ids,
    drawn: Ids,
    inputs: Ids,
    width: float,
    progress: Progress | None,
) -> Floats:
    """Count the words that explain outputs among some inputs, a row for each batch of both.

    The inputs stand for all words; the word itself is counted in any case.
    """
    own, size = log_chances(channel, ids, drawn), len(channel.lexicon)
    batches = np.empty((len(inputs), len(ids)))
    parts = (np.array_split(each, len(inputs), axis=1) for each in (drawn, own))
    for batch, (some, outputs, chances) in enumerate(zip(inputs, *parts, strict=True)):
        counts, others = np.zeros(outputs.shape), np.zeros(len(ids))
        steps = blocks(len(some), row_cells=size)
        for done, block in enumerate(steps, 1):
            for word, row in zip(some[block], channel.log_probabilities(some[block]), strict=True):
                other = ids != word
                counts += (np.abs(row[outputs] - chances) <= width) & other[:, None]
                others += other
            report(progress, done, len(steps))
        batches[batch] = 1.0 + counts.mean(axis=1) * (size - 1) / others
    return batches


def candidate_lower_bound(
    channel: Channel, ids: Ids, rng: Generator, *, rivals: int, draws: int, factor: float = 2.0
) -> Floats:
    """Return a number for each word whose expectation is at most its K_w, from so many draws.

    It is one end of an estimate from draws, and no proof: its own error is to be subtracted. The
    ratio r of an output y for a word w' is the mean of density(z|w')/density(z|w) over the noisy
    vectors z of w that become y. The convex f has f ≥ 0, and f ≥ 1 outside of 1/γ … γ. So, by
    Jensen's inequality, 1 − f of a mean over draws is on average at most 1 if w' explains y, and at
    most 0 if not. The `rivals` likeliest words are compared with each word. One half of the draws
    chooses those that count, and the other half counts them.
    """
    likelihoods = vector_likelihoods(channel)
    if likelihoods is None or not isinstance(channel, VectorChannel):
        raise ParameterError(
            f"Candidates of {type(channel).__name__} cannot be counted: neither its law nor the "
            "density of its noise is known. Take another target, such as `kept` or `success`."
        )
    size, counted = len(channel.lexicon), np.ones(len(ids))  # a word explains its own outputs
    count = min(rivals, size - 1)
    for block in blocks(
        len(ids), row_cells=max(_PILOTS * size, draws * channel.lexicon.vectors.shape[1])
    ):
        words = ids[block]
        pilots = channel.release_words(np.repeat(words, _PILOTS), rng)
        likely = likelihoods.of_all(pilots).reshape(len(words), _PILOTS, size).mean(axis=1)
        noisy = channel.release_words(np.repeat(words, draws), rng)
        drawn = channel.decoder.decode(noisy, rng).reshape(-1, draws)
        untold = likelihoods.untold(noisy, np.repeat(words, draws)).reshape(-1, draws)
        for row in np.flatnonzero(~untold.any(axis=1)):
            likely[row, words[row]] = -np.inf
            near = np.argpartition(-likely[row], count - 1)[:count]
            own = noisy[row * draws : (row + 1) * draws]
            scores = likelihoods.of_some(own, np.append(near, words[row]))
            ratios = np.exp(np.minimum(scores[:, :-1] - scores[:, -1:], _FAR))
            counted[block.start + row] += _explained(ratios, drawn[row], factor)
    return counted


def _explained(ratios: Floats, drawn: Ids, factor: float) -> float:
    """Return how many of the words with these ratios count, on average over the outputs drawn."""
    outputs, halves = np.unique(drawn), []
    for half in (slice(0, None, 2), slice(1, None, 2)):
        here = (drawn[half] == outputs[:, None]).astype(np.float64)
        counts = here.sum(axis=1, keepdims=True)
        halves.append((ratios[half], counts, here @ ratios[half] / np.maximum(counts, 1.0)))
    total = 0.0
    for (single, seen, before), (_, counts, means) in (halves, halves[::-1]):
        values = _inside(single, 1.0, factor)
        likely = values.mean(axis=0) > values.std(axis=0) / len(values) ** 0.5
        chosen = np.where(seen >= _TOLD, _inside(before, seen, factor) > 0.0, likely)
        total += float((counts * chosen * _inside(means, counts, factor)).sum() / counts.sum())
    return total / 2.0


def _inside(means: Floats, draws: Any, factor: float) -> Floats:
    """Return 1 − f of means of some draws: f is 0 in the middle, 1 at 1/γ and γ, and linear.

    The more draws, the closer to the ends f starts to grow.
    """
    start = factor ** (1.0 - 0.5 / np.sqrt(1.0 + draws / 8.0))
    below = (1.0 - means * start) / (1.0 - start / factor)
    above = (means - start) / (factor - start)
    return np.asarray(1.0 - np.maximum(0.0, np.maximum(below, above)))


_GROUPS: Final = 8  # of runs, whose differences tell the error of draws
_ERROR_WORDS: Final = 512  # that tell it for more words, too: it is no smaller for fewer words
_TABLE_CELLS: Final = 1 << 21  # rows of a law, or draws, that are held at a time
_LISTED: Final = 10  # words at the worst end
_LEAST_RUNS: Final = 10
_PERCENTILES: Final = {"min": 0, "p5": 5, "p50": 50, "p95": 95, "max": 100}


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A statistic over all words: mean with its interval, spread, percentiles, worst words."""

    title: str
    estimate: Estimate
    """The mean over the lexicon. Its interval is that of the bootstrap over words unless all were
    measured, and has the error of draws unless it is `exact`."""
    sd: float
    min: float
    p5: float
    p50: float
    p95: float
    max: float
    worst: tuple[tuple[str, float], ...]
    """The words that are protected least, with their values."""

    @property
    def mean(self) -> float:
        return self.estimate.value

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the mean."""
        return self.estimate.interval

    def to_dict(self) -> dict[str, Any]:
        facts = vars(self).copy()
        title, _ = facts.pop("title"), facts.pop("estimate")
        mean = {"title": title, "mean": self.mean, "interval": list(self.interval)}
        return mean | facts | {"worst": dict(self.worst)}


@dataclass(frozen=True, kw_only=True)
class WordStatistics:
    """What a channel does to each of some words. It describes; it is no guarantee."""

    words: tuple[str, ...]
    values: Mapping[str, Floats]
    """The values of each statistic of the `registry` that applies to the lexicon, a number
    per word."""
    exact: bool
    """Whether they are computed from the law; else they are estimates from `runs` draws each."""
    runs: int
    """R: "distinct" counts the different outputs of R runs."""
    size: int
    """How many words the lexicon has."""
    seed: int = 0
    """Of the bootstrap that gives intervals of means; drawn from the generator of the draws."""
    draw_errors: Mapping[str, float] = field(default_factory=dict)
    """Standard errors of the means over words that draws cause, with 7 degrees of freedom; none if
    `exact`."""

    def __getattr__(self, name: str) -> Floats:
        """Return the values of a statistic by its name: `kept`, `distinct`, `candidates` …"""
        if name not in vars(self).get("values", ()):
            raise AttributeError(f"{type(self).__name__} has no {name!r}.", name=name, obj=self)
        return self.values[name]

    @property
    def kept_intervals(self) -> Floats:
        """95 % Clopper-Pearson intervals of `kept`: (words, 2). Exact values have no width."""
        if self.exact:
            return np.stack([self.kept, self.kept], axis=1)
        return clopper_pearson(np.rint(self.kept * self.runs), self.runs)

    def summary(self) -> dict[str, Summary]:
        """Summarise each statistic; intervals of means have the error of words and of draws."""
        means = np.array([values.mean() for values in self.values.values()])
        intervals = np.stack([means, means], axis=1)
        if len(self.words) < self.size:
            columns = np.stack(list(self.values.values()), axis=1)
            intervals = bootstrap_intervals(columns, seeded_rng(self.seed))
        errors = np.array([self.draw_errors.get(name, 0.0) for name in self.values])
        intervals = widened(intervals, means, errors, _GROUPS - 1)
        summaries = {}
        for (name, values), mean, (low, high) in zip(
            self.values.items(), means.tolist(), intervals.tolist(), strict=True
        ):
            statistic = registry[name]
            least, most = statistic.bounds(self.size, self.runs)
            percentiles = np.percentile(values, list(_PERCENTILES.values())).tolist()
            order = np.argsort(-values if statistic.worst == "high" else values, kind="stable")
            summaries[name] = Summary(
                title=statistic.title,
                # Rounding may have put a mean beyond an end, but never beyond its own interval.
                estimate=Estimate(
                    value=mean, low=max(low, min(least, mean)), high=min(high, max(most, mean))
                ),
                sd=float(values.std(ddof=1)) if len(values) > 1 else 0.0,
                **dict(zip(_PERCENTILES, percentiles, strict=True)),
                worst=tuple((self.words[i], float(values[i])) for i in order[:_LISTED]),
            )
        return summaries

    def to_dict(self) -> dict[str, Any]:
        return {
            "exact": self.exact,
            "runs": self.runs,
            "lexicon_words": self.size,
            "summary": {name: value.to_dict() for name, value in self.summary().items()},
            "words": list(self.words),
            "values": {name: values.tolist() for name, values in self.values.items()},
            "kept_intervals": None if self.exact else self.kept_intervals.tolist(),
        }


def statistics(
    channel: Channel,
    words: Sequence[str] | int | None = None,
    runs: int = 1000,
    rng: Generator | None = None,
    *,
    least: float | None = None,
    factor: float = 2.0,
    progress: Progress | None = None,
) -> WordStatistics:
    """Return statistics of a channel for some words: exact from its law, or from `runs` draws.

    `words` are words of the lexicon, or a number of words spread evenly over it; by default all,
    or 1,000 of a lexicon with more than 10,000. `least` is η, by default 1/runs, and `factor` is
    γ: see `malaprop.measure.word_statistics.registry`.

    >>> from malaprop import Lexicon, TEM
    >>> line = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [3.0]])
    >>> figures = statistics(TEM(epsilon=2.0, gamma=2.0, exponent="half").on(line))
    >>> figures.kept.round(6).tolist(), figures.exact
    ([0.665241, 0.665241, 0.786986], True)
    """
    ids = word_ids(checked_channel(channel).lexicon, words)
    options = _options(runs, least, factor)
    noise = secure_rng() if rng is None else checked_rng(rng)
    size = len(channel.lexicon)
    metric = str(channel.lexicon.metric)
    wanted = [each for each in registry.values() if each.metric in ("", metric)]
    values, draws = _values(channel, ids, wanted, options, noise, progress)
    errors = {} if draws is None else _draw_errors(draws, wanted)
    if draws is None and _SMALL < len(ids) == size:
        # All words were measured: what is left is drawn outputs.
        errors = {"candidates": float(values["candidates"].std(ddof=1)) / size**0.5}
    return WordStatistics(
        words=tuple(channel.lexicon.words[i] for i in ids),
        values=values,
        exact=isinstance(channel, LawChannel),
        runs=options.runs,
        size=size,
        seed=int(noise.integers(1 << 32)),
        draw_errors=errors,
    )


def statistics_of(channel: Channel, ids: Ids, name: str, runs: int, rng: Generator) -> Floats:
    """Return one statistic of some words, with the usual η and γ."""
    return _values(channel, ids, [registry[name]], _options(runs, None, 2.0), rng, None)[0][name]


def each_draw(
    channel: Channel, ids: Ids, name: str, runs: int, rng: Generator, similarity: Similarity
) -> Floats:
    """Return what each draw adds to a statistic that is a mean over draws: (words, runs)."""
    drawn = draw_often(channel, ids, runs, rng, budget=_TABLE_CELLS)
    own: dict[str, Any] = {"similarity": similarity, "options": _options(runs, None, 2.0)}
    return registry[name].sampled(Draws(space=channel.lexicon, ids=ids, drawn=drawn, **own))


def _options(runs: int, least: float | None, factor: float) -> Options:
    of = "parameter of statistics"
    enough = f"a whole number, {_LEAST_RUNS} or more: fewer draws say nothing about a word"
    runs = int(
        checked_number(runs, f"'runs' {of}", enough, lambda x: x >= _LEAST_RUNS and x.is_integer())
    )
    least = 1.0 / runs if least is None else least
    share = "a probability of 0 or more, below 1"
    least = checked_number(least, f"'least' {of}", share, lambda x: 0.0 <= x < 1.0)
    factor = checked_number(factor, f"'factor' {of}", "1 or more", lambda x: 1.0 <= x < math.inf)
    return Options(runs=runs, least=least, factor=factor)


def _values(
    channel: Channel,
    ids: Ids,
    wanted: Sequence[Statistic],
    options: Options,
    rng: Generator,
    progress: Progress | None,
) -> tuple[dict[str, Floats], Draws | None]:
    """Return statistics of some words, from the law or else from draws, and these draws."""
    similarity = Similarity(channel.lexicon)
    if not isinstance(channel, LawChannel):
        drawn = draw_often(channel, ids, options.runs, rng, progress, budget=_TABLE_CELLS)
        draws = Draws(
            space=channel.lexicon, ids=ids, drawn=drawn, similarity=similarity, options=options
        )
        return {each.name: each.of_draws(draws) for each in wanted}, draws
    by_row = [(each.name, each.exact) for each in wanted if each.exact is not None]
    parts: dict[str, list[Floats]] = {statistic.name: [] for statistic in wanted}
    steps = blocks(len(ids), row_cells=len(channel.lexicon), budget=_TABLE_CELLS) if by_row else []
    for done, block in enumerate(steps, 1):
        rows = Rows(
            space=channel.lexicon,
            ids=ids[block],
            log_probabilities=channel.log_probabilities(ids[block]),
            similarity=similarity,
            options=options,
        )
        for name, exact in by_row:
            parts[name].append(exact(rows))
        report(progress if len(by_row) == len(wanted) else None, done, len(steps))
    for name in parts.keys() - dict(by_row).keys():
        counts = law_batches(
            channel, ids, rng, factor=options.factor, all_inputs=True, progress=progress
        )
        parts[name] = list(counts)
    return {name: np.concatenate(values) for name, values in parts.items()}, None


def _draw_errors(draws: Draws, wanted: Sequence[Statistic]) -> dict[str, float]:
    """Return the standard errors of means over words that draws cause, for each statistic.

    Words may share noise: then their errors are equal rather than independent, and do not average
    out over words. The runs are independent in any case. So the error is told from groups of runs,
    each with all words, with 7 degrees of freedom. The error of a mean of draws is that of the
    means of groups. Other statistics, such as the number of different outputs, depend on the number
    of runs: their error is computed by the jackknife, which leaves out one group after the other.
    """
    words = even_sample(len(draws.ids), _ERROR_WORDS)
    some = replace(draws, ids=draws.ids[words], drawn=draws.drawn[words])
    groups, partial = [slice(first, None, _GROUPS) for first in range(_GROUPS)], []
    for group in groups:
        drawn = np.delete(some.drawn, group, axis=1)
        least = some.options.least * some.drawn.shape[1] / drawn.shape[1]  # as many draws as before
        partial.append(replace(some, drawn=drawn, options=replace(some.options, least=least)))
    errors = {}
    for statistic in wanted:
        if statistic.mean:
            runs = statistic.sampled(some).mean(axis=0)
            means = [runs[group].mean() for group in groups]
            errors[statistic.name] = float(np.std(means, ddof=1)) / math.sqrt(_GROUPS)
        else:
            means = [float(statistic.of_draws(part).mean()) for part in partial]
            errors[statistic.name] = float(np.std(means)) * math.sqrt(_GROUPS - 1)
    return errors
