"""The large public vocabulary: words that a lexicon need not have, and what they count as.

`table.bin` lists the words of GloVe 6B that can be tokens, in order of their hashes:

    keys      32 bits of each word's hash, ascending
    targets   the id of the word of `english` that it counts as: itself, or the nearest in meaning
    checks    8 more bits of the hash
    costs     13 · log₂(1 + rank), rounded: about the surprise of the word (Zipf's law), in bits

The words themselves are not there: a token is looked up by its hash, and so are the spellings that
are tried in its place. A word that is not listed passes for one that is with a chance of 3·10⁻⁷.
`tools/build_vocabulary.py` makes the table, and can list the words.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache, cached_property, lru_cache
from operator import getitem
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from malaprop.data import DATA
from malaprop.privacy.errors import LexiconError
from malaprop.text import english

# Hash words so that the hashes of all edits of a word follow from the word's own.
#
# The hash of a word with the letters c₀ c₁ … is Σ cᵢ·Pⁱ modulo 2⁶⁴. It adds up over parts of a
# word, so that the hashes of everything within one edit of it, and of all its parts, take a few
# operations on whole arrays. `mixed` then spreads a hash over 40 bits: a key of 32 and a check of
# 8.

LONGEST = 32
"""Letters of the longest word that has edits and parts."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"

Hashes = NDArray[np.uint64]
_BASE = 0x9E3779B97F4A7C15
_FACTOR = 0xD6E8FEB86659FD93
_WORD = (1 << 64) - 1
_Hash = TypeVar("_Hash", int, Hashes)


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


def mixed(value: _Hash) -> _Hash:
    """Return a number whose first 32 bits are the key of a hash, or of each; 8 are its check."""
    return (value ^ value >> 32) * _FACTOR & _WORD  # type: ignore[return-value]  # uint64 stays so


def part_hashes(words: Sequence[str]) -> Hashes:
    """Return the hashes of all parts of words of one length, a row each; see `part_bounds`."""
    return _codes(words) @ _part_weights(len(words[0]))


def edit_hashes(words: Sequence[str]) -> Hashes:
    """Return the hashes of all edits of words of one length, a row each.

    An edit deletes a letter, swaps two neighbours, replaces a letter, or inserts one; `edit` makes
    the edited word.
    """
    weights, columns, letters = _edit_weights(len(words[0]))
    return (_codes(words) @ weights).take(columns, axis=1) + letters


def _codes(words: Sequence[str]) -> Hashes:
    """Return the letters of words of one length as numbers, a row each."""
    letters = "".join(words).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(letters, "<u4").astype(np.uint64).reshape(len(words), -1)


def _weights(places: NDArray[np.int64]) -> Hashes:
    """Return what letters are multiplied with that move to other places; -1: they are dropped."""
    return np.asarray(np.append(_powers(), np.uint64(0))[places])


@cache
def _part_weights(size: int) -> Hashes:
    letter = np.arange(size)[:, None]
    starts, ends = (np.array(bounds[:-1], dtype=np.int64) for bounds in part_bounds(size))
    return _weights(np.where((letter >= starts) & (letter < ends), letter - starts, -1))


@cache
def _edit_weights(size: int) -> tuple[Hashes, NDArray[np.int64], Hashes]:
    """Return how edits hash: weights of the letters, then columns, and what they add.

    All edits that add a letter at one place share a column of weights.
    """
    letter, at, gap = np.arange(size)[:, None], np.arange(size), np.arange(size + 1)
    deleted = np.where(letter == at, -1, letter - (letter > at))
    swapped = letter + (letter == at[:-1]) - (letter == at[1:])
    replaced, inserted = np.where(letter == at, -1, letter), letter + (letter >= gap)
    places = np.concatenate([deleted, swapped, replaced, inserted], axis=1)
    alone = np.arange(2 * size - 1)
    shared = np.arange(len(alone), places.shape[1]).repeat(len(LETTERS))
    codes = np.array(list(map(ord, LETTERS)), dtype=np.uint64)
    added = _powers()[np.append(at, gap), None] * codes
    letters = np.append(np.zeros(len(alone), dtype=np.uint64), added)
    return _weights(places), np.append(alone, shared), letters


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
    lasts, starts = np.tril_indices(size, -2)
    return [*starts.tolist(), size], [*(lasts + 1).tolist(), 0]


@cache
def _powers() -> Hashes:
    return np.array([pow(_BASE, i, 1 << 64) for i in range(LONGEST + 2)], dtype=np.uint64)


