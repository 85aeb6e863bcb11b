"""Reads IS-A relations between English nouns from WordNet's files.

    index.noun    lemma … synsets, the most frequent sense first
    data.noun     synset, its lemmas as written, its pointers
    cntlist.rev   how often each sense occurs in tagged text, for all parts of speech (optional)

A word stands for its first sense as a noun. If no word stands for a synset, for instance because
all its names have several words, its hyponyms are attached to the synsets above it.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from malaprop.core.errors import LexiconError
from malaprop.lexicon.formats import limits
from malaprop.lexicon.poincare.relations import Pair

_WORD = re.compile("[a-z]+")
# Common nouns and names, but no symbols and acronyms such as He (helium), WHO and IT.
_WRITTEN = re.compile("[a-z]+|[A-Z][a-z]{2,}")
_ABOVE = ("@", "@i")  # hypernym; class of an instance, such as a city


@dataclass(frozen=True)
class Synset:
    """A sense: its lemmas as written, and the senses above it."""

    lemmas: tuple[str, ...]
    above: tuple[str, ...]


class WordNet:
    """The nouns of WordNet, from a folder with its index.noun and data.noun."""

    def __init__(self, folder: Path) -> None:
        try:
            self._synsets = dict(_synsets(folder / "data.noun"))
            self._first = dict(_first_senses(folder / "index.noun"))
            self._counts = _counts(folder / "cntlist.rev")
            self._check()
        except (OSError, ValueError, IndexError):
            raise LexiconError(
                f"{folder} has no index.noun and data.noun in WordNet's format: name the folder "
                "with WordNet's database files."
            ) from None
        names = ("index.noun", "data.noun", "cntlist.rev")
        self.files = [folder / name for name in names if (folder / name).is_file()]

    def _check(self) -> None:
        """Raise a ValueError if a sense refers to one that is missing."""
        known = self._synsets.keys()
        used = {above for synset in self._synsets.values() for above in synset.above}
        if not known >= used or not known >= set(self._first.values()):
            raise ValueError("senses are missing")

    def relations(self, vocabulary: Collection[str] | None = None) -> list[Pair]:
        """Return each noun with the nouns directly above it, as pairs (child, parent).

        The nouns are those of a `vocabulary` and those above them; by default, all nouns.
        """
        names = self._names(self._first if vocabulary is None else vocabulary)
        pairs = [
            (word, parent)
            for synset, words in names.items()
            for word in words
            for parent in sorted(self._parents(synset, names))
        ]
        return sorted(pairs)

    def _names(self, vocabulary: Collection[str]) -> dict[str, list[str]]:
        """Return the words for each synset: those of the vocabulary, and one for each above."""
        names: dict[str, list[str]] = defaultdict(list)
        for word in sorted(set(vocabulary)):
            if self._is_noun(word):
                names[self._first[word]].append(word)
        for synset in sorted({above for own in list(names) for above in self._all_above(own)}):
            if synset not in names:
                nouns = (w for w in self._synsets[synset].lemmas if self._is_noun(w))
                first = next((w for w in nouns if self._first[w] == synset), None)
                if first:
                    names[synset].append(first)
        return dict(names)

    def _is_noun(self, word: str) -> bool:
        """Tell whether a word is a noun, and not more often a verb, an adjective or an adverb."""
        if not _WORD.fullmatch(word) or word not in self._first:
            return False
        written = [w for w in self._synsets[self._first[word]].lemmas if w.lower() == word]
        seen = self._counts.get(word, {})
        return bool(written and _WRITTEN.fullmatch(written[0])) and (
            seen.get("1", 0) >= max(seen.values(), default=0)
        )

    def _parents(self, synset: str, names: dict[str, list[str]]) -> set[str]:
        """Return the words of the nearest synsets above that have any."""
        parents: set[str] = set()
        seen: set[str] = set()
        waiting = list(self._synsets[synset].above)
        while waiting:
            above = waiting.pop()
            if above in names:
                parents.update(names[above])
            elif above not in seen:
                seen.add(above)
                waiting += self._synsets[above].above
        return parents

    def _all_above(self, synset: str) -> set[str]:
        reached: set[str] = set()
        waiting = [synset]
        while waiting:
            new = set(self._synsets[waiting.pop()].above) - reached
            reached |= new
            waiting += new
        return reached


def _lines(path: Path) -> Iterator[list[str]]:
    """Yield the fields of each line, without the licence at the top, which is indented."""
    with path.open("rb") as file:
        for line in iter(lambda: limits.line(file, path.name), b""):
            if not line.startswith(b"  "):
                yield line.decode().split("|")[0].split()


def _synsets(path: Path) -> Iterator[tuple[str, Synset]]:
    for fields in _lines(path):
        offset, count = fields[0], int(fields[3], 16)
        lemmas = fields[4 : 4 + 2 * count : 2]
        pointers = fields[5 + 2 * count :]
        above = [pointers[i + 1] for i in range(0, len(pointers) - 3, 4) if pointers[i] in _ABOVE]
        yield offset, Synset(tuple(lemmas), tuple(above))


def _first_senses(path: Path) -> Iterator[tuple[str, str]]:
    for fields in _lines(path):
        pointers = int(fields[3])
        yield fields[0], fields[6 + pointers]


def _counts(path: Path) -> dict[str, dict[str, int]]:
    """Return how often each lemma occurs, by the digit of its part of speech."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    if path.is_file():
        for key, _, count in _lines(path):
            lemma, _, sense = key.partition("%")
            counts[lemma]["3" if sense[0] == "5" else sense[0]] += int(count)
    return counts
