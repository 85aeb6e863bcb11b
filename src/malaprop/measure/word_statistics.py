"""What a statistic of words is, and all there are: N_w, S_w, entropies, K_w, distance moved,
similarity.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.measure.bayes import vector_likelihoods
from malaprop.privacy.arrays import Floats, Ids, blocks
from malaprop.privacy.best_guess import columns_of
from malaprop.privacy.channel import Channel, LawChannel, VectorChannel, checked_channel
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.estimate import (
    bootstrap_intervals,
    clopper_pearson,
    even_sample,
    shared_draws,
    shares_noise,
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
        """Return the similarity of each word with the word at the same place of `others`."""
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
        """Return the similarity of a word with some words."""
        return np.asarray(self._units[others] @ self._units[word])


# What a statistic of words is, and what it is computed from: rows of a law, or draws.


_registry: dict[str, "Statistic"] = {}
registry = MappingProxyType(_registry)
"""All statistics by name, in the order in which they are shown."""


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
class Rows:
    """Whole rows of a law: the probability of each output, for some words."""

    space: MetricSpace
    ids: Ids
    log_probabilities: Floats
    similarity: Similarity
    options: Options

    @cached_property
    def probabilities(self) -> Floats:
        """Pr[y | w]: (words, outputs)."""
        return np.exp(self.log_probabilities)

    @cached_property
    def distances(self) -> Floats:
        """Distances to all words, in the lexicon's metric."""
        return self.space.distances(self.ids)


@dataclass(frozen=True, kw_only=True)
class Draws:
    """Draws for some words: (words, runs)."""

    space: MetricSpace
    ids: Ids
    drawn: Ids
    similarity: Similarity
    options: Options

    @cached_property
    def shares(self) -> list[tuple[Ids, Floats]]:
        """For each word its distinct outputs, and the share of draws of each."""
        pairs = (np.unique(row, return_counts=True) for row in self.drawn)
        return [(outputs, counts / self.drawn.shape[1]) for outputs, counts in pairs]

    def of_words(self, rows: Ids) -> "Draws":
        """Return the draws of some of the words."""
        return replace(self, ids=self.ids[rows], drawn=self.drawn[rows])

    def without(self, runs: slice) -> "Draws":
        """Return the draws without some runs; η stands for as many draws as before."""
        drawn = np.delete(self.drawn, runs, axis=1)
        least = self.options.least * self.drawn.shape[1] / drawn.shape[1]
        return replace(self, drawn=drawn, options=replace(self.options, least=least))


class Statistic(ABC):
    """A number for each word. Defining a subclass with a `name` registers it."""

    name: ClassVar[str]
    title: ClassVar[str]
    """What it is, in a few words."""
    worst: ClassVar[Literal["high", "low"]]
    """Which end of the scale protects a word least."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in vars(cls):
            _registry[cls.name] = cls()

    def applies(self, space: MetricSpace) -> bool:
        """Whether the statistic says anything on a lexicon; it is left out where it does not."""
        return True

    def bounds(self, size: int, runs: int) -> tuple[float, float]:
        """Return the least and the largest value that is possible with so many words and runs."""
        return 0.0, math.inf

    @abstractmethod
    def exact(self, rows: Rows) -> Floats:
        """Compute the statistic from rows of a law."""

    @abstractmethod
    def sampled(self, draws: Draws) -> Floats:
        """Estimate the statistic from draws."""


class MeanStatistic(Statistic):
    """A statistic that is the mean of a number for each draw."""

    @abstractmethod
    def each(self, draws: Draws) -> Floats:
        """Return the number for each draw: (words, runs)."""

    def sampled(self, draws: Draws) -> Floats:
        """Average the numbers of each word's draws."""
        return np.asarray(self.each(draws).mean(axis=1))


class ColumnStatistic(Statistic):
    """A statistic that compares what other words make of the same output."""

    @abstractmethod
    def of_law(
        self,
        channel: LawChannel[Law],
        ids: Ids,
        options: Options,
        rng: Generator,
        progress: Progress | None,
    ) -> Floats:
        """Compute the statistic from all rows of a law."""

    def exact(self, rows: Rows) -> Floats:
        """Raise: some rows are not enough."""
        raise NotImplementedError(f"{self.name} needs all rows of a law.")


