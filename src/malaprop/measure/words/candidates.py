"""K_w: how many inputs explain an output about as well as the true word."""

from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import Channel, LawChannel, VectorChannel
from malaprop.core.errors import ParameterError
from malaprop.core.law import Law
from malaprop.core.progress import Progress, report, stage
from malaprop.core.space import blocks
from malaprop.measure.law_columns import columns_of
from malaprop.measure.vector_likelihoods import vector_likelihoods
from malaprop.measure.words.statistic import ColumnStatistic, Draws, Options

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