FOLDER = DATA / "vocabulary"
TABLE = "table.bin"
SHA256 = "cd31fd2b700d1c273c5e52a759fd938800424841e796d17160668007b7159acd"
"""The digest of the table: another file is not used."""
TARGETS = DATA / "english" / "words.txt"
TARGETS_SHA256 = "73aaa244f6c858531121ac5a3a73cb0dd1edbe6ed4e71b58dfb034c6d8cf47af"
"""The words of `english`, in order of their ids."""
NEAREST = DATA / "english" / "nearest.npy"
NEAREST_SHA256 = "0b92939bc8323dbb3098fa570adc367d178fc38a819b860131e4d696d7079145"
"""The nearest words of each word of `english`, by its own vectors, the nearest first."""
COST_UNIT = 13
"""Units of a bit in which costs are counted."""

_MAGIC = b"malaprop vocabulary 1\n"
_HEADER = 32
_FILTER_BITS = 23
_OTHER_BITS = 24  # of an entry, after those of the word
_WORD_MASK = (1 << 64) - (1 << _OTHER_BITS)

Listed = tuple[int, int]
"""A listed word: which of some hashes is its own, and its entry."""


def target_of(entry: int) -> int:
    """Return the id of the word of `english` that a word of the vocabulary counts as."""
    return entry & 0xFFFF


def cost_of(entry: int) -> int:
    """Return the cost of a word of the vocabulary."""
    return entry >> 16 & 0xFF


def header(count: int) -> bytes:
    """Return the first bytes of a table of so many words."""
    return _MAGIC.ljust(_HEADER - 4, b"\0") + count.to_bytes(4, "little")


class Vocabulary:
    """Looks words up by their hashes.

    The entry of a word is one number of 64 bits: key, check, cost and target. What is read together
    is kept together, and entries are in order of their words' hashes.
    """

    def __init__(self, content: bytes) -> None:
        count = int.from_bytes(content[_HEADER - 4 : _HEADER], "little")
        if content[:_HEADER] != header(count) or len(content) != _HEADER + 8 * count:
            raise _damaged(TABLE)

        def column(dtype: str, offset: int) -> NDArray[Any]:
            return np.frombuffer(content, dtype, count, _HEADER + offset * count)

        self.entries: Hashes = column("<u4", 0).astype(np.uint64)
        for shift, values in ((8, column("u1", 6)), (8, column("u1", 7)), (16, column("<u2", 4))):
            self.entries <<= np.uint64(shift)
            self.entries |= values
        # A view of memory gives one number in less time than an array does.
        self._entry_at = memoryview(self.entries)  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self.entries)

    def entry(self, word: str) -> int | None:
        """Return the entry of a word, if the vocabulary has it."""
        number = mixed(hash_of(word))
        if not self._is_likely[number >> 64 - _FILTER_BITS]:
            return None
        place = bisect_left(self._entry_at, number & _WORD_MASK)
        if place == len(self._entry_at):
            return None
        entry: int = self._entry_at[place]
        return entry if (entry ^ number) >> _OTHER_BITS == 0 else None

    def listed(self, hashes: Hashes) -> list[Listed]:
        """Return which hashes are those of words, and the entries of these words."""
        numbers = mixed(hashes)
        # The filter rules out most of them without a search.
        likely = self._filter[(numbers >> 64 - _FILTER_BITS).view(np.int64)].nonzero()[0]
        numbers = numbers[likely]
        numbers &= _WORD_MASK
        entries = self.entries.take(self.entries.searchsorted(numbers), mode="clip")
        numbers ^= entries
        known = (numbers < 1 << _OTHER_BITS).nonzero()[0]
        return list(zip(likely[known].tolist(), entries[known].tolist(), strict=True))

    @cached_property
    def _filter(self) -> NDArray[np.bool_]:
        """Whether the number of any word begins with these bits."""
        has = np.zeros(1 << _FILTER_BITS, dtype=np.bool_)
        has[(self.entries >> 64 - _FILTER_BITS).view(np.int64)] = True
        return has

    @cached_property
    def _is_likely(self) -> memoryview:
        return memoryview(self._filter)  # type: ignore[arg-type]


@lru_cache(maxsize=1)
def shipped() -> Vocabulary:
    """Open the vocabulary in the package: some milliseconds, once."""
    return Vocabulary(_verified(FOLDER / TABLE, SHA256))