def per_word(draws: Draws, of_shares: Any) -> Floats:
    """Apply a function of outputs and shares to each word of some draws."""
    return np.array([of_shares(outputs, shares) for outputs, shares in draws.shares], np.float64)


# K_w: how many inputs explain an output about as well as the true word.


SMALL = 1_000
"""Words of a lexicon up to which all outputs count; beyond, `OUTPUTS` drawn ones of each word."""
OUTPUTS = 4
_BATCHES = 8  # of outputs and inputs, to tell the error of both,
_BATCH_OUTPUTS = 2  # with so many outputs of each word,
_BATCH_INPUTS = 128  # and so many inputs
_TOGETHER = 256  # outputs whose columns are computed together,
_COLUMNS = 8  # and compared at once, in a processor's cache
_PILOTS = 2  # draws of a word that choose the words to compare with it
_TOLD = 4  # draws of a word that become an output: fewer do not choose words for it
_FAR = 60.0  # cuts off logarithms of ratios: a larger one has a chance below e^−60
_ROUNDING = 1e-9  # of logarithms: probabilities that are equal but for it count as equal


class CandidateCount(ColumnStatistic):
    """The mean number of inputs w' with Pr[y|w]/γ ≤ Pr[y|w'] ≤ γ·Pr[y|w], over outputs y of w.

    That is plausible deniability in the sense of Bindschaedler, Shokri and Gunter (2017); the
    word itself counts, so the least is 1. On lexicons of up to 1,000 words it is exact. Beyond,
    probabilities are exact, and the mean is taken over four drawn outputs of each word.
    """

    name = "candidates"
    title = "inputs that explain the output within a factor γ (K_w)"
    worst = "low"

    def bounds(self, size: int, runs: int) -> tuple[float, float]:
        """Return 1, for the word itself, and the number of words."""
        return 1.0, float(size)

    def of_law(
        self,
        channel: LawChannel[Law],
        ids: Ids,
        options: Options,
        rng: Generator,
        progress: Progress | None,
    ) -> Floats:
        """Compare each output's probability for the word with that for all words."""
        width = float(np.log(options.factor))
        if len(channel.lexicon) <= SMALL:
            law = channel.log_probabilities(np.arange(len(channel.lexicon)))
            return _over_all_outputs(law, width)[ids]
        outputs = channel.substitute(np.repeat(ids, OUTPUTS), rng).reshape(-1, OUTPUTS)
        counts = _explaining(channel, ids, outputs, width, progress)
        return np.asarray(counts.reshape(-1, OUTPUTS).mean(axis=1))

    def sampled(self, draws: Draws) -> Floats:
        """Compare shares of draws, among the sampled words only.

        That is an estimate, and no bound. Words that were not sampled do not count, which lowers
        it. Shares of few draws look alike, such as those of two words that gave an output once
        each, which raises it.
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


def law_batches(
    channel: LawChannel[Law], ids: Ids, rng: Generator, *, factor: float = 2.0
) -> Floats:
    """Return estimates of K_w without bias, in independent batches: (batches, words).

    On up to 1,000 words they are exact, in one batch. Beyond, each batch has outputs of its own,
    and, unless columns of the law are cheap, inputs of its own to compare: 128 drawn ones stand for
    all. So the law takes some rows, not all.
    """
    size, width = len(channel.lexicon), float(np.log(factor))
    if size <= SMALL:
        law = channel.log_probabilities(np.arange(size))
        return _over_all_outputs(law, width)[None, ids]
    drawn = channel.substitute(np.repeat(ids, _BATCHES * _BATCH_OUTPUTS), rng)
    outputs = drawn.reshape(len(ids), -1)
    if columns_of(channel.law).cheap:
        counts = _by_columns(channel, np.repeat(ids, outputs.shape[1]), drawn, width, None)
        return _in_batches(counts.reshape(outputs.shape))
    inputs = rng.choice(size, _BATCHES * min(_BATCH_INPUTS, size // _BATCHES), replace=False)
    return _among(channel, ids, outputs, inputs.reshape(_BATCHES, -1), width)


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
    below, above = (
        (1.0 - means * start) / (1.0 - start / factor),
        (means - start) / (factor - start),
    )
    return np.asarray(1.0 - np.maximum(0.0, np.maximum(below, above)))


def _among(channel: LawChannel[Law], ids: Ids, outputs: Ids, inputs: Ids, width: float) -> Floats:
    """Count explaining words among some inputs, a row for each batch, in place of all words."""
    own, size = _own(channel, ids, outputs), len(channel.lexicon)
    batches = np.empty((len(inputs), len(ids)))
    for batch, some in enumerate(inputs):
        part = slice(batch * _BATCH_OUTPUTS, (batch + 1) * _BATCH_OUTPUTS)
        counts = np.zeros((len(ids), _BATCH_OUTPUTS))
        others = np.zeros(len(ids))
        for block in blocks(len(some), row_cells=size):
            for word, row in zip(some[block], channel.log_probabilities(some[block]), strict=True):
                near = np.abs(row[outputs[:, part]] - own[:, part]) <= width + _ROUNDING
                counts += near & (ids != word)[:, None]
                others += ids != word
        batches[batch] = 1.0 + counts.mean(axis=1) * (size - 1) / others
    return batches


def _in_batches(counts: Floats) -> Floats:
    """Return the mean counts of each batch of outputs: (batches, words)."""
    return np.asarray(counts.reshape(len(counts), _BATCHES, -1).mean(axis=2).T)


def _over_all_outputs(law: Floats, width: float) -> Floats:
    """Return the mean count of each word, over all outputs."""
    means = np.zeros(len(law))
    for column in law.T:
        ordered = np.sort(column)
        low = np.searchsorted(ordered, column - width - _ROUNDING, side="left")
        high = np.searchsorted(ordered, column + width + _ROUNDING, side="right")
        means += np.exp(column) * (high - low)
    return means


def _own(channel: LawChannel[Law], ids: Ids, outputs: Ids) -> Floats:
    """Return ln Pr[y | w] of the outputs y of each word w."""
    own = np.empty(outputs.shape)
    for block in blocks(len(ids), row_cells=len(channel.lexicon)):
        rows = channel.log_probabilities(ids[block])
        own[block] = np.take_along_axis(rows, outputs[block], axis=1)
    return own


def _explaining(
    channel: LawChannel[Law], ids: Ids, drawn: Ids, width: float, progress: Progress | None
) -> Floats:
    """Count the words under which an output's log-probability is within `width` of its own.

    `drawn` has a row of outputs for each of the words `ids`.
    """
    outputs = drawn.ravel()
    if columns_of(channel.law).prepare(stage(progress, 0, 2)):
        words = np.repeat(ids, drawn.shape[1])
        return _by_columns(channel, words, outputs, width, stage(progress, 1, 2))
    own = _own(channel, ids, drawn).ravel()
    size = len(channel.lexicon)
    counts = np.zeros(len(outputs))
    distinct, places = np.unique(outputs, return_inverse=True)
    steps = blocks(size, row_cells=size)
    for done, block in enumerate(steps, 1):
        columns = channel.log_probabilities(np.arange(size)[block])[:, distinct]
        for row in columns:
            counts += np.abs(row[places] - own) <= width + _ROUNDING
        report(progress, done, len(steps))
    return counts


def _by_columns(
    channel: LawChannel[Law], words: Ids, outputs: Ids, width: float, progress: Progress | None
) -> Floats:
    """Count them from columns of the law, each of which is computed once."""
    order = np.argsort(outputs, kind="stable")
    distinct, firsts = np.unique(outputs[order], return_index=True)
    ends = np.append(firsts, len(outputs))
    counts, columns = np.zeros(len(outputs)), columns_of(channel.law)
    steps = blocks(len(distinct), row_cells=1, budget=_TOGETHER)
    for done, block in enumerate(steps, 1):
        row = block.start
        for part in columns.parts(distinct[block], _COLUMNS):
            for column in part:
                for place in order[ends[row] : ends[row + 1]]:
                    own, wide = column[words[place]], width + _ROUNDING
                    near = (column >= own - wide) & (column <= own + wide)
                    counts[place] = np.count_nonzero(near)
                row += 1
        report(progress, done, len(steps))
    return counts


# The error that draws cause in the mean of a statistic over words.
#
# Words may share noise: then their errors are equal rather than independent, and do not average out
# over words. The runs are independent in any case. So the error is told from groups of runs, each
# with all words.


GROUPS: Final = 8
_WORDS: Final = 512  # that tell the error of more words, too: it is no smaller for fewer words


def draw_errors(draws: Draws, wanted: Sequence[Statistic]) -> Mapping[str, float]:
    """Return the standard errors of means over words that draws cause, for each statistic.

    They have 7 degrees of freedom. The error of a mean of draws is that of the means of groups of
    runs. Other statistics, such as the number of different outputs, depend on the number of runs:
    their error is computed by the jackknife, which leaves out one group after the other.
    """
    some = draws.of_words(even_sample(len(draws.ids), _WORDS))
    groups = [slice(first, None, GROUPS) for first in range(GROUPS)]
    partial = [some.without(group) for group in groups]
    return {
        statistic.name: (
            _of_groups(statistic.each(some), groups)
            if isinstance(statistic, MeanStatistic)
            else _by_jackknife([float(statistic.sampled(part).mean()) for part in partial])
        )
        for statistic in wanted
    }


def _of_groups(values: Floats, groups: Sequence[slice]) -> float:
    means = values.mean(axis=0)
    return float(np.std([means[group].mean() for group in groups], ddof=1)) / math.sqrt(GROUPS)


def _by_jackknife(means: Sequence[float]) -> float:
    return float(np.std(means)) * math.sqrt(GROUPS - 1)


# Statistics of a channel, word by word.


_TABLE_CELLS = 1 << 21  # rows of a law, or draws, that are held at a time
_LISTED = 10  # words at the worst end
LEAST_RUNS = 10


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A statistic over all words: mean with its interval, spread, percentiles, worst words."""

    title: str
    mean: float
    interval: tuple[float, float]
    """95 % interval of the mean over the lexicon: by the bootstrap over words unless all were
    measured, and with the error of draws unless it is `exact`."""
    sd: float
    min: float
    p5: float
    p50: float
    p95: float
    max: float
    worst: tuple[tuple[str, float], ...]
    """The words that are protected least, with their values."""

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain values for JSON."""
        return {**vars(self), "interval": list(self.interval), "worst": dict(self.worst)}


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

    @property
    def kept(self) -> Floats:
        """N_w = Pr[M(w) = w]."""
        return self.values["kept"]

    @property
    def kept_intervals(self) -> Floats:
        """95 % Clopper-Pearson intervals of `kept`: (words, 2). Exact values have no width."""
        if self.exact:
            return np.stack([self.kept, self.kept], axis=1)
        return clopper_pearson(np.rint(self.kept * self.runs), self.runs)

    @property
    def distinct(self) -> Floats:
        """S_w: how many different outputs `runs` runs give, on average if `exact`."""
        return self.values["distinct"]

    @property
    def candidates(self) -> Floats:
        """K_w: how many inputs explain an output within the factor γ."""
        return self.values["candidates"]

    @property
    def entropy(self) -> Floats:
        """Shannon entropy of the output, in bits."""
        return self.values["entropy"]

    @property
    def moved(self) -> Floats:
        """Expected distance between the word and its replacement."""
        return self.values["moved"]

    @property
    def similarity(self) -> Floats:
        """Expected similarity of the word and its replacement."""
        return self.values["similarity"]

    def summary(self) -> dict[str, Summary]:
        """Summarise each statistic; intervals of means have the error of words and of draws."""
        means = np.array([values.mean() for values in self.values.values()])
        intervals = np.stack([means, means], axis=1)
        if len(self.words) < self.size:
            columns = np.stack(list(self.values.values()), axis=1)
            intervals = bootstrap_intervals(columns, seeded_rng(self.seed))
        errors = np.array([self.draw_errors.get(name, 0.0) for name in self.values])
        intervals = widened(intervals, means, errors, GROUPS - 1)
        ends = np.array([registry[name].bounds(self.size, self.runs) for name in self.values])
        # Rounding may have put a mean beyond an end, but never beyond its own interval.
        least, most = np.minimum(ends[:, 0], means), np.maximum(ends[:, 1], means)
        intervals = np.clip(intervals, least[:, None], most[:, None])
        return {
            name: self._summary(name, (float(low), float(high)))
            for name, (low, high) in zip(self.values, intervals, strict=True)
        }

    def _summary(self, name: str, interval: tuple[float, float]) -> Summary:
        values, statistic = self.values[name], registry[name]
        low, five, middle, ninety_five, high = np.percentile(values, [0, 5, 50, 95, 100]).tolist()
        order = np.argsort(-values if statistic.worst == "high" else values, kind="stable")
        return Summary(
            title=statistic.title,
            mean=float(values.mean()),
            interval=interval,
            sd=float(values.std(ddof=1)) if len(values) > 1 else 0.0,
            min=low,
            p5=five,
            p50=middle,
            p95=ninety_five,
            max=high,
            worst=tuple((self.words[i], float(values[i])) for i in order[:_LISTED]),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the summaries and all values for JSON."""
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
    options = Options(runs=_runs(runs), least=_least(least, runs), factor=_factor(factor))
    noise = secure_rng() if rng is None else checked_rng(rng)
    wanted = [each for each in registry.values() if each.applies(channel.lexicon)]
    values, errors = _measured(channel, ids, wanted, options, noise, progress)
    return WordStatistics(
        words=tuple(channel.lexicon.words[i] for i in ids),
        values=values,
        exact=isinstance(channel, LawChannel),
        runs=options.runs,
        size=len(channel.lexicon),
        seed=int(noise.integers(1 << 32)),
        draw_errors=errors,
    )


