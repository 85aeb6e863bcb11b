"""Which words of a lexicon a figure is computed for."""

from collections.abc import Iterable, Sequence

import numpy as np

from malaprop.core.arrays import Ids
from malaprop.core.errors import ParameterError
from malaprop.core.space import MetricSpace
from malaprop.pipeline.spreading import spread

MOST, SOME = 10_000, 1_000
"""By default all words of a lexicon with up to `MOST`, and `SOME` of a larger one."""


def word_ids(space: MetricSpace, words: Sequence[str] | int | None) -> Ids:
    """Return the ids of some words: the named ones, or a number of them, spread evenly.

    >>> from malaprop import Lexicon
    >>> line = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [3.0]])
    >>> word_ids(line, ["hot"]).tolist(), word_ids(line, 2).tolist(), word_ids(line, None).tolist()
    ([2], [0, 2], [0, 1, 2])
    """
    size = len(space)
    if words is None:
        return spread(size, size if size <= MOST else SOME)
    if isinstance(words, int) and not isinstance(words, bool):
        if words < 1:
            raise ParameterError(f"A sample must have 1 word or more. Got {words}.")
        return spread(size, int(words))
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise ParameterError("The 'words' parameter must be a list of words, or a number of them.")
    index = {word: i for i, word in enumerate(space.words)}
    if not (chosen := list(words)):
        raise ParameterError("A sample must have 1 word or more. Got none.")
    for place, word in enumerate(chosen, 1):
        if word not in index:  # by its place: the list may be a file of the user's text
            raise ParameterError(
                f"Entry {place:,} of the 'words' parameter is not in the lexicon: name words of "
                "it, or a number of them."
            )
    return np.array([index[word] for word in chosen], dtype=np.int64)
