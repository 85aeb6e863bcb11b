"""Words that occur several times in a text: one draw for all their places, and what they reveal.

With `repeat="fresh"`, every place of a text has a draw of its own. With `repeat="document"`, equal
values of a text share one draw. Values are equal if kind, grid, unit and mapped value are: words
that the public map takes to the same word get the same draw, or their draws would tell them apart.
Different texts never share a draw.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from malaprop.core.arrays import Ids
from malaprop.pipeline.counting import REPEATS, runs, text_numbers

MANY = 5
"""Occurrences of a content word in a text from which they tell what it is."""


@dataclass(frozen=True, eq=False)
class SharedDraws:
    """Which slots of texts are drawn, and which of the draws each slot shows.

    >>> shared = share_draws(np.array([7, 5, 7, 7]), [3, 1])
    >>> shared.slots, shared.counts
    (array([0, 1, 3]), array([2, 1]))
    >>> shared.spread(np.array([70, 50, 71]))
    array([70, 50, 70, 71])
    """

    slots: Ids
    """The slots to draw for: the first place of each distinct value of each text."""
    counts: Ids
    """How many draws each text has: its distinct values."""
    _shown: Ids

    def spread(self, drawn: Ids) -> Ids:
        """Return what all slots show, given what was drawn for `slots`."""
        return drawn[self._shown]


def share_draws(ids: Ids, slot_counts: Sequence[int], groups: Ids | None = None) -> SharedDraws:
    """Return one draw for each distinct value of each text.

    `ids` are the values of all slots, text by text, and `slot_counts` says how many each text has.
    `groups` holds a number for the kind and grid of each slot: values of different groups are
    never equal. Without it, all slots are words.
    """
    texts = text_numbers(slot_counts)
    columns = [texts, ids] if groups is None else [texts, groups, ids]
    order, starts = runs(columns)
    first = np.zeros(len(ids), dtype=np.bool_)
    first[order[starts]] = True  # a stable order: the first of a run is the first in its text
    numbers = np.cumsum(first) - 1
    shown = np.empty(len(ids), dtype=np.int64)
    shown[order] = np.repeat(numbers[order[starts]], np.diff(starts, append=len(ids)))
    slots = np.flatnonzero(first)
    return SharedDraws(slots, np.bincount(texts[slots], minlength=len(slot_counts)), shown)


@dataclass(frozen=True, kw_only=True)
class Repetition:
    """How often content words occur in one text, and what that many draws tell: for the owner.

    Content words are those beyond the `common` most frequent words of the lexicon.
    """

    common: int
    most: int = 0
    """The largest number of occurrences of one content word in one text; 0 if below 3."""
    texts: int = 0
    """How many texts have a content word that occurs 5 times or more."""
    recovered: tuple[tuple[int, float], ...] = ()
    """Numbers of draws of a word, and the share of words that an observer recovers from them."""

    def to_dict(self) -> dict[str, object]:
        """Return the facts as plain values for JSON."""
        return {
            "most_occurrences_of_a_content_word_in_a_text": self.most,
            "texts_with_a_content_word_5_times_or_more": self.texts,
            "words_that_are_no_content": self.common,
            "share_recovered_by_draws": {str(k): round(share, 3) for k, share in self.recovered},
        }


def split_repeats(counts: Mapping[str, int]) -> tuple[dict[str, int], dict[int, int]]:
    """Return the other counts, and how many texts repeat a content word how often."""
    repeats = {
        int(name.removeprefix(REPEATS)): count
        for name, count in counts.items()
        if name.startswith(REPEATS)
    }
    return {n: count for n, count in counts.items() if not n.startswith(REPEATS)}, repeats
