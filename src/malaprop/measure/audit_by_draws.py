"""The sampled audit: what draws alone show about a guarantee.

It takes a channel or a whole `Privatizer` as a black box, draws many times for two words, and
computes a lower bound on their loss that holds with high confidence. So it cannot prove that a
guarantee is true, but it can prove that one is false, whatever the code claims about itself.
Compare `malaprop.audit`, which computes the loss from what a channel states.

All pairs of a word share its draws. Unless there are few draws, a first look takes an eighth of
them. Most pairs need no more: even all draws would hardly contradict the guarantee for them. The
others, and the closest few, get all draws. The bounds hold in spite of that choice: the draws that
measure in the second look have no part in it, and the two looks share the chance of a mistake.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Ids
from malaprop.core.channel import Channel, checked_channel
from malaprop.core.errors import ParameterError
from malaprop.core.loss import LossRows
from malaprop.core.progress import Progress, report, stage
from malaprop.core.randomness import checked_rng, secure_rng
from malaprop.measure.chosen_words import word_ids
from malaprop.measure.hard_pairs import HardPair, Side, hard_pairs
from malaprop.measure.pairs import allowance
from malaprop.measure.shown_losses import Question, Shown, largest, shown
from malaprop.pipeline.privatizer import Privatizer

_EXAMINED: Final = 512  # words among which hard pairs are looked for
_LEAST_DRAWS: Final = 1_000
_FIRST: Final = 8  # the first look has this many times fewer draws,
_MANY: Final = 8_000  # if there are at least so many,
_FIRST_MISTAKES: Final = 0.1  # and this share of the chance of a mistake
_CLOSEST: Final = 2  # pairs that get all draws if anything is shown about them
_CHOOSING: Final = 0.4  # of all draws choose outputs to measure

Sampler = Callable[[Side, int], Ids]
"""From a word and a number of draws to that many outputs, each distinct one as a number."""


@dataclass(frozen=True, kw_only=True)
class PairFinding:
    """What draws show about two words."""

    pair: tuple[str, str]
    why: str
    """Why this pair was chosen."""
    allowed: float
    """The loss that the guarantee allows between them, in nats; infinite if it promises none."""
    loss: float
    """A lower bound on the loss: true with the confidence of the audit. 0 if nothing is shown."""
    delta: float
    """A lower bound on the δ that is needed beside the allowed loss."""
    draws: int
    """How many draws of each of the two words were used."""

    @property
    def ratio(self) -> float:
        """The bound on the loss over what is allowed."""
        if self.allowed > 0.0:
            return self.loss / self.allowed
        return math.inf if self.loss > 0.0 else 0.0


@dataclass(frozen=True, kw_only=True)
class SampledAudit:
    """Lower bounds on losses, and whether one exceeds the guarantee."""

    guarantee: str
    pairs: tuple[PairFinding, ...]
    draws: int
    """The most draws of a word; pairs that are unlikely to contradict the guarantee have fewer."""
    can_show: float
    """The largest loss that this number of draws could show, in nats."""
    confidence: float
    """How sure a violation is, over all pairs together."""
    allowed_delta: float

    @property
    def violations(self) -> tuple[PairFinding, ...]:
        """The pairs whose loss exceeds the guarantee."""
        return tuple(one for one in self.pairs if one.delta > self.allowed_delta)

    @property
    def violated(self) -> bool:
        """Whether draws contradict the guarantee; if not, it may still be false."""
        return bool(self.violations)

    @property
    def fails(self) -> bool:
        """Whether the guarantee is shown to be false, as for an exact audit."""
        return self.violated

    @property
    def worst(self) -> PairFinding:
        """The pair that comes closest to the guarantee, or exceeds it most."""
        return max(self.pairs, key=lambda one: (one.delta > self.allowed_delta, one.ratio))

    @property
    def how_often(self) -> str:
        """How often words were drawn, in words."""
        fewer = [one.draws for one in self.pairs if one.draws < self.draws]
        if not fewer:
            return f"each word drawn {self.draws:,} times"
        return (
            f"each word drawn {min(fewer):,} times; {self.draws:,} times in "
            f"{len(self.pairs) - len(fewer)} pairs, those that came closest or might exceed it"
        )

    @property
    def limit(self) -> str:
        """What so many draws could show at best, in words."""
        visible = sum(one.allowed < self.can_show for one in self.pairs)
        return (
            f"so many draws can show a loss of up to {self.can_show:.3g}; less is allowed for "
            f"{visible or 'none'} of the {len(self.pairs)} pairs"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values for JSON."""
        return {
            "guarantee": self.guarantee,
            "violated": self.violated,
            "draws": self.draws,
            "can_show": self.can_show,
            "confidence": self.confidence,
            "allowed_delta": self.allowed_delta,
            "pairs": [
                {
                    "pair": list(one.pair),
                    "why": one.why,
                    "allowed": None if math.isinf(one.allowed) else one.allowed,
                    "loss_at_least": one.loss,
                    "delta_at_least": one.delta,
                    "draws": one.draws,
                }
                for one in self.pairs
            ],
        }

    def __str__(self) -> str:
        worst = self.worst
        verdict = "FAILS" if self.violated else "not contradicted"
        return (
            f"verdict      {verdict}\n"
            f"closest      {worst.pair[0]} and {worst.pair[1]} ({worst.why}): a loss of at least "
            f"{worst.loss:.4g}, of {worst.allowed:.4g} allowed\n"
            f"method       {len(self.pairs)} pairs, {self.how_often}; a violation is shown with a "
            f"confidence of {self.confidence:g}\n"
            f"limits       {self.limit}\n"
            f"guarantee    {self.guarantee}"
        )


