"""A bigram model on the words of a lexicon."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.errors import ParameterError
from malaprop.lexicon.bigrams.pair_table import PairTable, Values

DISCOUNT = 0.75
"""D, what is taken from each count of a pair and given to the pairs that were not seen."""
_ADDED = 0.5  # to each word's count: a word that the corpus lacks is rare, not impossible

Counts = NDArray[Any]
"""Whole numbers of any type."""


def words_digest(words: Sequence[str]) -> str:
    """Return the SHA-256 of a list of words, by which a model knows the words of its ids."""
    listed = "\n".join(words).encode("utf-8", "surrogatepass")
    return hashlib.sha256(b"malaprop words 1\0" + listed).hexdigest()


@dataclass(frozen=True, kw_only=True, eq=False)
class BigramModel:
    """How likely a word follows another, by absolute discounting with back-off to single words.

    p(v | u) = max(c(u, v) − D, 0)/c(u) + λ(u)·π(v), where c counts pairs in a public corpus,
    D = 0.75, π(v) is the share of v among all words, and λ(u) is what makes the sum 1. If only the
    most frequent pairs are listed, c(u) still counts all pairs, so λ(u) is larger.

    The id `start`, one above the last word's, stands for the start of a text.
    """

    words: str
    """The digest of the words that ids stand for: see `words_digest`."""
    unigrams: Counts = field(repr=False)
    """How often each word occurs."""
    totals: Counts = field(repr=False)
    """c(u): how often each word, and last the start of a text, has a word after it."""
    offsets: Counts = field(repr=False)
    """Where the pairs of each first word begin in `nexts` and `counts`, and where the last end."""
    nexts: Counts = field(repr=False)
    """Second words, in rising order for each first word."""
    counts: Counts = field(repr=False)
    """c(u, v) of the listed pairs."""
    sketch: Counts = field(repr=False, default_factory=lambda: np.empty(0, dtype=np.uint64))
    """The smallest hashes of the corpus's texts, by which a model knows what it was trained on."""
    sources: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """What the counts were taken from, with its SHA-256 or a note."""

    def __post_init__(self) -> None:
        size = len(self.unigrams)
        shapes = (len(self.totals), len(self.offsets), len(self.nexts))
        if not size or shapes != (size + 1, size + 2, len(self.counts)):
            raise ParameterError("The arrays of a BigramModel must fit each other in length.")

    def __len__(self) -> int:
        return len(self.unigrams)

    @property
    def start(self) -> int:
        """The id of the start of a text."""
        return len(self)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all that the model says."""
        note = json.dumps([self.words, dict(self.sources)], sort_keys=True)
        digest = hashlib.sha256(b"malaprop bigrams 1\0" + note.encode())
        for array in (self.unigrams, self.totals, self.offsets, self.nexts, self.counts):
            digest.update(len(array).to_bytes(8, "little"))
            digest.update(np.ascontiguousarray(array, dtype="<i8").data)
        digest.update(np.ascontiguousarray(self.sketch, dtype="<u8").data)
        return digest.hexdigest()

    @cached_property
    def prior(self) -> Floats:
        """π: how likely each word is, without context."""
        smoothed = np.asarray(self.unigrams, dtype=np.float64) + _ADDED
        return np.asarray(smoothed / smoothed.sum())

    @cached_property
    def back_off(self) -> Floats:
        """λ(u), the weight of single words after each word, and after the start of a text."""
        totals = np.asarray(self.totals, dtype=np.float64)
        listed = np.maximum(np.asarray(self.counts, dtype=np.float64) - DISCOUNT, 0.0)
        sums = np.bincount(self._firsts, listed, len(totals))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(totals > 0.0, 1.0 - np.minimum(sums / totals, 1.0), 1.0)

    def probabilities(self, firsts: Ids, seconds: Ids) -> Values:
        """Return p(v | u) for each pair of a first word u and a second word v, in float32.

        Arrays are broadcast against each other.
        """
        probabilities = self._table.values(firsts, seconds)
        probabilities += (
            self.back_off.astype(np.float32)[firsts] * self.prior.astype(np.float32)[seconds]
        )
        return probabilities

    def check_words(self, words: Sequence[str]) -> None:
        """Raise a ParameterError unless the model was made for these words."""
        if len(words) != len(self) or words_digest(words) != self.words:
            raise ParameterError(
                "The 'model' was made for another lexicon: train one for this lexicon with "
                "malaprop lm train CORPUS -o MODEL --lexicon NAME."
            )

    @property
    def _firsts(self) -> Ids:
        """The first word of each listed pair."""
        offsets: Ids = np.asarray(self.offsets, dtype=np.int64)
        return np.repeat(np.arange(len(offsets) - 1), offsets[1:] - offsets[:-1])

    @cached_property
    def _table(self) -> PairTable:
        firsts, totals = self._firsts, np.asarray(self.totals, dtype=np.float64)
        discounted = np.maximum(np.asarray(self.counts, dtype=np.float64) - DISCOUNT, 0.0)
        shares: Values = (discounted / np.maximum(totals[firsts], 1.0)).astype(np.float32)
        return PairTable(firsts, np.asarray(self.nexts, dtype=np.int64), shares, len(self) + 1)
