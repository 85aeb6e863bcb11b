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
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.core.errors import LexiconError
from malaprop.data import data_folder
from malaprop.text.mapping.hashing import Hashes, hash_of, mixed, mixed_all

FOLDER = data_folder() / "vocabulary"
TABLE = "table.bin"
SHA256 = "1095a0bfc36866d7d70c37e6ae297de6d077914dcdd77019c37193a2343803da"
"""The digest of the table: another file is not used."""
TARGETS = data_folder() / "english" / "words.txt"
TARGETS_SHA256 = "7ee50d1bff36f3b1cf5233dfe58d940af6c8ceb1c0d692913bb3ac13d95f8ca8"
"""The words of `english`, in order of their ids."""
NEAREST = data_folder() / "english" / "nearest.npy"
NEAREST_SHA256 = "42f3740641088cb9b3b4ead6b98aa0bf7c56ecc6aaac3169b0c9c014b6056760"
"""The nearest words of each word of `english`, by its own vectors, the nearest first."""
COST_UNIT = 13
"""Units of a bit in which costs are counted."""

_MAGIC = b"malaprop vocabulary 1\n"
_HEADER = 32
_FILTER_BITS = 23
_OTHER_BITS = 24  # of an entry, after those of the word
_WORD_MASK = (1 << 64) - (1 << _OTHER_BITS)
# Numpy takes arrays without dimensions in less time than numbers.
_FILTER_SHIFT, _WORD_MASK_64, _LIMIT = (
    np.array(number, dtype=np.uint64)
    for number in (64 - _FILTER_BITS, _WORD_MASK, 1 << _OTHER_BITS)
)

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
        numbers = mixed_all(hashes)
        # The filter rules out most of them without a search.
        likely = self._filter[(numbers >> _FILTER_SHIFT).view(np.int64)].nonzero()[0]
        numbers = numbers[likely]
        numbers &= _WORD_MASK_64
        entries = self.entries.take(self.entries.searchsorted(numbers), mode="clip")
        numbers ^= entries
        known = (numbers < _LIMIT).nonzero()[0]
        return list(zip(likely[known].tolist(), entries[known].tolist(), strict=True))

    @cached_property
    def _filter(self) -> NDArray[np.bool_]:
        """Whether the number of any word begins with these bits."""
        has = np.zeros(1 << _FILTER_BITS, dtype=np.bool_)
        has[(self.entries >> _FILTER_SHIFT).view(np.int64)] = True
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
