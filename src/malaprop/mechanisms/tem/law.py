"""The truncated exponential law, and how its rows are drawn from."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from malaprop.core.arrays import Floats, Ids, Keys
from malaprop.core.errors import ParameterError
from malaprop.core.peaked import PeakedLaw, require_exponent
from malaprop.core.proofs import proved
from malaprop.core.sampling import by_distance
from malaprop.core.sampling.draws import LawRows

_SAMPLE = 16  # words that tell how far the others are
_ROW = 1500.0  # tries of far words that take as long as the distances to all words
_TRIES = 2.0  # of far words for each draw, about, where all distances are at hand


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

    def __post_init__(self) -> None:
        require_exponent(self.exponent)
        if not self.gamma >= 0.0:
            raise ParameterError(f"The threshold γ must be 0 or more. Got {self.gamma}.")

    @property
    def identity(self) -> tuple[object, ...]:
        """Return t and γ, which an audit of the lexicon may have found."""
        return self.exponent, self.gamma

    def weights_at(self, distances: Floats) -> Floats:
        """Return −t·min(d(w, y), γ)."""
        return -self.exponent * np.minimum(distances, self.gamma)

    def rows(self, ids: Ids, draws: Ids | None = None) -> LawRows:
        """Return near words with their weights, and far ones to be weighed when tried."""
        even = np.ones(len(self.space))
        return by_distance.law_rows(
            self._near_words(ids, draws), even, by_distance.pool_of(even), self._fall
        )

    def _fall(self, rows: Ids, keys: Keys) -> Floats:
        return np.exp(self.weights_at(self.space.lengths(keys)))

    def _near_words(self, ids: Ids, draws: Ids | None) -> by_distance.NearWords:
        """The near words: listed ones, but for words whose far ones would be tried too often."""
        found, each = self.space.near_words(ids), np.arange(len(ids))
        if found is None:
            return self._measured(ids)
        rows = np.repeat(each, found.sizes)
        listed = np.bincount(rows, self._fall(rows, found.keys), len(ids))
        tries = len(self.space) * self._fall(each, found.beyond) / (listed + self._far_mass)
        many = tries * (1 if draws is None else draws) > _ROW
        if not many.any():
            return found
        measured = self._measured(ids[many])
        return measured if many.all() else by_distance.merged(found.of_rows(~many), measured, many)

    def _measured(self, ids: Ids) -> by_distance.NearWords:
        """The near words by the distances of all words."""
        return by_distance.nearest_by_key(self.space.keys(ids), self._fall, tries=_TRIES)

    @cached_property
    def _far_mass(self) -> float:
        """What the words that are not listed weigh together, about."""
        some = np.unique(np.linspace(0, len(self.space) - 1, _SAMPLE).astype(np.int64))
        return float(np.exp(self.log_weights(some)).sum(axis=1).mean()) - 1.0