def _runs(runs: int) -> int:
    if isinstance(runs, bool) or not isinstance(runs, int | np.integer) or runs < LEAST_RUNS:
        raise ParameterError(
            f"`runs` must be a whole number of {LEAST_RUNS} or more: "
            "fewer draws say nothing about a word."
        )
    return int(runs)


def _least(least: float | None, runs: int) -> float:
    if least is None:
        return 1.0 / runs
    if isinstance(least, bool) or not isinstance(least, int | float) or not 0.0 <= least < 1.0:
        raise ParameterError(
            "The 'least' parameter of statistics must be a probability of 0 or more, below 1."
        )
    return float(least)


def _factor(factor: float) -> float:
    if not isinstance(factor, int | float) or not 1.0 <= factor < np.inf:
        raise ParameterError(
            f"The 'factor' parameter of statistics must be 1 or more. Got {factor!r}."
        )
    return float(factor)


def statistics_of(
    channel: Channel, ids: Ids, statistic: Statistic, runs: int, rng: Generator
) -> Floats:
    """Return one statistic of some words, with the usual η and γ."""
    options = Options(runs=_runs(runs), least=1.0 / runs, factor=2.0)
    if isinstance(channel, LawChannel):
        return _from_law(channel, ids, [statistic], options, rng, None)[statistic.name]
    return statistic.sampled(_draws(channel, ids, options, rng, None))


