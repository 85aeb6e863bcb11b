"""K_w: how many inputs explain an output about as well as the true word."""

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import LawChannel
from malaprop.core.law import Law
from malaprop.core.progress import Progress, report, stage
from malaprop.core.space import blocks
from malaprop.measure.law_columns import columns_of
from malaprop.measure.words.statistic import ColumnStatistic, Draws, Options

SMALL = 1_000
"""Words of a lexicon up to which all outputs count; beyond, `OUTPUTS` drawn ones of each word."""
OUTPUTS = 4
_BATCHES = 8  # of outputs and inputs, to tell the error of both,
_BATCH_OUTPUTS = 2  # with so many outputs of each word,
_BATCH_INPUTS = 128  # and so many inputs
_TOGETHER = 256  # outputs whose columns are computed together,
_COLUMNS = 8  # and compared at once, in a processor's cache
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
