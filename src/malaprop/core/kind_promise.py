"""What is promised for one kind of tokens: words, numbers, dates, identifiers and so on."""

import math
from dataclasses import asdict, dataclass

from malaprop.core.errors import ParameterError
from malaprop.core.proofs import proved

WORD = "word"
"""The kind of everything that has no kind of its own."""


@proved("docs/proofs/kinds.md")
@dataclass(frozen=True, kw_only=True)
class KindPromise:
    """The loss between two values of one kind: ε·min(d, cap), d being counted in its own steps.

    An `epsilon` of 0 means that values are drawn anew: between two values of the same shape, the
    output tells nothing. Between values of different kinds nothing is promised.

    >>> KindPromise(name="date", epsilon=1.5, step="1 week").loss(2.0)
    3.0
    """

    name: str
    """The kind, in the singular: "word", "number", "date"."""
    epsilon: float
    """ε per step, or 0 if values are drawn anew."""
    step: str = ""
    """What a step is, in words: "a tenth", "1 year", "1 week"."""
    cap: float = math.inf
    """The distance beyond which the loss grows no further. There is none on a path."""
    zcdp: float = math.inf
    """ρ per squared step, if known."""
    plural: str = ""
    """The plural of the name, if it is not the name and an s."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.epsilon < math.inf:
            raise ParameterError(
                f"The 'epsilon' of a kind must be finite and 0 or more. Got {self.epsilon!r}."
            )
        for name in ("cap", "zcdp"):
            if not getattr(self, name) >= 0.0:
                raise ParameterError(
                    f"The '{name}' of a kind must be 0 or more. Got {getattr(self, name)!r}."
                )
        if self.epsilon and not self.step:
            raise ParameterError("A kind with an 'epsilon' above 0 needs a 'step', in words.")

    @property
    def drawn_anew(self) -> bool:
        """Whether values are drawn without looking at anything but their shape."""
        return self.epsilon == 0.0

    def loss(self, distance: float) -> float:
        """Return the largest log-ratio, in nats, between values `distance` steps apart.

        An infinite distance stands for two values of different kinds or shapes: no promise.
        """
        if not distance >= 0.0:
            raise ParameterError(f"A distance must be 0 or more. Got {distance!r}.")
        return math.inf if math.isinf(distance) else self.epsilon * min(distance, self.cap)

    def rho(self, distance: float) -> float:
        """Return the ρ of zCDP between values `distance` steps apart."""
        if math.isinf(distance):
            return math.inf
        # A pure loss of l implies l²/2-zCDP (Bun and Steinke 2016), so a ρ is always known.
        return min(self.zcdp, self.epsilon**2 / 2.0) * min(distance, self.cap) ** 2

    @property
    def values(self) -> str:
        """The plural: numbers, dates."""
        return self.plural or f"{self.name}s"

    def to_dict(self) -> dict[str, object]:
        """Return the promise as values that JSON can hold."""
        plain = asdict(self)
        for name in ("cap", "zcdp"):
            plain[name] = None if math.isinf(plain[name]) else plain[name]
        return plain
