"""What a metric is: a distance that every guarantee can be stated in.

It must satisfy the triangle inequality, or every guarantee that is stated in it is false.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from malaprop.core.arrays import Floats, Ids, Keys, Vectors

DistanceRows = Callable[[Ids], Floats]
"""From ids of words to a row each: the distances to all words."""


class KeyedDistances:
    """Rows of distances that grow with keys, which are cheaper to compute and to compare."""

    def __init__(
        self,
        keys: Callable[[Ids], Keys],
        lengths: Callable[[Keys], Floats],
        pairs: Callable[[Ids, Ids], Keys] | None = None,
    ) -> None:
        """From ids to `keys` of all words, or of some words, pair by pair, to their `lengths`."""
        self.keys, self.lengths, self.pairs = keys, lengths, pairs

    def __call__(self, ids: Ids) -> Floats:
        """The distances."""
        return self.lengths(self.keys(ids))


class Metric(ABC):
    """A distance d with d(x, x) = 0, d(x, y) = d(y, x) and d(x, z) ≤ d(x, y) + d(y, z)."""

    name: ClassVar[str]
    assumption: ClassVar[str] = ""
    """What a guarantee in this metric takes for granted."""

    @abstractmethod
    def on(self, vectors: Vectors) -> DistanceRows:
        """The function that maps ids to their distances to all `vectors`, in float64.

        What depends on the vectors alone is computed here, once.
        """

    def relative_error(self, dimension: int) -> float:
        """A bound on the relative rounding error of a distance."""
        # The square of a distance is computed anew from differences unless it is at least 1 % of
        # ‖x‖² + ‖y‖², each term of which has an error of at most (d + 4)·2⁻⁵³.
        return 100.0 * (dimension + 4) * 2.0**-53

    def token(self, vectors: Vectors) -> bytes:
        """What identifies the metric in a lexicon's fingerprint."""
        own = type(self)
        if own.__module__.startswith("malaprop.core."):
            return self.name.encode()
        # A subclass of somebody's, which may have inherited the name.
        return f"{self.name}\0{own.__module__}.{own.__qualname__}".encode()

    def __str__(self) -> str:
        return self.name
