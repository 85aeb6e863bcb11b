"""Find the nearest spelling by Levenshtein distance without comparing every word.

An edit inserts, deletes or replaces one letter. So the distance of x and y is at least the length
of the longer one minus the number of letters that they share, counted with multiplicity. That
bound costs one addition of bytes for each letter of x, and it rules out most words.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

_CLASSES = 32  # of letters: a to z get one each, other letters share them
_TIMES = 4  # occurrences of a letter in a word beyond this do not count
_AT_ONCE = 64  # words that are compared at once
_LONGEST = 255  # longer words count as this long: bounds are bytes


class NearestSpelling:
    """Finds the spelling with the fewest edits from a given one; of several, the first.

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
        """Return the position of the spelling nearest to one of up to 255 letters."""
        extract_one, distance = _rapidfuzz()
        bounds = self._bounds(spelling)
        place, edits = -1, len(spelling) + self._longest + 1  # more than any word needs
        bound = int(bounds.min())
        while bound <= edits:  # else no remaining word can be as near
            places = (bounds == bound).nonzero()[0]
            if bound == edits:  # then only a word before this one can be better
                places = places[: places.searchsorted(place)]
            for start in range(0, len(places), _AT_ONCE):
                few = places[start : start + _AT_ONCE].tolist()
                choices = list(map(self._spellings.__getitem__, few))
                best = extract_one(spelling, choices, scorer=distance, score_cutoff=edits)
                if best is not None and (best[1] < edits or few[best[2]] < place):
                    place, edits = few[best[2]], int(best[1])
                    if edits == bound:  # those that follow are no better
                        break
            bound += 1
        return place

    def _bounds(self, spelling: str) -> NDArray[np.uint8]:
        """Return a lower bound of the number of edits to each word."""
        counts = Counter(ord(letter) % _CLASSES for letter in spelling)
        more = sum(max(count - _TIMES, 0) for count in counts.values())
        bounds: NDArray[np.uint8] = np.maximum(
            self._lengths, np.full_like(self._lengths, len(spelling))
        )
        for letter, count in counts.items():
            for has in self._has[letter, :count]:
                bounds -= has
        if more:
            bounds -= np.uint8(more)  # as if every word had these, too
        return bounds


@cache
def _rapidfuzz() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Import what is needed only for the few words that have no other way."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import extractOne

    return extractOne, Levenshtein.distance


def _has(spellings: Sequence[str]) -> NDArray[np.uint8]:
    """Return 1 where a word has a class of letter at least n times: (classes, times, words)."""
    letters = "".join(spellings).encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(letters, dtype="<u4")
    words = np.repeat(np.arange(len(spellings)), list(map(len, spellings)))
    cells = codes % _CLASSES * np.int64(len(spellings)) + words
    counts = np.bincount(cells, minlength=_CLASSES * len(spellings)).reshape(_CLASSES, 1, -1)
    return (counts >= np.arange(1, _TIMES + 1)[:, None]).view(np.uint8)
