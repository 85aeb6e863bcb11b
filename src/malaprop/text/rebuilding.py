"""Writes drawn ids as words of a text, with capitals and fitting articles, and values."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids, distinct
from malaprop.text.articles import ARTICLES, ENGLISH_WORDS, article_before
from malaprop.text.composing import Style, compose, has_pieces
from malaprop.text.spellings import Spellings
from malaprop.text.template import (
    SLOT_MARKS,
    VALUE_MARK,
    Punctuation,
    Template,
    fill,
    inside,
    opening,
)

_NOT_YET = -1  # in place of what is not yet known of a word


class Rebuilder:
    """Rebuilds texts from drawn ids, for a public list of words.

    `escape` writes private text for the markup that it stands in.

    >>> rebuilder = Rebuilder(["i", "an", "the", "a", "dog"], "keep")
    >>> rebuilder.fill([None, " ", None, " ", None], [1, 4, 0], "wswsw")
    'A dog I'
    >>> written = rebuilder.written(np.array([0, 4, 4 + len(rebuilder)]))
    >>> written.texts(np.ones(3, dtype=int), np.arange(1, 4))
    ['I', 'dog', 'Dog']
    """

    def __init__(
        self,
        words: Sequence[str],
        punctuation: Punctuation,
        escape: Callable[[str], str] | None = None,
    ) -> None:
        self._words, self.punctuation = words, punctuation
        self._articles = all(word in words for word in ENGLISH_WORDS)
        self._escape = escape
        self._style = Style(punctuation, self._articles, escape or str)
        none = np.zeros(self.first_value, dtype=np.int64)
        self._spelt = Spellings(none[:0].astype(np.uint8), none, none + _NOT_YET)

    def __len__(self) -> int:
        return len(self._words)

    def fill(
        self,
        template: Template,
        drawn: Sequence[int],
        marks: str,
        values: Iterator[str] | None = None,
    ) -> str:
        """Return the text of a template whose slots get the words with the drawn ids.

        Slots for values get the next of the written `values`, whatever their ids are.
        """
        if values is not None and VALUE_MARK in marks:
            slots = filter(SLOT_MARKS.__contains__, marks)
            words = [
                next(values) if slot == VALUE_MARK else self._words[word_id]
                for slot, word_id in zip(slots, drawn, strict=True)
            ]
        else:
            words = [self._words[word_id] for word_id in drawn]
        if self._escape is not None or has_pieces(marks):
            return compose(template, words, marks, self._style)
        return fill(
            template, words, punctuation=self.punctuation, articles=self._articles, marks=marks
        )

    def written(self, places: Ids, values: Sequence[str] = ()) -> Spellings:
        """Return what is at some places of a list.

        The list has all words as written inside a sentence, then as at its start, then values, from
        `first_value` on.
        """
        are_values = np.flatnonzero(places >= self.first_value)
        if not are_values.size:
            return self._with_all(places).take(places)
        shown = Spellings.of(self._escaped(values)).take(places[are_values] - self.first_value)
        others = places.copy()
        others[are_values] = 0
        return self.written(others).replace(are_values, shown)

    def _with_all(self, places: Ids) -> Spellings:
        """Return the list of words, all of those written that are at some places.

        Few of all words occur in a short text.
        """
        words = self._spelt
        new = distinct(places[words.lengths[places] == _NOT_YET])
        if new.size:
            strings = [
                (opening if start else inside)(self._words[word_id])
                for start, word_id in map(divmod, new.tolist(), repeat(len(self)))
            ]
            # Another thread may do so, too: each goes on with the list that it has.
            self._spelt = words = words.replace(new, Spellings.of(self._escaped(strings)))
        return words

    def _escaped(self, strings: Sequence[str]) -> Sequence[str]:
        return strings if self._escape is None else list(map(self._escape, strings))

    @property
    def first_value(self) -> int:
        """The place of the first value in the list that `written` looks at."""
        return 2 * len(self)

    def with_articles(self, drawn: Ids, far: NDArray[np.bool_], values: Sequence[str]) -> Ids:
        """Return the ids with each article fitted to the next word, unless that is marked `far`.

        Ids from `first_value` on are values, and not words.
        """
        if not self._articles:
            return drawn
        articles = np.logical_or.reduce(
            [drawn == article for article in self._article_ids.values()]
        )
        places = np.flatnonzero(articles[:-1] & ~far[1:])
        fitted = drawn.copy()
        fitted[places] = self._articles_before(drawn[places + 1], values)
        return fitted

    def _articles_before(self, following: Ids, values: Sequence[str]) -> Ids:
        """Return the article that fits each of some words and values."""
        are_values = np.flatnonzero(following >= len(self))
        words = following.copy()
        words[are_values] = 0
        for word_id in distinct(words[self._fitting[words] == _NOT_YET]).tolist():
            self._fitting[word_id] = self._article_ids[article_before(self._words[word_id])]
        articles = self._fitting[words]
        for place, value in zip(are_values, following[are_values] - self.first_value, strict=True):
            articles[place] = self._article_ids[article_before(values[value])]
        return articles

    @cached_property
    def _fitting(self) -> Ids:
        """The article that fits each word, once it was needed."""
        return np.full(len(self), _NOT_YET, dtype=np.int64)

    @cached_property
    def _article_ids(self) -> dict[str, int]:
        return {article: self._words.index(article) for article in ARTICLES}
