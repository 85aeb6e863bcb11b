"""Writes drawn ids as the words of a text: capitals, “a” or “an”, and what stands between."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids
from malaprop.text.articles import ARTICLES, SIGNS, article_before
from malaprop.text.surface import Punctuation, Skeleton, fill, inside, opening

Strings = NDArray[np.object_]


class Writer:
    """The words of a lexicon as they are written.

    >>> writer = Writer(["i", "an", "the", "a", "dog"], "keep")
    >>> writer.fill([None, " ", None, " ", None], [1, 4, 0], "wswsw")
    'A dog I'
    >>> writer.written[[0, 4, 4 + len(writer)]].tolist()
    ['I', 'dog', 'Dog']
    """

    def __init__(self, words: Sequence[str], punctuation: Punctuation) -> None:
        self._words, self.punctuation = words, punctuation
        self._articles = all(sign in words for sign in SIGNS)

    def __len__(self) -> int:
        return len(self._words)

    def fill(self, skeleton: Skeleton, drawn: Sequence[int], marks: str) -> str:
        """The text of a skeleton and the ids for its slots."""
        words = [self._words[word] for word in drawn]
        return fill(
            skeleton, words, punctuation=self.punctuation, articles=self._articles, marks=marks
        )

    @cached_property
    def written(self) -> Strings:
        """All words as they are inside a sentence, then all as they are at its start, then none."""
        words = *map(inside, self._words), *map(opening, self._words), ""
        return np.array(words, dtype=object)

    def with_articles(self, drawn: Ids, far: NDArray[np.bool_]) -> Ids:
        """The ids, each article fitting the next word, but where that is `far` from it."""
        if not self._articles:
            return drawn
        articles = np.logical_or.reduce([drawn == word for word in self._article_ids.values()])
        places = np.flatnonzero(articles[:-1] & ~far[1:])
        fitting = (article_before(self._words[word]) for word in drawn[places + 1].tolist())
        fitted = drawn.copy()
        fitted[places] = [self._article_ids[article] for article in fitting]
        return fitted

    @cached_property
    def _article_ids(self) -> dict[str, int]:
        return {article: self._words.index(article) for article in ARTICLES}
