"""What several words, and several releases of one text, lose together.

Each word and each release has a draw of its own, so log-ratios add up, and so do the δ; where a
small δ is granted, a text of many words loses much less than the sum (docs/proofs/tem.md).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from malaprop.core.channel import Channel, checked_channel
from malaprop.core.errors import ParameterError
from malaprop.core.guarantee import Guarantee, Kind


@dataclass(frozen=True)
class Loss:
    """Pr[S | one text] ≤ e^epsilon·Pr[S | the other] + delta, for any set S of outputs."""

    epsilon: float
    delta: float = 0.0


def loss_of(channel: Channel, pairs: Iterable[tuple[str, str]], delta: float = 0.0) -> Loss:
    """What tells apart two texts of the same length, given as pairs of words of the lexicon.

    With a `delta` above 0 it is the least ε that is known for that δ.

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
            "A word of the pairs is not in the lexicon: what it counts as is decided before the "
            "channel, so give the word that it is mapped to."
        ) from None
    apart = [(a, b) for a, b in ids if a != b]
    if channel.guarantee.kind is Kind.NEIGHBOURHOOD and not _all_covered(channel, apart):
        return Loss(math.inf, 0.0)
    distances = [float(lexicon.distances([a])[0, b]) for a, b in apart]
    return loss_over(channel.guarantee.in_metric(str(lexicon.metric)), distances, delta)


def _all_covered(channel: Channel, pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether the guarantee speaks of both words of each pair."""
    return all(channel.covers(np.array([a]))[0, b] for a, b in pairs)


def loss_over(guarantee: Guarantee, distances: Sequence[float], delta: float = 0.0) -> Loss:
    """What tells apart two texts whose words are `distances` apart, position by position.

    Without a `delta`: Σ ε·min(dᵢ, γ), or Σ ε and Σ δ over the words that differ (and are covered,
    which the distances of public neighbourhoods do not tell). With one, for guarantees without
    a δ of their own, the smaller of that and of the conversion from zCDP.

    >>> tem = Guarantee(kind=Kind.METRIC, epsilon=1.0, metric="euclidean", zcdp=1 / 8)
    >>> round(loss_over(tem, [1.0] * 100, delta=1e-6).epsilon, 1)
    38.8
    """
    if not 0.0 <= delta < 1.0:
        raise ParameterError(f"The delta of a loss must be 0 or more and below 1. Got {delta!r}.")
    one = replace(guarantee, words=1, delta=guarantee.delta / guarantee.words)
    apart = [d for d in distances if d != 0.0]
    pure = math.fsum(one.loss(d) for d in apart)
    if one.delta or not delta or one.kind is not Kind.METRIC:
        return Loss(pure, min(1.0, one.delta * len(apart)))
    # A pure loss of l is l²/2-zCDP (Bun and Steinke 2016), so that this much is always known.
    rate = min(one.zcdp, one.epsilon**2 / 2.0)
    rho = rate * math.fsum(min(d, one.cap) ** 2 for d in apart)
    return min(Loss(pure), Loss(zcdp_epsilon(rho, delta), delta), key=lambda loss: loss.epsilon)


def zcdp_epsilon(rho: float, delta: float) -> float:
    """The ε for which ρ-zCDP is (ε, δ)-differential privacy: ρ + 2·√(ρ·ln(1/δ))."""
    return rho + 2.0 * math.sqrt(rho * math.log(1.0 / delta))


def compose(guarantees: Sequence[Guarantee]) -> Guarantee:
    """The guarantee of several independent releases of the same text: losses add up.

    For ε·min(d, γ) each, it is (Σε)·min(d, Σεγ/Σε). With a `bounded-dp` among them it is one of
    that kind, within the smallest radius; `neighbourhood-dp` composes with itself only.

    >>> one = Guarantee(kind=Kind.METRIC, epsilon=2.0, metric="euclidean", cap=3.0)
    >>> compose([one, one]).loss(1.0), compose([one, one]).loss(10.0)
    (4.0, 12.0)
    """
    if not guarantees:
        raise ParameterError("There must be one release or more to compose. Got none.")
    for nothing in (g for g in guarantees if g.kind is Kind.NONE):
        return nothing
    for name in ("lexicon", "metric", "words", "pairs", "texts"):
        if len({getattr(g, name) for g in guarantees}) > 1:
            raise ParameterError(
                f"Releases compose where their guarantees have the same '{name}'. Got "
                f"{' and '.join(sorted({repr(getattr(g, name)) for g in guarantees}))}."
            )
    known = dict.fromkeys(fact for g in guarantees for fact in g.public)
    together = replace(
        guarantees[0],
        delta=math.fsum(g.delta for g in guarantees),
        equivalents=(),
        public=tuple(known),
        numerics="; ".join(dict.fromkeys(g.numerics for g in guarantees if g.numerics)),
    )
    kinds = {g.kind for g in guarantees}
    if kinds == {Kind.METRIC}:
        return _of_metric(together, guarantees)
    if Kind.NEIGHBOURHOOD not in kinds:
        return _of_bounded(together, guarantees)
    if len(kinds) > 1:
        raise ParameterError(
            "A guarantee for public neighbourhoods composes with others of its kind only: it says "
            "nothing of the distances that the others speak of."
        )
    epsilon = math.fsum(g.epsilon for g in guarantees)
    pairs = together.pairs if len(guarantees) == 1 else f"{together.pairs} in every release"
    radius = min(g.radius for g in guarantees)
    return replace(together, epsilon=epsilon, pairs=pairs, radius=radius)


def _of_metric(together: Guarantee, guarantees: Sequence[Guarantee]) -> Guarantee:
    """Σ εᵢ·min(d, γᵢ) is at most (Σε)·d, and at most Σ εᵢγᵢ."""
    epsilon = math.fsum(g.epsilon for g in guarantees)
    if len({g.cap for g in guarantees}) == 1:
        return replace(together, epsilon=epsilon, zcdp=math.fsum(g.zcdp for g in guarantees))
    cap = math.fsum(g.epsilon * g.cap for g in guarantees) / epsilon
    return replace(together, epsilon=epsilon, cap=cap, zcdp=math.inf)


def _of_bounded(together: Guarantee, guarantees: Sequence[Guarantee]) -> Guarantee:
    """Within the smallest radius r, ε·d loses ε·r at most."""
    radius = min(g.radius for g in guarantees)
    metric = (g for g in guarantees if g.kind is Kind.METRIC)
    bounded = [g for g in guarantees if g.kind is Kind.BOUNDED]
    epsilon = math.fsum(g.epsilon * min(radius, g.cap) for g in metric)
    epsilon += math.fsum(g.epsilon for g in bounded)
    return replace(
        together,
        kind=Kind.BOUNDED,
        epsilon=epsilon,
        radius=radius,
        cap=math.inf,
        zcdp=math.inf,
        proof=bounded[0].proof,
    )
