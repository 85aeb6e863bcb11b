"""The result of an audit."""

import math
from dataclasses import dataclass, replace

from malaprop.core.channel import Channel
from malaprop.core.guarantee import Guarantee, Kind
from malaprop.core.loss import Worst

TOLERANCE = 1e-9
"""How far the rounding of distances may push a ratio above 1."""


@dataclass(frozen=True, kw_only=True)
class Audit:
    """The result of an audit; `str()` says it in words."""

    worst_ratio: float
    """The worst loss over what the guarantee allows for that pair: at most 1 if it is true.

    For a guarantee with a δ, it is the worst true δ over the δ allowed. NaN if nothing is known.
    """
    at_most: float
    """An upper bound on the worst ratio: the ratio itself, or infinite if nothing is proved."""
    pair: tuple[str, str] | None
    """The two words that are easiest to tell apart."""
    output: str | None
    """The output that tells them apart best; None if outputs are vectors."""
    holds: bool | None
    """Whether the guarantee is true; None if that is undecided."""
    loss: float
    """The loss of that pair in nats, or its δ."""
    allowed: float
    """What the guarantee allows for that pair."""
    method: str
    """How it was computed."""
    guarantee: Guarantee

    def __str__(self) -> str:
        verdict = {True: "holds", False: "FAILS", None: "not decided"}[self.holds]
        lines = [f"verdict      {verdict}", f"method       {self.method}"]
        if self.pair is not None:
            what = "δ" if self.guarantee.delta else "loss"
            at = "" if self.output is None else f", at the output {self.output}"
            told = f"{what} {self.loss:.6g} where {self.allowed:.6g} is allowed"
            lines += [
                f"worst pair   {self.pair[0]} and {self.pair[1]}{at}",
                f"worst ratio  {self.worst_ratio:.6g}: {told}",
            ]
        return "\n".join([*lines, f"guarantee    {self.guarantee}"])

    @property
    def fails(self) -> bool:
        """Whether the guarantee is shown to be false."""
        return self.holds is False

    def to_dict(self) -> dict[str, object]:
        """Return the result as plain values for JSON; `null` for what is unknown or infinite."""
        numbers = ("worst_ratio", "at_most", "loss", "allowed")
        finite = {
            name: value if math.isfinite(value := getattr(self, name)) else None for name in numbers
        }
        return {
            "holds": self.holds,
            **finite,
            "pair": None if self.pair is None else list(self.pair),
            "output": self.output,
            "method": self.method,
            "guarantee": str(self.guarantee),
        }


def finding(
    channel: Channel,
    worst: Worst,
    *,
    exact: bool,
    method: str,
    tolerance: float = TOLERANCE,
    words: bool = True,
) -> Audit:
    """Turn a worst loss into a verdict: "holds" only if it is `exact`, so that none is larger."""
    names, holds = channel.lexicon.words, worst.ratio <= 1.0 + tolerance
    decided = exact or not holds
    if channel.guarantee.kind is Kind.NONE:
        decided, method = False, f"{method}; compared with ε·d, since nothing is promised"
    first, second = worst.pair
    return Audit(
        worst_ratio=worst.ratio,
        at_most=worst.ratio if exact else math.inf,
        pair=None if first == second else (names[first], names[second]),
        output=names[worst.output] if words else None,
        holds=holds if decided else None,
        loss=worst.loss,
        allowed=worst.bound,
        method=method,
        guarantee=channel.guarantee,
    )


def delta_finding(
    channel: Channel, worst: tuple[float, int, int] | None, method: str, unproved: str = ""
) -> Audit:
    """Turn a worst δ into a verdict: "holds" only if nothing is `unproved`."""
    if worst is None:
        return undecided(channel, "no pair of words is covered")
    delta, first, second = worst
    words, allowed = channel.lexicon.words, channel.guarantee.delta
    ratio = delta / allowed if allowed else math.inf if delta else 0.0
    result = Audit(
        worst_ratio=ratio,
        at_most=math.inf if unproved else ratio,
        pair=(words[first], words[second]),
        output=None,
        holds=delta <= allowed * (1.0 + TOLERANCE),
        loss=delta,
        allowed=allowed,
        method=method,
        guarantee=channel.guarantee,
    )
    if channel.guarantee.kind is Kind.NONE:
        return replace(result, holds=None, method=f"{method}; nothing is promised")
    if result.holds and unproved:
        return replace(result, holds=None, method=f"{method}; but {unproved}")
    return result


def undecided(channel: Channel, reason: str) -> Audit:
    """Return an audit without a verdict, and the reason as its method."""
    return Audit(
        worst_ratio=math.nan,
        at_most=math.inf,
        pair=None,
        output=None,
        holds=None,
        loss=math.nan,
        allowed=math.nan,
        method=reason,
        guarantee=channel.guarantee,
    )