def sampled_audit(
    subject: Channel | Privatizer,
    *,
    pairs: int = 24,
    draws: int = 20_000,
    words: Sequence[str] | int | None = None,
    confidence: float = 0.999,
    rng: Generator | None = None,
    progress: Progress | None = None,
) -> SampledAudit:
    """Draw for pairs of words that are hard to protect, and bound their losses from below.

    A channel is asked for ids, a `Privatizer` for whole texts of one word. The pairs are nearest
    words, the closest words of all, isolated words with their nearest, the densest words with the
    sparsest, and for a `Privatizer` a word with itself in capitals. The bounds hold together with
    the given confidence (Clopper-Pearson, corrected for the number of bounds). From 8,000 `draws`
    on, pairs for which they are unlikely to contradict anything get an eighth of them. Pairs start
    from `words`, by default from up to 512 spread evenly over the lexicon.

    >>> from malaprop import Lexicon, TEM, seeded_rng
    >>> line = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [3.0]])
    >>> sampled_audit(TEM(epsilon=2.0).on(line), draws=2000, rng=seeded_rng(1)).violated
    False
    """
    _check(draws, pairs, confidence)
    noise = secure_rng() if rng is None else checked_rng(rng)
    channel = subject.channel if isinstance(subject, Privatizer) else checked_channel(subject)
    some = _EXAMINED if words is None else words
    chosen = hard_pairs(subject, pairs, np.unique(word_ids(channel.lexicon, some)))
    allowed = allowance(channel)
    if not chosen or allowed is None:
        raise ParameterError("The guarantee covers no pair of words whose loss could be bounded.")
    looks = _Looks(
        drawn=_Draws(_sampler(subject, noise)),
        pairs=chosen,
        allowed=[_allowed_between(allowed, pair) for pair in chosen],
        delta=channel.guarantee.delta,
        mistake=(1.0 - confidence) / len(chosen),
    )
    results = looks.all(draws, progress)
    return SampledAudit(
        guarantee=str(subject.guarantee),
        pairs=tuple(
            PairFinding(
                pair=(pair.one.text, pair.two.text),
                why=pair.why,
                allowed=bound,
                loss=result.loss,
                delta=result.delta,
                draws=drawn,
            )
            for pair, bound, (result, drawn) in zip(chosen, looks.allowed, results, strict=True)
        ),
        draws=draws,
        can_show=looks.largest(draws),
        confidence=confidence,
        allowed_delta=channel.guarantee.delta,
    )


