"""The last bits of released vectors."""

from dataclasses import dataclass, field

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.errors import ParameterError
from malaprop.core.progress import Progress, report
from malaprop.measure.attacking.vectors import Guesses, Places, VectorAttack

_COLUMNS = 16  # compared at a time: most words drop out at the first ones
_COARSE = 16.0  # a grid of so many last bits can be reached from any word


@dataclass(frozen=True, kw_only=True)
class FloatBits(VectorAttack, name="float"):
    """Rule out words that cannot have led to the last bits of a released vector.

    A word x can lead to y only if some floating-point number z has fl(x + z) = y. For noise that is
    added and released as it is, this leaves one word of tens of thousands, whatever ε. For vectors
    that are rounded to a grid it rules out none. The guess is the nearest word that is left, and
    the baseline is the nearest word of all: the attack `inversion`. After Mironov 2012.
    """

    words: int = field(
        default=200, metadata={"help": "how many words to attack at most, at random"}
    )

    @property
    def most(self) -> int:
        """How many words are attacked at most."""
        return self.words

    def guess(self, released: Floats, places: Places, progress: Progress | None = None) -> Guesses:
        """Return the nearest word that fits the bits of each vector, or the nearest of all."""
        if places.hyperbolic:
            raise ParameterError(
                "The attack float is on noise that is added to vectors: the mechanism moves points "
                "of a Poincaré ball in another way."
            )
        beside = places.nearest(released)
        step, guesses, left = _grid(released), beside.copy(), 0
        farthest = np.abs(released).max() + np.abs(places.vectors).max()
        if step >= _COARSE * np.spacing(farthest):  # any word can lead to any vector
            return Guesses(guesses=guesses, beside=beside, surviving=float(len(places.vectors)))
        for row, vector in enumerate(released):
            fits = _fitting(vector, places.vectors, step)
            left += len(fits)
            if 0 < len(fits) < len(places.vectors):
                away = np.linalg.norm(places.vectors[fits] - vector, axis=1)
                guesses[row] = fits[away.argmin()]
            report(progress, row + 1, len(released))
        return Guesses(guesses=guesses, beside=beside, surviving=left / len(released))


def _grid(released: Floats) -> float:
    """Return the largest power of two that divides all numbers; 0 if all are 0."""
    mantissas, exponents = np.frexp(released[released != 0.0])
    if not mantissas.size:
        return 0.0
    whole = (np.abs(mantissas) * 2.0**53).astype(np.int64)
    lowest = np.log2((whole & -whole).astype(np.float64)).astype(np.int64)
    return float(2.0 ** float((exponents - 53 + lowest).min()))


def _fitting(vector: Floats, places: Floats, step: float) -> Ids:
    """Return the words from which a vector can be reached, some coordinates at a time."""
    left = np.arange(len(places))
    for start in range(0, len(vector), _COLUMNS):
        part = slice(start, start + _COLUMNS)
        fits = _reachable(places[left, part], vector[part], step).all(axis=1)
        left = left[fits]
        if not len(left):
            break
    return left


def _reachable(x: Floats, y: Floats, step: float) -> np.ndarray:
    """Whether some float64 z has fl(x + z) = y.

    If any has, one of the three that are next to y − x does. On a grid that is much coarser than
    the last bit of z, rounding to it reaches every y from every x.
    """
    z = y - x
    fits = (x + z == y) | (step >= _COARSE * np.spacing(np.maximum(np.abs(z), np.abs(x))))
    for side in (-np.inf, np.inf):
        fits |= x + np.nextafter(z, side) == y
    return np.asarray(fits)
