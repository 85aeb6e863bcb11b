"""The nearest spelling, by Levenshtein's edits, without looking at every word.

An edit adds, takes away or exchanges one letter. So from x to y there are at least as many edits
as y has letters that x lacks, counted with how often they occur, and as many as the other way
round. That bound takes a few machine instructions a word; most words need no more.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_KINDS = 32  # of letters: a to z have one each, and share them with others
_TIMES = 4  # up to which it counts how often a letter occurs


class NearestSpelling:
    """The spelling with the fewest edits from a given one; the first of several.

    >>> NearestSpelling(["cold", "hot", "doctor"]).nearest("dcotor")
    2
    """

    def __init__(self, spellings: Sequence[str]) -> None:
        self._spellings = spellings
        self._lengths = np.array([len(spelling) for spelling in spellings], dtype=np.int16)
        self._letters = np.ascontiguousarray(_letters(spellings).T)

    def nearest(self, spelling: str) -> int:
        """The place of the nearest of the spellings."""
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import extractOne

        bounds = self._bounds(spelling)
        least, place, edits = int(bounds.min()), -1, len(spelling) + int(self._lengths.max())
        # Words with the lowest bound first, until no other can be nearer, or as near.
        for bound in range(least, edits + 1):
            if bound > edits:
                break
            some = np.flatnonzero(bounds == bound).tolist()
            choices = list(map(self._spellings.__getitem__, some))
            found = extractOne(spelling, choices, scorer=Levenshtein.distance, score_cutoff=edits)
            if found is not None:
                _, score, number = found
                if score < edits or place < 0 or some[number] < place:
                    place, edits = some[number], int(score)
        return place

    def _bounds(self, spelling: str) -> NDArray[np.int16]:
        """For each word, a number of edits that it takes at least."""
        found: NDArray[np.int16] = np.abs(self._lengths - np.int16(len(spelling)))
        signs = np.frombuffer(spelling.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        counts = np.bincount(signs % _KINDS, minlength=_KINDS)
        for letters, own in zip(self._letters, _packed(counts), strict=True):
            found += np.bitwise_count(letters ^ own)
        # Both surpluses add up to the letters that differ, and their difference is that of lengths.
        found += 1
        found >>= 1
        return found


def _letters(spellings: Sequence[str]) -> NDArray[np.uint64]:
    """Which letters a word has once, twice, three and four times or more: 128 bits."""
    longest = max(map(len, spellings), default=0)
    signs = np.array(spellings, dtype=f"U{max(1, longest)}").view(np.uint32)
    signs = signs.reshape(len(spellings), -1)
    rows, columns = np.nonzero(signs)  # what is beyond the end of a word is 0
    counts = np.zeros((len(spellings), _KINDS), dtype=np.uint8)
    np.add.at(counts, (rows, signs[rows, columns] % _KINDS), 1)
    return _packed(counts)


def _packed(counts: NDArray[np.integer[Any]]) -> NDArray[np.uint64]:
    """How often letters occur, as bits."""
    levels = counts[..., None] >= np.arange(1, _TIMES + 1, dtype=counts.dtype)
    return np.packbits(levels.reshape(*counts.shape[:-1], -1), axis=-1).view(np.uint64)
