"""The truncated exponential mechanism."""

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from malaprop.core.channel import Floats, LawChannel, law_numerics
from malaprop.core.errors import ParameterError
from malaprop.core.guarantee import PUBLIC, Guarantee, Kind
from malaprop.core.mechanism import Mechanism
from malaprop.core.space import Ids, MetricSpace


@dataclass(frozen=True, kw_only=True)
class TEM(Mechanism, name="tem"):
    """Draws a word with probability falling exponentially in its distance, up to a threshold.

    Distribution: Pr[y | w] = exp(−(ε/2)·min(d(w, y), γ))/Z(w), Z(w) the sum over all words. The
    words beyond γ, which the paper bundles into one element ⊥, thus have a weight of
    exp(−εγ/2) each; where there are none, there is no ⊥.

    Guarantee: ε·min(d, γ) metric differential privacy for any metric d; so at most ε·γ between
    any two words whatever.

    Why: d_γ = min(d, γ) is a metric again, so each weight changes by at most exp((ε/2)·d_γ(w, w'))
    between w and w', and Z, a sum of such weights, by the same factor.

    Parameters: `epsilon`, ε, loss per unit of distance. `gamma`, γ, the threshold, a distance;
    `math.inf` for none; by default the one that words farther away are drawn with probability β
    at most: (2/ε)·ln((1 − β)(|W| − 1)/β). `beta`, β, that probability.

    >>> from malaprop import Lexicon, TEM
    >>> import numpy as np
    >>> line = Lexicon(["a", "b", "c"], [[0.0], [1.0], [3.0]])
    >>> np.exp(TEM(epsilon=2.0, gamma=2.0).on(line).log_probabilities([0])).round(8)
    array([[0.66524096, 0.24472847, 0.09003057]])

    Reference: Carvalho, Vasiloudis, Feyisetan, "TEM: high utility metric differential privacy on
    text", 2021.
    """

    gamma: float | None = field(
        default=None, metadata={"help": "γ, the distance beyond which all words count as equal"}
    )
    beta: float = field(
        default=0.001, metadata={"help": "β, chance of a word beyond γ, where γ is not given"}
    )

    promise: ClassVar[str] = "metric-dp: ε·min(d, γ), any metric"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require("beta", "a number between 0 and 1", lambda x: 0 < x < 1)
        if self.gamma is not None:
            self._require("gamma", "a number above 0, or None", lambda x: x > 0)

    def on(self, lexicon: MetricSpace) -> "TEMChannel":
        """The mechanism bound to a lexicon of any metric."""
        return TEMChannel(self, lexicon)

    def threshold(self, words: int) -> float:
        """γ as given, or Theorem 3's for a lexicon of that many words."""
        if self.gamma is not None:
            return self.gamma
        if words == 1:
            return math.inf  # nothing can lie beyond it
        odds = (1.0 - self.beta) * (words - 1) / self.beta
        if odds <= 1.0:
            raise ParameterError(
                f"The 'beta' parameter of TEM must be below (n − 1)/n = {(words - 1) / words:.6g} "
                f"for a lexicon of {words} words: γ would not be positive. Got {self.beta}."
            )
        return 2.0 / self.epsilon * math.log(odds)


class TEMChannel(LawChannel):
    """TEM's law on the words of a lexicon."""

    def __init__(self, mechanism: TEM, lexicon: MetricSpace) -> None:
        self._exponent = mechanism.epsilon / 2.0
        self._gamma = mechanism.threshold(len(lexicon))
        guarantee = Guarantee(
            kind=Kind.METRIC,
            epsilon=mechanism.epsilon,
            metric=str(lexicon.metric),
            cap=self._gamma,
            proof="docs/proofs/tem.md",
            numerics=law_numerics(lexicon, self._exponent * self._gamma),
            public=(*PUBLIC, *filter(None, [lexicon.metric.assumption])),
        )
        super().__init__(lexicon, guarantee)

    def log_weights(self, ids: Ids) -> Floats:
        """−(ε/2)·min(d(w, y), γ), over whole rows: how many words are near gives nothing away."""
        return -self._exponent * np.minimum(self._space.distances(ids), self._gamma)