def _measured(
    channel: Channel,
    ids: Ids,
    wanted: Sequence[Statistic],
    options: Options,
    rng: Generator,
    progress: Progress | None,
) -> tuple[dict[str, Floats], Mapping[str, float]]:
    """Return the values of statistics, and the errors of draws."""
    if isinstance(channel, LawChannel):
        values = _from_law(channel, ids, wanted, options, rng, progress)
        return values, _law_errors(values, len(channel.lexicon))
    draws = _draws(channel, ids, options, rng, progress)
    values = {statistic.name: statistic.sampled(draws) for statistic in wanted}
    return values, draw_errors(draws, wanted)


def _law_errors(values: Mapping[str, Floats], size: int) -> Mapping[str, float]:
    """Return the error of drawn outputs where all words of a large lexicon were measured."""
    counts = values["candidates"]
    if not SMALL < len(counts) == size:
        return {}
    return {"candidates": float(counts.std(ddof=1)) / size**0.5}


def _from_law(
    channel: LawChannel[Any],
    ids: Ids,
    wanted: Sequence[Statistic],
    options: Options,
    rng: Generator,
    progress: Progress | None,
) -> dict[str, Floats]:
    by_row = [one for one in wanted if not isinstance(one, ColumnStatistic)]
    by_column = [one for one in wanted if isinstance(one, ColumnStatistic)]
    similarity = Similarity(channel.lexicon)
    parts: dict[str, list[Floats]] = {statistic.name: [] for statistic in wanted}
    steps = blocks(len(ids), row_cells=len(channel.lexicon), budget=_TABLE_CELLS) if by_row else []
    for block in _reported(steps, None if by_column else progress):
        rows = Rows(
            space=channel.lexicon,
            ids=ids[block],
            log_probabilities=channel.log_probabilities(ids[block]),
            similarity=similarity,
            options=options,
        )
        for statistic in by_row:
            parts[statistic.name].append(statistic.exact(rows))
    for column in by_column:
        parts[column.name].append(column.of_law(channel, ids, options, rng, progress))
    return {name: np.concatenate(values) for name, values in parts.items()}


