"""A finite metric space: all that a mechanism may know about a lexicon."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from malaprop.privacy.arrays import Floats, Ids, Keys, Vectors
from malaprop.privacy.errors import ParameterError

if TYPE_CHECKING:
    from malaprop.privacy.lazy_rows import NearWords


# Metrics: the distances that guarantees are stated in.
#
# A metric must satisfy the triangle inequality: otherwise every guarantee stated in it is false.


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
        if cls.__module__.startswith("malaprop.privacy."):
            return self.name.encode()
        # A user's subclass may have inherited the name.
        return f"{self.name}\0{cls.__module__}.{cls.__qualname__}".encode()

    def __str__(self) -> str:
        return self.name


class MetricSpace(Protocol):
    """Words, their vectors and a metric. `malaprop.Lexicon` is one."""

    @property
    def words(self) -> Sequence[str]:
        """The words; a word's place is its id."""

    @property
    def vectors(self) -> NDArray[np.float32]:
        """The words' vectors, read-only."""

    @property
    def metric(self) -> Metric:
        """The metric of the distances."""

    def __len__(self) -> int: ...

    def distances(self, ids: Any) -> Floats:
        """Return the distances from the words `ids` to all words."""

    def keys(self, ids: Any) -> Keys:
        """Return numbers that grow with those distances and are cheaper to compute."""

    def lengths(self, keys: Keys) -> Floats:
        """Return the distances that keys stand for."""

    def near_words(self, ids: Any) -> "NearWords | None":
        """Return the nearest words of `ids`; None if the lexicon has no lists of them."""


_PARTS = ("words", "vectors", "metric", "distances", "keys", "lengths", "near_words")


def checked_space(space: Any, asker: str) -> MetricSpace:
    """Return `space` if it is a lexicon; otherwise raise an error in the name of `asker`.

    >>> checked_space([[0.0], [1.0]], "Laplace.on")
    Traceback (most recent call last):
    malaprop.privacy.errors.ParameterError: Laplace.on takes a lexicon, ... Got list. ...
    """
    held = getattr(space, "__dict__", ())
    lexical = all(hasattr(type(space), part) or part in held for part in _PARTS)
    if isinstance(space, type) or not lexical:
        remedy = ""
        if isinstance(space, list | tuple) or hasattr(space, "__array__"):
            remedy = (
                " If these are vectors of words, make a lexicon of words and vectors: "
                "malaprop.Lexicon(words, vectors). To release vectors that are not words, use "
                "malaprop.Laplace(epsilon=…).release(vectors), or in scikit-learn PrivateEmbedding."
            )
        raise ParameterError(
            f"{asker} takes a lexicon, such as malaprop.Lexicon.open('english'). "
            f"Got {type(space).__name__}.{remedy}"
        )
    checked: MetricSpace = space
    return checked


def checked_ids(ids: Any, size: int) -> Ids:
    """Return `ids` as a one-dimensional integer array with all entries in 0 … size − 1."""
    array = np.asarray(ids)
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ParameterError(
            f"Word ids must be a one-dimensional array of integers. Got {array.ndim} dimensions "
            f"of type {array.dtype}; `lexicon.index` turns words into ids."
        )
    if int(array.min()) < 0 or int(array.max()) >= size:
        raise ParameterError(f"Word ids must lie between 0 and {size - 1}, the lexicon's last id.")
    return array.astype(np.int64)


_LEAST_ROWS = 16  # with fewer at a time, reading all vectors would take most of the time


def blocks(count: int, row_cells: int, budget: int = 1 << 21) -> list[slice]:
    """Cut 0 … count into slices whose rows of `row_cells` cells stay within `budget` cells.

    The default, 16 MB of float64, fits a processor's cache: larger blocks take twice the time.

    >>> blocks(50, row_cells=4, budget=80)
    [slice(0, 20, None), slice(20, 40, None), slice(40, 50, None)]
    """
    step = max(_LEAST_ROWS, budget // max(1, row_cells))
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]
