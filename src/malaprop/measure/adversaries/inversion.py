"""The nearest word to a released vector."""

from dataclasses import dataclass, field

from malaprop.core.arrays import Floats
from malaprop.core.progress import Progress, report
from malaprop.measure.attacking.vectors import Guesses, Places, VectorAttack


@dataclass(frozen=True, kw_only=True)
class Inversion(VectorAttack, name="inversion"):
    """Take the nearest word of the lexicon for the word behind each released vector.

    It is for mechanisms that add noise to vectors; others release nothing but words. With equally
    likely words and noise that is the same in all directions, no attack on single vectors is right
    more often.
    """

    words: int = field(
        default=2_000, metadata={"help": "how many words to attack at most, at random"}
    )

    @property
    def most(self) -> int:
        """How many words are attacked at most."""
        return self.words

    def guess(self, released: Floats, places: Places, progress: Progress | None = None) -> Guesses:
        """Return the nearest word to each vector."""
        nearest = places.nearest(released)
        report(progress, 1, 1)
        return Guesses(guesses=nearest)
