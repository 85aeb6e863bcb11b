"""How often words occur in public text: the counts of single words that ship for `english`."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.lexicon.bigrams.files import shipped_model
from malaprop.lexicon.lexicon import Lexicon

ENOUGH = 0.5
"""The share of a lexicon's words that must have a count; the others count as the rarest word."""


def public_counts(words: Sequence[str]) -> Floats | None:
    """Return how often each word occurs on the web; None if most words have no count.

    A word counts as it is spelled, or else in lower case.

    >>> often, seldom = public_counts(["the", "gazebo"])
    >>> bool(often > 1000 * seldom)
    True
    >>> public_counts(["zzyzx", "qwrtp"]) is None
    True
    """
    known = _english()
    counts = np.array([known.get(word, known.get(word.lower(), 0.0)) for word in words])
    if np.count_nonzero(counts) < ENOUGH * len(counts):
        return None
    return np.where(counts > 0.0, counts, min(known.values()))


@cache
def _english() -> dict[str, float]:
    """Return the count of each word of `english`."""
    lexicon = Lexicon.open("english")
    model = shipped_model(lexicon)
    if model is None:
        raise RuntimeError("the counts of english are those of another version of its words")
    return dict(zip(lexicon.words, model.unigrams.astype(np.float64).tolist(), strict=True))
