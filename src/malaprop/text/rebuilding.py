"""Writes drawn ids as words of a text, with capitals and fitting articles, and values."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids, distinct
from malaprop.text.articles import ARTICLES, ENGLISH_WORDS, article_before
from malaprop.text.composing import Style, compose, has_pieces
from malaprop.text.template import (
    SLOT_MARKS,
    VALUE_MARK,
    Punctuation,
    Template,
    fill,
    inside,
    opening,
)

Strings = NDArray[np.object_]
NOTHING = -1
"""The place of an empty string in the list that `Rebuilder.written` looks at."""


class Rebuilder:
    """Rebuilds texts from drawn ids, for a public list of words.

    `escape` writes private text for the markup that it stands in.

    >>> rebuilder = Rebuilder(["i", "an", "the", "a", "dog"], "keep")
    >>> rebuilder.fill([None, " ", None, " ", None], [1, 4, 0], "wswsw")
    'A dog I'
    >>> rebuilder.written(np.array([0, 4, 4 + len(rebuilder), NOTHING])).tolist()
    ['I', 'dog', 'Dog', '']
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

    def written(self, places: Ids, values: Sequence[str] = ()) -> Strings:
        """Return what is at some places of a list.

        The list has all words as written inside a sentence, then as at its start, then values, from
        `first_value` on. There is an empty string at `NOTHING`.
        """
        if not len(values):
            self._write(places[~self._known[places]])
            return self._written[places]
        are_values = places >= self.first_value
        shown = self.written(np.where(are_values, NOTHING, places))
        escaped = np.array(self._escaped(values), dtype=object)
        shown[are_values] = escaped[places[are_values] - self.first_value]
        return shown

    def _write(self, new: Ids) -> None:
        """Write words for the first time: few of all words occur in a short text."""
        for place in distinct(new).tolist():
            start, word_id = divmod(place, len(self))
            word = (opening if start else inside)(self._words[word_id])
            self._written[place] = self._escaped([word])[0]
            self._known[place] = True  # last: other threads read it

    @cached_property
    def _written(self) -> Strings:
        return np.full(self.first_value + 1, "", dtype=object)

    @cached_property
    def _known(self) -> NDArray[np.bool_]:
        known = np.zeros(self.first_value + 1, dtype=np.bool_)
        known[NOTHING] = True
        return known

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
        following = drawn[places + 1].tolist()
        fitting = (article_before(self._word(word_id, values)) for word_id in following)
        fitted = drawn.copy()
        fitted[places] = [self._article_ids[article] for article in fitting]
        return fitted

    def _word(self, word_id: int, values: Sequence[str]) -> str:
        return self._words[word_id] if word_id < len(self) else values[word_id - self.first_value]

    @cached_property
    def _article_ids(self) -> dict[str, int]:
        return {article: self._words.index(article) for article in ARTICLES}
