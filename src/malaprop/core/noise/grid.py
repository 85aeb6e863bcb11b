"""The grid that released vectors are rounded to, so that their last bits reveal nothing.

For a given x only some float64 numbers can occur as fl(x + z), and which ones depends on the last
bits of x: whoever sees them can test every word. So only multiples of a grid leave a channel.
"""

import math

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.core.errors import ParameterError

MOST_NUMERIC_DELTA = 1e-6
"""A release is refused if rounding could betray it with a higher probability."""


class Grid:
    """Multiples of a power of two, 2⁻¹⁰ of the standard deviation of a coordinate's noise."""

    def __init__(self, spread: float) -> None:
        if not 1e-290 < spread < 1e290:
            raise ParameterError(
                f"The noise has a standard deviation of {spread:.3g}, which float64 cannot handle: "
                "choose another epsilon."
            )
        self.step = 2.0 ** (math.frexp(spread)[1] - 11)

    def snap(self, values: Floats) -> Floats:
        """Return the nearest multiples of the step; the grid is anchored at 0 for any input."""
        return np.asarray(np.rint(values / self.step) * self.step)

    def numeric_delta(self, dimension: int, largest: float) -> float:
        """Return about how often the last bit of float64 decides where a vector is rounded to.

        It holds for vectors with entries up to `largest`; docs/proofs/laplace.md derives it. Raises
        an error if float64 cannot hide such vectors.
        """
        # A coordinate of the noise is hardly ever beyond 8 standard deviations, 2^14 grid steps.
        last_bit = math.ulp(largest + 2.0**14 * self.step)
        delta = 2.0 * dimension * last_bit / self.step
        if delta > MOST_NUMERIC_DELTA:
            # The limit is public; the vectors are not, so the message shows none of their entries.
            raise ParameterError(
                f"The noise is too small for float64 to hide vectors with entries above "
                f"{self.largest(dimension):.3g}: use a smaller epsilon, or scale the vectors down "
                "and epsilon up."
            )
        return float(delta)

    def largest(self, dimension: int) -> float:
        """Return about the largest entry of vectors that float64 can hide."""
        return MOST_NUMERIC_DELTA * self.step / (2.0 * dimension) * 2.0**52

    def limits(self, dimension: int) -> str:
        """Say what floating-point numbers add for any vectors, and which ones are refused."""
        self.numeric_delta(dimension, 0.0)
        return (
            f"float64, rounded to a grid of {self.step:.3g}; adds δ ≤ {MOST_NUMERIC_DELTA:.0e} a "
            f"vector: those with entries from about {self.largest(dimension):.3g} on are refused"
        )

    def check(self, vectors: Floats) -> float:
        """Refuse vectors that float64 cannot hide; return how often, about, last bits matter."""
        return self.numeric_delta(vectors.shape[1], float(np.abs(vectors).max(initial=0.0)))

    def numerics(self, vectors: Floats) -> str:
        """Say what floating-point numbers add for such vectors, which must be public."""
        delta = self.check(vectors)
        return f"float64, rounded to a grid of {self.step:.3g}; adds δ ≈ {delta:.0e} a word"
