"""Unknown words by meaning: the large vocabulary, bound to the words of a lexicon.

The vocabulary says which word of `english` a word counts as. A lexicon that has that word takes it.
If it has not, but has at least a tenth of the words of `english`, it takes the nearest one that it
has, of the 32 nearest by the vectors of `english`.

A lexicon of another language gains nothing from that. So a vocabulary serves only lexicons that
share with `english` at least half of their own words, or half of its words.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from malaprop.text.mapping import vocabulary
from malaprop.text.mapping.compounds import SHORT_PARTS, Hit, cheapest_head
from malaprop.text.mapping.hashing import Around, Hashes, part_bounds
from malaprop.text.mapping.vocabulary import COST_UNIT, Vocabulary

SHARED = 2
"""One word in so many must be shared."""
STEP = 10
"""One word of `english` in so many must be there for a step to a near one."""

SHORTEST_REPAIRED = 4
"""Letters of the shortest word that is taken for a misspelling or a compound."""
_EDIT, _FIRST_LETTER = 7 * COST_UNIT, 3 * COST_UNIT
# A word of so many letters whose parts cost at most so much a letter is no misspelling.
_LONG, _SURE = 10, 3 * COST_UNIT


Listed = tuple[int, int, int]
"""A listed word: the number of its hash, its place, its cost."""


class Found(NamedTuple):
    """A word of the lexicon, and the listed word that led to it."""

    id: int
    via: str


class Meaning:
    """The vocabulary for one lexicon, given its folded words and their ids."""

    def __init__(self, table: Vocabulary, ids: Mapping[str, int]) -> None:
        self._table = table
        direct = _own_ids(ids)
        shared = int((direct >= 0).sum())
        self.serves = SHARED * shared >= min(len(ids), len(direct))
        self._direct = direct
        self.steps = STEP * shared >= len(direct) > shared
        self._gaps = shared < len(direct)

    @cached_property
    def _near(self) -> NDArray[np.int64]:
        """The id that each target leads to, with a step to a near word if need be."""
        if not self.steps:
            return self._direct
        listed = self._direct[vocabulary.nearest_targets()[:, :-1]]
        first = (listed >= 0).argmax(axis=1)
        near: NDArray[np.int64] = listed[np.arange(len(listed)), first]
        return near

    def find(self, word: str) -> int | None:
        """Return the word of the lexicon that a word counts as, without a step."""
        return self._of(word, self._direct)

    def find_near(self, word: str) -> int | None:
        """Return the word of the lexicon that a word counts as, with a step if need be."""
        return self._of(word, self._near)

    def _of(self, word: str, ids: NDArray[np.int64]) -> int | None:
        place = self._table.place(word)
        if place is None:
            return None
        own = int(ids[self._table.targets[place]])
        return own if own >= 0 else None

    def repair(self, word: str) -> tuple[Found | None, Found | None]:
        """Return what a word is a misspelling of, or a compound of; the likelier one, not both.

        A misspelling is one edit from a listed word, the most frequent one. Of a compound counts
        the last part that is no function word. Letters that are in no part may be left over.
        """
        around = Around(word)
        parts = around.parts()
        # One search for both is quicker than two; but long compounds need no search for edits.
        if len(word) >= _LONG:
            cost, head, whole = cheapest_head(word, self._parts(word, self._listed(parts)))
            sure = whole and cost <= _SURE * len(word)
            listed = [] if sure else self._listed(around.edits())
            edits = [(hit, place, cost) for hit, place, cost in listed]
        else:
            listed = self._listed(np.concatenate((parts, around.edits())))
            first = bisect_left(listed, (len(parts),))
            cost, head, _ = cheapest_head(word, self._parts(word, listed[:first]))
            edits = [(hit - len(parts), place, cost) for hit, place, cost in listed[first:]]
        best = min((_edit(around, word, *edit) for edit in edits), default=None)
        if best is not None and (head is None or best[0] <= cost):
            return Found(self._id(best[1]), best[2]), None
        return None, None if head is None else Found(self._id(head.place), head.text)

    def _parts(self, word: str, listed: Iterable[Listed]) -> Iterator[Hit]:
        """Yield the listed words in a word; of two letters, only those that can be parts."""
        for start in range(len(word) - 1):
            if (known := self._short.get(word[start : start + 2])) is not None:
                yield start, start + 2, *known
        starts, ends = part_bounds(len(word))
        for hit, place, cost in listed:
            yield starts[hit], ends[hit], cost, place

    def _listed(self, hashes: Hashes) -> list[Listed]:
        """Return the hashes of listed words that lead to the lexicon."""
        hits, places = self._table.places(hashes)
        if self._gaps:
            usable = self._near[self._table.targets[places]] >= 0
            hits, places = hits[usable], places[usable]
        costs = self._table.costs[places]
        return list(zip(hits.tolist(), places.tolist(), costs.tolist(), strict=True))

    @cached_property
    def _short(self) -> dict[str, tuple[int, int]]:
        """The short parts of compounds that lead to the lexicon: cost and place."""
        places = {word: self._table.place(word) for word in SHORT_PARTS}
        return {
            word: (int(self._table.costs[place]), place)
            for word, place in places.items()
            if place is not None and self._id(place) >= 0
        }

    def _id(self, place: int) -> int:
        return int(self._near[self._table.targets[place]])


def _own_ids(ids: Mapping[str, int]) -> NDArray[np.int64]:
    """Return the id that each word of `english` has in the lexicon, or -1."""
    listed = "".join(f"{word}\n" for word in ids).encode("utf-8", "surrogatepass")
    if hashlib.sha256(listed).hexdigest() == vocabulary.TARGETS_SHA256:
        return np.fromiter(ids.values(), dtype=np.int64, count=len(ids))
    return np.array([ids.get(word, -1) for word in vocabulary.target_words()])


def _edit(around: Around, word: str, hit: int, place: int, cost: int) -> tuple[int, int, str]:
    """Return the cost of an edit, the place of the word that it leads to, and the word."""
    spelling = around.edit(hit)
    return _EDIT + _FIRST_LETTER * (spelling[0] != word[0]) + cost, place, spelling