@lru_cache(maxsize=1)
def target_words() -> tuple[str, ...]:
    """Return the words that the vocabulary's words count as: those of `english`."""
    return tuple(_verified(TARGETS, TARGETS_SHA256).decode("utf-8").split("\n")[:-1])


def nearest_targets() -> NDArray[np.integer]:
    """Return the nearest words of each target by id, a row each, itself first."""
    from io import BytesIO

    content = _verified(NEAREST, NEAREST_SHA256)
    listed: NDArray[np.integer] = np.load(BytesIO(content), allow_pickle=False)
    return listed


def _verified(path: Path, expected: str) -> bytes:
    try:
        content = path.read_bytes()
    except OSError:
        raise _damaged(path.name) from None
    if hashlib.sha256(content).hexdigest() != expected:
        raise _damaged(path.name)
    return content


def _damaged(name: str) -> LexiconError:
    return LexiconError(
        f"The file {name} of the vocabulary of unknown words is not the one that belongs to this "
        "version: install malaprop again"
    )


# Split a compound such as "worldnews" into words, by how frequent they are.
#
# Each part costs the surprise of its word, and each joint some bits. A letter that is in no part
# costs more than a random letter would. The cheapest way through the word wins (dynamic
# programming).

_JOINT, _LEFT_OVER = 4 * COST_UNIT, 7 * COST_UNIT
_LONG_ENOUGH = 4  # letters of a part that may stand for a word with letters left over
_NO_HIT = (-1, 0)  # the last of `part_bounds` is none

Hit = tuple[int, int]
"""A listed word in a word: where it starts, and its entry in the vocabulary."""
Part = tuple[str, int]
"""A part of a compound: its letters, and its entry in the vocabulary."""
Head = tuple[int, Part | None, bool]
"""The cost of a word's likeliest parts, the one that it is named for, and if that is all."""


def cheapest_head(word: str, listed: Iterable[Listed], short: Mapping[str, int]) -> Head:
    """Return the cost of a word's likeliest parts, the one it is named for, and if that is all.

    That is the last one that is no function word and no ending. If letters are left over, it must
    be four letters long. `listed` has the listed parts among those of `part_bounds`, in that order;
    `short` the entries of parts of two letters.

    >>> of, world, news = 30 << 16, 80 << 16, 90 << 16
    >>> cheapest_head("worldnews", [(3, world), (26, news)], {"or": of})
    (222, ('news', 5898240), True)
    """
    starts, ends = part_bounds(len(word))
    hits = iter(listed)
    number, entry = next(hits, _NO_HIT)
    least = -_JOINT
    joined = [0]  # the cost of the cheapest way to each letter, and of a joint there
    last: dict[int, Hit] = {}  # of the cheapest way; none: the letter is left over
    for end in range(1, len(word) + 1):
        least += _LEFT_OVER
        pair = short.get(word[end - 2 : end])
        if pair is not None:
            cost = joined[end - 2] + (pair >> 16 & 0xFF)
            if cost < least:
                least, last[end] = cost, (end - 2, pair)
        while ends[number] == end:
            start = starts[number]
            cost = joined[start] + (entry >> 16 & 0xFF)
            if cost < least:
                least, last[end] = cost, (start, entry)
            number, entry = next(hits, _NO_HIT)
        joined.append(least + _JOINT)
    return least, *_head(word, last)


def _head(word: str, last: Mapping[int, Hit]) -> tuple[Part | None, bool]:
    """Return the last part of the cheapest way that counts, and whether the parts are the word."""
    parts: list[Part] = []
    end, whole = len(word), True
    while end:
        hit = last.get(end)
        if hit is None:
            end, whole = end - 1, False
        else:
            parts.append((word[hit[0] : end], hit[1]))
            end = hit[0]
    shortest = 1 if whole else _LONG_ENOUGH
    for text, entry in parts:
        if len(text) >= shortest and text not in english.NOT_HEADS:
            return (text, entry), whole
    return parts[0] if whole and parts else None, whole


# How the map found the word that stands for a token.


class Way(StrEnum):
    """The rule that led to a word; `_SAID` says what each means."""

    LISTED = "listed"
    FORM = "form"
    MEANING = "meaning"
    CORRECTED = "corrected"
    COMPOUND = "compound"
    SPELLING = "spelling"


class Route(NamedTuple):
    """The word that stands for a token, and how it was found.

    `via` is the spelling that was looked up, and depends on the token: do not publish it.
    """

    id: int
    way: Way
    via: str

    def __str__(self) -> str:
        """Say how the word was found, without the token."""
        return _SAID[self.way].format(via=self.via)


