"""Unknown words by meaning: the large vocabulary, bound to the words of a lexicon.

The vocabulary says which word of `english` a word counts as. A lexicon that has that word takes it.
If it has not, but has at least a tenth of the words of `english`, it takes the nearest one that it
has, of the 32 nearest by the vectors of `english`.

A lexicon of another language gains nothing from that. So a vocabulary serves only lexicons that
share with `english` at least half of their own words, or half of its words.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from malaprop.text.mapping import vocabulary
from malaprop.text.mapping.compounds import SHORT_PARTS, Head, cheapest_head
from malaprop.text.mapping.hashing import Hashes, edit, hashes_around, hashes_of, part_bounds
from malaprop.text.mapping.route import Route, Way
from malaprop.text.mapping.vocabulary import COST_UNIT, Listed, Vocabulary, cost_of, target_of

SHARED = 2
"""One word in so many must be shared."""
STEP = 10
"""One word of `english` in so many must be there for a step to a near one."""

SHORTEST_REPAIRED = 4
"""Letters of the shortest word that is taken for a misspelling or a compound."""
_EDIT, _FIRST_LETTER = 7 * COST_UNIT, 3 * COST_UNIT
_MOST, _NO_ENTRY = 1 << 30, 1 << 64
# A word of so many letters whose parts cost at most so much a letter is no misspelling.
_LONG, _SURE = 10, 3 * COST_UNIT
_TOGETHER = 256  # words that are searched at once: some megabytes


class Meaning:
    """The vocabulary for one lexicon, given its folded words and their ids."""

    def __init__(self, table: Vocabulary, ids: Mapping[str, int]) -> None:
        self._table = table
        direct = _own_ids(ids)
        shared = int((direct >= 0).sum())
        self.serves = SHARED * shared >= min(len(ids), len(direct))
        self._direct = direct
        # A view of memory gives one number in less time than an array does.
        self._direct_of = memoryview(direct)  # type: ignore[arg-type]
        self.steps = STEP * shared >= len(direct) > shared
        self._gaps = shared < len(direct)

    @cached_property
    def _near_of(self) -> memoryview:
        """The id that each target leads to, with a step to a near word if need be."""
        if not self.steps:
            return self._direct_of
        listed = self._direct[vocabulary.nearest_targets()[:, :-1]]
        first = (listed >= 0).argmax(axis=1)
        return memoryview(listed[np.arange(len(listed)), first])

    def find(self, word: str) -> int | None:
        """Return the word of the lexicon that a word counts as, without a step."""
        entry = self._table.entry(word)
        if entry is None:
            return None
        own: int = self._direct_of[target_of(entry)]
        return own if own >= 0 else None

    def find_all(self, words: Sequence[str]) -> dict[str, int]:
        """Return what `find` does, for those words that lead to the lexicon.

        No word may be empty, or longer than `hashing.LONGEST`.
        """
        owns = self._direct_of
        listed = self._table.listed(hashes_of(words))
        return {words[i]: own for i, entry in listed if (own := owns[target_of(entry)]) >= 0}

    def find_near(self, word: str) -> int | None:
        """Return the word of the lexicon that a word counts as, with a step if need be."""
        entry = self._table.entry(word)
        if entry is None:
            return None
        own = self._id(entry)
        return own if own >= 0 else None

    def repair(self, word: str) -> Route | None:
        """Return what a word is a misspelling of, or a compound of; the likelier one, not both.

        A misspelling is one edit from a listed word, the most frequent one. Of a compound counts
        the last part that is no function word. Letters that are in no part may be left over.
        """
        return self._repaired([word])[0]

    def repair_all(self, words: Iterable[str]) -> dict[str, Route | None]:
        """Return what `repair` does for each word.

        Words of one length are searched together, which is faster than one by one.
        """
        by_length: dict[int, list[str]] = {}
        for word in words:
            by_length.setdefault(len(word), []).append(word)
        repairs: dict[str, Route | None] = {}
        for some in by_length.values():
            for start in range(0, len(some), _TOGETHER):
                few = some[start : start + _TOGETHER]
                repairs.update(zip(few, self._repaired(few), strict=True))
        return repairs

    def _repaired(self, words: Sequence[str]) -> list[Route | None]:
        """Repair words of one length."""
        if len(words[0]) < _LONG:
            return self._repaired_at_once(words)
        listed = self._listed(hashes_around(words, edits=False))
        heads = list(map(self._head, words, listed))
        unsure = [word for word, head in zip(words, heads, strict=True) if not _is_sure(word, head)]
        around = self._listed(hashes_around(unsure, parts=False)) if unsure else []
        edits = dict(zip(unsure, around, strict=True))
        return [
            self._likelier(word, head, edits.get(word, ()))
            for word, head in zip(words, heads, strict=True)
        ]

    def _repaired_at_once(self, words: Sequence[str]) -> list[Route | None]:
        """Search for parts and edits of short words together: faster than one after the other."""
        count = len(part_bounds(len(words[0]))[0]) - 1
        repaired = []
        for word, listed in zip(words, self._listed(hashes_around(words)), strict=True):
            first_edit = bisect_left(listed, (count,))
            head = self._head(word, listed[:first_edit])
            repaired.append(self._likelier(word, head, listed[first_edit:], count))
        return repaired

    def _head(self, word: str, listed: Iterable[Listed]) -> Head:
        return cheapest_head(word, listed, self._short)

    def _likelier(
        self, word: str, head: Head, edits: Iterable[Listed], first: int = 0
    ) -> Route | None:
        cost, part, _ = head
        spelling, entry = _cheapest_edit(word, edits, first, _MOST if part is None else cost)
        if spelling:
            return Route(self._id(entry), Way.CORRECTED, spelling)
        if part is None:
            return None
        text, entry = part
        return Route(self._id(entry), Way.COMPOUND, text)

    def _listed(self, hashes: Hashes) -> list[list[Listed]]:
        """Return the hashes of each row that are those of listed words that lead to the lexicon."""
        listed = self._table.listed(hashes.ravel())
        if self._gaps:
            listed = [each for each in listed if self._id(each[1]) >= 0]
        count, width = hashes.shape
        if count == 1:
            return [listed]
        rows: list[list[Listed]] = [[] for _ in range(count)]
        for hit, entry in listed:
            row, column = divmod(hit, width)
            rows[row].append((column, entry))
        return rows

    @cached_property
    def _short(self) -> dict[str, int]:
        """The short parts of compounds that lead to the lexicon: their entries."""
        entries = {word: self._table.entry(word) for word in SHORT_PARTS}
        return {
            word: entry
            for word, entry in entries.items()
            if entry is not None and self._id(entry) >= 0
        }

    def _id(self, entry: int) -> int:
        own: int = self._near_of[target_of(entry)]
        return own


def _own_ids(ids: Mapping[str, int]) -> NDArray[np.int64]:
    """Return the id that each word of `english` has in the lexicon, or -1."""
    listed = "\n".join((*ids, "")).encode("utf-8", "surrogatepass")
    if hashlib.sha256(listed).hexdigest() == vocabulary.TARGETS_SHA256:
        return np.fromiter(ids.values(), dtype=np.int64, count=len(ids))
    return np.array([ids.get(word, -1) for word in vocabulary.target_words()])


def _is_sure(word: str, head: Head) -> bool:
    """Tell whether a word is so surely made of parts that it is no misspelling."""
    cost, _, whole = head
    return len(word) >= _LONG and whole and cost <= _SURE * len(word)


def _cheapest_edit(word: str, edits: Iterable[Listed], first: int, most: int) -> tuple[str, int]:
    """Return the cheapest edit of a word that costs at most so much, and the entry of the result.

    Edits are counted from `first` on. Another first letter makes an edit dearer.
    """
    best, best_entry, best_spelling = most, _NO_ENTRY, ""
    for cost, entry, number in sorted([(cost_of(entry), entry, hit) for hit, entry in edits]):
        if _EDIT + cost > best:
            break
        spelling = edit(word, number - first)
        own = _EDIT + _FIRST_LETTER * (spelling[0] != word[0]) + cost
        if (own, entry) < (best, best_entry):
            best, best_entry, best_spelling = own, entry, spelling
    return best_spelling, best_entry
