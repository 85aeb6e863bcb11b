"""Parts of speech, lemmas and function words, from public word lists.

Parts of speech and lemmas: WordNet 3.0 with its own rules of detachment and lists of exceptions.
Function words: the words of scikit-learn's stop list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from malaprop.privacy.arrays import Ids

_PARTS = ("noun", "verb", "adj", "adv")
_ENDINGS = {
    "noun": "s ses:s xes:x zes:z ches:ch shes:sh men:man ies:y",
    "verb": "s ies:y es:e es ed:e ed ing:e ing",
    "adj": "er est er:e est:e",
    "adv": "",
}
"""WordNet's rules of detachment: an ending, and what comes in its place."""


@dataclass(frozen=True)
class WordLists:
    """What public lists say of each word."""

    parts: NDArray[np.uint8]
    """A bit for each part of speech; one more for function words, one for words not listed."""
    lemmas: list[frozenset[str]]
    """Its lemmas, each with its part of speech."""
    function: NDArray[np.bool_]

    def same_part(self, a: Ids, b: Ids) -> NDArray[np.bool_]:
        """Have two words a part of speech in common?"""
        return (self.parts[a] & self.parts[b]) > 0

    def same_lemma(self, a: Ids, b: Ids) -> NDArray[np.bool_]:
        """Are two words forms of one?"""
        pairs = zip(a.tolist(), b.tolist(), strict=True)
        return np.array([bool(self.lemmas[i] & self.lemmas[j]) for i, j in pairs], dtype=np.bool_)


def read(words: Sequence[str], folder: Path) -> WordLists:
    """Look the words up in WordNet's files."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    known = {part: _index(folder / f"index.{part}") for part in _PARTS}
    irregular = {part: _exceptions(folder / f"{part}.exc") for part in _PARTS}
    function = np.array([word in ENGLISH_STOP_WORDS for word in words])
    lemmas = [_lemmas(word, known, irregular) for word in words]
    parts = np.zeros(len(words), dtype=np.uint8)
    for i, found in enumerate(lemmas):
        for bit, part in enumerate(_PARTS):
            parts[i] |= any(lemma.endswith("/" + part) for lemma in found) << bit
        parts[i] |= 16 if function[i] else 0
        parts[i] |= 32 if not parts[i] else 0
    return WordLists(parts, lemmas, function)


def _index(path: Path) -> set[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return {line.split(" ", 1)[0] for line in lines if not line.startswith(" ")}


def _exceptions(path: Path) -> dict[str, list[str]]:
    lines = (line.split() for line in path.read_text(encoding="utf-8").splitlines())
    return {first: rest for first, *rest in lines}


def _lemmas(
    word: str, known: dict[str, set[str]], irregular: dict[str, dict[str, list[str]]]
) -> frozenset[str]:
    found = set()
    for part in _PARTS:
        if word in irregular[part]:
            forms = irregular[part][word]
        else:
            rules = (rule.partition(":")[::2] for rule in _ENDINGS[part].split())
            cut = (e for e in rules if word.endswith(e[0]) and len(word) > len(e[0]) + 1)
            forms = [word, *(word[: -len(old)] + new for old, new in cut)]
        found.update(f"{form}/{part}" for form in forms if form in known[part])
    return frozenset(found)
