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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.random import Generator

from malaprop.measure.audit import allowance
from malaprop.measure.neighbourhoods import nearest_other_words
from malaprop.privacy.arrays import Ids
from malaprop.privacy.channel import Channel, checked_channel
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.estimate import clopper_pearson, even_sample, word_ids
from malaprop.privacy.guarantee import Kind
from malaprop.privacy.law import LossRows
from malaprop.privacy.progress import Progress, report, stage
from malaprop.privacy.randomness import checked_rng, secure_rng
from malaprop.privatizer import Privatizer

_EXAMINED: Final = 512  # words among which hard pairs are looked for
_LEAST_DRAWS: Final = 1_000
_FIRST: Final = 8  # the first look has this many times fewer draws,
_MANY: Final = 8_000  # if there are at least so many,
_FIRST_MISTAKES: Final = 0.1  # and this share of the chance of a mistake
_CLOSEST: Final = 2  # pairs that get all draws if anything is shown about them
_CHOOSING: Final = 0.4  # of all draws choose outputs to measure
_LIKELY: Final = 0.999  # level of the ends that a guess about further draws is made from
_FAR: Final = 700.0  # e to a larger number is too large for float64


class Side(NamedTuple):
    """One word of a pair, and how it is written."""

    word: int
    text: str


class HardPair(NamedTuple):
    """Two words that are hard to protect, or one word in two spellings."""

    one: Side
    two: Side
    why: str

    @property
    def is_one_word(self) -> bool:
        """Whether both sides are the same word, so that no output may tell them apart."""
        return self.one.word == self.two.word


def hard_pairs(subject: Channel | Privatizer, count: int, ids: Ids) -> list[HardPair]:
    """Choose pairs that start from some words and that the guarantee covers, of each sort in turn.

    The sorts are words spread over the lexicon with their nearest, the closest of all, isolated
    words with their nearest, the densest with the sparsest, and for a `Privatizer` one word in two
    spellings.
    """
    channel = subject.channel if isinstance(subject, Privatizer) else subject
    nearest, distances = nearest_other_words(channel.lexicon, ids)
    words = channel.lexicon.words
    dense = np.argsort(distances, kind="stable")
    sparse, some = dense[::-1], even_sample(len(ids), max(count, 3))

    def pairs(why: str, ones: Ids, twos: Ids) -> Iterator[HardPair]:
        for one, two in zip(ones.tolist(), twos.tolist(), strict=True):
            yield HardPair(Side(one, words[one]), Side(two, words[two]), why)

    sorts: list[Iterable[HardPair]] = [
        pairs("nearest", ids[some], nearest[some]),
        pairs("closest of all", ids[dense], nearest[dense]),
        pairs("isolated", ids[sparse], nearest[sparse]),
        pairs("densest and sparsest", ids[dense], ids[sparse]),
    ]
    if isinstance(subject, Privatizer):  # a private text must not show capitals
        word = int(ids[dense[0]])
        own, capitals = words[word], (words[word].capitalize(), words[word].upper())
        spelled = "one word, two spellings"
        sorts.append(HardPair(Side(word, own), Side(word, other), spelled) for other in capitals)
    chosen: dict[frozenset[Side], HardPair] = {}
    for pair in filter(None, chain.from_iterable(zip_longest(*sorts))):
        if len(chosen) == count:
            break
        both = frozenset((pair.one, pair.two))
        if len(both) == 2 and both not in chosen and _is_covered(subject, channel, pair):
            chosen[both] = pair
    return list(chosen.values())


def _is_covered(subject: Channel | Privatizer, channel: Channel, pair: HardPair) -> bool:
    """Whether the guarantee covers both words, and texts of them count as these words."""
    if isinstance(subject, Privatizer):
        for side in (pair.one, pair.two):  # neither public nor a value
            if subject.word_draws([side.text]).secret.tolist() != [side.word]:
                return False
    if pair.is_one_word or channel.guarantee.kind is Kind.NONE:
        return True  # for `none`, compare with what the promise would have been
    return bool(channel.covers(np.array([pair.one.word]))[0, pair.two.word])


# What draws of two inputs show about the loss between them, with confidence.
#
# Some of the draws choose sets of outputs that tell the inputs apart. Others measure these sets: if
# the chance of a set is at least p for one input and at most q for the other, the loss is at least
# ln(p/q). Draws that choose never measure.


