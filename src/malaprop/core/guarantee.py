"""What a mechanism promises, as a value that can be inspected, compared and printed."""

import math
from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from malaprop.core.errors import ParameterError


class Kind(StrEnum):
    """The notions of privacy that a mechanism can attain.

    `METRIC`: ln Pr[y|w] − ln Pr[y|w'] ≤ ε·d(w, w') for all words and outputs.
    `NEIGHBOURHOOD`: (ε, δ) between words of the same public neighbourhood.
    `BOUNDED`: (ε, δ) between words within a given distance.
    `NONE`: nothing is promised; the guarantee's `reason` says why.
    """

    METRIC = "metric-dp"
    NEIGHBOURHOOD = "neighbourhood-dp"
    BOUNDED = "bounded-dp"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """A privacy guarantee: what is promised, for which pairs, and what it rests on.

    >>> one = Guarantee(kind=Kind.METRIC, epsilon=2.0, metric="euclidean", cap=3.0)
    >>> one.loss(1.0), one.loss(10.0)
    (2.0, 6.0)
    >>> one.for_words(5).loss(10.0)
    20.0
    """

    kind: Kind
    """Which notion of privacy."""
    epsilon: float
    """The ε that was asked for: loss per unit of distance."""
    metric: str
    """The name of the metric that distances are measured in."""
    delta: float = 0.0
    """The probability with which the loss may be larger."""
    cap: float = math.inf
    """The distance beyond which the loss of one word grows no further (TEM's γ)."""
    words: int = 1
    """How many words the guarantee speaks of; distances then add up over the positions."""
    pairs: str = "any two words of the lexicon"
    """Which inputs cannot be told apart."""
    public: tuple[str, ...] = ("the lexicon", "the mechanism and its parameters")
    """What is assumed to be known to everybody."""
    proof: str = ""
    """Where the proof stands."""
    numerics: str = ""
    """What floating-point arithmetic adds, and where that is derived."""
    reason: str = ""
    """For `none`: why nothing is promised."""

    def loss(self, distance: float) -> float:
        """The largest log-ratio of probabilities, in nats, between inputs `distance` apart."""
        if self.kind is Kind.NONE:
            return math.inf
        if not distance >= 0:
            raise ParameterError(f"A distance must be 0 or more. Got {distance!r}.")
        return self.epsilon * min(distance, self.cap * self.words)

    def for_words(self, n: int) -> "Guarantee":
        """The guarantee for texts of `n` words each, where distances add up over positions.

        Each word has its own independent draw, so the log-ratios add: ε·Σ min(dᵢ, γ).
        """
        if n < 1:
            raise ParameterError(f"A text must have 1 word or more. Got n = {n!r}.")
        return replace(self, words=n)

    def to_dict(self) -> dict[str, object]:
        """The guarantee as plain values that JSON can hold (no infinity: `null` for no cap)."""
        plain = asdict(self)
        plain["kind"] = str(self.kind)
        plain["public"] = list(self.public)
        plain["cap"] = None if math.isinf(self.cap) else self.cap
        plain["statement"] = str(self)
        return plain

    def __str__(self) -> str:
        if self.kind is Kind.NONE:
            return f"No guarantee: {self.reason}."
        worst = self.epsilon * self.cap * self.words
        capped = "" if math.isinf(worst) else f", and never by more than e^{worst:.4g}"
        slip = f", except with probability {self.delta:.3g}" if self.delta else ""
        return (
            f"ε = {self.epsilon:.6g} ({self.kind}): between {self.pairs}, the odds of any output "
            f"differ by at most e^({self.epsilon:.6g}·d), d being the {self.metric} distance "
            f"between their words{'' if self.words == 1 else ', added up'}{capped}{slip}."
        )