def _draws(
    channel: Channel, ids: Ids, options: Options, rng: Generator, progress: Progress | None
) -> Draws:
    if isinstance(channel, VectorChannel) and shares_noise(channel):
        drawn = shared_draws(channel, ids, options.runs, rng, progress)
    else:
        drawn = _own_draws(channel, ids, options.runs, rng, progress)
    return Draws(
        space=channel.lexicon,
        ids=ids,
        drawn=drawn,
        similarity=Similarity(channel.lexicon),
        options=options,
    )


def _own_draws(
    channel: Channel, ids: Ids, runs: int, rng: Generator, progress: Progress | None
) -> Ids:
    """Draw `runs` replacements of each word, each with randomness of its own."""
    drawn = np.empty((len(ids), runs), dtype=np.int64)
    cells = runs * channel.lexicon.vectors.shape[1]
    for block in _reported(blocks(len(ids), row_cells=cells, budget=_TABLE_CELLS), progress):
        own = np.repeat(ids[block], runs)
        drawn[block] = channel.substitute(own, rng).reshape(-1, runs)
    return drawn


def _reported(steps: Sequence[slice], progress: Progress | None) -> Iterator[slice]:
    """Yield blocks of words, and report each one when it is done."""
    for done, block in enumerate(steps, 1):
        yield block
        report(progress, done, len(steps))


