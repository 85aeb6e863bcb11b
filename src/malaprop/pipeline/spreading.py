"""Which words of a lexicon a figure is computed from: some, evenly spread."""

import numpy as np

from malaprop.core.arrays import Ids

_WORDS = 128  # sampled words: the standard error of a share is then 4 % at most
_CELLS = 1 << 25  # at most so many distances for a figure: fewer words of a large lexicon


def sample(size: int) -> Ids:
    """Return the words that figures are computed from: up to 128, fewer of a large lexicon."""
    return spread(size, max(32, min(_WORDS, _CELLS // size)))


def spread(size: int, count: int) -> Ids:
    """Return up to `count` ids, evenly spread over 0 … size − 1, frequent words and rare ones.

    >>> spread(10, 4).tolist()
    [0, 3, 6, 9]
    """
    return np.unique(np.linspace(0, size - 1, min(size, count)).round().astype(np.int64))
