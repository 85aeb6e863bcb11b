"""The joint loss of several words, and of several releases of one text.

Each word and each release has a draw of its own, so log-ratios add up, and so do the δ. If a small
δ is granted, a text of many words loses much less than the sum (docs/proofs/tem.md).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from malaprop.privacy.channel import Channel, checked_channel
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.guarantee import Guarantee, Kind, KindPromise


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
    return loss_over(channel.guarantee.in_metric(str(lexicon.metric)), distances, delta)


def loss_over(guarantee: Guarantee, distances: Sequence[float], delta: float = 0.0) -> Loss:
    """Return the loss between two texts whose words are `distances` apart, position by position.

    Without a `delta` it is Σ ε·min(dᵢ, γ), or Σ ε and Σ δ over the words that differ. Those are
    assumed to be covered: distances do not say who shares a public neighbourhood. With a `delta`,
    and a guarantee that has no δ of its own, it is the smaller of that sum and of the conversion
    from zCDP.

    >>> tem = Guarantee(kind=Kind.METRIC, epsilon=1.0, metric="euclidean", zcdp=1 / 8)
    >>> round(loss_over(tem, [1.0] * 100, delta=1e-6).epsilon, 1)
    38.8
    """
    _check(delta)
    per_word = replace(guarantee, words=1, delta=guarantee.delta / guarantee.words)
    nonzero = [d for d in distances if d != 0.0]
    pure = math.fsum(per_word.loss(d) for d in nonzero)
    if per_word.delta or not delta or per_word.kind is not Kind.METRIC:
        return Loss(pure, min(1.0, per_word.delta * len(nonzero)))
    # A pure loss of l implies l²/2-zCDP (Bun and Steinke 2016), so a ρ is always known.
    rate = min(per_word.zcdp, per_word.steepest**2 / 2.0)
    rho = rate * math.fsum(min(d, per_word.cap) ** 2 for d in nonzero)
    return _smaller(pure, rho, delta)


def loss_over_kinds(
    guarantee: Guarantee, changes: Sequence[tuple[str, float]], delta: float = 0.0
) -> Loss:
    """Return the loss between two texts that differ in values of these kinds and distances.

    Each change is a kind and a distance in that kind's steps. A distance of infinity stands for
    two values of different kinds or shapes, for which nothing is promised. With a `delta`, it is
    the smaller of the sum and of the conversion from zCDP.

    >>> from malaprop.privacy.guarantee import KindPromise
    >>> words = Guarantee(kind=Kind.METRIC, epsilon=2.0, metric="graph", cap=3.0)
    >>> texts = words.with_kinds([KindPromise(name="date", epsilon=1.0, step="1 week")])
    >>> loss_over_kinds(texts, [("word", 9.0), ("date", 9.0)])
    Loss(epsilon=15.0, delta=0.0)
    """
    _check(delta)
    if guarantee.kind is Kind.NONE:
        return Loss(math.inf)
    promises = {kind.name: kind for kind in guarantee.kinds}
    if not promises or not {name for name, _ in changes} <= promises.keys():
        known = ", ".join(promises) or "words only"
        raise ParameterError(f"The guarantee does not speak of all these kinds. It has: {known}.")
    pure = math.fsum(promises[name].loss(distance) for name, distance in changes)
    if not delta or math.isinf(pure):
        return Loss(pure)
    rho = math.fsum(promises[name].rho(distance) for name, distance in changes)
    return _smaller(pure, rho, delta)


def _check(delta: float) -> None:
    if not 0.0 <= delta < 1.0:
        raise ParameterError(f"The delta of a loss must be 0 or more and below 1. Got {delta!r}.")


def _smaller(pure: float, rho: float, delta: float) -> Loss:
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
    public_facts = dict.fromkeys(fact for g in guarantees for fact in g.public)
    together = replace(
        guarantees[0],
        delta=math.fsum(g.delta for g in guarantees),
        equivalents=(),
        public=tuple(public_facts),
        numerics="; ".join(dict.fromkeys(g.numerics for g in guarantees if g.numerics)),
    )
    kinds = {g.kind for g in guarantees}
    if kinds == {Kind.METRIC}:
        return _compose_metric(together, guarantees)
    if Kind.NEIGHBOURHOOD not in kinds:
        return _compose_bounded(together, guarantees)
    if len(kinds) > 1:
        raise ParameterError(
            "A guarantee for public neighbourhoods composes with others of its kind only: it says "
            "nothing about the distances that other guarantees are stated in."
        )
    epsilon = math.fsum(g.epsilon for g in guarantees)
    pairs = together.pairs if len(guarantees) == 1 else f"{together.pairs} in every release"
    radius = min(g.radius for g in guarantees)
    return replace(together, epsilon=epsilon, pairs=pairs, radius=radius)


def _require_alike(guarantees: Sequence[Guarantee]) -> None:
    """Refuse guarantees that speak of different things."""
    for name in ("lexicon", "metric", "words", "per", "pairs", "texts"):
        if len({getattr(g, name) for g in guarantees}) > 1:
            raise ParameterError(
                f"Releases compose only if their guarantees have the same '{name}'. Got "
                f"{' and '.join(sorted({repr(getattr(g, name)) for g in guarantees}))}."
            )
    counted = {tuple((k.name, k.step, k.drawn_anew) for k in g.kinds) for g in guarantees}
    if len(counted) > 1:
        raise ParameterError(
            "Releases compose only if their guarantees have the same kinds, with the same steps."
        )


def _added(parts: Sequence[Guarantee | KindPromise]) -> tuple[float, float, float]:
    """Return ε, γ and ρ of several promises: Σ εᵢ·min(d, γᵢ) ≤ (Σε)·d, and ≤ Σ εᵢγᵢ."""
    epsilon = math.fsum(part.epsilon for part in parts)
    if len({part.cap for part in parts}) == 1:
        return epsilon, parts[0].cap, math.fsum(part.zcdp for part in parts)
    return epsilon, math.fsum(part.epsilon * part.cap for part in parts) / epsilon, math.inf


def _compose_kind(promises: Sequence[KindPromise]) -> KindPromise:
    """Compose the promises for one kind, as those for words."""
    if promises[0].drawn_anew:
        return promises[0]
    epsilon, cap, zcdp = _added(promises)
    return replace(promises[0], epsilon=epsilon, cap=cap, zcdp=zcdp)


def _compose_metric(together: Guarantee, guarantees: Sequence[Guarantee]) -> Guarantee:
    """Compose metric guarantees, kind by kind if there are several."""
    if together.kinds:
        kinds = tuple(map(_compose_kind, zip(*(g.kinds for g in guarantees), strict=True)))
        return replace(together, epsilon=kinds[0].epsilon, kinds=kinds)
    epsilon, cap, zcdp = _added(guarantees)
    return replace(together, epsilon=epsilon, cap=cap, zcdp=zcdp)


def _compose_bounded(together: Guarantee, guarantees: Sequence[Guarantee]) -> Guarantee:
    """Compose bounded and metric guarantees: within the smallest radius r, ε·d is at most ε·r."""
    radius = min(g.radius for g in guarantees)
    metric = (g for g in guarantees if g.kind is Kind.METRIC)
    bounded = [g for g in guarantees if g.kind is Kind.BOUNDED]
    epsilon = math.fsum(g.epsilon * min(radius, g.cap) for g in metric)
    epsilon += math.fsum(g.epsilon for g in bounded)
    within = replace(together, kind=Kind.BOUNDED, epsilon=epsilon, radius=radius)
    return replace(within, cap=math.inf, zcdp=math.inf, proof=bounded[0].proof)
