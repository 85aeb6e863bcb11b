"""Texts as the ids of their words, read once for all repetitions."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.space import MetricSpace
from malaprop.text import ParsedTexts, Policy, TextParser


class CorpusReader:
    """Reads texts for one lexicon; words that it lacks count as what they map to."""

    def __init__(self, space: MetricSpace) -> None:
        self._parser = TextParser(space.words, Policy(kinds="words"))

    def __call__(self, texts: Sequence[str]) -> "Corpus":
        """Return texts whose words are looked up when they are needed."""
        return Corpus(texts, self._parser)


class Corpus:
    """Texts, and the ids of their words.

    >>> from malaprop import Lexicon
    >>> corpus = CorpusReader(Lexicon(["cold", "hot"], [[0.0], [1.0]]))(["Hot, cold!", "..."])
    >>> corpus.ids.tolist(), corpus.counts.tolist()
    ([1, 0], [2, 0])
    """

    def __init__(self, texts: Sequence[str], parser: TextParser) -> None:
        self.texts = list(texts)
        self._parser = parser

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def _parsed(self) -> ParsedTexts:
        return self._parser.parse(self.texts)

    @property
    def ids(self) -> Ids:
        """The ids of all words, text by text."""
        return self._parsed.ids

    @cached_property
    def counts(self) -> Ids:
        """How many words each text has."""
        return np.asarray(self._parsed.slot_counts, dtype=np.int64)

    def rebuilt(self, drawn: Ids) -> list[str]:
        """Return the texts with other words in the places of theirs."""
        return self._parsed.rebuild(drawn)

    def again(self, texts: Sequence[str]) -> "Corpus":
        """Read other texts as these were read."""
        return Corpus(texts, self._parser)

    def means(self, table: NDArray[np.floating[Any]], words: Ids | None = None) -> Floats:
        """Return the mean row of a table over each text's words; 0 for a text without words."""
        from scipy.sparse import csr_matrix

        ids = self.ids if words is None else words
        ends = np.concatenate([[0], np.cumsum(self.counts)])
        shares = np.repeat(1.0 / np.maximum(self.counts, 1), self.counts)
        return np.asarray(csr_matrix((shares, ids, ends), (len(self), len(table))) @ table)
