"""What all graphs are measured on: the words, a yardstick of similarity, and a sample of words.

The yardstick is the cosine of GloVe's vectors without their mean and first three principal
components. "True" neighbours are the nearest by it, whatever a graph was made from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop import Lexicon
from malaprop.lexicon.graph import near_words

NEAR = 11
"""Near neighbours, as in "returns one of the 11 nearest"."""
SAMPLE = 1_500
_SEED = 20_240_613


@dataclass(frozen=True)
class Ground:
    """A vocabulary, the most frequent words first, and what is known of it."""

    lexicon: Lexicon
    units: NDArray[np.float32]
    """The yardstick's directions: their products are similarities."""
    near: NDArray[np.int64]
    """The 11 true nearest of each word."""
    sample: NDArray[np.int64]
    """Words that averages are taken over, drawn evenly."""
    common: NDArray[np.int64]
    """Words drawn by frequency, Zipf's law being assumed: 1/rank. A word may occur twice."""
    pairs: NDArray[np.int64]
    """As many random partners of the sample."""

    def __len__(self) -> int:
        return len(self.lexicon)

    @property
    def zipf(self) -> NDArray[np.float64]:
        """The prior ∝ 1/rank; english is in the order of frequency."""
        prior = 1.0 / np.arange(1, len(self) + 1)
        return prior / prior.sum()


def ground(words: int | None = None) -> Ground:
    """The most frequent words of english, or all."""
    english = Lexicon.open("english")
    lexicon = english if words is None else Lexicon(english.words[:words], english.vectors[:words])
    near, points = near_words(lexicon, NEAR, 3)
    random = np.random.default_rng(_SEED)
    sample = np.sort(random.choice(len(lexicon), SAMPLE, replace=False))
    prior = 1.0 / np.arange(1, len(lexicon) + 1)
    common = np.sort(random.choice(len(lexicon), SAMPLE, p=prior / prior.sum()))
    pairs = random.integers(0, len(lexicon), SAMPLE)
    found: Any = points
    return Ground(lexicon, found._units, near, sample, common, pairs)
