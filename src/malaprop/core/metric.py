"""Metrics: the distances that guarantees are stated in.

A metric must satisfy the triangle inequality: otherwise every guarantee stated in it is false.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from malaprop.core.arrays import Floats, Ids, Keys, Vectors

DistanceRows = Callable[[Ids], Floats]
"""From ids of words to a row each: the distances to all words."""


class KeyedDistances:
    """Distances that grow with keys, which are cheaper to compute and to compare."""

    def __init__(
        self,
        keys: Callable[[Ids], Keys],
        lengths: Callable[[Keys], Floats],
        pairs: Callable[[Ids, Ids], Keys] | None = None,
    ) -> None:
        """Take keys from ids to all words, or of `pairs` of words, and turn them into `lengths`."""
        self.keys, self.lengths, self.pairs = keys, lengths, pairs

    def __call__(self, ids: Ids) -> Floats:
        """Return the distances from `ids` to all words."""
        return self.lengths(self.keys(ids))


class Metric(ABC):
    """A distance d with d(x, x) = 0, d(x, y) = d(y, x) and d(x, z) ≤ d(x, y) + d(y, z)."""

    name: ClassVar[str]
    assumption: ClassVar[str] = ""
    """What a guarantee in this metric assumes."""

    @abstractmethod
    def on(self, vectors: Vectors) -> DistanceRows:
        """Return the function that maps ids to their distances to all `vectors`, in float64.

        Whatever depends on the vectors alone is computed here, once.
        """

    def relative_error(self, dimension: int) -> float:
        """Bound the relative rounding error of a distance."""
        # A squared distance below 1 % of ‖x‖² + ‖y‖² is computed again from differences. Above
        # that, each term has an error of at most (d + 4)·2⁻⁵³.
        return 100.0 * (dimension + 4) * 2.0**-53

    def token(self, vectors: Vectors) -> bytes:
        """Return bytes that identify the metric in a lexicon's fingerprint."""
        cls = type(self)
        if cls.__module__.startswith("malaprop.core."):
            return self.name.encode()
        # A user's subclass may have inherited the name.
        return f"{self.name}\0{cls.__module__}.{cls.__qualname__}".encode()

    def __str__(self) -> str:
        return self.name
