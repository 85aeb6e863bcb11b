"""Hierarchies: words, and for each word all words above it."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from malaprop.core.arrays import Ids
from malaprop.core.errors import LexiconError
from malaprop.lexicon.formats import limits

Pair = tuple[str, str]
MAX_PAIRS = 20_000_000
"""Most pairs of a word and one above it; all nouns of WordNet have less than a million."""


@dataclass(frozen=True)
class Hierarchy:
    """Words and the transitive closure of their IS-A relations.

    The words above word i are `above[starts[i]:starts[i + 1]]`.

    >>> pets = Hierarchy.of([("cat", "mammal"), ("dog", "mammal"), ("mammal", "animal")])
    >>> pets.words
    ('animal', 'cat', 'dog', 'mammal')
    >>> pets.above_of(np.array([1])).tolist()
    [0, 3]
    """

    words: tuple[str, ...]
    starts: Ids
    above: Ids

    @classmethod
    def of(cls, pairs: Iterable[Pair], order: Sequence[str] = ()) -> "Hierarchy":
        """Build it from pairs (child, parent). Words in `order` come first, in that order."""
        parents: dict[str, set[str]] = defaultdict(set)
        for child, parent in pairs:
            parents[child].add(parent)
        names = set(parents).union(*parents.values())
        if not names:
            raise LexiconError("There are no relations to train on: give at least one pair.")
        listed = [word for word in dict.fromkeys(order) if word in names]
        words = (*listed, *sorted(names.difference(listed)))
        index = {word: i for i, word in enumerate(words)}
        total = 0
        above = []
        for word in words:
            above.append(sorted(index[other] for other in _all_above(word, parents)))
            total += len(above[-1])
            if total > MAX_PAIRS:
                raise LexiconError(
                    f"The relations give more than {MAX_PAIRS:,} pairs of a word and one above it, "
                    "directly or through others: leave some out."
                )
        starts = np.concatenate([[0], np.cumsum([len(ids) for ids in above])]).astype(np.int64)
        return cls(words, starts, np.array([i for ids in above for i in ids], dtype=np.int64))

    @property
    def counts(self) -> Ids:
        """The number of words above each word."""
        return np.diff(self.starts)

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of words and relations."""
        digest = hashlib.sha256("\n".join(self.words).encode())
        digest.update(self.starts.tobytes() + self.above.tobytes())
        return digest.hexdigest()

    def above_of(self, ids: Ids) -> Ids:
        """Return the words above each of `ids`, one list after the other."""
        counts = self.starts[ids + 1] - self.starts[ids]
        ends = np.cumsum(counts)
        places = np.repeat(self.starts[ids] - ends + counts, counts) + np.arange(counts.sum())
        return np.asarray(self.above[places])


def read_pairs(path: Path) -> list[Pair]:
    """Read pairs from a file with a child, a tab and its parent on each line."""
    try:
        with path.open("rb") as file:
            lines = enumerate(iter(lambda: limits.line(file, str(path)), b""), 1)
            return [_pair(line.decode(), path, number) for number, line in lines if line.strip()]
    except UnicodeDecodeError:
        raise LexiconError(
            f"{path} is not UTF-8 text: write one relation per line of text."
        ) from None
    except OSError as error:
        raise LexiconError(f"{path} cannot be read: {error.strerror}.") from None


def _pair(line: str, path: Path, number: int) -> Pair:
    child, _, parent = line.rstrip("\r\n").partition("\t")
    if not (_is_word(child) and _is_word(parent)):
        raise LexiconError(
            f"{path}, line {number}: a relation must be two words without spaces, the child "
            "first, with a tab between them."
        )
    return child, parent


def _is_word(text: str) -> bool:
    return bool(text) and text.isprintable() and not any(map(str.isspace, text))


def _all_above(word: str, parents: dict[str, set[str]]) -> set[str]:
    """Return all words reachable upwards except the word itself, even if relations form cycles."""
    reached: set[str] = set()
    waiting = [word]
    while waiting:
        new = parents.get(waiting.pop(), set()) - reached
        reached |= new
        waiting += new
    return reached - {word}
