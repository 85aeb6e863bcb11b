"""How likely an output is, for each word that it may come from.

For a channel with a known law these are its probabilities. Only parts of the law are ever in
memory: some columns at a time if the law has a form for them, else some rows at a time. For other
channels they are estimated from draws.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import Channel, LawChannel
from malaprop.core.law import Law
from malaprop.core.progress import Progress, report, stage
from malaprop.core.space import blocks

_NEVER = -1e30  # the log of a probability of 0: sums with it stay finite
_COLUMNS = 1 << 23  # cells of columns at a time: a graph is searched for 256 words at once,
_ROWS = 32  # and so many of them are computed at once: 8 MB, which stay in a processor's cache


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
        """Return the row of each of some outputs."""
        return np.searchsorted(self.outputs, outputs)


class Likelihoods(ABC):
    """Pr[y | w], as an observer of a channel knows it."""

    @property
    @abstractmethod
    def source(self) -> str:
        """Where the probabilities come from, in a few words."""

    @property
    @abstractmethod
    def exact(self) -> bool:
        """Whether they are those of the channel, not estimates."""

    @abstractmethod
    def candidates(
        self, outputs: Ids, log_prior: Floats, count: int, progress: Progress | None = None
    ) -> Candidates:
        """Return the `count` words of largest π(w)·Pr[y | w] for each distinct output y."""

    @abstractmethod
    def of_pairs(self, words: Ids, outputs: Ids, progress: Progress | None = None) -> Floats:
        """Return ln Pr[outputs[i] | words[i]] for each i."""


def likelihoods_of(channel: Channel, prior: Floats, draws: int, rng: Generator) -> Likelihoods:
    """Return the likelihoods of a channel: its law's, or estimates from `draws` draws."""
    if isinstance(channel, LawChannel):
        return _of_laws.setdefault(channel.law, LawLikelihoods(channel.law))
    from malaprop.measure.attacking.sampled import SampledLikelihoods

    return SampledLikelihoods(channel, prior, draws, rng)


class LawLikelihoods(Likelihoods):
    """The probabilities of a law."""

    def __init__(self, law: Law) -> None:
        self._law, self._size = law, len(law.space)
        self._log_masses: Floats | None = None

    @property
    def source(self) -> str:
        """That they are exact."""
        return "exact, from the law"

    @property
    def exact(self) -> bool:
        """True."""
        return True

    def _prepare(self, progress: Progress | None) -> bool:
        """Return whether columns can be computed; sum up all rows if that takes their masses."""
        if self._law.log_likelihoods(np.zeros(1, dtype=np.int64)) is not None:
            return True
        if not self._law.symmetric:
            return False
        if self._log_masses is None:
            masses = np.empty(self._size)
            steps = blocks(self._size, row_cells=self._size)
            for done, block in enumerate(steps, 1):
                weights = self._law.log_weights(np.arange(self._size)[block])
                masses[block] = np.log(np.exp(weights, out=weights).sum(axis=1))
                report(progress, done, len(steps))
            self._log_masses = masses
        return True

    def candidates(
        self, outputs: Ids, log_prior: Floats, count: int, progress: Progress | None = None
    ) -> Candidates:
        """Return the likeliest words behind each distinct output."""
        distinct, count = np.unique(outputs), min(count, self._size)
        best = _Best(len(distinct), count)
        # The most likely words first: what they reach is seldom exceeded by later ones.
        usual = np.argsort(-log_prior, kind="stable")
        if self._prepare(stage(progress, 0, 2)):
            self._by_columns(best, distinct, log_prior, usual, stage(progress, 1, 2))
        else:
            self._by_rows(best, distinct, log_prior, usual, progress)
        words, scores = best.sorted()
        logs = _finite(scores - log_prior[words])
        return Candidates(outputs=distinct, words=words, logs=logs)

    def _by_columns(
        self,
        best: "_Best",
        outputs: Ids,
        log_prior: Floats,
        usual: Ids,
        progress: Progress | None,
    ) -> None:
        some = usual[: 64 * best.count]
        row, steps = 0, blocks(len(outputs), row_cells=self._size, budget=_COLUMNS)
        for done, block in enumerate(steps, 1):
            for scores in self._columns(outputs[block]):
                scores += log_prior  # in place: such arrays are large
                # The best of some words bound the best of all from below.
                some_scores = scores[:, some]
                kth = some_scores.shape[1] - min(best.count, some_scores.shape[1])
                bounds = np.partition(some_scores, kth, axis=1)[:, kth]
                for values, bound in zip(scores, bounds, strict=True):
                    above = np.flatnonzero(values >= bound)
                    best.set(row, above, values[above])
                    row += 1
            report(progress, done, len(steps))

    def _by_rows(
        self,
        best: "_Best",
        outputs: Ids,
        log_prior: Floats,
        usual: Ids,
        progress: Progress | None,
    ) -> None:
        steps = blocks(self._size, row_cells=self._size)
        for done, block in enumerate(steps, 1):
            words = usual[block]
            scores = _finite(self._law.log_probabilities(words)[:, outputs])
            scores += log_prior[words][:, None]
            best.add(words, scores)
            report(progress, done, len(steps))
        best.settle()

    def of_pairs(self, words: Ids, outputs: Ids, progress: Progress | None = None) -> Floats:
        """Return the log-probability of each output for its word."""
        by_output = self._prepare(progress)
        keys, others = (outputs, words) if by_output else (words, outputs)
        order = np.argsort(keys, kind="stable")
        distinct, firsts = np.unique(keys[order], return_index=True)
        ends = np.append(firsts, len(keys))
        chosen_logs = np.empty(len(keys))
        steps = blocks(len(distinct), row_cells=self._size, budget=_COLUMNS)
        for done, block in enumerate(steps, 1):
            rows = distinct[block]
            logs = (
                np.concatenate(list(self._columns(rows)))
                if by_output
                else self._law.log_probabilities(rows)
            )
            places = order[ends[block.start] : ends[block.stop]]
            chosen_logs[places] = logs[np.searchsorted(rows, keys[places]), others[places]]
            report(progress, done, len(steps))
        return _finite(chosen_logs)

    def _columns(self, outputs: Ids) -> Iterator[Floats]:
        """Yield ln Pr[y | w] of all words w for each output y, some outputs at a time."""
        if self._log_masses is None:
            yield from self._law.log_likelihood_parts(outputs, _ROWS)
            return
        for start in range(0, len(outputs), _ROWS):
            weights = self._law.log_weights(outputs[start : start + _ROWS])
            weights -= self._log_masses
            yield weights


