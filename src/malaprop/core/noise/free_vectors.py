"""A mechanism bound to vectors that need not be words: of sentences, documents, images.

The guarantee is between any two vectors of the space. So nothing may be learnt from the vectors
themselves: what a mechanism needs to know about their cloud comes from public ones.
"""

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator

from malaprop.core import html
from malaprop.core.arrays import Floats
from malaprop.core.errors import ParameterError
from malaprop.core.guarantee import Guarantee
from malaprop.core.noise.noise import Noise
from malaprop.core.randomness import for_a_call, secure_rng

ANY_TWO_VECTORS = "any two vectors, whatever they stand for"
PUBLIC_OF_VECTORS = (
    "the mechanism and its parameters",
    "how many vectors there are, and in which order",
    "that no entry is too large for the grid",
)
"""What a guarantee for vectors without a lexicon assumes to be public."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FreeVectors:
    """A mechanism bound to vectors of so many columns, without a lexicon.

    >>> from malaprop import Laplace, seeded_rng
    >>> free = Laplace(epsilon=200.0).for_vectors(3)
    >>> free.release([[0.0, 1.0, 2.0]], seeded_rng(1)).shape
    (1, 3)
    >>> free.guarantee.loss(0.5)
    100.0
    """

    columns: int
    """How many columns the vectors have."""
    noise: Noise
    """The noise that is added to them."""
    guarantee: Guarantee
    """What is promised for one vector."""

    @property
    def onto(self) -> int:
        """How many columns released vectors have."""
        return int(self.noise.places(np.zeros((1, self.columns))).shape[1])

    @property
    def noise_length(self) -> float | None:
        """The root mean square length of the noise; None where the noise has no such length."""
        return self.noise.length(self.columns)

    def places(self, public: Any) -> Floats:
        """Return where the noise of public vectors is centred: themselves, or projected."""
        return self.noise.places(checked_vectors(public, self.columns))

    def release(self, vectors: Any, rng: Generator | None = None) -> Floats:
        """Return a private vector for each row of `vectors`, each with noise of its own.

        The noise is cryptographic unless a generator is given.
        """
        array = checked_vectors(vectors, self.columns)
        return self.noise.release(array, for_a_call(secure_rng() if rng is None else rng))

    def _repr_html_(self) -> str:
        """Return the binding for a notebook: what it is, and what it promises for a vector."""
        rows = [
            ("guarantee", str(self.guarantee)),
            ("taken to be public", "; ".join(self.guarantee.public)),
            ("arithmetic", self.guarantee.numerics),
        ]
        title = f"{type(self.noise).__name__} on vectors of {self.columns} columns"
        return html.paragraph(title, bold=True) + html.facts(rows)


@runtime_checkable
class TakesVectors(Protocol):
    """A mechanism that can be bound to vectors without a lexicon."""

    epsilon: float

    def for_vectors(self, columns: int, public: Any = None) -> FreeVectors:
        """Bind the mechanism to vectors of so many columns."""


def bound_to_vectors(
    columns: int, noise: Noise, guarantee: Guarantee, *, public: tuple[str, ...] = ()
) -> FreeVectors:
    """Return noise as a binding to any vectors; `public` is what else is taken to be public."""
    return FreeVectors(
        columns=columns,
        noise=noise,
        guarantee=replace(
            guarantee,
            pairs=ANY_TWO_VECTORS,
            public=(*PUBLIC_OF_VECTORS, *public),
            numerics=noise.limits(columns),
        ),
    )


def checked_columns(columns: Any) -> int:
    """Return a number of columns; refuse anything but a whole number of 1 or more."""
    if isinstance(columns, bool) or not isinstance(columns, Integral) or columns < 1:
        raise ParameterError("The number of columns must be a whole number, 1 or more.")
    return int(columns)


def checked_vectors(vectors: Any, columns: int | None = None) -> Floats:
    """Return vectors as a matrix of finite float64; errors show none of their entries."""
    try:
        given = np.asarray(vectors)
        array = np.asarray(given, dtype=np.float64) if given.dtype.kind in "fiu" else None
    except (TypeError, ValueError):
        array = None
    if array is None or array.ndim != 2 or array.shape[1] < 1:
        raise ParameterError("Vectors must be a matrix of real numbers, a row for each vector.")
    if columns is not None and array.shape[1] != columns:
        raise ParameterError(
            f"Vectors must be a matrix with {columns} columns. Got {array.shape[1]} columns."
        )
    if not np.isfinite(array).all():
        raise ParameterError("Vectors must be finite. Got NaN or infinity.")
    return array


def checked_public(public: Any, columns: int) -> Floats | None:
    """Return public vectors of so many columns, at least two; None if there are none."""
    if public is None:
        return None
    array = checked_vectors(public)
    if array.shape[1] != columns or len(array) < 2:
        raise ParameterError(
            f"The 'public' vectors must be 2 rows or more with {columns} columns, as the vectors "
            f"to release have. Got {array.shape[0]} rows and {array.shape[1]} columns."
        )
    return array