class Shown(NamedTuple):
    """What draws show about two inputs, whichever way round they show more."""

    loss: float = 0.0
    """A lower bound on the loss."""
    delta: float = 0.0
    """A lower bound on the δ that is needed beside the allowed loss."""
    promising: bool = False
    """Whether further draws may well show that more is needed than is allowed."""


def _most(shown: Iterable[Shown]) -> Shown:
    losses, deltas, promising = zip(*shown, strict=True)
    return Shown(max(losses), max(deltas), any(promising))


def _answer(
    one: Ids, two: Ids, allowed: float, *, delta: float, mistake: float, further: int
) -> Shown:
    """Bound the loss between two inputs from draws of both; the first ones choose sets.

    A loss of `allowed` nats, beside a δ, is no violation. Some bound is wrong with a chance of
    `mistake` at most. `further` draws could be made beyond these; no bound depends on what they may
    show.
    """

    def excess(low: float, high: float) -> float:
        """Return the δ needed beside the allowed loss, for chances of at least and at most."""
        return -math.inf if math.isinf(allowed) else low - math.exp(min(allowed, _FAR)) * high

    choosing, shown = _choosing(len(one)), [Shown()]
    trials = len(one) - choosing
    for here, there in ((one, two), (two, one)):
        sets = list(_telling(here[:choosing], there[:choosing], allowed))
        # Each set is measured for two inputs, and there are two ways round. Of the two sides of an
        # interval, one is used.
        level = 1.0 - 2.0 * (mistake / (4 * max(1, len(sets))))
        for outputs in sets:
            hits, rivals = (
                int(np.isin(draws[choosing:], outputs).sum()) for draws in (here, there)
            )
            low, high = _ends(hits, rivals, trials, level)
            promising = False
            if further:  # if both chances are at their likely ends
                rare, likely = _ends(rivals, hits, trials, _LIKELY)
                hopes = math.ceil(likely * further), math.floor(rare * further)
                promising = excess(*_ends(*hopes, further, level)) > delta
            loss = max(0.0, math.log(low / high)) if low > 0.0 else 0.0
            shown.append(Shown(loss, max(0.0, excess(low, high)), promising))
    return _most(shown)


def _ends(hits: int, rivals: int, trials: int, level: float) -> tuple[float, float]:
    """Return the lower end of the chance behind some hits, and the upper one behind the rivals'."""
    (low, _), (_, high) = clopper_pearson([hits, rivals], trials, level).tolist()
    return low, high


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


def _choosing(draws: int) -> int:
    """Return how many of some draws choose what the others measure."""
    return int(_CHOOSING * draws)


@dataclass(frozen=True, kw_only=True)
class PairLoss:
    """What draws show about two words."""

    pair: tuple[str, str]
    why: str
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
        if self.allowed > 0.0:
            return self.loss / self.allowed
        return math.inf if self.loss > 0.0 else 0.0


