"""The truncated exponential law, and its rows for drawing."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from malaprop.core.arrays import Floats, Ids, Keys
from malaprop.core.errors import ParameterError
from malaprop.core.peaked import PeakedLaw, require_exponent
from malaprop.core.proofs import proved
from malaprop.core.sampling import by_distance
from malaprop.core.sampling.draws import LawRows

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
        """Return −t·min(d(w, y), γ)."""
        return -self.exponent * np.minimum(distances, self.gamma)

    def rows(self, ids: Ids, draws: Ids | None = None) -> LawRows:
        """Return near words with their weights, and far words to be weighed when tried."""
        even = np.ones(len(self.space))
        return by_distance.law_rows(
            self._near_words(ids, draws), even, by_distance.pool_of(even), self._fall
        )

    def _fall(self, rows: Ids, keys: Keys) -> Floats:
        return np.exp(self.weights_at(self.space.lengths(keys)))

    def _near_words(self, ids: Ids, draws: Ids | None) -> by_distance.NearWords:
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
        return measured if many.all() else by_distance.merged(listed.of_rows(~many), measured, many)

    def _measured(self, ids: Ids) -> by_distance.NearWords:
        """Return near words, computed from the distances of all words."""
        return by_distance.nearest_by_key(self.space.keys(ids), self._fall, tries=_TRIES)

    @cached_property
    def _far_mass(self) -> float:
        """An estimate of the total weight of words that are not listed."""
        sample = np.unique(np.linspace(0, len(self.space) - 1, _SAMPLE).astype(np.int64))
        return float(np.exp(self.log_weights(sample)).sum(axis=1).mean()) - 1.0
