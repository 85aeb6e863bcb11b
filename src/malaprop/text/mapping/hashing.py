"""Hash words so that the hashes of all edits of a word follow from the word's own.

The hash of a word with the letters c₀ c₁ … is Σ cᵢ·Pⁱ modulo 2⁶⁴. It adds up over parts of a word,
so that the hashes of everything within one edit of it, and of all its parts, take a few operations
on whole arrays. `mixed` then spreads a hash over 40 bits: a key of 32 and a check of 8.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

LONGEST = 32
"""Letters of the longest word that has edits and parts."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"

Hashes = NDArray[np.uint64]
_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 1 << 64)
_FACTOR = 0xD6E8FEB86659FD93
_WORD = (1 << 64) - 1


def hash_of(word: str) -> int:
    """Return the hash of a word."""
    value = 0
    for code in map(ord, reversed(word)):
        value = value * _BASE + code & _WORD
    return value


def mixed(value: int) -> tuple[int, int]:
    """Return the key and the check of a hash."""
    value = (value ^ value >> 32) * _FACTOR & _WORD
    return value >> 32, value >> 24 & 0xFF


def mixed_all(hashes: Hashes) -> Hashes:
    """Return numbers whose first 32 bits are the keys of hashes; the next 8 are their checks."""
    return (hashes ^ hashes >> np.uint64(32)) * np.uint64(_FACTOR)


class Around:
    """The hashes of all that is within one edit of words of one length, and of their parts.

    An edit deletes a letter, swaps two neighbours, replaces a letter, or inserts one. Hashes are
    in a row for each word.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._size = size = len(words[0])
        content = "".join(words).encode("utf-32-le", "surrogatepass")
        self._codes = np.frombuffer(content, dtype="<u4").reshape(-1, size).astype(np.uint64)
        self._before = np.zeros((len(words), size + 1), dtype=np.uint64)
        np.cumsum(self._codes * _powers()[:size], axis=1, out=self._before[:, 1:])

    def edits(self, rows: Sequence[int] | None = None) -> Hashes:
        """Return the hashes of all edits of some words, or of all; `edit` makes the edited word."""
        size, powers, letters = self._size, _powers(), _letters()
        codes, before = self._codes, self._before
        if rows is not None:
            codes, before = codes[rows], before[rows]
        whole = before[:, -1:]
        after = whole - before
        deleted = before[:, :-1] + after[:, 1:] * np.uint64(_INVERSE)
        steps = (codes[:, 1:] - codes[:, :-1]) * (powers[: size - 1] - powers[1:size])
        replaced = (whole - codes * powers[:size])[:, :, None] + letters[:size]
        inserted = (before + after * np.uint64(_BASE))[:, :, None] + letters[: size + 1]
        every = (deleted, whole + steps, replaced, inserted)
        return np.concatenate([some.reshape(len(codes), -1) for some in every], axis=1)

    def parts(self) -> Hashes:
        """Return the hashes of the parts that `part_bounds` lists."""
        starts, ends = _part_bounds(self._size)
        sums: Hashes = self._before[:, ends] - self._before[:, starts]
        return sums * _inverse_powers()[starts]


def edit(word: str, place: int) -> str:
    """Return the edited word whose hash is at a place of a row of `Around.edits`."""
    size = len(word)
    if place < size:
        return word[:place] + word[place + 1 :]
    place -= size
    if place < size - 1:
        return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    place -= size - 1
    inserts = place >= size * len(LETTERS)
    at, letter = divmod(place - inserts * size * len(LETTERS), len(LETTERS))
    return word[:at] + LETTERS[letter] + word[at + (not inserts) :]


@cache
def part_bounds(size: int) -> tuple[list[int], list[int]]:
    """Return where the parts of a word of this length start and end: three letters or more."""
    starts, ends = _part_bounds(size)
    return starts.tolist(), ends.tolist()


@cache
def _part_bounds(size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    starts, ends = np.triu_indices(size, 2)
    return starts, ends + 1


@cache
def _powers() -> Hashes:
    return _geometric(_BASE)


@cache
def _inverse_powers() -> Hashes:
    return _geometric(_INVERSE)


@cache
def _letters() -> Hashes:
    """Return what each letter adds at each place: (places, letters)."""
    codes: NDArray[Any] = np.array(list(map(ord, LETTERS)), dtype=np.uint64)
    letters: Hashes = _powers()[:, None] * codes
    return letters


def _geometric(ratio: int) -> Hashes:
    return np.array([pow(ratio, i, 1 << 64) for i in range(LONGEST + 2)], dtype=np.uint64)
