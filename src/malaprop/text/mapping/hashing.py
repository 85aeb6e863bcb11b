"""Hash words so that the hashes of all edits of a word follow from the word's own.

The hash of a word with the letters c₀ c₁ … is Σ cᵢ·Pⁱ modulo 2⁶⁴. It adds up over parts of a word,
so that the hashes of everything within one edit of it, and of all its parts, take a few operations
on whole arrays. `mixed` then spreads a hash over 40 bits: a key of 32 and a check of 8.
"""

from collections.abc import Sequence
from functools import cache
from operator import getitem
from typing import Any

import numpy as np
from numpy.typing import NDArray

LONGEST = 32
"""Letters of the longest word that has edits and parts."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"

Hashes = NDArray[np.uint64]
_BASE = 0x9E3779B97F4A7C15
_FACTOR = 0xD6E8FEB86659FD93
_WORD = (1 << 64) - 1
# Numpy takes arrays without dimensions in less time than numbers.
_HALF, _FACTOR_64 = (np.array(number, dtype=np.uint64) for number in (32, _FACTOR))


def hash_of(word: str) -> int:
    """Return the hash of a word."""
    if len(word) <= LONGEST:
        try:
            return sum(map(getitem, _TERMS, word)) & _WORD
        except KeyError:
            pass  # a rare letter
    value = 0
    for code in map(ord, reversed(word)):
        value = value * _BASE + code & _WORD
    return value


# What each of the usual letters adds to a hash at each place: nothing is faster in Python.
_TERMS = [
    {letter: ord(letter) * power & _WORD for letter in f"{LETTERS}'"}
    for power in (pow(_BASE, i, _WORD + 1) for i in range(LONGEST))
]


def hashes_of(words: Sequence[str]) -> Hashes:
    """Return `hash_of` of each word; none may be empty, or longer than `LONGEST`."""
    lengths = np.array(list(map(len, words)), dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    codes = _codes("".join(words))
    codes *= _powers()[np.arange(len(codes)) - np.repeat(starts, lengths)]
    hashes: Hashes = np.add.reduceat(codes, starts) if len(words) else codes
    return hashes


def mixed(value: int) -> int:
    """Return a number whose first 32 bits are the key of a hash; the next 8 are its check."""
    return (value ^ value >> 32) * _FACTOR & _WORD


def mixed_all(hashes: Hashes) -> Hashes:
    """Return `mixed` of each hash."""
    numbers = hashes >> _HALF
    numbers ^= hashes
    numbers *= _FACTOR_64
    return numbers


def hashes_around(words: Sequence[str], *, parts: bool = True, edits: bool = True) -> Hashes:
    """Return the hashes of all parts of words of one length, then those of all their edits.

    There is a row for each word. `part_bounds` lists the parts. An edit deletes a letter, swaps
    two neighbours, replaces a letter, or inserts one; `edit` makes the edited word.
    """
    weights, columns, letters = _moves(len(words[0]), parts, edits)
    if len(words) == 1:  # no more than needed: most of the time of one word is that of calls
        sums: Hashes = _codes(words[0]).dot(weights)
        return (sums[columns] + letters if edits else sums)[None]
    sums = _codes("".join(words)).reshape(len(words), -1) @ weights
    return sums.take(columns, axis=1) + letters if edits else sums


def _codes(text: str) -> Hashes:
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), np.uint8).astype(np.uint64)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint64)


@cache
def _moves(size: int, parts: bool, edits: bool) -> tuple[Hashes, NDArray[np.int64], Hashes]:
    """Return how parts and edits hash: weights of the letters, then columns, and what they add.

    Each part and each edit moves the letters of a word to other places, or drops them, and may add
    a letter. All that add a letter at one place share a column of weights.
    """
    letter, at, gap = np.arange(size)[:, None], np.arange(size), np.arange(size + 1)
    starts, ends = _part_bounds(size)
    in_parts = np.where((letter >= starts) & (letter < ends), letter - starts, -1)
    deleted = np.where(letter == at, -1, letter - (letter > at))
    swapped = letter + (letter == at[:-1]) - (letter == at[1:])
    replaced, inserted = np.where(letter == at, -1, letter), letter + (letter >= gap)
    plain = [in_parts] * parts + [deleted, swapped] * edits
    places = np.concatenate(plain + [replaced, inserted] * edits, axis=1)
    # The last one stands for letters that are dropped: place -1.
    weights = np.append(_powers(), np.uint64(0))[places]
    alone = np.arange(sum(some.shape[1] for some in plain))
    shared = np.arange(len(alone), places.shape[1]).repeat(len(LETTERS))
    added = (_letters()[:size].ravel(), _letters()[: size + 1].ravel()) * edits
    letters = np.concatenate((np.zeros(len(alone), dtype=np.uint64), *added))
    return weights, np.append(alone, shared), letters


def edit(word: str, place: int) -> str:
    """Return the edited word whose hash is at a place of a row of edits."""
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
    """Return where the parts of a word of this length start and end: three letters or more.

    They are in order of their ends. The last one is none: it ends before it starts.
    """
    starts, ends = _part_bounds(size)
    return [*starts.tolist(), size], [*ends.tolist(), 0]


@cache
def _part_bounds(size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    lasts, starts = np.tril_indices(size, -2)
    return starts, lasts + 1


@cache
def _powers() -> Hashes:
    return np.array([pow(_BASE, i, 1 << 64) for i in range(LONGEST + 2)], dtype=np.uint64)


@cache
def _letters() -> Hashes:
    """Return what each letter adds at each place: (places, letters)."""
    codes: NDArray[Any] = np.array(list(map(ord, LETTERS)), dtype=np.uint64)
    letters: Hashes = _powers()[:, None] * codes
    return letters
