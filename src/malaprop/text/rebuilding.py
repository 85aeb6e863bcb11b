"""Writes drawn ids as words of a text, with capitals and fitting articles."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids
from malaprop.text.articles import ARTICLES, ENGLISH_WORDS, article_before
from malaprop.text.template import Punctuation, Template, fill, inside, opening

Strings = NDArray[np.object_]


class Rebuilder:
    """Rebuilds texts from drawn ids, for a public list of words.

    >>> rebuilder = Rebuilder(["i", "an", "the", "a", "dog"], "keep")
    >>> rebuilder.fill([None, " ", None, " ", None], [1, 4, 0], "wswsw")
    'A dog I'
    >>> rebuilder.written[[0, 4, 4 + len(rebuilder)]].tolist()
    ['I', 'dog', 'Dog']
    """

    def __init__(self, words: Sequence[str], punctuation: Punctuation) -> None:
        self._words, self.punctuation = words, punctuation
        self._articles = all(word in words for word in ENGLISH_WORDS)

    def __len__(self) -> int:
        return len(self._words)

    def fill(self, template: Template, drawn: Sequence[int], marks: str) -> str:
        """Return the text of a template whose slots get the words with the drawn ids."""
        words = [self._words[word_id] for word_id in drawn]
        return fill(
            template, words, punctuation=self.punctuation, articles=self._articles, marks=marks
        )

    @cached_property
    def written(self) -> Strings:
        """All words as written inside a sentence, then as at its start, then an empty string."""
        words = *map(inside, self._words), *map(opening, self._words), ""
        return np.array(words, dtype=object)

    def with_articles(self, drawn: Ids, far: NDArray[np.bool_]) -> Ids:
        """Return the ids with each article fitted to the next word, unless that is marked `far`."""
        if not self._articles:
            return drawn
        articles = np.logical_or.reduce(
            [drawn == article for article in self._article_ids.values()]
        )
        places = np.flatnonzero(articles[:-1] & ~far[1:])
        fitting = (article_before(self._words[word_id]) for word_id in drawn[places + 1].tolist())
        fitted = drawn.copy()
        fitted[places] = [self._article_ids[article] for article in fitting]
        return fitted

    @cached_property
    def _article_ids(self) -> dict[str, int]:
        return {article: self._words.index(article) for article in ARTICLES}
