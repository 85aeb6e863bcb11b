"""Unknown words by meaning: the large vocabulary, bound to the words of a lexicon.

The vocabulary says which word of `english` a word counts as. A lexicon that has that word takes it.
If it has not, but has at least a tenth of the words of `english`, it takes the nearest one that it
has, of the 32 nearest by the vectors of `english`.

A lexicon of another language gains nothing from that. So a vocabulary serves only lexicons that
share with `english` at least half of their own words, or half of its words.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from malaprop.text.mapping import vocabulary
from malaprop.text.mapping.compounds import SHORT_PARTS, Hit, Part, cheapest_head
from malaprop.text.mapping.hashing import Around, Hashes, edit, part_bounds
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
_TOGETHER = 256  # words that are searched at once: some megabytes


Listed = tuple[int, int, int]
"""A listed word: the number of its hash, its place, its cost."""


class Found(NamedTuple):
    """A word of the lexicon, and the listed word that led to it."""

    id: int
    via: str


Head = tuple[int, Part | None, bool]
"""What `cheapest_head` returns."""
Searched = tuple[Head, list[Listed]]
"""The parts of a word, and what is listed of its edits."""
Repair = tuple[Found | None, Found | None]
"""What a word is a misspelling of, and what it is a compound of; at most one of them."""


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

    def repair(self, words: Sequence[str]) -> list[Repair]:
        """Return what each word is a misspelling of, or a compound of; the likelier one, not both.

        A misspelling is one edit from a listed word, the most frequent one. Of a compound counts
        the last part that is no function word. Letters that are in no part may be left over.

        Words of one length are searched together, which is faster than one by one.
        """
        if len(words) == 1:
            return self._repaired(words)
        by_length: dict[int, list[str]] = {}
        for word in words:
            by_length.setdefault(len(word), []).append(word)
        repairs: dict[str, Repair] = {}
        for some in by_length.values():
            for start in range(0, len(some), _TOGETHER):
                few = some[start : start + _TOGETHER]
                repairs.update(zip(few, self._repaired(few), strict=True))
        return list(map(repairs.__getitem__, words))

    def _repaired(self, words: Sequence[str]) -> list[Repair]:
        """Repair words of one length."""
        around = Around(words)
        search = self._search_parts_first if len(words[0]) >= _LONG else self._search_at_once
        return [
            self._likelier(word, head, edits)
            for word, (head, edits) in zip(words, search(words, around), strict=True)
        ]

    def _search_at_once(self, words: Sequence[str], around: Around) -> Iterator[Searched]:
        """Search for parts and edits of short words: one search is faster than two."""
        parts, edits = around.parts(), around.edits()
        count = parts.shape[1]
        rows = self._listed(np.concatenate((parts, edits), axis=1))
        for word, listed in zip(words, rows, strict=True):
            first = bisect_left(listed, (count,))
            head = cheapest_head(word, self._parts(word, listed[:first]))
            yield head, [(hit - count, place, cost) for hit, place, cost in listed[first:]]

    def _search_parts_first(self, words: Sequence[str], around: Around) -> Iterator[Searched]:
        """Search for parts of long words, and only if these are unlikely for edits."""
        heads = [
            cheapest_head(word, self._parts(word, listed))
            for word, listed in zip(words, self._listed(around.parts()), strict=True)
        ]
        unsure = [row for row, head in enumerate(heads) if not _is_sure(words[row], head)]
        edits = iter(self._listed(around.edits(unsure)) if unsure else ())
        for word, head in zip(words, heads, strict=True):
            yield head, [] if _is_sure(word, head) else next(edits)

    def _likelier(self, word: str, head: Head, edits: Iterable[Listed]) -> Repair:
        cost, part, _ = head
        best = min((_edited(word, *listed) for listed in edits), default=None)
        if best is not None and (part is None or best[0] <= cost):
            return Found(self._id(best[1]), best[2]), None
        return None, None if part is None else Found(self._id(part.place), part.text)

    def _parts(self, word: str, listed: Iterable[Listed]) -> Iterator[Hit]:
        """Yield the listed words in a word; of two letters, only those that can be parts."""
        for start in range(len(word) - 1):
            if (known := self._short.get(word[start : start + 2])) is not None:
                yield start, start + 2, *known
        starts, ends = part_bounds(len(word))
        for hit, place, cost in listed:
            yield starts[hit], ends[hit], cost, place

    def _listed(self, hashes: Hashes) -> Iterable[list[Listed]]:
        """Return the hashes of each row that are those of listed words that lead to the lexicon."""
        hits, places = self._table.places(hashes.ravel())
        if self._gaps:
            usable = self._near[self._table.targets[places]] >= 0
            hits, places = hits[usable], places[usable]
        firsts = np.arange(len(hashes) + 1) * hashes.shape[1]
        bounds = hits.searchsorted(firsts).tolist()
        numbers = (hits % hashes.shape[1] if hits.size else hits).tolist()
        listed = list(
            zip(numbers, places.tolist(), self._table.costs[places].tolist(), strict=True)
        )
        return (listed[start:end] for start, end in pairwise(bounds))

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


def _is_sure(word: str, head: Head) -> bool:
    """Tell whether a word is so surely made of parts that it is no misspelling."""
    cost, _, whole = head
    return len(word) >= _LONG and whole and cost <= _SURE * len(word)


def _edited(word: str, hit: int, place: int, cost: int) -> tuple[int, int, str]:
    """Return the cost of an edit, the place of the word that it leads to, and the word."""
    spelling = edit(word, hit)
    return _EDIT + _FIRST_LETTER * (spelling[0] != word[0]) + cost, place, spelling
