"""The nearest spelling, by Levenshtein's edits, without looking at every word.

An edit adds, takes away or exchanges one letter. So from x to y there are at least as many edits
as the longer of them has letters beyond those that they have in common, counted with how often
they occur. That bound takes an addition of bytes for each letter of x; most words need no more.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_KINDS = 32  # of letters: a to z have one each, and share them with others
_TIMES = 4  # up to which it counts how often a word has a letter
_LONGEST = 255  # beyond it, words count as so long: bounds are bytes


class NearestSpelling:
    """The spelling with the fewest edits from a given one; the first of several.

    >>> NearestSpelling(["cold", "hot", "doctor"]).nearest("dcotor")
    2
    """

    def __init__(self, spellings: Sequence[str]) -> None:
        self._spellings = spellings
        lengths = np.array([len(spelling) for spelling in spellings])
        self._longest = int(lengths.max())
        self._lengths = np.minimum(lengths, _LONGEST).astype(np.uint8)
        self._has = _has(spellings)

    def nearest(self, spelling: str) -> int:
        """The place of the nearest of the spellings to one of up to 255 letters."""
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import extractOne

        bounds = self._bounds(spelling)
        least, place, edits = int(bounds.min()), -1, len(spelling) + self._longest
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

    def _bounds(self, spelling: str) -> NDArray[np.uint8]:
        """For each word, a number of edits that it takes at least."""
        counts = Counter(ord(sign) % _KINDS for sign in spelling)
        more = sum(max(count - _TIMES, 0) for count in counts.values())
        found: NDArray[np.uint8] = np.maximum(
            self._lengths, np.full_like(self._lengths, len(spelling))
        )
        for kind, count in counts.items():
            for has in self._has[kind, :count]:
                found -= has
        if more:
            found -= np.uint8(more)  # as if all words had those, too
        return found


def _has(spellings: Sequence[str]) -> NDArray[np.uint8]:
    """1 where a word has a kind of letter once, twice … at least: (kinds, times, words)."""
    longest = max(map(len, spellings), default=0)
    signs = np.array(spellings, dtype=f"U{max(1, longest)}").view(np.uint32)
    signs = signs.reshape(len(spellings), -1)
    rows, columns = np.nonzero(signs)  # what is beyond the end of a word is 0
    cells = signs[rows, columns] % _KINDS * np.int64(len(spellings)) + rows
    counts = np.bincount(cells, minlength=_KINDS * len(spellings)).reshape(_KINDS, 1, -1)
    return (counts >= np.arange(1, _TIMES + 1)[:, None]).view(np.uint8)