@dataclass(frozen=True, kw_only=True)
class SampledAudit:
    """Lower bounds on losses, and whether one exceeds the guarantee."""

    guarantee: str
    pairs: tuple[PairLoss, ...]
    draws: int
    """The most draws of a word; pairs that are unlikely to contradict the guarantee have fewer."""
    can_show: float
    """The largest loss that this number of draws could show, in nats."""
    confidence: float
    """How sure a violation is, over all pairs together."""
    allowed_delta: float

    @property
    def violations(self) -> tuple[PairLoss, ...]:
        return tuple(one for one in self.pairs if one.delta > self.allowed_delta)

    @property
    def violated(self) -> bool:
        """Whether draws contradict the guarantee; if not, it may still be false."""
        return bool(self.violations)

    @property
    def fails(self) -> bool:
        return self.violated

    @property
    def worst(self) -> PairLoss:
        """The pair that comes closest to the guarantee, or exceeds it most."""
        return max(self.pairs, key=lambda one: (one.delta > self.allowed_delta, one.ratio))

    @property
    def how_often(self) -> str:
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
    whole = isinstance(draws, int) and isinstance(pairs, int)
    if not whole or draws < _LEAST_DRAWS or pairs < 1:
        raise ParameterError(
            f"A sampled audit needs whole numbers: {_LEAST_DRAWS:,} draws or more, and a pair or "
            f"more. Got {draws} draws and {pairs} pairs."
        )
    if not 0.5 <= confidence < 1.0:
        raise ParameterError(f"A confidence must be 0.5 or more, below 1. Got {confidence!r}.")
    noise = secure_rng() if rng is None else checked_rng(rng)
    channel = subject.channel if isinstance(subject, Privatizer) else checked_channel(subject)
    some = _EXAMINED if words is None else words
    chosen = hard_pairs(subject, pairs, np.unique(word_ids(channel.lexicon, some)))
    allowed = allowance(channel)
    if not chosen or allowed is None:
        raise ParameterError("The guarantee covers no pair of words whose loss could be bounded.")
    delta, mistake = channel.guarantee.delta, (1.0 - confidence) / len(chosen)
    bounds = [_allowed_between(allowed, pair) for pair in chosen]

    def look(
        places: Sequence[int], draws: int, share: float, progress: Progress | None, further: int = 0
    ) -> list[Shown]:
        results = []
        for done, place in enumerate(places, 1):
            one, two = (drawn.of(side, draws) for side in chosen[place][:2])
            chance, limit = mistake * share, bounds[place]
            results.append(_answer(one, two, limit, delta=delta, mistake=chance, further=further))
            report(progress, done, len(places))
        return results

    drawn = _Draws(subject, noise)
    shown = _looks(look, bounds, draws, progress)
    share = 1.0 if draws < _MANY else 1.0 - _FIRST_MISTAKES
    rarest = clopper_pearson(0, draws - _choosing(draws), 1.0 - 2.0 * (mistake * share / 4))[1]
    return SampledAudit(
        guarantee=str(subject.guarantee),
        pairs=tuple(
            PairLoss(
                pair=(pair.one.text, pair.two.text),
                why=pair.why,
                allowed=bound,
                loss=result.loss,
                delta=result.delta,
                draws=used,
            )
            for pair, bound, (result, used) in zip(chosen, bounds, shown, strict=True)
        ),
        draws=draws,
        can_show=-math.log(float(rarest)),  # a set that always occurs, or never
        confidence=confidence,
        allowed_delta=delta,
    )


def _allowed_between(rows: LossRows, pair: HardPair) -> float:
    """Return what is allowed for a pair, by whichever way round allows less."""
    if pair.is_one_word:
        return 0.0
    words = np.array([pair.one.word, pair.two.word])
    both = rows(words)[:, words]
    return float(min(both[0, 1], both[1, 0]))


class _Draws:
    """Draws of words, which all pairs of a word share; each distinct text has a number."""

    def __init__(self, subject: Channel | Privatizer, rng: Generator) -> None:
        self._subject = subject if isinstance(subject, Channel) else subject.drawing_from(rng)
        self._rng, self._numbers = rng, dict[str, int]()
        self._made: dict[Side, Ids] = {}

    def of(self, side: Side, draws: int) -> Ids:
        """Return the first draws of a word, and make those that are missing."""
        made = self._made.get(side, np.empty(0, dtype=np.int64))
        if len(made) < draws:
            made = np.concatenate([made, self._more(side, draws - len(made))])
            self._made[side] = made
        return made[:draws]

    def _more(self, side: Side, draws: int) -> Ids:
        if isinstance(self._subject, Channel):
            return self._subject.substitute(np.full(draws, side.word), self._rng)
        texts = self._subject.texts([side.text] * draws)
        return np.array([self._numbers.setdefault(text, len(self._numbers)) for text in texts])


def _looks(
    look: Callable[..., list[Shown]],
    bounds: Sequence[float],
    draws: int,
    progress: Progress | None,
) -> list[tuple[Shown, int]]:
    """Return what is shown about each pair, and by how many draws: one look, or two."""
    everything = range(len(bounds))
    if draws < _MANY:
        return [(result, draws) for result in look(everything, draws, 1.0, progress)]
    first, further = draws // _FIRST, draws - _choosing(draws)
    results = look(everything, first, _FIRST_MISTAKES, stage(progress, 0, 2), further)
    # All draws for pairs that may exceed what is allowed, and for the closest few.
    ratios = [
        result.loss / allowed if allowed > 0.0 else 0.0
        for result, allowed in zip(results, bounds, strict=True)
    ]
    closest = {place for place in np.argsort(ratios)[-_CLOSEST:].tolist() if ratios[place] > 0.0}
    again = sorted(closest | {place for place in everything if results[place].promising})
    more = look(again, draws, 1.0 - _FIRST_MISTAKES, stage(progress, 1, 2))
    shown = [(result, first) for result in results]
    for place, result in zip(again, more, strict=True):
        shown[place] = (_most([result, results[place]]), draws)
    return shown