_of_laws: WeakKeyDictionary[Law, LawLikelihoods] = WeakKeyDictionary()
"""Those in use, as the masses of all rows take time."""


def _finite(logs: Floats) -> Floats:
    """Replace −∞, of which sums and differences are no numbers."""
    return np.maximum(logs, _NEVER)


class _Best:
    """The words of the best scores so far, for each of some outputs."""

    def __init__(self, outputs: int, count: int) -> None:
        self.count = count
        self._words = np.zeros((outputs, count), dtype=np.int64)
        self._scores = np.full((outputs, count), -np.inf)
        self._waiting: list[tuple[Ids, Ids, Floats]] = []
        self._room = 0

    def set(self, row: int, words: Ids, scores: Floats) -> None:
        """Set the best of an output, given at least as many words as are wanted."""
        chosen = np.argsort(-scores, kind="stable")[: self.count]
        self._words[row], self._scores[row] = words[chosen], scores[chosen]

    def add(self, words: Ids, scores: Floats) -> None:
        """Add words with their scores for all outputs: (len(words), outputs)."""
        rows, outputs = np.nonzero(scores > self._scores[:, -1])
        self._waiting.append((outputs, words[rows], scores[rows, outputs]))
        self._room += len(rows)
        if self._room > self._scores.size:
            self.settle()

    def settle(self) -> None:
        """Merge what was added."""
        outputs, count = self._scores.shape
        labels = np.concatenate([np.repeat(np.arange(outputs), count), *self._part(0)])
        words = np.concatenate([self._words.ravel(), *self._part(1)])
        scores = np.concatenate([self._scores.ravel(), *self._part(2)])
        order = np.lexsort((-scores, labels))
        firsts = np.searchsorted(labels[order], np.arange(outputs))
        chosen = order[firsts[:, None] + np.arange(count)]
        self._words, self._scores = words[chosen], scores[chosen]
        self._waiting, self._room = [], 0

    def _part(self, number: int) -> list[Ids]:
        return [waiting[number] for waiting in self._waiting]  # type: ignore[misc]

    def sorted(self) -> tuple[Ids, Floats]:
        """Return words and scores, the best first."""
        return self._words, self._scores