# S_w: how many different words come out in R runs.


class Distinct(Statistic):
    """S_w, the number of different outputs in R runs; from a law its mean, Σ_y 1 − (1 − p_y)^R.

    It grows with R, so it compares mechanisms only at the same R.
    """

    name = "distinct"
    title = "different outputs in R runs (S_w)"
    worst = "low"

    def bounds(self, size: int, runs: int) -> tuple[float, float]:
        """Return 1, and the number of words or of runs, whichever is smaller."""
        return 1.0, float(min(size, runs))

    def exact(self, rows: Rows) -> Floats:
        """Compute the mean number of different outputs."""
        with np.errstate(divide="ignore"):  # a word that always comes out: ln 0
            missed = np.expm1(rows.options.runs * np.log1p(-np.minimum(rows.probabilities, 1.0)))
        return np.asarray(-missed.sum(axis=1))

    def sampled(self, draws: Draws) -> Floats:
        """Count the different outputs."""
        return per_word(draws, lambda outputs, shares: len(outputs))


# Shannon entropy of a word's replacement.


class Entropy(Statistic):
    """−Σ_y p_y·log₂ p_y, in bits. From draws it is too small: rare outputs are missing."""

    name = "entropy"
    title = "Shannon entropy of the output, in bits"
    worst = "low"

    def bounds(self, size: int, runs: int) -> tuple[float, float]:
        """Return 0, and the entropy of words that are equally likely."""
        return 0.0, float(np.log2(size))

    def exact(self, rows: Rows) -> Floats:
        """Compute the entropy of each row."""
        finite = np.where(rows.probabilities > 0.0, rows.log_probabilities, 0.0)
        return np.asarray(-np.einsum("ij,ij->i", rows.probabilities, finite) / np.log(2.0))

    def sampled(self, draws: Draws) -> Floats:
        """Compute the entropy of the shares."""
        return per_word(draws, lambda outputs, shares: -(shares @ np.log2(shares)))