def _check(draws: int, pairs: int, confidence: float) -> None:
    whole = isinstance(draws, int) and isinstance(pairs, int)
    if not whole or draws < _LEAST_DRAWS or pairs < 1:
        raise ParameterError(
            f"A sampled audit needs whole numbers: {_LEAST_DRAWS:,} draws or more, and a pair or "
            f"more. Got {draws} draws and {pairs} pairs."
        )
    if not 0.5 <= confidence < 1.0:
        raise ParameterError(f"A confidence must be 0.5 or more, below 1. Got {confidence!r}.")


def _allowed_between(rows: LossRows, pair: HardPair) -> float:
    """Return what is allowed for a pair, by whichever way round allows less."""
    if pair.is_one_word:
        return 0.0
    words = np.array([pair.one.word, pair.two.word])
    both = rows(words)[:, words]
    return float(min(both[0, 1], both[1, 0]))


def _sampler(subject: Channel | Privatizer, rng: Generator) -> Sampler:
    if isinstance(subject, Channel):
        channel = subject
        return lambda side, draws: channel.substitute(np.full(draws, side.word), rng)
    private = subject.drawing_from(rng)
    numbers: dict[str, int] = {}

    def sample(side: Side, draws: int) -> Ids:
        texts = private.texts([side.text] * draws)
        return np.array([numbers.setdefault(text, len(numbers)) for text in texts])

    return sample


class _Draws:
    """Draws of words, which all pairs of a word share."""

    def __init__(self, sample: Sampler) -> None:
        self._sample = sample
        self._made: dict[Side, Ids] = {}

    def of(self, side: Side, draws: int) -> Ids:
        """Return the first draws of a word, and make those that are missing."""
        made = self._made.get(side, np.empty(0, dtype=np.int64))
        if len(made) < draws:
            made = np.concatenate([made, self._sample(side, draws - len(made))])
            self._made[side] = made
        return made[:draws]


@dataclass(frozen=True, kw_only=True)
class _Looks:
    """A first look at all pairs, and a second one at some of them."""

    drawn: _Draws
    pairs: Sequence[HardPair]
    allowed: Sequence[float]
    delta: float
    mistake: float
    """The chance of a mistake for each pair."""

    def all(self, draws: int, progress: Progress | None) -> list[tuple[Shown, int]]:
        """Return what is shown about each pair, and by how many draws."""
        everything = range(len(self.pairs))
        if draws < _MANY:
            results = self._look(everything, draws, 1.0, progress)
            return [(result, draws) for result in results]
        first = draws // _FIRST
        results = self._look(
            everything, first, _FIRST_MISTAKES, stage(progress, 0, 2), further=_measuring(draws)
        )
        again = self._worth_more(results)
        more = self._look(again, draws, 1.0 - _FIRST_MISTAKES, stage(progress, 1, 2))
        seen = [(result, first) for result in results]
        for place, result in zip(again, more, strict=True):
            seen[place] = (result.or_more(results[place]), draws)
        return seen

    def largest(self, draws: int) -> float:
        """Return the largest loss that this number of draws can show."""
        share = 1.0 if draws < _MANY else 1.0 - _FIRST_MISTAKES
        return largest(_measuring(draws), self.mistake * share / 4)

    def _look(
        self,
        places: Sequence[int],
        draws: int,
        share: float,
        progress: Progress | None,
        further: int = 0,
    ) -> list[Shown]:
        results = []
        for done, place in enumerate(places, 1):
            pair = self.pairs[place]
            one, two = self.drawn.of(pair.one, draws), self.drawn.of(pair.two, draws)
            question = Question(
                allowed=self.allowed[place], delta=self.delta, mistake=self.mistake * share
            )
            results.append(shown(one, two, draws - _measuring(draws), question, further))
            report(progress, done, len(places))
        return results

    def _worth_more(self, results: Sequence[Shown]) -> list[int]:
        """Return the places of pairs that may exceed what is allowed, and of the closest few."""
        ratios = [
            result.loss / allowed if allowed > 0.0 else 0.0
            for result, allowed in zip(results, self.allowed, strict=True)
        ]
        closest = [
            place for place in np.argsort(ratios)[-_CLOSEST:].tolist() if ratios[place] > 0.0
        ]
        promising = {place for place, result in enumerate(results) if result.promising}
        return sorted(promising | set(closest))


def _measuring(draws: int) -> int:
    """Return how many of some draws measure; the first ones choose what to measure."""
    return draws - int(_CHOOSING * draws)
