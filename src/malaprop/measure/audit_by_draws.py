"""The sampled audit: what draws alone show about a guarantee.

It takes a channel or a whole `Privatizer` as a black box, draws many times for two words, and
computes a lower bound on their loss that holds with high confidence. So it cannot prove that a
guarantee is true, but it can prove that one is false, whatever the code claims about itself.
Compare `malaprop.audit`, which computes the loss from what a channel states.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import Channel, checked_channel
from malaprop.core.errors import ParameterError
from malaprop.core.guarantee import Kind
from malaprop.core.progress import Progress, report
from malaprop.core.randomness import checked_rng, secure_rng
from malaprop.core.space import blocks
from malaprop.measure.chosen_words import word_ids
from malaprop.measure.intervals import clopper_pearson
from malaprop.measure.pairs import allowance
from malaprop.pipeline.privatizer import Privatizer
from malaprop.pipeline.spreading import spread

_EXAMINED = 512  # words among which hard pairs are looked for
_LEAST_DRAWS = 1_000

Outputs = NDArray[Any]
"""Outputs of one word: ids, or texts."""
Sampler = Callable[[int, int], Outputs]
"""From a word's id and a number of draws to that many outputs."""


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

    @property
    def ratio(self) -> float:
        """The bound on the loss over what is allowed."""
        return self.loss / self.allowed if self.allowed > 0.0 else math.inf


@dataclass(frozen=True, kw_only=True)
class SampledAudit:
    """Lower bounds on losses, and whether one exceeds the guarantee."""

    guarantee: str
    pairs: tuple[PairFinding, ...]
    draws: int
    confidence: float
    """How sure a violation is, over all pairs together."""
    allowed_delta: float

    @property
    def violations(self) -> tuple[PairFinding, ...]:
        """The pairs whose loss exceeds the guarantee."""
        return tuple(one for one in self.pairs if one.delta > self.allowed_delta)

    @property
    def violated(self) -> bool:
        """Whether the guarantee is false; if not, the draws do not contradict it."""
        return bool(self.violations)

    @property
    def fails(self) -> bool:
        """Whether the guarantee is shown to be false, as for an exact audit."""
        return self.violated

    @property
    def worst(self) -> PairFinding:
        """The pair that comes closest to the guarantee, or exceeds it most."""
        return max(self.pairs, key=lambda one: (one.delta > self.allowed_delta, one.ratio))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values for JSON."""
        return {
            "guarantee": self.guarantee,
            "violated": self.violated,
            "draws": self.draws,
            "confidence": self.confidence,
            "allowed_delta": self.allowed_delta,
            "pairs": [
                {
                    "pair": list(one.pair),
                    "why": one.why,
                    "allowed": None if math.isinf(one.allowed) else one.allowed,
                    "loss_at_least": one.loss,
                    "delta_at_least": one.delta,
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
            f"method       {self.draws:,} draws of each word of {len(self.pairs)} pairs; a "
            f"violation is shown with a confidence of {self.confidence:g}\n"
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
    words, the densest word with the sparsest, and isolated words with their nearest. The bounds
    hold together with the given confidence (Clopper-Pearson, corrected for the number of pairs).
    `words` are those that pairs start from, by default up to 512 spread evenly over the lexicon.

    >>> from malaprop import Lexicon, TEM, seeded_rng
    >>> line = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [3.0]])
    >>> sampled_audit(TEM(epsilon=2.0).on(line), draws=2000, rng=seeded_rng(1)).violated
    False
    """
    if draws < _LEAST_DRAWS or pairs < 1:
        raise ParameterError(
            f"A sampled audit needs {_LEAST_DRAWS:,} draws or more, and a pair or more. Got "
            f"{draws:,} draws and {pairs} pairs."
        )
    if not 0.5 <= confidence < 1.0:
        raise ParameterError(f"A confidence must be 0.5 or more, below 1. Got {confidence!r}.")
    noise = secure_rng() if rng is None else checked_rng(rng)
    channel = subject.channel if isinstance(subject, Privatizer) else checked_channel(subject)
    sample = _sampler(subject, noise)
    some = _EXAMINED if words is None else words
    chosen = _hard_pairs(channel, pairs, np.unique(word_ids(channel.lexicon, some)))
    allowed = allowance(channel)
    if not chosen or allowed is None:
        raise ParameterError("The guarantee covers no pair of words whose loss could be bounded.")
    # Each pair is looked at both ways round.
    level = 1.0 - (1.0 - confidence) / (2 * len(chosen))
    findings = []
    for done, (word, other, why) in enumerate(chosen, 1):
        bound = float(allowed(np.array([word]))[0, other])
        one, two = sample(word, draws), sample(other, draws)
        here, there = (_bounds(*sides, bound, level) for sides in ((one, two), (two, one)))
        findings.append(
            PairFinding(
                pair=(channel.lexicon.words[word], channel.lexicon.words[other]),
                why=why,
                allowed=bound,
                loss=max(here[0], there[0]),
                delta=max(here[1], there[1]),
            )
        )
        report(progress, done, len(chosen))
    return SampledAudit(
        guarantee=str(subject.guarantee),
        pairs=tuple(findings),
        draws=draws,
        confidence=confidence,
        allowed_delta=channel.guarantee.delta,
    )