# Hartley entropy of a word's replacement.


class Hartley(Statistic):
    """log₂ of the number of possible outputs. Nearly all words are possible, however unlikely."""

    name = "hartley"
    title = "Hartley entropy of the output, in bits"
    worst = "low"

    def bounds(self, size: int, runs: int) -> tuple[float, float]:
        """Return 0, and the entropy of words that are equally likely."""
        return 0.0, float(np.log2(size))

    def exact(self, rows: Rows) -> Floats:
        """Count the outputs that can occur."""
        return np.asarray(np.log2(np.count_nonzero(rows.probabilities > 0.0, axis=1)))

    def sampled(self, draws: Draws) -> Floats:
        """Count the outputs that did occur: a lower bound."""
        return per_word(draws, lambda outputs, shares: np.log2(len(outputs)))


# K_w on a hierarchy: how many outputs lie as low in it as the word (hyperbolic-2019, §VI-B).


_METRIC = "poincare"


class BelowInHierarchy(Statistic):
    """min over ŵ of |{w' ∈ S_w : w' ≺ ŵ}|, where S_w are outputs of w, and ŵ those above w.

    An observer who sees the more general ŵ takes the word for any of the outputs below it. "Below"
    is "farther from the origin of the Poincaré ball", which is where vectors keep a hierarchy. So
    the least number is that of the output just above w: the outputs at least as far out as w, w
    itself among them. The least is 1. S_w are the outputs of R runs; from a law, the mean over such
    runs is computed.

    It needs a lexicon in the ball, such as `english-hierarchy`: the relations themselves, by which
    fewer words are below each other, are not part of a lexicon.
    """

    name = "hierarchy"
    title = "outputs as low in the hierarchy as the word (K_w of hyperbolic-2019)"
    worst = "low"

    def bounds(self, size: int, runs: int) -> tuple[float, float]:
        """Return 1, for the word itself, and the number of words."""
        return 1.0, float(size)

    def applies(self, space: MetricSpace) -> bool:
        """Whether the vectors keep a hierarchy."""
        return str(space.metric) == _METRIC

    def exact(self, rows: Rows) -> Floats:
        """Compute the mean number of outputs of R runs that are as low as each word."""
        depths = _depths(rows.space)
        with np.errstate(divide="ignore"):  # a word that always comes out: ln 0
            missed = np.expm1(rows.options.runs * np.log1p(-np.minimum(rows.probabilities, 1.0)))
        seen = -missed
        seen[np.arange(len(rows.ids)), rows.ids] = 1.0  # it counts, whether it comes out or not
        low = depths >= depths[rows.ids, None]
        return np.asarray(np.einsum("ij,ij->i", seen, low))

    def sampled(self, draws: Draws) -> Floats:
        """Count the outputs that occurred and are as low as each word."""
        depths = _depths(draws.space)
        counts = [
            np.count_nonzero(depths[outputs[outputs != word]] >= depths[word]) + 1
            for word, (outputs, _) in zip(draws.ids, draws.shares, strict=True)
        ]
        return np.array(counts, dtype=np.float64)


def _depths(space: MetricSpace) -> Floats:
    """Return how far each word is from the origin, which orders as hyperbolic distance does."""
    return np.asarray(np.linalg.norm(space.vectors.astype(np.float64), axis=1))


# N_w: the chance that a word stays as it is.


