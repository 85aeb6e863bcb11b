"""How likely an output is, for each word that it may come from.

For a channel with a known law these are its probabilities. Only parts of the law are ever in
memory: some columns at a time if the law has a form for them, else some rows at a time. For other
channels they are estimated from draws.
"""

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.random import Generator

from malaprop.privacy.arrays import Floats, Ids, blocks
from malaprop.privacy.best_guess import columns_of
from malaprop.privacy.channel import Channel, LawChannel
from malaprop.privacy.law import Law
from malaprop.privacy.progress import Progress, report, stage

_NEVER = -1e30  # the log of a probability of 0: sums with it stay finite
_COLUMNS = 1 << 23  # cells of columns at a time: a graph is searched for 256 words at once,
_ROWS = 32  # and so many of them are computed at once: 8 MB, which stay in a processor's cache
_KEPT = 32  # candidates of an output that are kept for the next attack, at least


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidates:
    """The likeliest words behind each of some outputs, the likeliest first."""

    outputs: Ids = field(repr=False)
    """Distinct outputs, in rising order."""
    words: Ids = field(repr=False)
    """The candidates of each output, a row each."""
    logs: Floats = field(repr=False)
    """ln Pr[output | candidate]."""

    def rows(self, outputs: Ids) -> Ids:
        return np.searchsorted(self.outputs, outputs)


class LawLikelihoods:
    """The probabilities of a law. With `most`, only so many candidates are weighed, the usual ones,
    and the outputs themselves: a law without a form for its columns is then faster.
    """

    source = "exact, from the law"
    """Where the probabilities come from, in a few words."""

    def __init__(self, law: Law, most: int | None = None) -> None:
        self._law, self._size = law, len(law.space)
        self._most = self._size if most is None else most
        self._columns = columns_of(law)
        self._keep_for(np.empty(0), 0)

    def _keep_for(self, log_prior: Floats, count: int) -> None:
        """Forget what was computed; keep as many candidates of each output for this prior."""
        self._prior = log_prior.copy()
        # All zeros: memory is used for the outputs that occur, and not for others.
        self._words = np.zeros((self._size, count), dtype=np.int64)
        self._logs = np.zeros((self._size, count))
        self._known = np.zeros(self._size, dtype=bool)

    def candidates(
        self, outputs: Ids, log_prior: Floats, count: int, progress: Progress | None = None
    ) -> Candidates:
        """Return the `count` words of largest π(w)·Pr[y | w] for each distinct output y.

        Several attacks on one channel share them: those of an earlier call are taken over.
        """
        distinct, count = np.unique(outputs), min(count, self._size)
        if self._words.shape[1] < count or not np.array_equal(self._prior, log_prior):
            self._keep_for(log_prior, min(max(count, _KEPT), self._size))
        missing = distinct[~self._known[distinct]]
        if len(missing):
            # The most likely words first: what they reach is seldom exceeded by later ones.
            usual = np.argsort(-log_prior, kind="stable")
            if self._columns.prepare(stage(progress, 0, 2)):
                words, scores = self._by_columns(missing, usual, stage(progress, 1, 2))
            else:
                words, scores = self._by_rows(missing, usual, progress)
            self._words[missing] = words
            self._logs[missing] = np.maximum(scores - log_prior[words], _NEVER)
            self._known[missing] = True
        rows = (distinct, slice(count))
        return Candidates(outputs=distinct, words=self._words[rows], logs=self._logs[rows])

    def _by_columns(
        self, outputs: Ids, usual: Ids, progress: Progress | None
    ) -> tuple[Ids, Floats]:
        count = self._words.shape[1]
        some = usual[: 64 * count]
        words = np.zeros((len(outputs), count), dtype=np.int64)
        best = np.full((len(outputs), count), -np.inf)
        row, steps = 0, blocks(len(outputs), row_cells=self._size, budget=_COLUMNS)
        for done, block in enumerate(steps, 1):
            for scores in self._columns.parts(outputs[block], _ROWS):
                scores += self._prior  # in place: such arrays are large
                # The best of some words bound the best of all from below.
                some_scores = scores[:, some]
                kth = some_scores.shape[1] - min(count, some_scores.shape[1])
                bounds = np.partition(some_scores, kth, axis=1)[:, kth]
                for values, bound in zip(scores, bounds, strict=True):
                    above = np.flatnonzero(values >= bound)
                    chosen = above[np.argsort(-values[above], kind="stable")[:count]]
                    words[row], best[row] = chosen, values[chosen]
                    row += 1
            report(progress, done, len(steps))
        return words, best

    def _by_rows(self, outputs: Ids, usual: Ids, progress: Progress | None) -> tuple[Ids, Floats]:
        count = self._words.shape[1]
        words = np.zeros((len(outputs), count), dtype=np.int64)
        best = np.full((len(outputs), count), -np.inf)
        usual = usual[(np.arange(len(usual)) < self._most) | np.isin(usual, outputs)]
        steps = blocks(len(usual), row_cells=self._size)
        for done, block in enumerate(steps, 1):
            some = usual[block]
            logs = np.maximum(self._law.log_probabilities(some)[:, outputs], _NEVER)
            scores = (logs + self._prior[some][:, None]).T
            better = np.flatnonzero((scores > best[:, -1:]).any(axis=1))
            both = np.concatenate([best[better], scores[better]], axis=1)
            order = np.argsort(-both, axis=1, kind="stable")[:, :count]
            named = np.concatenate([words[better], np.tile(some, (len(better), 1))], axis=1)
            best[better] = np.take_along_axis(both, order, axis=1)
            words[better] = np.take_along_axis(named, order, axis=1)
            report(progress, done, len(steps))
        return words, best

    def of_pairs(self, words: Ids, outputs: Ids) -> Floats:
        """Return ln Pr[outputs[i] | words[i]] for each i."""
        by_output = self._columns.prepare()
        keys, others = (outputs, words) if by_output else (words, outputs)
        order = np.argsort(keys, kind="stable")
        distinct, firsts = np.unique(keys[order], return_index=True)
        ends = np.append(firsts, len(keys))
        chosen_logs = np.empty(len(keys))
        for block in blocks(len(distinct), row_cells=self._size, budget=_COLUMNS):
            rows = distinct[block]
            logs = (
                np.concatenate(list(self._columns.parts(rows, _ROWS)))
                if by_output
                else self._law.log_probabilities(rows)
            )
            places = order[ends[block.start] : ends[block.stop]]
            chosen_logs[places] = logs[np.searchsorted(rows, keys[places]), others[places]]
        return np.maximum(chosen_logs, _NEVER)


