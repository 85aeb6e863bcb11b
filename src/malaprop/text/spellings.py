"""Strings as bytes in one array, so that many are joined without a loop over them."""

from collections.abc import Iterable
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids

CODEC = "utf-8", "surrogatepass"
"""How strings become bytes: it takes every string, and gives the same one back."""
_TOGETHER = 2**15  # strings that are joined at once: caches hold what that takes


class Spellings(NamedTuple):
    """Strings as bytes, with a space after each; where they start, and how long they are.

    >>> spellings = Spellings.of(["rain", "!", "x", "cold"])
    >>> spellings = spellings.replace(np.array([2]), Spellings.of(["ß"]))
    >>> spellings.texts(np.array([0, 1, 1, 1]), np.array([2, 4]))
    ['rain!', 'ß cold']
    """

    letters: NDArray[np.uint8]
    starts: Ids
    lengths: Ids

    @classmethod
    def of(cls, strings: Iterable[str]) -> Self:
        """Encode strings."""
        encoded = [f"{string} ".encode(*CODEC) for string in strings]
        sizes = np.array(list(map(len, encoded)), dtype=np.int64)
        letters = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        return cls(letters, np.cumsum(sizes) - sizes, sizes - 1)

    def take(self, places: Ids) -> Self:
        """Return the strings at some places."""
        return self._replace(starts=self.starts.take(places), lengths=self.lengths.take(places))

    def replace(self, places: Ids, others: "Spellings") -> Self:
        """Return these strings with others at some places."""
        starts, lengths = self.starts.copy(), self.lengths.copy()
        starts[places] = others.starts + len(self.letters)
        lengths[places] = others.lengths
        return self.__class__(np.concatenate([self.letters, others.letters]), starts, lengths)

    def texts(self, spaced: Ids, ends: Ids) -> list[str]:
        """Join the strings to texts: how many spaces follow each, 0 or 1, and where texts end.

        A space follows the last string of each text, and is left out.
        """
        sizes = self.lengths + spaced
        joined = b"".join(
            _joined(self.letters, self.starts[at : at + _TOGETHER], sizes[at : at + _TOGETHER])
            for at in range(0, len(sizes), _TOGETHER)
        )
        texts, start = list[str](), 0
        for end in np.cumsum(sizes)[ends - 1].tolist():
            texts.append(joined[start : end - 1].decode(*CODEC))
            start = end
        return texts


def _joined(letters: NDArray[np.uint8], starts: Ids, sizes: Ids) -> bytes:
    places = np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
    places += np.arange(len(places))
    return letters.take(places).tobytes()
