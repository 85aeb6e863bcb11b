"""The joint loss of several words, and of several releases of one text.

Each word and each release has a draw of its own, so log-ratios add up, and so do the δ. If a small
δ is granted, a text of many words loses much less than the sum (docs/proofs/tem.md).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from malaprop.privacy.channel import Channel, checked_channel
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.guarantee import WORD, Guarantee, Kind, KindPromise

PromiseT = TypeVar("PromiseT", Guarantee, KindPromise)


@dataclass(frozen=True)
class Loss:
    """Pr[S | one text] ≤ e^epsilon·Pr[S | the other] + delta, for any set S of outputs."""

    epsilon: float
    delta: float = 0.0


def loss_of(channel: Channel, pairs: Iterable[tuple[str, str]], delta: float = 0.0) -> Loss:
    """Return the loss between two texts of the same length, given as pairs of lexicon words.

    With a `delta` above 0, ε is the least that is known for that δ.

    >>> from malaprop import Lexicon, TEM
    >>> line = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [9.0]])
    >>> channel = TEM(epsilon=0.5, gamma=4.0).on(line)
    >>> loss_of(channel, [("cold", "cool"), ("hot", "hot"), ("cool", "hot")])
    Loss(epsilon=2.5, delta=0.0)
    """
    lexicon = checked_channel(channel).lexicon
    index = {word: i for i, word in enumerate(lexicon.words)}
    try:
        ids = [(index[before], index[after]) for before, after in pairs]
    except KeyError:
        raise ParameterError(
            "A word of the pairs is not in the lexicon. Words are mapped to lexicon words before "
            "they reach the channel: give the word that it is mapped to."
        ) from None
    different = [(a, b) for a, b in ids if a != b]
    if channel.guarantee.kind is Kind.NEIGHBOURHOOD and not all(
        channel.covers(np.array([a]))[0, b] for a, b in different
    ):
        return Loss(math.inf, 0.0)
    distances = [float(lexicon.distances([a])[0, b]) for a, b in different]
    promise = channel.guarantee.in_metric(str(lexicon.metric))
    return loss_over(promise, [(WORD, distance) for distance in distances], delta)


def loss_over(
    guarantee: Guarantee, changes: Sequence[tuple[str, float]], delta: float = 0.0
) -> Loss:
    """Return the loss between two texts that differ in values of these kinds and distances.

    Each change is a kind and a distance in that kind's steps. A distance of infinity stands for
    two values of different kinds or shapes, for which nothing is promised.

    Without a `delta` it is Σ ε·min(dᵢ, γ), or Σ ε and Σ δ over the words that differ. Those are
    assumed to be covered: distances do not say who shares a public neighbourhood. With a `delta`,
    and a guarantee that has no δ of its own, it is the smaller of that sum and of the conversion
    from zCDP.

    >>> tem = Guarantee(kind=Kind.METRIC, epsilon=1.0, metric="euclidean", zcdp=1 / 8)
    >>> round(loss_over(tem, [("word", 1.0)] * 100, delta=1e-6).epsilon, 1)
    38.8
    """
    if not 0.0 <= delta < 1.0:
        raise ParameterError(f"The delta of a loss must be 0 or more and below 1. Got {delta!r}.")
    one = guarantee.for_words(1)
    promises = {name: one.of_kind(name) for name, _ in changes}
    moved = [(promises[name], distance) for name, distance in changes if distance != 0.0]
    pure = math.fsum(math.inf if math.isinf(d) else promise.loss(d) for promise, d in moved)
    if one.delta or not delta or one.kind is not Kind.METRIC or math.isinf(pure):
        return Loss(pure, min(1.0, one.delta * len(moved)))
    # A pure loss of l implies l²/2-zCDP (Bun and Steinke 2016), so a ρ is always known.
    rho = math.fsum(min(g.zcdp, g.epsilon**2 / 2.0) * min(d, g.cap) ** 2 for g, d in moved)
    return min(Loss(pure), Loss(zcdp_epsilon(rho, delta), delta), key=lambda loss: loss.epsilon)


def zcdp_epsilon(rho: float, delta: float) -> float:
    """Return the ε for which ρ-zCDP is (ε, δ)-differential privacy: ρ + 2·√(ρ·ln(1/δ))."""
    return rho + 2.0 * math.sqrt(rho * math.log(1.0 / delta))


def compose(guarantees: Sequence[Guarantee]) -> Guarantee:
    """Return the guarantee of several independent releases of the same text: losses add up.

    Guarantees of ε·min(d, γ) compose to (Σε)·min(d, Σεγ/Σε). With a `bounded-dp` among them the
    result is of that kind, within the smallest radius. `neighbourhood-dp` composes only with
    itself.

    >>> one = Guarantee(kind=Kind.METRIC, epsilon=2.0, metric="euclidean", cap=3.0)
    >>> compose([one, one]).loss(1.0), compose([one, one]).loss(10.0)
    (4.0, 12.0)
    """
    if not guarantees:
        raise ParameterError("Composing takes one release or more. Got none.")
    for void in (g for g in guarantees if g.kind is Kind.NONE):
        return void
    _require_alike(guarantees)
    together = replace(
        guarantees[0],
        delta=math.fsum(g.delta for g in guarantees),
        equivalents=(),
        public=tuple(dict.fromkeys(fact for g in guarantees for fact in g.public)),
        numerics="; ".join(dict.fromkeys(g.numerics for g in guarantees if g.numerics)),
    )
    kinds = {g.kind for g in guarantees}
    if kinds == {Kind.METRIC}:
        if not together.kinds:
            return _added(together, guarantees)
        promises = zip(*(g.kinds for g in guarantees), strict=True)
        kind_promises = tuple(_added(alike[0], alike) for alike in promises)
        return replace(together, epsilon=kind_promises[0].epsilon, kinds=kind_promises)
    radius = min(g.radius for g in guarantees)
    epsilon = math.fsum(g.epsilon for g in guarantees if g.kind is not Kind.METRIC)
    if kinds == {Kind.NEIGHBOURHOOD}:
        pairs = together.pairs if len(guarantees) == 1 else f"{together.pairs} in every release"
        return replace(together, epsilon=epsilon, pairs=pairs, radius=radius)
    if Kind.NEIGHBOURHOOD in kinds:
        raise ParameterError(
            "A guarantee for public neighbourhoods composes with others of its kind only: it says "
            "nothing about the distances that other guarantees are stated in."
        )
    # Within the smallest radius r, ε·d is at most ε·r.
    epsilon += math.fsum(
        g.epsilon * min(radius, g.cap) for g in guarantees if g.kind is Kind.METRIC
    )
    proof = next(g.proof for g in guarantees if g.kind is Kind.BOUNDED)
    within = replace(together, kind=Kind.BOUNDED, epsilon=epsilon, radius=radius, proof=proof)
    return replace(within, cap=math.inf, zcdp=math.inf)


def _require_alike(guarantees: Sequence[Guarantee]) -> None:
    for name in ("lexicon", "metric", "words", "per", "pairs", "texts"):
        if len({getattr(g, name) for g in guarantees}) > 1:
            raise ParameterError(
                f"Releases compose only if their guarantees have the same '{name}'. Got "
                f"{' and '.join(sorted({repr(getattr(g, name)) for g in guarantees}))}."
            )
    counted = {
        tuple((k.name, k.step, k.drawn_anew, k.together) for k in g.kinds) for g in guarantees
    }
    if len(counted) > 1:
        raise ParameterError(
            "Releases compose only if their guarantees have the same kinds, with the same steps."
        )


def _added(first: PromiseT, parts: Sequence[PromiseT]) -> PromiseT:
    """Return `first` with the ε, γ and ρ of all: Σ εᵢ·min(d, γᵢ) ≤ (Σε)·d, and ≤ Σ εᵢγᵢ."""
    epsilon = math.fsum(part.epsilon for part in parts)
    if epsilon == 0.0:  # values are drawn anew
        return first
    cap, zcdp = parts[0].cap, math.fsum(part.zcdp for part in parts)
    if len({part.cap for part in parts}) > 1:
        cap, zcdp = math.fsum(part.epsilon * part.cap for part in parts) / epsilon, math.inf
    return replace(first, epsilon=epsilon, cap=cap, zcdp=zcdp)
