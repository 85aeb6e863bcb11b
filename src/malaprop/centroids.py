"""Texts as the centroids of their words' vectors: what is released of them is noise on these."""

import numpy as np

from malaprop.lexicon.lexicon import Lexicon
from malaprop.privacy.arrays import Floats, Ids
from malaprop.text.parser import TextParser
from malaprop.text.policy import Policy

_WORDS = 4096  # whose vectors are added up at a time


class Centroids:
    """The mean vector of a text's words; words that the lexicon lacks count as what they map to.

    Numbers, dates and addresses count as words, too. A text without words has the centroid 0.

    >>> tiny = Lexicon(["cold", "hot"], [[0.0, 2.0], [4.0, 0.0]])
    >>> vectors, words = Centroids(tiny).of(["Cold, hot!", "..."])
    >>> vectors.tolist(), words.tolist()
    ([[2.0, 1.0], [0.0, 0.0]], [2, 0])
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._vectors = lexicon.vectors
        self._parser = TextParser(lexicon.words, Policy(kinds="words"))

    def of(self, texts: list[str]) -> tuple[Floats, Ids]:
        """Return the centroid of each text, and how many words it has."""
        templates, (ids, _) = self._parser.parse(texts)
        counts = np.asarray(templates.slot_counts, dtype=np.int64)
        places = np.repeat(np.arange(len(texts)), counts)
        sums = np.zeros((len(texts), self._vectors.shape[1]))
        for start in range(0, len(ids), _WORDS):
            some = slice(start, start + _WORDS)
            np.add.at(sums, places[some], self._vectors[ids[some]].astype(np.float64))
        return sums / np.maximum(counts, 1)[:, None], counts