def _sampler(subject: Channel | Privatizer, rng: Generator) -> Sampler:
    if isinstance(subject, Channel):
        channel = subject
        return lambda word, draws: channel.substitute(np.full(draws, word), rng)
    private = subject.drawing_from(rng)
    words = subject.lexicon.words
    return lambda word, draws: np.array([one.text for one in private.many([words[word]] * draws)])


def _hard_pairs(channel: Channel, count: int, ids: Ids) -> list[tuple[int, int, str]]:
    """Choose covered pairs of some words: nearest, densest and sparsest, isolated."""
    nearest, distances = nearest_words(channel, ids)
    order = np.argsort(distances, kind="stable")
    dense, sparse = ids[order], ids[order[::-1]]
    isolated = [
        (int(w), int(nearest[p]), "isolated") for p, w in zip(order[::-1], sparse, strict=True)
    ]
    apart = [(int(a), int(b), "densest and sparsest") for a, b in zip(dense, sparse, strict=True)]
    near = [
        (int(ids[p]), int(nearest[p]), "nearest") for p in spread(len(ids), max(count, 3)).tolist()
    ]
    mixed = [pair for three in zip(near, isolated, apart, strict=False) for pair in three]
    pairs, seen = [], set[frozenset[int]]()
    for word, other, why in (*mixed, *near):
        both = frozenset((word, other))
        if len(both) == 2 and both not in seen and _is_covered(channel, word, other):
            seen.add(both)
            pairs.append((word, other, why))
    return pairs[:count]


def _is_covered(channel: Channel, word: int, other: int) -> bool:
    if channel.guarantee.kind is Kind.NONE:
        return True  # compare with what the promise would have been
    return bool(channel.covers(np.array([word]))[0, other])


def nearest_words(channel: Channel, ids: Ids) -> tuple[Ids, Floats]:
    """Return the nearest other word of some words, and its distance."""
    nearest, distances = np.empty_like(ids), np.empty(len(ids))
    for block in blocks(len(ids), row_cells=len(channel.lexicon)):
        rows = channel.lexicon.distances(ids[block])
        rows[np.arange(len(rows)), ids[block]] = np.inf
        nearest[block], distances[block] = rows.argmin(axis=1), rows.min(axis=1)
    return nearest, distances


def _bounds(one: Outputs, two: Outputs, allowed: float, level: float) -> tuple[float, float]:
    """Bound loss and δ of one word against another from below, from draws of both.

    Half of the draws choose sets of outputs that tell the words apart; the others measure them.
    """
    half = len(one) // 2
    best_loss = best_delta = 0.0
    sets = list(_telling(one[:half], two[:half], allowed))
    for outputs in sets:
        hits, rivals = (int(np.isin(drawn[half:], outputs).sum()) for drawn in (one, two))
        trials = len(one) - half
        sure = 1.0 - (1.0 - level) / len(sets)
        low = float(clopper_pearson(hits, trials, 2 * sure - 1)[0])
        high = float(clopper_pearson(rivals, trials, 2 * sure - 1)[1])
        if low > 0.0:
            best_loss = max(best_loss, math.log(low / high))
        if math.isfinite(allowed):
            best_delta = max(best_delta, low - math.exp(min(allowed, 700.0)) * high)
    return best_loss, best_delta


def _telling(one: Outputs, two: Outputs, allowed: float) -> Iterator[Outputs]:
    """Yield sets of outputs that are likelier for one word: the best single one, and thresholds."""
    outputs, places = np.unique(np.concatenate([one, two]), return_inverse=True)
    here = np.bincount(places[: len(one)], minlength=len(outputs))
    there = np.bincount(places[len(one) :], minlength=len(outputs))
    ratios = np.log(here + 0.5) - np.log(there + 0.5)
    yield outputs[[int(np.argmax(here * (ratios > 0.0)))]]
    finite = allowed if math.isfinite(allowed) else float(ratios.max())
    for level in (0.0, 0.5 * finite, finite):
        chosen = outputs[ratios > min(level, 0.999 * float(ratios.max()))]
        if len(chosen):
            yield chosen