_SAID = {
    Way.LISTED: "it is in the lexicon",
    Way.FORM: "the word that it is a form of, or stands for",
    Way.MEANING: "the nearest word by meaning, which a public vocabulary gives",
    Way.CORRECTED: "read as “{via}”, and that by meaning",
    Way.COMPOUND: "read as words put together, of which “{via}” counts, and that by meaning",
    Way.SPELLING: "the nearest spelling, because nothing better leads to the lexicon",
}


# Unknown words by meaning: the large vocabulary, bound to the words of a lexicon.
#
# The vocabulary says which word of `english` a word counts as. A lexicon that has that word takes
# it. If it has not, but has at least a tenth of the words of `english`, it takes the nearest one
# that it has, of the 32 nearest by the vectors of `english`.
#
# A lexicon of another language gains nothing from that. So a vocabulary serves only lexicons that
# share with `english` at least half of their own words, or half of its words.

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
        listed = self._direct[nearest_targets()[:, :-1]]
        return memoryview(listed[np.arange(len(listed)), (listed >= 0).argmax(axis=1)])

    def find(self, word: str, *, near: bool = False) -> int | None:
        """Return the word of the lexicon that a word counts as; `near`: with a step if need be."""
        entry = self._table.entry(word)
        if entry is None:
            return None
        own: int = (self._near_of if near else self._direct_of)[target_of(entry)]
        return own if own >= 0 else None

    def repair(self, words: Iterable[str]) -> dict[str, Route | None]:
        """Return what words are misspellings of, or compounds of; the likelier one, not both.

        A misspelling is one edit from a listed word, the most frequent one. Of a compound counts
        the last part that is no function word. Letters that are in no part may be left over.
        """
        by_length: dict[int, list[str]] = {}
        for word in words:
            by_length.setdefault(len(word), []).append(word)
        repairs: dict[str, Route | None] = {}
        for some in by_length.values():
            for start in range(0, len(some), _TOGETHER):
                repairs |= self._repaired(some[start : start + _TOGETHER])
        return repairs

    def _repaired(self, words: Sequence[str]) -> dict[str, Route | None]:
        """Repair words of one length, which are searched together."""
        heads = {
            word: cheapest_head(word, own, self._short)
            for word, own in zip(words, self._listed(part_hashes(words)), strict=True)
        }
        unsure = [word for word in words if not _is_sure(word, heads[word])]
        edits = dict(zip(unsure, self._listed(edit_hashes(unsure)) if unsure else [], strict=True))
        return {word: self._likelier(word, heads[word], edits.get(word, ())) for word in words}

    def _likelier(self, word: str, head: Head, edits: Iterable[Listed]) -> Route | None:
        cost, part, _ = head
        spelling, entry = _cheapest_edit(word, edits, _MOST if part is None else cost)
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
        rows: list[list[Listed]] = [[] for _ in range(count)]
        for hit, entry in listed:
            row, column = divmod(hit, width)
            rows[row].append((column, entry))
        return rows

    @cached_property
    def _short(self) -> dict[str, int]:
        """The short parts of compounds that lead to the lexicon: their entries."""
        entries = {word: self._table.entry(word) for word in english.SHORT_PARTS}
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
    if hashlib.sha256(listed).hexdigest() == TARGETS_SHA256:
        return np.fromiter(ids.values(), dtype=np.int64, count=len(ids))
    return np.array([ids.get(word, -1) for word in target_words()])


def _is_sure(word: str, head: Head) -> bool:
    """Tell whether a word is so surely made of parts that it is no misspelling."""
    cost, _, whole = head
    return len(word) >= _LONG and whole and cost <= _SURE * len(word)


def _cheapest_edit(word: str, edits: Iterable[Listed], most: int) -> tuple[str, int]:
    """Return the cheapest edit of a word that costs at most so much, and the entry of the result.

    Another first letter makes an edit dearer.
    """
    best, best_entry, best_spelling = most, _NO_ENTRY, ""
    for cost, entry, number in sorted([(cost_of(entry), entry, hit) for hit, entry in edits]):
        if _EDIT + cost > best:
            break
        spelling = edit(word, number)
        own = _EDIT + _FIRST_LETTER * (spelling[0] != word[0]) + cost
        if (own, entry) < (best, best_entry):
            best, best_entry, best_spelling = own, entry, spelling
    return best_spelling, best_entry