class Kept(MeanStatistic):
    """N_w = Pr[M(w) = w]. For a law that is largest at the word itself, 2^(−min-entropy)."""

    name = "kept"
    title = "chance that the word stays as it is (N_w)"
    worst = "high"

    def bounds(self, size: int, runs: int) -> tuple[float, float]:
        """Return 0 and 1: it is a chance."""
        return 0.0, 1.0

    def exact(self, rows: Rows) -> Floats:
        """Read it off the law."""
        return np.asarray(rows.probabilities[np.arange(len(rows.ids)), rows.ids])

    def each(self, draws: Draws) -> Floats:
        """Return 1 for a draw that returns the word, else 0."""
        return np.asarray(draws.drawn == draws.ids[:, None], dtype=np.float64)


# How many outputs of a word have a probability above η.


class Likely(Statistic):
    """The number of outputs with a probability above η: S_w without a dependence on runs."""

    name = "likely"
    title = "outputs with a probability above η"
    worst = "low"

    def bounds(self, size: int, runs: int) -> tuple[float, float]:
        """Return 0 and the number of words."""
        return 0.0, float(size)

    def exact(self, rows: Rows) -> Floats:
        """Count the probable outputs."""
        counts = np.count_nonzero(rows.probabilities > rows.options.least, axis=1)
        return np.asarray(counts, dtype=np.float64)

    def sampled(self, draws: Draws) -> Floats:
        """Count the outputs that make up a share above η."""
        least = draws.options.least
        return per_word(draws, lambda outputs, shares: np.count_nonzero(shares > least))


# Min-entropy of a word's replacement.


class MinEntropy(Statistic):
    """−log₂ of the probability of the likeliest output, in bits."""

    name = "min_entropy"
    title = "min-entropy of the output, in bits"
    worst = "low"

    def bounds(self, size: int, runs: int) -> tuple[float, float]:
        """Return 0, and the entropy of words that are equally likely."""
        return 0.0, float(np.log2(size))

    def exact(self, rows: Rows) -> Floats:
        """Take the likeliest output of each row."""
        return np.asarray(-rows.log_probabilities.max(axis=1) / np.log(2.0))

    def sampled(self, draws: Draws) -> Floats:
        """Take the most frequent output."""
        return per_word(draws, lambda outputs, shares: -np.log2(shares.max()))


# How far a word is moved on average.


class Moved(MeanStatistic):
    """Σ_y p_y·d(w, y), in the lexicon's metric. Small values are useful, not private."""

    name = "moved"
    title = "expected distance of the output"
    worst = "low"

    def exact(self, rows: Rows) -> Floats:
        """Average the distances over the law."""
        return np.asarray(np.einsum("ij,ij->i", rows.probabilities, rows.distances))

    def each(self, draws: Draws) -> Floats:
        """Return the distance that each draw moves the word."""
        moves = np.empty(draws.drawn.shape)
        for block in blocks(len(draws.ids), row_cells=len(draws.space)):
            distances = draws.space.distances(draws.ids[block])
            moves[block] = np.take_along_axis(distances, draws.drawn[block], axis=1)
        return moves


# How similar a word's replacement is to it on average.


class ExpectedSimilarity(MeanStatistic):
    """Σ_y p_y·cos(w, y), with the cosines of `malaprop.measure.word_statistics`."""

    name = "similarity"
    title = "expected similarity of the output"
    worst = "high"

    def bounds(self, size: int, runs: int) -> tuple[float, float]:
        """Return −1 and 1: it is a cosine."""
        return -1.0, 1.0

    def exact(self, rows: Rows) -> Floats:
        """Average the similarities over the law."""
        return rows.similarity.expected(rows.ids, rows.probabilities)

    def each(self, draws: Draws) -> Floats:
        """Return the similarity of each draw with the word."""
        values = np.empty(draws.drawn.shape)
        for row, word in enumerate(draws.ids):
            outputs, places = np.unique(draws.drawn[row], return_inverse=True)
            values[row] = draws.similarity.to_some(word, outputs)[places]
        return values
