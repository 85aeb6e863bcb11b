"""Laws: the probability of each replacement of each word, a value to draw from and to audit."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.guarantee import Guarantee, rounded_up
from malaprop.core.loss import Worst
from malaprop.core.progress import Progress
from malaprop.core.sampling.draws import LawRows, log_error, whole
from malaprop.core.space import MetricSpace, checked_ids


@dataclass(frozen=True, kw_only=True)
class ClosedLoss:
    """The worst loss of a law, by a closed form proved in docs/proofs/."""

    worst: Worst | None
    """None if the rows do not have the form that the proof is about, so nothing is known."""
    proved: bool
    """Whether the rows and the distances are as the proof assumes."""
    method: str
    """How it was computed."""
    attained: bool = True
    """Whether it is the loss itself, not an upper bound."""


@dataclass(frozen=True, eq=False)
class Law(ABC):
    """The law of a word's replacement, on the words of a lexicon.

    A subclass is a frozen dataclass. It states the log-weights; draws and audits derive from them.

    >>> from malaprop import Guarantee, Kind, LawChannel, Lexicon, audit
    >>> class Even(Law):
    ...     def log_weights(self, ids):
    ...         return np.zeros((len(ids), len(self.space)))
    >>> tiny = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [9.0]])
    >>> promise = Guarantee(kind=Kind.METRIC, epsilon=1.0, metric="euclidean")
    >>> audit(LawChannel(Even(tiny), promise)).holds
    True
    """

    space: MetricSpace
    """The lexicon."""

    symmetric: ClassVar[bool] = False
    """Whether the log-weight of y for w is that of w for y, so that rows give columns, too."""

    @abstractmethod
    def log_weights(self, ids: Ids) -> Floats:
        """Return ln of the unnormalised probability of each output: (len(ids), words)."""

    def log_probabilities(self, ids: Any) -> Floats:
        """Return ln Pr[y | w] for each word w of `ids` and each word y: (len(ids), words)."""
        weights = self.log_weights(checked_ids(ids, len(self.space)))
        top = weights.max(axis=1, keepdims=True)
        logs: Floats = np.subtract(weights, top, dtype=np.float64)
        # Row by row and in place: fresh memory takes longer than the sums.
        for row in logs:
            row -= np.log(np.exp(row).sum())
        return logs

    def staying(self, ids: Ids) -> Floats:
        """Return Pr[w | w] for each word w of `ids`; a figure to state, not to draw with."""
        return np.asarray(np.exp(self.log_probabilities(ids)[np.arange(len(ids)), ids]))

    def log_likelihoods(self, outputs: Ids) -> Floats | None:
        """Return ln Pr[y | w] for each output y and each word w: (len(outputs), words).

        These are columns of the law, as an observer needs them. None unless the law has a form
        for them that is cheaper than all of its rows.
        """
        return None

    def log_likelihood_parts(self, outputs: Ids, count: int) -> Iterator[Floats]:
        """Yield `log_likelihoods` for `count` outputs at a time, if the law has a form for them."""
        for start in range(0, len(outputs), count):
            columns = self.log_likelihoods(outputs[start : start + count])
            if columns is not None:
                yield columns

    def likelihood_parts(self, outputs: Ids, count: int) -> Iterator[Floats]:
        """Yield Pr[y | w] for `count` outputs at a time, where `log_likelihoods` has a form."""
        return map(np.exp, self.log_likelihood_parts(outputs, count))

    @property
    def outputs_are_best_guesses(self) -> bool:
        """Whether it is proved that no word gives an output more often than the output itself.

        Then Pr[y | w] ≤ Pr[y | y], and who takes all words for equally likely guesses what is seen.
        """
        return False

    def rows(self, ids: Ids, draws: Ids | None = None) -> LawRows:
        """Return the rows to draw from, which follow the law that `log_weights` states.

        `draws` says how many draws each row is for, one by default. It may change how the rows are
        represented, not their law.
        """
        return whole(self.log_weights(ids))

    @property
    def identity(self) -> tuple[object, ...]:
        """Numbers that determine the law beside mechanism and lexicon: a verified exponent."""
        return ()

    def closed_loss(self, guarantee: Guarantee, progress: Progress | None) -> ClosedLoss | None:
        """Compute the worst loss on a whole lexicon, if a proof gives a closed form."""
        return None


def law_numerics(space: MetricSpace, spread: float, resting: int | None = None) -> str:
    """Say what floating-point numbers add to the loss of an exactly drawn word.

    `spread` is the largest difference of two log-weights. `resting` is the size of the rest of a
    row, by default the lexicon's size; see docs/proofs/sampling.md.
    """
    members = len(space) + (len(space) if resting is None else resting)
    distances = 4.0 * min(spread, 690.0) * space.metric.relative_error(space.vectors.shape[1])
    added = rounded_up(2.0 * log_error(members, spread) + distances, digits=1)
    rare = ", except with probability 2⁻¹⁰⁰" if spread > 69.0 else ""
    return f"float64; adds less than {added} to the loss of a word{rare}"
