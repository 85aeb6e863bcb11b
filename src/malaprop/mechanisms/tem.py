"""The truncated exponential mechanism, with its verified exponents and their tables."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from malaprop.mechanisms.tem_exponents import audited_exponent, how_to_audit
from malaprop.privacy import lazy_rows
from malaprop.privacy.arrays import Floats, Ids, Keys
from malaprop.privacy.channel import LawChannel
from malaprop.privacy.errors import COMPUTABLE, LexiconError, ParameterError, is_computable
from malaprop.privacy.guarantee import PUBLIC, proved
from malaprop.privacy.law import PeakedLaw, law_numerics, require_exponent
from malaprop.privacy.mechanism import Mechanism, option
from malaprop.privacy.metrics import MetricSpace
from malaprop.privacy.sampling import LawRows

_SAMPLE = 16  # words from which the weight of far words is estimated
_ROW = 1500.0  # tries of far words that take as long as computing a row of distances
_TRIES = 2.0  # tries of far words per draw, about, if the row of distances is computed


@proved("docs/proofs/tem.md")
@dataclass(frozen=True, eq=False)
class TruncatedExponential(PeakedLaw):
    """Pr[y | w] ∝ exp(−t·min(d(w, y), γ))."""

    exponent: float
    """t."""
    gamma: float
    """γ."""
    audited: bool = False
    """Whether t was verified for all pairs of the lexicon, not halved."""

    symmetric: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_exponent(self.exponent)
        if not self.gamma >= 0.0:
            raise ParameterError(f"The threshold γ must be 0 or more. Got {self.gamma}.")

    @property
    def identity(self) -> tuple[object, ...]:
        """Return t and γ, which may come from a table of verified exponents."""
        return self.exponent, self.gamma

    def weights_at(self, distances: Floats) -> Floats:
        return -self.exponent * np.minimum(distances, self.gamma)

    def rows(self, ids: Ids, draws: Ids | None = None) -> LawRows:
        even = np.ones(len(self.space))
        return lazy_rows.law_rows(
            self._near_words(ids, draws), even, lazy_rows.pool_of(even), self._fall
        )

    def _fall(self, rows: Ids, keys: Keys) -> Floats:
        return np.exp(self.weights_at(self.space.lengths(keys)))

    def _near_words(self, ids: Ids, draws: Ids | None) -> lazy_rows.NearWords:
        """Return listed near words, or computed ones if far words would be tried too often."""
        listed, places = self.space.near_words(ids), np.arange(len(ids))
        if listed is None:
            return self._measured(ids)
        rows = np.repeat(places, listed.sizes)
        listed_mass = np.bincount(rows, self._fall(rows, listed.keys), len(ids))
        tries = len(self.space) * self._fall(places, listed.beyond) / (listed_mass + self._far_mass)
        many = tries * (1 if draws is None else draws) > _ROW
        if not many.any():
            return listed
        measured = self._measured(ids[many])
        return measured if many.all() else lazy_rows.merged(listed.of_rows(~many), measured, many)

    def _measured(self, ids: Ids) -> lazy_rows.NearWords:
        return lazy_rows.nearest_by_key(self.space.keys(ids), self._fall, tries=_TRIES)

    @cached_property
    def _far_mass(self) -> float:
        """An estimate of the total weight of words that are not listed."""
        sample = np.unique(np.linspace(0, len(self.space) - 1, _SAMPLE).astype(np.int64))
        return float(np.exp(self.log_weights(sample)).sum(axis=1).mean()) - 1.0


@dataclass(frozen=True, kw_only=True)
class TEM(Mechanism, name="tem"):
    """Draws a word with probability falling exponentially in its distance, up to a threshold.

    Distribution: Pr[y | w] = exp(−t·min(d(w, y), γ))/Z(w), Z(w) the sum over all words. The words
    beyond γ, which the paper bundles into one element ⊥, thus have a weight of exp(−tγ) each.

    Guarantee: ε·min(d, γ) metric differential privacy for any metric d; so at most ε·γ between
    any two words whatever.

    Why: d_γ = min(d, γ) is a metric, so each weight, and with them Z, changes by at most a factor
    of exp(t·d_γ(w, w')): t = ε/2 always suffices. The loss is t·d_γ(w, w') + ln Z(w') − ln Z(w)
    exactly, so a larger t, up to ε, suffices if that is at most ε·d_γ for all pairs.

    Parameters: `epsilon`, ε, loss per unit of distance. `exponent`, t: `"half"`, ε/2, as the paper
    has it; `"audited"`, the largest found that was verified for all pairs of the lexicon; by
    default audited if that is at hand, or takes a second, otherwise half. `gamma`, γ, the
    threshold, a distance; `math.inf` for none. By default there is none with an audited exponent;
    otherwise γ is such that words farther away are drawn with probability β at most:
    (2/ε)·ln((1 − β)(|W| − 1)/β). `beta`, β, that probability.

    >>> from malaprop import Lexicon, TEM
    >>> import numpy as np
    >>> line = Lexicon(["a", "b", "c"], [[0.0], [1.0], [3.0]])
    >>> half = TEM(epsilon=2.0, gamma=2.0, exponent="half").on(line)
    >>> np.exp(half.log_probabilities([0])).round(8)
    array([[0.66524096, 0.24472847, 0.09003057]])
    >>> round(TEM(epsilon=2.0, gamma=2.0).on(line).law.exponent, 8)
    1.94432416

    Reference: Carvalho, Vasiloudis, Feyisetan, "TEM: high utility metric differential privacy on
    text", 2021.
    """

    gamma: float | None = option(None, "γ, the distance beyond which all words count as equal")
    beta: float = option(0.001, "β, chance of a word beyond γ, where γ is not given")
    exponent: str | None = option(None, "t: half (ε/2), audited, or audited where it is at hand")

    promise = "metric-dp: ε·min(d, γ), any metric"
    choose_for = "text with a guarantee in the distance of vectors, from a lexicon of your own"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require("beta", "a number between 0 and 1", lambda x: 0 < x < 1)
        if self.gamma is not None:
            self._require("gamma", "a number above 0, or None", lambda x: x > 0)
            self._require("gamma", COMPUTABLE, lambda x: x == math.inf or is_computable(x))
        if self.exponent not in (None, "half", "audited"):
            raise ParameterError(
                "The 'exponent' parameter of TEM must be 'half', 'audited' or None. "
                f"Got {self.exponent!r}."
            )

    def on(self, lexicon: MetricSpace) -> LawChannel[TruncatedExponential]:
        if self.exponent != "half":
            audited = audited_exponent(lexicon, self.epsilon, self.gamma)
            if audited is not None and math.isnan(audited[1]):
                raise LexiconError("The lexicon's distances are not numbers: its file is damaged.")
            if audited is not None:
                return self._channel(TruncatedExponential(lexicon, *audited, audited=True))
            if self.exponent == "audited":
                at = "" if self.gamma is None else f" with gamma = {self.gamma:g}"
                raise LexiconError(
                    f"The 'exponent' parameter of TEM is 'audited', and this lexicon was not{at}: "
                    f"{how_to_audit(lexicon, self.gamma)}, or use exponent='half'."
                )
        gamma = self.threshold(len(lexicon))
        return self._channel(TruncatedExponential(lexicon, self.epsilon / 2.0, gamma))

    def _channel(self, law: TruncatedExponential) -> LawChannel[TruncatedExponential]:
        lexicon = law.space
        name = str(getattr(lexicon, "fingerprint", ""))[:12]
        verified = (
            f"the exponent {law.exponent:.6g}, verified for all pairs of this lexicon ({name})"
        )
        taken = [lexicon.metric.assumption, verified if law.audited else ""]
        guarantee = self._promise(
            law,
            str(lexicon.metric),
            cap=law.gamma,
            zcdp=law.exponent**2 / 2.0,
            numerics=law_numerics(lexicon, law.exponent * law.gamma),
            public=(*PUBLIC, *filter(None, taken)),
        )
        hint = ""
        if not law.audited and self.exponent is None:
            remedy = how_to_audit(lexicon, self.gamma)
            hint = f"the exponent is ε/2; for up to twice that, {remedy}"
        chosen = {"exponent": "audited" if law.audited else "half"}
        return LawChannel(law, guarantee, hint=hint, chosen=chosen)

    def threshold(self, words: int) -> float:
        """Return γ as given, or by Theorem 3 for a lexicon of `words` words."""
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
