"""Array types that the whole package shares."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
"""Ids of words: their places in the lexicon."""
Floats = NDArray[np.float64]
"""Numbers to compute with: distances, probabilities, noisy vectors."""
Vectors = NDArray[np.float32]
"""Vectors of words, in rows, as a lexicon stores them."""
Keys = NDArray[Any]
"""Numbers that grow with distances and are cheaper: squares, or whole multiples of a unit."""
