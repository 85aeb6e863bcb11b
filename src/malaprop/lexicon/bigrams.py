"""Bigram models: how likely a word follows another, in public text."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.data import DATA
from malaprop.lexicon.formats import untrusted
from malaprop.lexicon.formats.arrays import is_folder, map_folder, write_folder
from malaprop.lexicon.lexicon import Lexicon
from malaprop.lexicon.store import SHIPPED
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.errors import LexiconError, OutputError, ParameterError

SKETCH = 1024
"""The most hashes in a sketch."""
_DISCOUNT = 0.75  # D: taken from each count of a pair, and given to pairs that were not seen
_ENOUGH = 0.5  # share of a lexicon's words that must have a public count
_PAIRS = 1 << 28  # most pairs in a model; web-scale lists have less than 1 % of that
_ADDED = 0.5  # to each word's count: a word that the corpus lacks is rare, not impossible
_FORMAT = 1
_ARRAYS = ("unigrams", "totals", "offsets", "nexts", "counts", "sketch")
_LARGEST = 1 << 62  # sums of counts fit 64 bits
_FACTOR = np.uint32(2654435769)  # 2^32 over the golden ratio: spreads keys evenly
_ROOM = 6  # buckets per pair, about: most pairs that are looked up are in an empty bucket
_MOST_BITS = 25

Values = NDArray[np.float32]
Counts = NDArray[Any]


class PairTable:
    """Values of pairs (first, second); 0 for pairs that are not in the table.

    It looks up tens of millions of pairs a second.

    The key of a pair is first·size + second. Its bucket is the top of key·factor modulo 2^32, which
    is a sum of two numbers, one for each word: looking up all pairs of two lists takes little more
    than an addition for each.

    >>> table = PairTable(np.array([0, 2]), np.array([1, 1]), np.float32([0.5, 0.25]), 3)
    >>> table.values(np.array([[0], [1], [2]]), np.array([0, 1]))
    array([[0.  , 0.5 ],
           [0.  , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """

    def __init__(self, firsts: Ids, seconds: Ids, values: Values, size: int) -> None:
        """Store the values of distinct pairs of ids below `size`."""
        self._size = size
        bits = min(_MOST_BITS, max(4, int(_ROOM * len(firsts)).bit_length()))
        self._shift = np.uint32(32 - bits)
        keys = firsts.astype(np.int64) * size + seconds
        buckets = self._buckets(firsts, seconds)
        order = np.argsort(buckets, kind="stable")
        self._keys, self._values = keys[order], values[order].astype(np.float32)
        counts = np.bincount(buckets, minlength=1 << bits)
        self._used = counts > 0
        self._ends = np.cumsum(counts).astype(np.int32)
        self._counts = counts.astype(np.int32)

    def _buckets(self, firsts: Ids, seconds: Ids) -> NDArray[np.uint32]:
        with np.errstate(over="ignore"):  # modulo 2^32 is meant
            left = firsts.astype(np.uint32) * np.uint32(self._size % (1 << 32)) * _FACTOR
            hashed = left + seconds.astype(np.uint32) * _FACTOR
        hashed >>= self._shift
        return hashed

    def values(self, firsts: Ids, seconds: Ids) -> Values:
        """Return the value of each pair; the arrays are broadcast against each other."""
        buckets = self._buckets(firsts, seconds)
        values = np.zeros(buckets.shape, dtype=np.float32)
        flat = values.reshape(-1)
        open_ = np.flatnonzero(self._used.take(buckets))
        # All keys, of which few are needed: that is faster than finding the words of each place.
        keys = (firsts * self._size + seconds).reshape(-1).take(open_)
        bucket = buckets.reshape(-1)[open_]
        last = self._ends.take(bucket)
        places = last - self._counts.take(bucket)
        while open_.size:
            hit = self._keys.take(places) == keys
            flat[open_[hit]] = self._values.take(places[hit])
            places = places + 1
            again = ~hit & (places < last)
            open_, places, last, keys = open_[again], places[again], last[again], keys[again]
        return values


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
        sums = np.bincount(_firsts(self.offsets), self._discounted, len(totals))
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
    def _discounted(self) -> Floats:
        return np.maximum(np.asarray(self.counts, dtype=np.float64) - _DISCOUNT, 0.0)

    @cached_property
    def _table(self) -> PairTable:
        firsts, totals = _firsts(self.offsets), np.asarray(self.totals, dtype=np.float64)
        shares: Values = (self._discounted / np.maximum(totals[firsts], 1.0)).astype(np.float32)
        return PairTable(firsts, np.asarray(self.nexts, dtype=np.int64), shares, len(self) + 1)


def _firsts(offsets: Counts) -> Ids:
    """Return the first word of each listed pair."""
    places: Ids = np.asarray(offsets, dtype=np.int64)
    return np.repeat(np.arange(len(places) - 1), places[1:] - places[:-1])


def save_model(model: BigramModel, folder: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a model into a folder of its own, which appears once it is complete."""
    path = Path(folder)
    check_model_folder(path, force=force)
    note = {"format": _FORMAT, "words": model.words, "sources": dict(model.sources)}
    write_folder(path, note, {name: getattr(model, name) for name in _ARRAYS})


def check_model_folder(path: Path, *, force: bool) -> None:
    """Refuse to write a model where something is, unless it is a model that may be replaced.

    The folder that it is to be in must be there: none is created, as for other outputs.
    """
    if not path.parent.is_dir():
        raise OutputError(f"there is no folder {path.parent}: create it first")
    if not os.path.lexists(path):
        return
    if not is_folder(path):
        raise OutputError(f"{path} is not a model, so it is not replaced: name another folder")
    if not force:
        raise OutputError(f"{path} already exists: name another folder, or use `force=True`")


def open_model(folder: str | os.PathLike[str]) -> BigramModel:
    """Open a model; its arrays are mapped. Raise a LexiconError if there is none.

    A folder can come from a stranger: nothing is unpickled, and all is checked before use.
    """
    path = Path(folder)
    try:
        note, arrays = map_folder(path, _FORMAT, _ARRAYS)
        sources = dict(note["sources"])
        untrusted.check_texts(note["words"], *sources, *sources.values())
        if not _fit(arrays):
            raise ValueError("arrays that do not fit each other")  # noqa: TRY301
        return BigramModel(words=note["words"], sources=sources, **arrays)
    except (ValueError, KeyError, TypeError, AttributeError, OSError):
        raise LexiconError(
            f"{path} holds no bigram model that this version reads: train one with "
            "malaprop lm train CORPUS -o MODEL"
        ) from None


def shipped_model(lexicon: Lexicon) -> BigramModel | None:
    """Return the model that ships for the words of a lexicon; None if there is none."""
    shipped = SHIPPED["bigrams"].get(words_digest(lexicon.words))
    if shipped is None:
        return None
    model = open_model(DATA / shipped["folder"])
    if model.fingerprint != shipped["fingerprint"]:
        raise LexiconError(
            f"The bigrams of {lexicon.name or 'the lexicon'} are not those that ship with this "
            "version: install malaprop again"
        )
    return model


def _fit(arrays: dict[str, NDArray[Any]]) -> bool:
    """Tell whether arrays are counts that fit each other."""
    unigrams, totals, offsets, nexts, counts, sketch = (arrays[name] for name in _ARRAYS)
    size, pairs = len(unigrams), len(nexts)
    shaped = (
        all(array.ndim == 1 and array.dtype.kind in "iu" for array in arrays.values())
        and (len(totals), len(offsets), len(counts)) == (size + 1, size + 2, pairs)
        and 0 < size <= untrusted.WORDS
        and pairs <= _PAIRS
        and len(sketch) <= SKETCH
        and offsets[0] == 0
        and offsets[-1] == pairs
        and not (offsets[1:] < offsets[:-1]).any()
    )
    if not shaped:
        return False
    for array in (unigrams, totals, nexts, counts):
        largest = size - 1 if array is nexts else _LARGEST
        if array.size and not 0 <= array.min() <= array.max() <= largest:
            return False
    sums = np.bincount(_firsts(offsets), counts.astype(np.float64), size + 1)
    return not (sums > totals.astype(np.float64) * (1.0 + 1e-9)).any()


def public_counts(words: Sequence[str]) -> Floats | None:
    """Return how often each word occurs on the web; None if most words have no count.

    A word counts as it is spelled, or else in lower case; one without a count as the rarest does.
    The counts are those of single words that ship for `english`.

    >>> often, seldom = public_counts(["the", "gazebo"])
    >>> bool(often > 1000 * seldom)
    True
    >>> public_counts(["zzyzx", "qwrtp"]) is None
    True
    """
    known = _english()
    counts = np.array([known.get(word, known.get(word.lower(), 0.0)) for word in words])
    if np.count_nonzero(counts) < _ENOUGH * len(counts):
        return None
    return np.where(counts > 0.0, counts, min(known.values()))


@cache
def _english() -> dict[str, float]:
    lexicon = Lexicon.open("english")
    model = shipped_model(lexicon)
    if model is None:
        raise RuntimeError("the counts of english are those of another version of its words")
    return dict(zip(lexicon.words, model.unigrams.astype(np.float64).tolist(), strict=True))
