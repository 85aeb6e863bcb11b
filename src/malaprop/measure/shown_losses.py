"""What draws of two inputs show about the loss between them, with confidence.

Some of the draws choose sets of outputs that tell the inputs apart. Others measure these sets: if
the chance of a set is at least p for one input and at most q for the other, the loss is at least
ln(p/q). Draws that choose never measure.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from malaprop.core.arrays import Ids
from malaprop.measure.intervals import clopper_pearson

_LIKELY: Final = 0.999  # level of the ends that a guess about further draws is made from
_FAR: Final = 700.0  # e to a larger number is too large for float64


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked about two inputs."""

    allowed: float
    """The loss that is allowed, in nats."""
    delta: float
    """The δ that is allowed beside it."""
    mistake: float
    """The largest chance that any bound on this pair is wrong."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What draws show about two inputs, whichever way round they show more."""

    loss: float = 0.0
    """A lower bound on the loss."""
    delta: float = 0.0
    """A lower bound on the δ that is needed beside the allowed loss."""
    promising: bool = False
    """Whether further draws may well show that more is needed than is allowed."""

    def or_more(self, other: "Shown") -> "Shown":
        """Return the larger of each number."""
        return Shown(
            loss=max(self.loss, other.loss),
            delta=max(self.delta, other.delta),
            promising=self.promising or other.promising,
        )


def shown(one: Ids, two: Ids, choosing: int, question: Question, further: int = 0) -> Shown:
    """Bound the loss between two inputs from draws of both; the first `choosing` choose sets.

    Whether `further` draws are promising is a guess, on which no bound depends.
    """
    result = Shown()
    for here, there in ((one, two), (two, one)):
        sets = list(_telling(here[:choosing], there[:choosing], question.allowed))
        # Each set is measured for two inputs, and there are two ways round.
        mistake = question.mistake / (4 * max(1, len(sets)))
        for outputs in sets:
            measured = _Measured(
                hits=int(np.isin(here[choosing:], outputs).sum()),
                rivals=int(np.isin(there[choosing:], outputs).sum()),
                trials=len(here) - choosing,
            )
            result = result.or_more(measured.shows(question, mistake, further))
    return result


def largest(trials: int, mistake: float) -> float:
    """Return the largest loss that `trials` draws can show: a set that always or never occurs.

    >>> round(largest(10_000, 1e-6), 2)
    6.59
    """
    return -math.log(float(clopper_pearson(0, trials, 1.0 - 2.0 * mistake)[1]))


@dataclass(frozen=True, kw_only=True)
class _Measured:
    """How often outputs of a set occurred for an input, and for its rival."""

    hits: int
    rivals: int
    trials: int

    def shows(self, question: Question, mistake: float, further: int) -> Shown:
        level = 1.0 - 2.0 * mistake  # of two sides, of which one is used
        low = float(clopper_pearson(self.hits, self.trials, level)[0])
        high = float(clopper_pearson(self.rivals, self.trials, level)[1])
        return Shown(
            loss=max(0.0, math.log(low / high)) if low > 0.0 else 0.0,
            delta=max(0.0, _excess(low, high, question.allowed)),
            promising=further > 0 and self._may_exceed(question, mistake, further),
        )

    def _may_exceed(self, question: Question, mistake: float, further: int) -> bool:
        """Whether this many draws may show too much, if both chances are at their likely ends."""
        high = float(clopper_pearson(self.hits, self.trials, _LIKELY)[1])
        low = float(clopper_pearson(self.rivals, self.trials, _LIKELY)[0])
        level = 1.0 - 2.0 * mistake
        least = float(clopper_pearson(math.ceil(high * further), further, level)[0])
        most = float(clopper_pearson(math.floor(low * further), further, level)[1])
        return _excess(least, most, question.allowed) > question.delta


def _excess(low: float, high: float, allowed: float) -> float:
    """Return the δ that is needed beside an allowed loss, given chances of at least and at most."""
    return -math.inf if math.isinf(allowed) else low - math.exp(min(allowed, _FAR)) * high


def _telling(one: Ids, two: Ids, allowed: float) -> Iterator[Ids]:
    """Yield sets of outputs that are likelier for one input: the best single one, then larger."""
    outputs, places = np.unique(np.concatenate([one, two]), return_inverse=True)
    here = np.bincount(places[: len(one)], minlength=len(outputs))
    there = np.bincount(places[len(one) :], minlength=len(outputs))
    ratios = np.log(here + 0.5) - np.log(there + 0.5)
    yield outputs[[int(np.argmax(here * (ratios > 0.0)))]]
    finite = allowed if math.isfinite(allowed) else float(ratios.max())
    for level in sorted({0.0, 0.5 * finite, finite}):
        chosen = outputs[ratios > min(level, 0.999 * float(ratios.max()))]
        if len(chosen):
            yield chosen