@lru_cache(maxsize=1)
def _of_law(law: Law) -> LawLikelihoods:
    """Return those of the law in use: what one attack computed, the next one takes over."""
    return LawLikelihoods(law)


_WEIGHT = 2.0  # draws that the general share of staying words counts for, beside a word's own
_EVEN = 0.01  # of the general picture: any output is possible


class SampledLikelihoods:
    """Estimates from draws: half of words as frequent as the prior says, half of all words evenly.

    A word stays with the share of its own draws that did, mixed with that of all words. Otherwise
    it becomes y with its own share of y, by absolute discounting: nearly all pairs of a word and an
    output that occur at all occur once, and would seem far too likely. What is discounted goes
    to the general picture, what all words became. A better estimate makes a better attack, so that
    scores with these are lower bounds.
    """

    def __init__(self, channel: Channel, prior: Floats, draws: int, rng: Generator) -> None:
        size, evenly = len(channel.lexicon), draws - draws // 2
        usual = rng.choice(size, draws // 2, p=prior)
        words = np.concatenate([rng.integers(0, size, evenly), usual])
        drawn = channel.substitute(words, rng)
        self._size = size
        self.source = f"estimated from {draws:,} draws: a lower bound"
        stayed = words == drawn
        general = float(stayed[:evenly].mean())
        own, kept = np.bincount(words, minlength=size), np.bincount(words[stayed], minlength=size)
        self._stays = (kept + _WEIGHT * general) / (own + _WEIGHT)
        self._moves = np.maximum(own - kept, 1).astype(np.float64)
        words, drawn = words[~stayed], drawn[~stayed]
        keys, counts = np.unique(words * size + drawn, return_counts=True)
        # How often what occurs once would occur, given how much occurs twice (Ney's estimate).
        once, twice = int((counts == 1).sum()), int((counts == 2).sum())
        discount = once / max(1, once + 2 * twice)
        self._keys, self._counts = keys, counts - discount
        self._left = np.where(
            np.bincount(words, minlength=size) > 0,
            discount * np.bincount(keys // size, minlength=size) / self._moves,
            1.0,
        )
        became = np.bincount(drawn, minlength=size)
        self._general = (1.0 - _EVEN) * became / max(1, len(drawn)) + _EVEN / size
        by_output = np.argsort(keys % size, kind="stable")
        self._sources = (keys // size)[by_output]
        self._first = np.searchsorted((keys % size)[by_output], np.arange(size + 1))

    def candidates(
        self, outputs: Ids, log_prior: Floats, count: int, progress: Progress | None = None
    ) -> Candidates:
        distinct, count = np.unique(outputs), min(count, self._size)
        usual = np.argsort(-log_prior, kind="stable")[:count]
        chosen = np.empty((len(distinct), count), dtype=np.int64)
        logs = np.empty((len(distinct), count))
        for row, output in enumerate(distinct.tolist()):
            seen = self._sources[self._first[output] : self._first[output + 1]]
            words = np.unique(np.concatenate([[output], seen, usual]))
            likely = self.of_pairs(words, np.full(len(words), output))
            best = np.argsort(-(likely + log_prior[words]), kind="stable")[:count]
            chosen[row], logs[row] = words[best], likely[best]
            if row % 256 == 0:
                report(progress, row, len(distinct))
        report(progress, len(distinct), len(distinct))
        return Candidates(outputs=distinct, words=chosen, logs=logs)

    def of_pairs(self, words: Ids, outputs: Ids) -> Floats:
        keys = words * self._size + outputs
        seen = np.zeros(len(keys))
        if len(self._keys):
            places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            seen = np.where(self._keys[places] == keys, self._counts[places], 0.0)
        stays = self._stays[words]
        moved = seen / self._moves[words] + self._left[words] * self._general[outputs]
        likely = np.where(words == outputs, stays, (1.0 - stays) * moved)
        return np.asarray(np.log(np.maximum(likely, 1e-300)))


Likelihoods = LawLikelihoods | SampledLikelihoods
"""Pr[y | w], as an observer of a channel knows it."""


def likelihoods_of(channel: Channel, prior: Floats, draws: int, rng: Generator) -> Likelihoods:
    """Return the likelihoods of a channel: its law's, or estimates from `draws` draws."""
    if isinstance(channel, LawChannel):
        return _of_law(channel.law)
    return SampledLikelihoods(channel, prior, draws, rng)
